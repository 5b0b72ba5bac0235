// Operators of one operand that work element by element, each one circuit: activations, roots, casts.
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// What a known element becomes: over floats, and over integers. Only what IEEE 754 rounds correctly is here.
struct UnaryFold {
  std::string_view type;
  double (*floats)(double);
  std::int64_t (*ints)(std::int64_t);
};
constexpr UnaryFold unary_folds[] = {
    {"Abs", [](double x) { return std::fabs(x); }, nullptr},
    {"Ceil", [](double x) { return std::ceil(x); }, nullptr},
    {"Floor", [](double x) { return std::floor(x); }, nullptr},
    {"Neg", [](double x) { return -x; }, [](std::int64_t x) { return x == INT64_MIN ? x : -x; }},
    {"Not", nullptr, [](std::int64_t x) -> std::int64_t { return x == 0; }},
    {"Reciprocal", [](double x) { return 1.0 / x; }, nullptr},
    {"Relu", [](double x) { return x > 0 ? x : 0.0; }, nullptr},
    {"Sqrt", [](double x) { return std::sqrt(x); }, nullptr},
};

Operand same_type_and_shape(const OperatorUse& use) {
  Operand out;
  out.type = input(use, 0).type;
  out.shape = input(use, 0).shape;
  return out;
}

std::vector<Operand> infer_same(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  Operand out = same_type_and_shape(use);
  if (!in.value) return {out};
  for (const UnaryFold& fold : unary_folds) {
    if (fold.type != use.type) continue;
    Tensor value = *in.value;
    if ((!value.floats.empty() && fold.floats == nullptr) || (!value.ints.empty() && fold.ints == nullptr)) break;
    for (double& x : value.floats) x = fold.floats(x);
    for (std::int64_t& x : value.ints) x = fold.ints(x);
    out.value = value.ints.empty() ? float_constant(out.type, out.shape, std::move(value.floats))
                                   : int_constant(out.type, out.shape, std::move(value.ints));
  }
  return {out};
}

std::vector<Operand> infer_test(const OperatorUse& use) {
  Operand out = same_type_and_shape(use);
  out.type = ElementType::boolean;
  return {out};
}

/// Bounds are attributes before opset 11, inputs from there on; both are scalars and change no shape.
std::vector<Operand> infer_clip(const OperatorUse& use) {
  for (std::size_t i = 1; i < use.inputs.size(); ++i) {
    const Operand* bound = optional_input(use, i);
    if (bound != nullptr && element_count(bound->shape) != 1) {
      refuse(use, "shape_mismatch", "bounds must be scalars, but one is " + shape_text(bound->shape));
    }
  }
  return {same_type_and_shape(use)};
}

std::optional<Tensor> cast_constant(const Tensor& value, ElementType to) {
  if (is_floating(to)) {
    std::vector<double> floats = value.floats;
    if (value.floats.empty()) floats.assign(value.ints.begin(), value.ints.end());
    return float_constant(to, value.shape, std::move(floats));
  }
  std::vector<std::int64_t> ints = value.ints;
  for (double x : value.floats) {
    if (!(std::fabs(x) < 9.0e18)) return std::nullopt;  // does not fit, infinite, or not a number
    ints.push_back(static_cast<std::int64_t>(x));
  }
  if (to == ElementType::boolean) {
    for (std::size_t i = 0; i < ints.size(); ++i)
      ints[i] = value.floats.empty() ? ints[i] != 0 : value.floats[i] != 0;
  }
  return int_constant(to, value.shape, std::move(ints));
}

Operand cast_to(const Operand& in, ElementType to) {
  Operand out;
  out.type = to;
  out.shape = in.shape;
  if (in.value && to != ElementType::string) out.value = cast_constant(*in.value, to);
  if (in.fill && is_floating(to)) out.fill = in.fill;
  return out;
}

std::vector<Operand> infer_cast(const OperatorUse& use) {
  const auto to = element_type_of_onnx(int_attribute(use, "to", 0));
  if (!to) refuse(use, "unsupported_attribute", "attribute 'to' names no element type known here");
  return {cast_to(input(use, 0), *to)};
}

std::vector<Operand> infer_cast_like(const OperatorUse& use) {
  return {cast_to(input(use, 0), input(use, 1).type)};
}

Work cast_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return input(use, 0).type == outputs[0].type ? view_work(use, outputs) : elementwise_work(use, outputs);
}

/// The second operand gives the type alone.
Work cast_like_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = cast_work(use, outputs);
  work.read_elements.at(1) = 0;
  return work;
}

