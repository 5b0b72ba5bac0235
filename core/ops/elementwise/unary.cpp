// Mathematics of one operand, element by element: roots, exponentials, angles, signs, roundings, tests, bounds.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::vector<Operand> infer_not(const OperatorUse& use) {
  require_type(use, 0, is_boolean, "a boolean");
  return {like_first(use)};
}

std::vector<Operand> infer_bitwise_not(const OperatorUse& use) {
  require_type(use, 0, is_integer, "an integer");
  return {like_first(use)};
}

std::vector<Operand> infer_test(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  return {typed(ElementType::boolean, input(use, 0).shape)};
}

template <bool (*F)(const OperatorUse&, double)>
void compute_test(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<std::int64_t> found;
  for (double x : value_of(use, 0).floats) found.push_back(F(use, x));
  set_ints(outputs[0], std::move(found));
}

template <std::int64_t (*F)(std::int64_t)>
void compute_ints(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<std::int64_t> values = value_of(use, 0).ints;
  for (std::int64_t& x : values) x = F(x);
  set_ints(outputs[0], std::move(values));
}

/// A function of floats, another of integers; the least integer wraps to itself when its sign is turned.
template <double (*F)(double), std::int64_t (*G)(std::int64_t)>
void compute_either(const OperatorUse& use, std::span<Operand> outputs) {
  is_floating(outputs[0].type) ? compute_function<F>(use, outputs) : compute_ints<G>(use, outputs);
}

double minus(double x) { return -x; }
std::int64_t minus_int(std::int64_t x) { return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)); }
std::int64_t absolute_int(std::int64_t x) { return x < 0 ? minus_int(x) : x; }
std::int64_t not_int(std::int64_t x) { return x == 0; }
std::int64_t bitwise_not_int(std::int64_t x) { return ~x; }
double reciprocal(double x) { return 1.0 / x; }
double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }  // not-a-number stays

bool is_nan(const OperatorUse&, double x) { return std::isnan(x); }
bool is_inf(const OperatorUse& use, double x) {
  return std::isinf(x) && int_attribute(use, x < 0 ? "detect_negative" : "detect_positive", 1) != 0;
}

void compute_abs(const OperatorUse& use, std::span<Operand> outputs) {
  if (outputs[0].type == ElementType::uint64) return set_ints(outputs[0], value_of(use, 0).ints);
  compute_either<std::fabs, absolute_int>(use, outputs);
}

/// Bounds are attributes before opset 11, inputs from there on; both are scalars and change no shape.
std::vector<Operand> infer_clip(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  for (std::size_t i = 1; i < use.inputs.size(); ++i) {
    const Operand* bound = optional_input(use, i);
    if (bound == nullptr) continue;
    if (element_count(bound->shape) != 1) {
      refuse(use, "shape_mismatch", "bounds must be scalars, but one is " + shape_text(bound->shape));
    }
    if (bound->type != input(use, 0).type) {
      refuse(use, "shape_mismatch",
             fmt::format("a bound is {}, expected the input's type", element_type_text(bound->type)));
    }
  }
  return {like_first(use)};
}

/// Where the bounds cross, the upper one holds.
void compute_clip(const OperatorUse& use, std::span<Operand> outputs) {
  const bool by_input = use.opset >= 11;
  const Tensor* low = by_input ? optional_value(use, 1) : nullptr;
  const Tensor* high = by_input ? optional_value(use, 2) : nullptr;
  if (is_floating(outputs[0].type)) {
    const double least = low != nullptr ? low->floats[0]
                         : by_input     ? -HUGE_VAL
                                        : float_attribute(use, "min", -HUGE_VAL);
    const double most = high != nullptr ? high->floats[0]
                        : by_input      ? HUGE_VAL
                                        : float_attribute(use, "max", HUGE_VAL);
    std::vector<double> values = value_of(use, 0).floats;
    for (double& x : values) x = std::min(std::max(x, least), most);
    return set_doubles(outputs[0], std::move(values));
  }
  const ElementType type = outputs[0].type;
  std::vector<std::int64_t> values = value_of(use, 0).ints;
  for (std::int64_t& x : values) {
    if (low != nullptr && sort_key(type, x) < sort_key(type, low->ints[0])) x = low->ints[0];
    if (high != nullptr && sort_key(type, x) > sort_key(type, high->ints[0])) x = high->ints[0];
  }
  set_ints(outputs[0], std::move(values));
}

