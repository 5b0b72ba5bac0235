// Evolution in two levels: programs, and what a program's machines cost.
#include "core/explore/search/search.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/explore/front.h"
#include "core/explore/search/families.h"
#include "core/explore/search/selection.h"
#include "core/machine/shown.h"

namespace sdip {
namespace {

constexpr std::size_t families = 16, living = 96, programs_kept = 96, rounds = 3, climbing_rounds = 4;
constexpr std::size_t near_families = 12, climbing_families = 8;  // the first of a generation
constexpr std::size_t first_families = 64;  // of the first generation, which is drawn at large
constexpr std::size_t least_members = 5, most_members = 64;
constexpr std::int64_t evaluations_a_member = 8000;

/// The living, best first.
using Population = std::vector<Candidate>;

/// The better of two.
const Candidate& drawn_parent(const Population& population, SearchDraws& draws) {
  const std::size_t a = draws.below(population.size()), b = draws.below(population.size());
  return population[std::min(a, b)];
}

/// Indices of so many of the living, at most: the best by these weights, best first.
std::vector<std::size_t> best_by(const Population& population, const Weights& weights, std::size_t most) {
  std::vector<double> sums;
  for (const Candidate& one : population) sums.push_back(weighed(one.score, weights));
  std::vector<std::size_t> order(population.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sums[a] < sums[b]; });
  order.resize(std::min(order.size(), most));
  return order;
}

/// First members around a machine: itself, and what only costs of `mate`'s, each time another.
template <class Mate>
std::vector<Placing> members_around(const Searching& searching, const Placing& program, const Mate& mate,
                                    SearchDraws& draws) {
  std::vector<Placing> first = {program};
  while (first.size() < searching.members) {
    Placing places = program;
    cross(searching.cost_axes, mate().places, 0.5, places, draws);
    if (draws.chance(0.7)) change_some(searching.space, searching.cost_axes, 4, places, draws);
    first.push_back(std::move(places));
  }
  return first;
}

/// One of the objectives, or where there are several some way between them.
Weights drawn_weights(const SearchGoal& goal, SearchDraws& draws) {
  Weights weights;
  for (std::size_t k = 0; k < goal.objectives.size(); ++k) weights.push_back(-std::log(1 - draws.share()));
  if (weights.size() == 1) weights[0] = 1;
  return weights;
}

/// Around one of the best by some weights, whose mates are those that these weights like as well.
Brood family_near_the_best(Searching& searching, const Population& population, std::size_t f, SearchDraws& draws) {
  constexpr std::size_t elite = 6, mates = 16;
  const Weights weights = drawn_weights(searching.goal, draws);
  const std::vector<std::size_t> near = best_by(population, weights, mates);
  const std::size_t top = std::min(elite, near.size());
  Placing places = population[near[std::min(draws.below(top), draws.below(top))]].places;
  const bool whole = searching.members == most_members;
  if (f == 0) return climbed(searching, places, weights, whole ? climbing_rounds : 1);
  change_some(searching.space, searching.compile_axes, f + 2 < near_families ? 1 : 2, places, draws);
  if (f % 2 == 0 && f < climbing_families && whole) return climbed(searching, places, weights, 1);
  const auto mate = [&]() -> const Candidate& { return population[near[draws.below(near.size())]]; };
  return raised(searching, members_around(searching, places, mate, draws), rounds, draws);
}

Brood next_family(Searching& searching, const Population& population, std::size_t f, SearchDraws& draws) {
  if (f < near_families) return family_near_the_best(searching, population, f, draws);
  Placing places = drawn_parent(population, draws).places;
  if (draws.chance(0.65)) {
    const Placing& other = drawn_parent(population, draws).places;
    cross(searching.compile_axes, other, 0.5, places, draws);
    change_some(searching.space, searching.compile_axes, 3, places, draws);
  }
  const auto mate = [&]() -> const Candidate& { return drawn_parent(population, draws); };
  return raised(searching, members_around(searching, places, mate, draws), rounds, draws);
}

/// Of a start, or drawn at large.
Brood first_family(Searching& searching, std::span<const Placing> starts, std::size_t f, SearchDraws& draws) {
  const Placing program = f < starts.size() ? starts[f] : drawn_at_large(searching.space, draws);
  std::vector<Placing> first = {program};
  while (first.size() < searching.members) {
    Placing places = program;
    if (f < starts.size())
      change_some(searching.space, searching.cost_axes, 4, places, draws);
    else
      cross(searching.cost_axes, drawn_at_large(searching.space, draws), 1, places, draws);
    first.push_back(std::move(places));
  }
  return raised(searching, first, 0, draws);
}

/// All of them, on the threads; in their order.
template <class Make>
std::vector<Brood> made_families(const Searching& searching, std::size_t count, const Make& make) {
  std::vector<Brood> all(count);
  std::atomic<std::size_t> next{0};
  std::mutex failing;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t f = next++; f < count && !searching.stopped(); f = next++) try {
        all[f] = make(f);
      } catch (const Error& error) {
        next = count;
        if (is_cancelled(error)) return;
        const std::scoped_lock lock(failing);
        if (!failure) failure = std::current_exception();
      } catch (...) {
        next = count;
        const std::scoped_lock lock(failing);
        if (!failure) failure = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> workers;
    for (int i = 1; i < searching.options.threads; ++i) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return all;
}

std::vector<Score> scores_of(std::span<const Candidate> candidates) {
  std::vector<Score> all;
  for (const Candidate& one : candidates) all.push_back(one.score);
  return all;
}

/// Who lives on: each machine once, and no more than a quarter of one program.
Population selected(Population all) {
  Population next;
  std::set<Placing> known;
  std::map<std::vector<std::int64_t>, std::size_t> of_program;
  for (const std::size_t i : selection_order(scores_of(all))) {
    if (next.size() == living) break;
    if (!known.insert(all[i].places).second) continue;
    if (++of_program[compile_key(all[i].machine)] > living / 4) continue;
    next.push_back(std::move(all[i]));
  }
  return next;
}

/// The best that were ever met.
class Archive {
 public:
  void add(std::span<const Candidate> candidates) {
    for (const Candidate& one : candidates) {
      if (one.score.violation > 0) {
        if (!nearest_ || one.score.violation < nearest_->score.violation) nearest_ = one;
      } else {
        best_.push_back(one);
      }
    }
    thin();
  }

