// Metrics and formulas of points.
#include "core/explore/space/measure.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/nearest_names.h"

namespace sdip {
namespace {

void append_parameter(const ParameterRow& row, const Space& space, std::int64_t first, std::size_t count,
                      std::vector<double>& values) {
  const auto linked = [&](const Link& link) { return link.row->name == row.name; };
  if (std::ranges::any_of(space.links, linked)) {
    for (std::size_t i = 0; i < count; ++i) {
      double value = std::numeric_limits<double>::quiet_NaN();
      try {
        value = input_value(row, row.read(point(space, first + static_cast<std::int64_t>(i))));
      } catch (const Error&) {  // the point is infeasible
      }
      values.push_back(value);
    }
    return;
  }
  const auto axis = std::ranges::find(space.axes, row.name, [](const Axis& one) { return one.row->name; });
  if (axis == space.axes.end()) {
    values.insert(values.end(), count, input_value(row, row.read(space.base)));
    return;
  }
  const auto number = as_size(axis - space.axes.begin());
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(input_value(row, axis_value(space, number, first + static_cast<std::int64_t>(i))));
}

}  // namespace

std::string_view Measure::name() const {
  return formula ? std::string_view(formula->name) : metrics()[metric].name;
}
std::string_view Measure::unit() const {
  return formula ? std::string_view(formula->unit) : metrics()[metric].unit;
}
Better Measure::better() const { return formula ? Better::neither : metrics()[metric].better; }

Measure require_measure(std::string_view name, std::span<const Formula> formulas, const std::string& where) {
  const auto formula = std::ranges::find(formulas, name, &Formula::name);
  if (formula != formulas.end()) return Measure(*formula);
  if (const MetricRow* row = find_metric(name)) return static_cast<Metric>(row - metrics().data());
  std::vector<std::string_view> names;
  for (const Formula& one : formulas) names.push_back(one.name);
  for (const MetricRow& row : metrics()) names.push_back(row.name);
  const std::string hint = nearest_names(name, names);
  throw Error(
      "unknown_metric", where,
      fmt::format("no metric {}; {}", name.substr(0, 80), hint.empty() ? "`sdip metrics` lists them" : hint));
}

void append_measure(const Measure& measure, const Space& space, std::int64_t first,
                    std::span<const std::uint8_t> feasible, const MetricColumn& metric,
                    std::vector<double>& values) {
  if (!measure.formula) return metric(measure.metric, values);
  const Formula& formula = *measure.formula;
  std::vector<std::vector<double>> columns(formula.inputs.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const FormulaInput& input = formula.inputs[k];
    if (input.parameter != nullptr)
      append_parameter(*input.parameter, space, first, feasible.size(), columns[k]);
    else
      metric(input.metric, columns[k]);
  }
  const std::size_t before = values.size();
  values.resize(before + feasible.size());
  const std::vector<std::span<const double>> inputs(columns.begin(), columns.end());
  const std::span<double> fresh = std::span(values).subspan(before);
  compute(formula, inputs, fresh);
  for (std::size_t i = 0; i < fresh.size(); ++i)
    if (feasible[i] == 0) fresh[i] = std::numeric_limits<double>::quiet_NaN();
}

double measure_of(const Measure& measure, const Space& space, std::int64_t index, const MetricValues& metrics,
                  bool feasible) {
  if (!measure.formula) return metrics[measure.metric];
  const std::uint8_t flag = feasible ? 1 : 0;
  std::vector<double> value;
  append_measure(
      measure, space, index, {&flag, 1},
      [&](Metric metric, std::vector<double>& column) { column.push_back(metrics[metric]); }, value);
  return value.at(0);
}

Objective objective_from_text(std::string_view text, std::span<const Formula> formulas, const std::string& where) {
  const bool most = text.starts_with("max:"), least = text.starts_with("min:");
  const Measure measure = require_measure(most || least ? text.substr(4) : text, formulas, where);
  if (most || least) return {measure, most ? Better::higher : Better::lower};
  const std::string name(measure.name());
  if (measure.better() == Better::neither)
    throw Error("value_invalid", where,
                fmt::format("{} is by itself neither better high nor low: say max:{} or min:{}", name, name, name));
  return {measure, measure.better()};
}

std::string objective_text(const Objective& objective) {
  std::string name(objective.measure.name());
  if (objective.better == objective.measure.better()) return name;
  return (objective.better == Better::higher ? "max:" : "min:") + name;
}

std::vector<Objective> objectives_from_json(const nlohmann::json& list, std::span<const Formula> formulas) {
  if (!list.is_array()) throw Error("value_invalid", "/objectives", "expected a list of metrics");
  std::vector<Objective> objectives;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = "/objectives/" + std::to_string(i);
    if (!list[i].is_string()) throw Error("value_invalid", where, "expected the name of a metric");
    objectives.push_back(objective_from_text(list[i].get<std::string>(), formulas, where));
  }
  check_objectives(objectives, "/objectives");
  return objectives;
}

void check_objectives(std::span<const Objective> objectives, const std::string& where) {
  if (objectives.empty()) throw Error("value_invalid", where, "expected at least one metric");
  for (std::size_t i = 0; i < objectives.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (objectives[k].measure.name() == objectives[i].measure.name())
        throw Error("value_invalid", where, std::string(objectives[i].measure.name()) + " is named twice");
}

std::vector<Better> directions(std::span<const Objective> objectives) {
  std::vector<Better> better;
  for (const Objective& one : objectives) better.push_back(one.better);
  return better;
}

std::vector<Measure> measures_of(std::span<const Objective> objectives) {
  std::vector<Measure> measures;
  for (const Objective& one : objectives) measures.push_back(one.measure);
  return measures;
}

}  // namespace sdip
