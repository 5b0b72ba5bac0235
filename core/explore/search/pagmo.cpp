// Places as pagmo's algorithms see them.
#include "core/explore/search/pagmo.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/explore/front.h"
#include "core/explore/search/selection.h"

namespace sdip {
namespace {

using Numbers = pagmo::vector_double;

/// The machines that an island meets in a step, each evaluated once.
class Meeting {
 public:
  Meeting(Searching& searching, const Population& living, PlaceCoding coding)
      : searching_(searching), coding_(coding) {
    for (const Candidate& one : living) met_.emplace(one.places, one);
  }

  std::pair<Numbers, Numbers> bounds() const {
    std::pair<Numbers, Numbers> both;
    for (const Axis& axis : searching_.space.axes) {
      const auto size = static_cast<double>(axis.values.size());
      both.first.push_back(0);
      both.second.push_back(coding_ == PlaceCoding::whole ? size - 1 : std::nextafter(size, 0));
    }
    return both;
  }
  std::size_t axes() const { return searching_.space.axes.size(); }
  std::size_t whole_axes() const { return coding_ == PlaceCoding::whole ? axes() : 0; }
  std::size_t objectives() const { return searching_.goal.objectives.size(); }

  Numbers numbers(const Placing& places) const {
    Numbers numbers;
    for (const std::uint16_t place : places) numbers.push_back(place + (coding_ == PlaceCoding::whole ? 0 : 0.5));
    return numbers;
  }
  Placing places(std::span<const double> numbers) const {
    Placing places;
    for (const double number : numbers) places.push_back(static_cast<std::uint16_t>(number));
    return settled_places(searching_.space, std::move(places));
  }

  Numbers fitness(const Candidate& one) const {
    Numbers costs;
    for (const double cost : one.score.costs)
      costs.push_back(one.score.violation > 0 ? 1e6 * (1 + one.score.violation) : log_cost(cost));
    return costs;
  }

  /// The fitness of some machines, which stand one after the other in `numbers`.
  Numbers fitness(const Numbers& numbers) {
    std::vector<Placing> all, fresh;
    for (std::size_t i = 0; i < numbers.size(); i += axes()) {
      all.push_back(places(std::span(numbers).subspan(i, axes())));
      if (!met_.contains(all.back())) fresh.push_back(all.back());
    }
    const int threads = searching_.options.threads / static_cast<int>(searching_.options.islands);
    for (Candidate& one : evaluated_at(searching_, fresh, std::max(1, threads))) {
      order_.push_back(one.places);
      met_.emplace(order_.back(), std::move(one));
    }
    asked_ += all.size();
    Numbers costs;
    for (const Placing& one : all) {
      const auto found = met_.find(one);
      if (found == met_.end()) throw Error("cancelled", "", "the search was stopped");
      const Numbers its = fitness(found->second);
      costs.insert(costs.end(), its.begin(), its.end());
    }
    return costs;
  }

  const Candidate& at(const Numbers& numbers) const { return met_.at(places(numbers)); }

  /// The machines met since the living ones, as they came.
  Brood brood() const {
    Brood brood;
    for (const Placing& places : order_) {
      brood.best.push_back(met_.at(places));
      brood.feasible += brood.best.back().outcome.feasible ? 1 : 0;
    }
    brood.evaluated = static_cast<std::int64_t>(asked_);
    return brood;
  }

 private:
  Searching& searching_;
  PlaceCoding coding_;
  std::map<Placing, Candidate> met_;
  std::vector<Placing> order_;
  std::size_t asked_ = 0;
};

/// As pagmo wants a problem: a value that is copied, of these functions.
struct MeetingProblem {
  Meeting* meeting = nullptr;
  Numbers fitness(const Numbers& numbers) const { return meeting->fitness(numbers); }
  Numbers batch_fitness(const Numbers& numbers) const { return meeting->fitness(numbers); }
  std::pair<Numbers, Numbers> get_bounds() const { return meeting->bounds(); }  // pagmo's name
  Numbers::size_type get_nobj() const { return meeting->objectives(); }         // pagmo's name
  Numbers::size_type get_nix() const { return meeting->whole_axes(); }          // pagmo's name
  template <class Archive>
  void serialize(Archive&, unsigned) {}  // pagmo asks for it; nothing is written
};

}  // namespace

Brood evolved_by_pagmo(Searching& searching, const Population& living, SearchDraws& draws, PlaceCoding coding,
                       const MakeAlgorithm& make) {
  const std::size_t generations = std::min(generations_of_pagmo, searching.most_of_family / living.size());
  Brood brood;
  brood.generations = 0;
  if (generations == 0) return brood;
  const auto drawn_seed = [&] { return static_cast<unsigned>(draws.below(std::size_t{1} << 32)); };
  Meeting meeting(searching, living, coding);
  pagmo::population population(pagmo::problem(MeetingProblem{&meeting}), 0, drawn_seed());
  for (const Candidate& one : living) population.push_back(meeting.numbers(one.places), meeting.fitness(one));
  try {
    population = make(static_cast<unsigned>(generations), drawn_seed()).evolve(population);
    brood = meeting.brood();
    for (const Numbers& numbers : population.get_x()) brood.living.push_back(meeting.at(numbers));
  } catch (const Error& error) {
    if (!is_cancelled(error)) throw;
    brood = meeting.brood();
  }
  brood.generations = static_cast<std::int64_t>(generations);
  return brood;
}

}  // namespace sdip
