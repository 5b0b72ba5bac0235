// Formulas with their names, from text and JSON.
#include "core/explore/space/formula.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/base/words.h"
#include "core/explore/space/formula_parser.h"

namespace sdip {
namespace {

/// Columns of points, and colours of the page, that are no metrics.
constexpr std::string_view other_columns[] = {"index",  "feasible",         "reason",  "sqnr_db",
                                              "cosine", "accuracy_weights", "density", "point"};

std::string shown(std::string_view text) { return std::string(text.substr(0, 80)); }

void check_name(std::string_view name, const std::string& where) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto inside = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || !lower(name[0]) || !std::ranges::all_of(name, inside))
    throw Error("value_invalid", where,
                "'" + shown(name) + "': expected a name of small letters, digits and _, a letter first");
  if (name.size() > longest_formula_name)
    throw Error("limit_exceeded", where,
                fmt::format("{}: a name has at most {} letters", shown(name), longest_formula_name));
  const char* taken = nullptr;
  if (find_metric(name) != nullptr) taken = " is a metric";
  if (find_setting(name) != nullptr) taken = " is a parameter";
  if (names_function(name)) taken = " is a function";
  if (std::ranges::find(other_columns, name) != std::end(other_columns)) taken = " is a column of its own";
  if (taken != nullptr) throw Error("value_conflict", where, std::string(name) + taken + ": choose another name");
}

void check_unit(std::string_view unit, const std::string& where) {
  const auto plain = [](char c) {
    return c >= ' ' && c <= '~' && std::string_view("\"'[],\\<>&").find(c) == std::string_view::npos;
  };
  if (unit.size() > longest_formula_unit)
    throw Error("limit_exceeded", where,
                fmt::format("{}: a unit has at most {} letters", shown(unit), longest_formula_unit));
  if (!std::ranges::all_of(unit, plain))
    throw Error("value_invalid", where, "'" + shown(unit) + "': expected a unit, as frame/J");
}

}  // namespace

Formula parse_formula(std::string_view name, std::string_view unit, std::string_view text,
                      const std::string& where) {
  check_name(name, where);
  check_unit(unit, where);
  if (text.size() > longest_formula)
    throw Error("limit_exceeded", where, fmt::format("{}: a formula has at most {} bytes", name, longest_formula));
  Formula formula;
  formula.name = name;
  formula.unit = unit;
  formula.text = text;
  parse_steps(formula, where);
  return formula;
}

Formula parse_constraint(std::string_view text, const std::string& where) {
  if (text.size() > longest_constraint)
    throw Error("limit_exceeded", where, fmt::format("a constraint has at most {} bytes", longest_constraint));
  Formula constraint;
  constraint.name = "constraint";
  constraint.text = text;
  parse_steps(constraint, where);
  return constraint;
}

namespace {

/// Appends steps, and knows how many values are waiting.
class Appending {
 public:
  explicit Appending(Formula& formula) : formula_(formula) {}
  void load(std::size_t input) { push({FormulaOperation::load, input, 0}, 1); }
  void constant(double number) { push({FormulaOperation::constant, 0, number}, 1); }
  /// Adds an operation on the last two values.
  void make(FormulaOperation operation) { push({operation, 0, 0}, -1); }

 private:
  void push(FormulaStep step, std::ptrdiff_t more) {
    formula_.steps.push_back(step);
    waiting_ += more;
    formula_.depth = std::max(formula_.depth, as_size(waiting_));
  }
  Formula& formula_;
  std::ptrdiff_t waiting_ = 0;
};

/// The sum over the table of 1, or of its number, where a point has its values.
void append_sum(std::span<const ParameterRow* const> rows, std::span<const TabledValue> table, bool of_numbers,
                Appending& steps) {
  steps.constant(0);
  for (const TabledValue& one : table) {
    steps.constant(of_numbers ? one.number : 1);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      steps.load(r);
      steps.constant(input_value(*rows[r], one.values[r]));
      steps.make(FormulaOperation::equal);
      steps.make(FormulaOperation::multiply);
    }
    steps.make(FormulaOperation::add);
  }
}

}  // namespace

