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

/// Nothing where the last step of a condition is no comparison.
std::optional<Sides> sides_of(const Formula& condition) {
  const FormulaOperation last = condition.steps.back().operation;
  if (last < FormulaOperation::less || last > FormulaOperation::unequal) return std::nullopt;
  // The right side is the shortest end of the steps before that makes a value of its own.
  std::size_t begin = condition.steps.size() - 1;
  for (std::size_t wanted = 1; wanted > 0;) {
    --begin;
    wanted += taken_by(condition.steps[begin].operation);
    --wanted;
  }
  Sides sides{condition, condition, last};
  const auto middle = static_cast<std::ptrdiff_t>(begin);
  sides.left.steps.assign(condition.steps.begin(), condition.steps.begin() + middle);
  sides.right.steps.assign(condition.steps.begin() + middle, condition.steps.end() - 1);
  return sides;
}

/// Of a condition that does not hold.
double violation_of(FormulaOperation comparison, double left, double right) {
  double beyond = std::abs(left - right);
  if (comparison == FormulaOperation::less || comparison == FormulaOperation::less_equal)
    beyond = left - right;
  else if (comparison == FormulaOperation::greater || comparison == FormulaOperation::greater_equal)
    beyond = right - left;
  const double scale = std::max(std::abs(left), std::abs(right));
  if (!std::isfinite(beyond) || !(scale > 0)) return 1;
  return std::max(beyond / scale, 1e-9);  // equal sides of "<" are beyond it, too
}

void add_violations(const Formula& condition, std::span<const Machine> machines, std::span<const Outcome> outcomes,
                    std::vector<Score>& scores) {
  const std::vector<double> holds = formula_values(condition, machines, outcomes);
  const auto broken = [&](std::size_t i) { return !(holds[i] != 0) || std::isnan(holds[i]); };
  const auto sides = sides_of(condition);
  const auto left = sides ? formula_values(sides->left, machines, outcomes) : std::vector<double>();
  const auto right = sides ? formula_values(sides->right, machines, outcomes) : std::vector<double>();
  for (std::size_t i = 0; i < machines.size(); ++i)
    if (broken(i)) scores[i].violation += sides ? violation_of(sides->comparison, left[i], right[i]) : 1;
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
  check(!goal.objectives.empty() && machines.size() == outcomes.size(), "scores: an outcome for each machine");
  std::vector<Score> all(machines.size());
  for (const Objective& objective : goal.objectives) {
    const std::vector<double> values = measured(objective.measure, machines, outcomes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool unsaid = std::isnan(values[i]);
      const double cost = objective.better == Better::higher ? -values[i] : values[i];
      all[i].costs.push_back(unsaid ? std::numeric_limits<double>::infinity() : cost);
      if (unsaid && outcomes[i].feasible) all[i].violation += 1;  // a formula that says nothing of it
    }
  }
  for (const Formula& condition : goal.constraints) add_violations(condition, machines, outcomes, all);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!outcomes[i].counted())
      all[i].violation = no_values;
    else if (!outcomes[i].feasible)
      all[i].violation += broken_limit;
  return all;
}

}  // namespace sdip