constexpr Operator rows[] = {
    {"", "Abs", "abs", 1, 1, "", infer_same, elementwise_work},
    {"", "Acos", "acos", 1, 1, "", infer_same, elementwise_work},
    {"", "Acosh", "acosh", 1, 1, "", infer_same, elementwise_work},
    {"", "Asin", "asin", 1, 1, "", infer_same, elementwise_work},
    {"", "Asinh", "asinh", 1, 1, "", infer_same, elementwise_work},
    {"", "Atan", "atan", 1, 1, "", infer_same, elementwise_work},
    {"", "Atanh", "atanh", 1, 1, "", infer_same, elementwise_work},
    {"", "Cast", "cast", 1, 1, "saturate to", infer_cast, cast_work},
    {"", "CastLike", "cast", 2, 2, "saturate", infer_cast_like, cast_like_work},
    {"", "Ceil", "ceil", 1, 1, "", infer_same, elementwise_work},
    {"", "Celu", "celu", 1, 1, "alpha", infer_same, elementwise_work},
    {"", "Clip", "clip", 1, 3, "min max", infer_clip, elementwise_work},
    {"", "Cos", "cos", 1, 1, "", infer_same, elementwise_work},
    {"", "Cosh", "cosh", 1, 1, "", infer_same, elementwise_work},
    {"", "Elu", "elu", 1, 1, "alpha", infer_same, elementwise_work},
    {"", "Erf", "erf", 1, 1, "", infer_same, elementwise_work},
    {"", "Exp", "exp", 1, 1, "", infer_same, elementwise_work},
    {"", "Floor", "floor", 1, 1, "", infer_same, elementwise_work},
    {"", "Gelu", "gelu", 1, 1, "approximate", infer_same, elementwise_work},
    {"", "HardSigmoid", "hard_sigmoid", 1, 1, "alpha beta", infer_same, elementwise_work},
    {"", "HardSwish", "hard_swish", 1, 1, "", infer_same, elementwise_work},
    {"", "IsInf", "is_inf", 1, 1, "detect_negative detect_positive", infer_test, elementwise_work},
    {"", "IsNaN", "is_nan", 1, 1, "", infer_test, elementwise_work},
    {"", "LeakyRelu", "leaky_relu", 1, 1, "alpha", infer_same, elementwise_work},
    {"", "Log", "log", 1, 1, "", infer_same, elementwise_work},
    {"", "Mish", "mish", 1, 1, "", infer_same, elementwise_work},
    {"", "Neg", "neg", 1, 1, "", infer_same, elementwise_work},
    {"", "Not", "not", 1, 1, "", infer_same, elementwise_work},
    {"", "Reciprocal", "reciprocal", 1, 1, "", infer_same, elementwise_work},
    {"", "Relu", "relu", 1, 1, "", infer_same, elementwise_work},
    {"", "Round", "round", 1, 1, "", infer_same, elementwise_work},
    {"", "Selu", "selu", 1, 1, "alpha gamma", infer_same, elementwise_work},
    {"", "Shrink", "shrink", 1, 1, "bias lambd", infer_same, elementwise_work},
    {"", "Sigmoid", "sigmoid", 1, 1, "", infer_same, elementwise_work},
    {"", "Sign", "sign", 1, 1, "", infer_same, elementwise_work},
    {"", "Sin", "sin", 1, 1, "", infer_same, elementwise_work},
    {"", "Sinh", "sinh", 1, 1, "", infer_same, elementwise_work},
    {"", "Softplus", "softplus", 1, 1, "", infer_same, elementwise_work},
    {"", "Softsign", "softsign", 1, 1, "", infer_same, elementwise_work},
    {"", "Sqrt", "sqrt", 1, 1, "", infer_same, elementwise_work},
    {"", "Tan", "tan", 1, 1, "", infer_same, elementwise_work},
    {"", "Tanh", "tanh", 1, 1, "", infer_same, elementwise_work},
    {"", "ThresholdedRelu", "thresholded_relu", 1, 1, "alpha", infer_same, elementwise_work},
    {"sdip", "Gelu", "gelu", 1, 1, "approximate", infer_same, elementwise_work},
    {"sdip", "QuickGelu", "quick_gelu", 1, 1, "alpha", infer_same, elementwise_work},
    {"sdip", "Silu", "silu", 1, 1, "", infer_same, elementwise_work},
};

}  // namespace

std::span<const Operator> activation_rows() { return rows; }

}  // namespace sdip