  std::vector<Candidate> taken() && {
    if (best_.empty() && nearest_) best_.push_back(std::move(*nearest_));
    return std::move(best_);
  }
  /// The first; nothing while none keeps the conditions.
  const Candidate* best() const { return best_.empty() ? nullptr : best_.data(); }
  std::vector<double> costs() const { return best_.empty() ? std::vector<double>() : best_[0].score.costs; }

 private:
  static constexpr std::size_t most_of_one = 32;

  /// Leaves the best of one objective, each value once; or a front.
  void thin() {
    if (best_.empty()) return;
    std::vector<std::size_t> order;
    const std::size_t width = best_[0].score.costs.size();
    if (width == 1) {
      order = selection_order(scores_of(best_));
    } else {
      std::vector<std::vector<double>> columns(width);
      for (const Candidate& one : best_)
        for (std::size_t k = 0; k < width; ++k) columns[k].push_back(one.score.costs[k]);
      const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
      for (const std::int64_t i : pareto_front(spans, std::vector<Better>(width, Better::lower)))
        order.push_back(static_cast<std::size_t>(i));
    }
    std::vector<Candidate> left;
    for (const std::size_t i : order) {
      if (!left.empty() && left.back().score.costs == best_[i].score.costs) continue;
      if (width == 1 && left.size() == most_of_one) break;
      left.push_back(std::move(best_[i]));
    }
    best_ = std::move(left);
  }

  std::vector<Candidate> best_;
  std::optional<Candidate> nearest_;
};

/// What a search has so far.
struct Found {
  SearchProgress progress;
  Population population;
  Archive archive;
};

/// Families on the threads, taken into what is found; they share what is left of the budget.
template <class Make>
void found_in_families(Searching& searching, std::size_t count, Found& found, const Make& make) {
  if (count == 0) return;
  if (searching.options.evaluations > 0) {
    if (found.progress.evaluated >= searching.options.evaluations) return;
    const auto left = static_cast<std::size_t>(searching.options.evaluations - found.progress.evaluated);
    count = std::min(count, left);
    searching.most_of_family = left / count;
  }
  for (const Brood& family : made_families(searching, count, make)) {
    found.progress.evaluated += family.evaluated;
    found.progress.feasible += family.feasible;
    found.archive.add(family.best);
    found.population.insert(found.population.end(), family.best.begin(), family.best.end());
  }
  found.population = selected(std::move(found.population));
  ++found.progress.generations;
  found.progress.compiled = searching.programs.compiled();
  found.progress.best = found.archive.costs();
  if (searching.options.on_generation) searching.options.on_generation(found.progress);
}

/// From the best, until neither a change of what is compiled nor climbing betters it, or the search is to end.
void polish(Searching& searching, Found& found) {
  const std::int64_t evaluations = searching.options.evaluations;
  while (!searching.stopped() && (evaluations == 0 || found.progress.evaluated < evaluations)) {
    const Candidate* best = found.archive.best();
    if (best == nullptr) return;
    const std::vector<double> costs = best->score.costs;
    const Placing from = best->places;
    found_in_families(searching, 1, found,
                      [&](std::size_t) { return climbed(searching, from, {1}, climbing_rounds); });
    const std::vector<Placing> changed =
        neighbours_of(searching.space, searching.compile_axes, found.archive.best()->places);
    found_in_families(searching, changed.size(), found,
                      [&](std::size_t f) { return climbed(searching, changed[f], {1}, 0); });
    if (found.archive.best()->score.costs == costs) return;
  }
}

}  // namespace

