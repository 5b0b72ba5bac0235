// Screening the rows of a machine.
#include "core/study/screening.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/on_threads.h"
#include "core/base/stop.h"
#include "core/explore/search/families.h"

namespace sdip {
namespace {

/// Machines that share a program, by their places.
using Sharing = std::map<std::vector<std::int64_t>, std::vector<std::size_t>>;

/// Evaluates the machines of one program. Where it cannot be compiled they stay without values, and say why.
void evaluate_sharing(const CompileFunction& compile_machine, const std::vector<Machine>& machines,
                      const std::vector<std::size_t>& places, std::vector<Outcome>& outcomes) {
  try {
    const Programs programs = compile_machine(machines[places[0]]);
    const Evaluator evaluator = evaluator_of(programs, side_by_side);
    std::vector<Machine> its;
    for (const std::size_t place : places) its.push_back(machines[place]);
    std::vector<Outcome> found(its.size());
    evaluate_each(evaluator, its, found);
    for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(found[i]);
  } catch (const Error& error) {
    if (is_cancelled(error)) throw;
    for (const std::size_t place : places) outcomes[place].reason = error.what();
  }
}

std::vector<Outcome> outcomes_on(const CompileFunction& compile_machine, const std::vector<Machine>& machines,
                                 int threads, Screening& screening) {
  std::vector<Outcome> outcomes(machines.size());
  for (Outcome& outcome : outcomes) outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  Sharing sharing;
  for (std::size_t i = 0; i < machines.size(); ++i) try {
      check_machine_in(screening.request.space, machines[i]);
      sharing[compile_key(machines[i])].push_back(i);
    } catch (const Error& error) {
      outcomes[i].reason = text_of(error);
    }
  List<const std::vector<std::size_t>*> groups;
  for (const auto& [key, places] : sharing) groups.push_back(&places);
  on_threads(threads, std::ssize(groups),
             [&](std::int64_t g) { evaluate_sharing(compile_machine, machines, *groups[g], outcomes); });
  screening.compiled = std::ssize(groups);
  return outcomes;
}

}  // namespace

std::int64_t ScreeningRequest::machines() const {
  return samples * (std::ssize(space.axes) + (method == ScreeningMethod::morris ? 1 : 2));
}

Screening screen(const CompileFunction& compile_machine, const ScreeningRequest& request, int threads) {
  Screening screening;
  screening.request = request;
  const SearchSpace& space = request.space;
  const std::size_t factors = space.axes.size();
  const bool morris = request.method == ScreeningMethod::morris;
  MorrisDesign design = morris ? morris_design(factors, request.samples, request.seed) : MorrisDesign();
  std::vector<UnitPoint> points = morris ? design.points : sobol_design(factors, request.samples, request.seed);
  std::vector<Machine> machines;
  for (UnitPoint& point : points) {
    Placing places;
    for (std::size_t a = 0; a < factors; ++a) {
      const std::size_t size = space.axes[a].values.size(), place = place_in(size, point[a]);
      places.push_back(static_cast<std::uint16_t>(place));
      if (size > 1) point[a] = static_cast<double>(place) / static_cast<double>(size - 1);
    }
    machines.push_back(machine_at(space, places));
  }
  if (morris) design.points = std::move(points);  // a row of few values is stepped by other shares of its range
  const std::vector<Outcome> outcomes = outcomes_on(compile_machine, machines, threads, screening);
  screening.evaluated = std::ssize(outcomes);
  std::vector<bool> has_none(outcomes.size());
  for (const Measure& measure : request.measures) {
    std::vector<double> values = measured(measure, machines, outcomes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // A formula of parameters has a value of any machine.
      if (!outcomes[i].counted()) values[i] = std::numeric_limits<double>::quiet_NaN();
      if (!std::isnan(values[i])) continue;
      has_none[i] = true;
      if (screening.reason.empty())
        screening.reason =
            outcomes[i].counted() ? std::string(measure.name()) + " is no number" : outcomes[i].reason;
    }
    if (morris)
      screening.effects.push_back(morris_effects(design, values));
    else
      screening.indices.push_back(sobol_indices(factors, values));
  }
  screening.without_value = std::ranges::count(has_none, true);
  return screening;
}

std::vector<std::size_t> by_importance(const Screening& screening, std::size_t measure) {
  const auto importance = [&](std::size_t a) {
    const double value =
        screening.effects.empty() ? screening.indices[measure][a].total : screening.effects[measure][a].mean_size;
    return std::isnan(value) ? -1 : value;
  };
  std::vector<std::size_t> order(screening.request.space.axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return importance(a) > importance(b); });
  return order;
}

}  // namespace sdip
