// A metric of the user's own: an expression over metrics and parameters, parsed once, computed for whole columns.
//
//   comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]       1 where it holds, else 0
//   sum        = product {("+" | "-") product}
//   product    = signed {("*" | "/") signed}
//   signed     = "-" signed | power
//   power      = value ["^" ("-" power | power)]                          2^3^2 = 2^9, -2^2 = -4
//   value      = number | name | function "(" comparison {"," comparison} ")" | "(" comparison ")"
//
// A name is a metric's or a parameter's, in its own unit; a flag is 1 or 0. A parameter that is a choice can only
// be compared, with == or !=, with the name of a value in quotes: weight_format == "int8". Functions: abs ceil exp
// floor log (natural) log2 sqrt, min and max of two or more, if(condition, then, else), whose condition holds
// unless 0.
//
// What is no number stays none: a comparison, min, max or condition with it, too; only the branch that `if` does
// not take may be none. A result that is infinite is none.
//
// Worked example. "energy_j_per_frame * latency_s ^ 2" becomes the steps of its inputs 0 and 1: load 0, load 1,
// constant 2, power, multiply; at most three values wait at once. For 0.5 J and 3 s it is 4.5.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/price/estimate.h"
#include "core/machine/machine.h"

namespace sdip {

/// A column that a formula reads: of a parameter where one is named, else of a metric.
struct FormulaInput {
  const ParameterRow* parameter = nullptr;
  Metric metric{};
  friend bool operator==(const FormulaInput&, const FormulaInput&) = default;
};

/// The value of a parameter in a formula: in its unit, a flag 0 or 1, a choice its place among them.
double input_value(const ParameterRow& row, std::int64_t value);

enum class FormulaOperation {
  load,      // an input
  constant,  // a number
  negate,
  absolute,
  ceiling,
  floor,
  exponential,
  logarithm,
  logarithm2,
  root,  // of the last value
  add,
  subtract,
  multiply,
  divide,
  power,
  least,
  most,  // of the last two
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  choose  // of the last three
};

struct FormulaStep {
  FormulaOperation operation = FormulaOperation::constant;
  std::size_t input = 0;  // load
  double number = 0;      // constant
  friend bool operator==(const FormulaStep&, const FormulaStep&) = default;
};

struct Formula {
  std::string name, unit, text;
  std::vector<FormulaInput> inputs;  // each once, in order of first use
  std::vector<FormulaStep> steps;    // each takes its values from the end of those before and puts one there
  std::size_t depth = 0;             // most values at once
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// Whether a condition of that value is kept: by any number but 0.
inline bool condition_holds(double value) { return std::fabs(value) > 0; }

inline constexpr std::size_t most_formulas = 32, longest_formula_name = 64, longest_formula = 1000,
                             longest_formula_unit = 32, longest_constraint = 900, deepest_formula = 100;

/// Throws Error(code, where, ...): "formula_invalid" for a text that is none, saying the column in it and what was
/// expected; "value_invalid" for a name that is not [a-z][a-z0-9_]* or a unit with other than printable ASCII, a
/// quote, a bracket or a comma; "value_conflict" for the name of a metric, a parameter, a function or another
/// column of points; "limit_exceeded" beyond the limits above.
Formula parse_formula(std::string_view name, std::string_view unit, std::string_view text,
                      const std::string& where);

/// A condition on points, which holds unless it is 0 or none; its name is "constraint". Throws likewise.
Formula parse_constraint(std::string_view text, const std::string& where);
/// Reads a list of texts. Throws Error("value_invalid", where, ...), too.
std::vector<Formula> constraints_from_json(const nlohmann::json& list, const std::string& where);

/// A formula of "name=text" or "name [unit]=text", as `--metric` and the query have it.
Formula formula_from_text(std::string_view text, const std::string& where);

/// A number that was found elsewhere for points with these values of some rows, in their coding.
struct TabledValue {
  std::vector<std::int64_t> values;
  double number = 0;
};
/// The formula that has these numbers, and none for other points. Requires `values` that differ, one of each row.
/// Its text is its name. Worked example: 20 where weight_format is int8, 9 where it is int4, is
/// ((w == int8) * 20 + (w == int4) * 9) / ((w == int8) + (w == int4)).
Formula tabled_formula(std::string_view name, std::string_view unit, std::span<const ParameterRow* const> rows,
                       std::span<const TabledValue> table);
/// The condition that a formula is at least so much.
Formula at_least(const Formula& formula, double least);

/// Reads {"name": "text"} and {"name": {"formula": "text", "unit": "J"}}, in the order of the names; and back.
std::vector<Formula> formulas_from_json(const nlohmann::json& object, const std::string& where);
nlohmann::ordered_json formulas_json(std::span<const Formula> formulas);

/// Throws Error("value_conflict" | "limit_exceeded", where, ...) where two have one name, or there are too many.
void check_formulas(std::span<const Formula> formulas, const std::string& where);

/// values[i] of inputs[k][i], the value of formula.inputs[k]; NaN where there is none. Requires columns of one
/// length.
void compute(const Formula& formula, std::span<const std::span<const double>> inputs, std::span<double> values);

}  // namespace sdip