void check_search_space(const SearchSpace& space) {
  if (space.axes.empty()) throw Error("value_invalid", "/axes", "a search needs a row that is not fixed");
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    const std::string name(space.axes[a].row->name);
    if (space.axes[a].values.size() < 2 || space.axes[a].values.size() > 65'535)
      throw Error("value_invalid", "/axes", name + ": expected 2 to 65,535 values to choose from");
    for (std::size_t b = 0; b < a; ++b)
      if (space.axes[b].row == space.axes[a].row) throw Error("value_invalid", "/axes", name + " is given twice");
  }
}

Machine machine_at(const SearchSpace& space, std::span<const std::uint16_t> places) {
  Machine machine = space.base;
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    space.axes[a].row->write(machine, space.axes[a].values[places[a]]);
  for (const Axis& axis : space.axes)
    if (!is_shown(*axis.row, machine)) axis.row->write(machine, axis.row->read(space.base));
  return machine;
}

Machine machine_drawn(const SearchSpace& space, std::uint64_t seed, std::uint64_t number) {
  SearchDraws draws(seed, static_cast<std::int64_t>(number), 0);
  return machine_at(space, drawn_at_large(space, draws));
}

std::vector<std::uint16_t> nearest_places(const SearchSpace& space, const Machine& machine) {
  std::vector<std::uint16_t> places;
  for (const Axis& axis : space.axes) {
    const std::int64_t wanted = axis.row->read(machine);
    const auto own = std::ranges::find(axis.values, wanted);
    auto nearest = own != axis.values.end() ? own : axis.values.begin();
    if (own == axis.values.end() && has_order(*axis.row))
      nearest = std::ranges::min_element(axis.values, {}, [&](std::int64_t value) {
        return std::abs(std::log(static_cast<double>(value) + 1) - std::log(static_cast<double>(wanted) + 1));
      });
    places.push_back(static_cast<std::uint16_t>(nearest - axis.values.begin()));
  }
  return places;
}

SearchResult search(const SearchSpace& space, const SearchGoal& goal, const CompileFunction& compile_machine,
                    const MakeEvaluator& make_evaluator, const SearchOptions& options) {
  check_search_space(space);
  check(options.threads >= 1 && (options.evaluations > 0 || options.stop), "search: an end");
  Searching searching{space, goal, make_evaluator, options, ProgramCache(compile_machine, programs_kept), {}, {}};
  if (options.evaluations > 0)
    searching.members = std::clamp(static_cast<std::size_t>(options.evaluations / evaluations_a_member),
                                   least_members, most_members);
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    (changes_program(*space.axes[a].row) ? searching.compile_axes : searching.cost_axes).push_back(a);
  std::vector<Placing> starts = {nearest_places(space, space.base)};
  for (const Machine& start : options.starts) starts.push_back(nearest_places(space, start));
  const bool polishes = goal.objectives.size() == 1;
  const std::int64_t evolving = polishes ? options.evaluations - options.evaluations / 10 : options.evaluations;
  const auto enough = [&] { return polishes && options.enough && options.enough(); };
  Found found;
  while (!searching.stopped() && !enough() && (options.evaluations == 0 || found.progress.evaluated < evolving)) {
    const std::int64_t generation = found.progress.generations;
    const bool first = generation == 0;
    found_in_families(searching, first ? first_families : families, found, [&](std::size_t f) {
      SearchDraws draws(options.seed, generation, f);
      return first ? first_family(searching, starts, f, draws) : next_family(searching, found.population, f, draws);
    });
    if (found.population.empty()) break;  // stopped before the first
  }
  if (polishes) polish(searching, found);
  SearchResult result;
  result.progress = found.progress;
  result.stopped = searching.stopped();
  result.best = std::move(found.archive).taken();
  return result;
}

}  // namespace sdip
