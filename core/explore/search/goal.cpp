// Machines scored by objectives and conditions.
#include "core/explore/search/goal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/error.h"

namespace sdip {
namespace {

std::vector<double> formula_values(const Formula& formula, std::span<const Machine> machines,
                                   std::span<const Outcome> outcomes) {
  std::vector<std::vector<double>> columns;
  for (const FormulaInput& input : formula.inputs) {
    std::vector<double>& column = columns.emplace_back();
    for (std::size_t i = 0; i < machines.size(); ++i)
      column.push_back(input.parameter != nullptr
                           ? input_value(*input.parameter, input.parameter->read(machines[i]))
                           : outcomes[i].values[input.metric]);
  }
  const std::vector<std::span<const double>> inputs(columns.begin(), columns.end());
  std::vector<double> values(machines.size());
  compute(formula, inputs, values);
  return values;
}

/// How many values a step takes, of which it makes one.
std::size_t taken_by(FormulaOperation operation) {
  if (operation <= FormulaOperation::constant) return 0;
  if (operation <= FormulaOperation::root) return 1;
  return operation == FormulaOperation::choose ? 3 : 2;
}

/// Both sides of a comparison, and which is to be the greater.
struct Sides {
  Formula left, right;
  FormulaOperation comparison;
};

/// The two values that the last step of a formula takes, which takes two.
Sides taken_by_the_last(const Formula& formula) {
  // The right one is the shortest end of the steps before that makes a value of its own.
  std::size_t begin = formula.steps.size() - 1;
  for (std::size_t wanted = 1; wanted > 0;) {
    --begin;
    wanted += taken_by(formula.steps[begin].operation);
    --wanted;
  }
  Sides sides{formula, formula, formula.steps.back().operation};
  const auto middle = static_cast<std::ptrdiff_t>(begin);
  sides.left.steps.assign(formula.steps.begin(), formula.steps.begin() + middle);
  sides.right.steps.assign(formula.steps.begin() + middle, formula.steps.end() - 1);
  return sides;
}

bool is_zero(const Formula& formula) {
  const FormulaStep& only = formula.steps.front();
  return formula.steps.size() == 1 && only.operation == FormulaOperation::constant && only.number == 0;
}

/// Nothing where the last step of a condition is no comparison. a - b beside 0 is a beside b.
std::optional<Sides> sides_of(const Formula& condition) {
  const FormulaOperation last = condition.steps.back().operation;
  if (last < FormulaOperation::less || last > FormulaOperation::unequal) return std::nullopt;
  Sides sides = taken_by_the_last(condition);
  const auto subtracts = [](const Formula& side) {
    return side.steps.back().operation == FormulaOperation::subtract;
  };
  if (is_zero(sides.right) && subtracts(sides.left)) {
    Sides both = taken_by_the_last(sides.left);
    return Sides{std::move(both.left), std::move(both.right), last};
  }
  if (is_zero(sides.left) && subtracts(sides.right)) {
    Sides both = taken_by_the_last(sides.right);
    return Sides{std::move(both.right), std::move(both.left), last};
  }
  return sides;
}

/// How far the sides are from what is wanted of them: below 0 it holds with that to spare. The distance is relative
/// to the greater; where one is 0 or they have two signs, to which nothing is greater, it is the logarithm of their
/// distance.
double beyond(FormulaOperation comparison, double left, double right) {
  if (comparison == FormulaOperation::unequal) return left == right ? 0 : -1;
  double distance = std::abs(left - right);
  if (comparison == FormulaOperation::less || comparison == FormulaOperation::less_equal)
    distance = left - right;
  else if (comparison == FormulaOperation::greater || comparison == FormulaOperation::greater_equal)
    distance = right - left;
  if (!std::isfinite(distance)) return 1;
  if (left * right > 0) return distance / std::max(std::abs(left), std::abs(right));
  const double size = std::log1p(std::abs(distance));
  return std::copysign(size / (1 + size), distance);
}

/// For each machine whether a condition is broken, and how far the machine is from that where the condition
/// compares something.
struct Kept {
  std::vector<bool> broken;
  std::vector<double> beyond;  // none: no comparison
};
Kept kept(const Formula& condition, std::span<const Machine> machines, std::span<const Outcome> outcomes) {
  Kept kept;
  for (const double holds : formula_values(condition, machines, outcomes))
    kept.broken.push_back(!condition_holds(holds));
  const auto sides = sides_of(condition);
  if (!sides) return kept;
  const auto left = formula_values(sides->left, machines, outcomes);
  const auto right = formula_values(sides->right, machines, outcomes);
  for (std::size_t i = 0; i < machines.size(); ++i)
    kept.beyond.push_back(beyond(sides->comparison, left[i], right[i]));
  return kept;
}

void add_violations(const Formula& condition, std::span<const Machine> machines, std::span<const Outcome> outcomes,
                    std::vector<Score>& scores) {
  const Kept its = kept(condition, machines, outcomes);
  for (std::size_t i = 0; i < machines.size(); ++i)
    if (its.broken[i])  // equal sides of "<" are beyond it, too
      scores[i].violation += its.beyond.empty() ? 1 : std::max(its.beyond[i], 1e-9);
}

/// The costs of objectives; a formula that says nothing of a machine is a violation.
std::vector<Score> scores_by_objectives(const SearchGoal& goal, std::span<const Machine> machines,
                                        std::span<const Outcome> outcomes) {
  check(!goal.objectives.empty() && machines.size() == outcomes.size(), "scores: an outcome for each machine");
  std::vector<Score> all(machines.size());
  for (const Objective& objective : goal.objectives) {
    const std::vector<double> values = measured(objective.measure, machines, outcomes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool unsaid = std::isnan(values[i]);
      const double cost = objective.better == Better::higher ? -values[i] : values[i];
      all[i].costs.push_back(unsaid ? std::numeric_limits<double>::infinity() : cost);
      if (unsaid && outcomes[i].feasible) all[i].violation += 1;
    }
  }
  return all;
}

void add_limits(std::span<const Outcome> outcomes, std::vector<Score>& scores) {
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (!outcomes[i].counted())
      scores[i].violation = no_values;
    else if (!outcomes[i].feasible)
      scores[i].violation += broken_limit;
}

}  // namespace

std::vector<double> measured(const Measure& measure, std::span<const Machine> machines,
                             std::span<const Outcome> outcomes) {
  if (measure.formula) return formula_values(*measure.formula, machines, outcomes);
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(outcome.values[measure.metric]);
  return values;
}

std::vector<Score> scores(const SearchGoal& goal, std::span<const Machine> machines,
                          std::span<const Outcome> outcomes) {
  std::vector<Score> all = scores_by_objectives(goal, machines, outcomes);
  for (const Formula& condition : goal.constraints) add_violations(condition, machines, outcomes, all);
  add_limits(outcomes, all);
  return all;
}

std::vector<Score> relaxed_scores(const SearchGoal& goal, std::span<const Machine> machines,
                                  std::span<const Outcome> outcomes) {
  constexpr double spared = -0.5, forgiven = 1.0 / 3;
  std::vector<Score> all = scores_by_objectives(goal, machines, outcomes);
  std::vector<double> sums(machines.size());
  bool compared = false;
  for (const Formula& condition : goal.constraints) {
    const Kept its = kept(condition, machines, outcomes);
    compared = compared || !its.beyond.empty();
    for (std::size_t i = 0; i < machines.size(); ++i) {
      if (its.beyond.empty()) {
        all[i].violation += its.broken[i] ? 1 : 0;
        continue;
      }
      sums[i] += std::clamp(its.beyond[i], spared, forgiven);
      all[i].violation += std::max(its.beyond[i] - forgiven, 0.0);
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double>& costs = all[i].costs;
    if (compared) {
      costs.push_back(std::exp(sums[i]));
      continue;
    }
    const double area = outcomes[i].values[Metric::area_mm2], root = area > 0 ? std::sqrt(area) : 1;
    costs = {costs[0] * root, costs[0] / root};
  }
  add_limits(outcomes, all);
  return all;
}

}  // namespace sdip