constexpr Operator unary_operators[] = {
    {"", "Abs", "abs", 1, 1, "", infer_number, elementwise_work, compute_abs, "7 13"},
    {"", "Acos", "acos", 1, 1, "", infer_float, elementwise_work, compute_function<std::acos>, "7 22"},
    {"", "Acosh", "acosh", 1, 1, "", infer_float, elementwise_work, compute_function<std::acosh>, "9 22"},
    {"", "Asin", "asin", 1, 1, "", infer_float, elementwise_work, compute_function<std::asin>, "7 22"},
    {"", "Asinh", "asinh", 1, 1, "", infer_float, elementwise_work, compute_function<std::asinh>, "9 22"},
    {"", "Atan", "atan", 1, 1, "", infer_float, elementwise_work, compute_function<std::atan>, "7 22"},
    {"", "Atanh", "atanh", 1, 1, "", infer_float, elementwise_work, compute_function<std::atanh>, "9 22"},
    {"", "BitwiseNot", "not", 1, 1, "", infer_bitwise_not, elementwise_work, compute_ints<bitwise_not_int>, "18"},
    {"", "Ceil", "ceil", 1, 1, "", infer_float, elementwise_work, compute_function<std::ceil>, "7 13"},
    {"", "Clip", "clip", 1, 3, "min max", infer_clip, elementwise_work, compute_clip, "7 11 12 13"},
    {"", "Cos", "cos", 1, 1, "", infer_float, elementwise_work, compute_function<std::cos>, "7 22"},
    {"", "Cosh", "cosh", 1, 1, "", infer_float, elementwise_work, compute_function<std::cosh>, "9 22"},
    {"", "Erf", "erf", 1, 1, "", infer_number, elementwise_work, compute_function<std::erf>, "9 13"},
    {"", "Exp", "exp", 1, 1, "", infer_float, elementwise_work, compute_function<std::exp>, "7 13"},
    {"", "Floor", "floor", 1, 1, "", infer_float, elementwise_work, compute_function<std::floor>, "7 13"},
    {"", "IsInf", "is_inf", 1, 1, "detect_negative detect_positive", infer_test, elementwise_work,
     compute_test<is_inf>, "10 20"},
    {"", "IsNaN", "is_nan", 1, 1, "", infer_test, elementwise_work, compute_test<is_nan>, "9 13 20"},
    {"", "Log", "log", 1, 1, "", infer_float, elementwise_work, compute_function<std::log>, "7 13"},
    {"", "Neg", "neg", 1, 1, "", infer_number, elementwise_work, compute_either<minus, minus_int>, "7 13"},
    {"", "Not", "not", 1, 1, "", infer_not, elementwise_work, compute_ints<not_int>, "7"},
    {"", "Reciprocal", "reciprocal", 1, 1, "", infer_float, elementwise_work, compute_function<reciprocal>, "7 13"},
    {"", "Round", "round", 1, 1, "", infer_float, elementwise_work, compute_function<std::nearbyint>, "11 22"},
    {"", "Sign", "sign", 1, 1, "", infer_number, elementwise_work, compute_function<sign>, "9 13"},
    {"", "Sin", "sin", 1, 1, "", infer_float, elementwise_work, compute_function<std::sin>, "7 22"},
    {"", "Sinh", "sinh", 1, 1, "", infer_float, elementwise_work, compute_function<std::sinh>, "9 22"},
    {"", "Sqrt", "sqrt", 1, 1, "", infer_float, elementwise_work, compute_function<std::sqrt>, "7 13"},
    {"", "Tan", "tan", 1, 1, "", infer_float, elementwise_work, compute_function<std::tan>, "7 22"},
    {"", "Tanh", "tanh", 1, 1, "", infer_float, elementwise_work, compute_function<std::tanh>, "7 13"},
};

}  // namespace

std::span<const Operator> unary_rows() { return unary_operators; }

}  // namespace sdip