Formula tabled_formula(std::string_view name, std::string_view unit, std::span<const ParameterRow* const> rows,
                       std::span<const TabledValue> table) {
  Formula formula;
  formula.name = formula.text = name;
  formula.unit = unit;
  for (const ParameterRow* row : rows) formula.inputs.push_back({row, {}});
  Appending steps(formula);
  append_sum(rows, table, true, steps);
  append_sum(rows, table, false, steps);
  steps.make(FormulaOperation::divide);
  return formula;
}

Formula at_least(const Formula& formula, double least) {
  Formula condition = formula;
  condition.name = "constraint";
  condition.text = formula.name + " >= " + shortest_text(least);
  condition.steps.push_back({FormulaOperation::constant, 0, least});
  condition.steps.push_back({FormulaOperation::greater_equal, 0, 0});
  condition.depth = std::max(formula.depth, std::size_t{2});
  return condition;
}

std::vector<Formula> constraints_from_json(const nlohmann::json& list, const std::string& where) {
  if (!list.is_array()) throw Error("value_invalid", where, "expected a list of conditions");
  if (list.size() > most_formulas)
    throw Error("limit_exceeded", where, fmt::format("expected at most {} constraints", most_formulas));
  std::vector<Formula> constraints;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = fmt::format("{}/{}", where, i);
    if (!list[i].is_string()) throw Error("value_invalid", pointer, "expected a condition, as area_mm2 <= 100");
    constraints.push_back(parse_constraint(list[i].get<std::string>(), pointer));
  }
  return constraints;
}

Formula formula_from_text(std::string_view text, const std::string& where) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    throw Error("value_invalid", where, shown(text) + ": expected name=expression or 'name [unit]=expression'");
  std::string_view name = trimmed(text.substr(0, equals)), unit;
  if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos && name.ends_with(']')) {
    unit = trimmed(name.substr(bracket + 1, name.size() - bracket - 2));
    name = trimmed(name.substr(0, bracket));
  }
  return parse_formula(name, unit, text.substr(equals + 1), where);
}

std::vector<Formula> formulas_from_json(const nlohmann::json& object, const std::string& where) {
  if (!object.is_object()) throw Error("value_invalid", where, "expected an object of names and formulas");
  if (object.size() > most_formulas)
    throw Error("limit_exceeded", where, fmt::format("expected at most {} formulas", most_formulas));
  std::vector<Formula> formulas;
  for (const auto& item : object.items()) {
    const std::string pointer = where + "/" + shown(item.key());
    const nlohmann::json& value = item.value();
    const bool record = value.is_object() && value.contains("formula");
    for (const auto& key : value.items())
      if (value.is_object() && key.key() != "formula" && key.key() != "unit")
        throw Error("unknown_key", pointer + "/" + shown(key.key()), "expected one of: formula unit");
    const nlohmann::json& text = record ? value["formula"] : value;
    const nlohmann::json unit = record && value.contains("unit") ? value["unit"] : nlohmann::json("");
    if (!text.is_string() || !unit.is_string())
      throw Error("value_invalid", pointer, R"(expected a formula, or {"formula": a text, "unit": a text})");
    formulas.push_back(parse_formula(item.key(), unit.get<std::string>(), text.get<std::string>(), pointer));
  }
  return formulas;
}

nlohmann::ordered_json formulas_json(std::span<const Formula> formulas) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Formula& formula : formulas)
    object[formula.name] = {{"formula", formula.text}, {"unit", formula.unit}};
  return object;
}

void check_formulas(std::span<const Formula> formulas, const std::string& where) {
  if (formulas.size() > most_formulas)
    throw Error("limit_exceeded", where, fmt::format("expected at most {} formulas", most_formulas));
  for (std::size_t i = 0; i < formulas.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (formulas[k].name == formulas[i].name)
        throw Error("value_conflict", where, formulas[i].name + " is named twice");
}

}  // namespace sdip
