// Activations: functions of one operand, element by element, each one circuit.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
/// ln(1 + e^x), which does not overflow on the way.
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double softsign(double x) { return x / (1.0 + std::fabs(x)); }
double silu(double x) { return x * sigmoid(x); }
double mish(double x) { return x * std::tanh(softplus(x)); }
double hard_swish(double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }
double gelu(double x) { return 0.5 * x * (1.0 + std::erf(x * M_SQRT1_2)); }
double gelu_tanh(double x) {
  return 0.5 * x * (1.0 + std::tanh(M_SQRT2 / std::sqrt(M_PI) * (x + 0.044715 * x * x * x)));
}

void compute_relu(const OperatorUse& use, std::span<Operand> outputs) {
  Tensor value = value_of(use, 0);
  if (value.type != ElementType::uint64) {
    on_elements(value, [](auto& elements) {
      for (auto& x : elements) x = x < 0 ? 0 : x;
    });
  }
  outputs[0].value = std::move(value);
}

void compute_elu(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 1.0);
  compute_each(use, outputs, [=](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}

void compute_celu(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 1.0);
  compute_each(use, outputs, [=](double x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
}

/// The defaults are the specification's.
void compute_selu(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 1.67326319217681884765625);
  const double gamma = float_attribute(use, "gamma", 1.05070102214813232421875);
  compute_each(use, outputs, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

void compute_leaky_relu(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 0.01);
  compute_each(use, outputs, [=](double x) { return x < 0 ? alpha * x : x; });
}

void compute_thresholded_relu(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 1.0);
  compute_each(use, outputs, [=](double x) { return x <= alpha ? 0.0 : x; });
}

void compute_hard_sigmoid(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 0.2), beta = float_attribute(use, "beta", 0.5);
  compute_each(use, outputs, [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
}

void compute_shrink(const OperatorUse& use, std::span<Operand> outputs) {
  const double bias = float_attribute(use, "bias", 0.0), lambda = float_attribute(use, "lambd", 0.5);
  compute_each(use, outputs, [=](double x) { return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0; });
}

/// ScaledTanh comes from Core ML; its two numbers have no default.
std::vector<Operand> infer_scaled_tanh(const OperatorUse& use) {
  for (const char* name : {"alpha", "beta"}) require_attribute(use, name);
  return infer_float(use);
}

/// alpha tanh(beta x)
void compute_scaled_tanh(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", 1), beta = float_attribute(use, "beta", 1);
  compute_each(use, outputs, [=](double x) { return alpha * std::tanh(beta * x); });
}

/// x times sigmoid(alpha x): Swish with alpha 1 unless given, QuickGELU with 1.702.
void compute_swish(const OperatorUse& use, std::span<Operand> outputs) {
  const double alpha = float_attribute(use, "alpha", use.type == "QuickGelu" ? 1.702 : 1.0);
  compute_each(use, outputs, [=](double x) { return x * sigmoid(alpha * x); });
}

std::vector<Operand> infer_gelu(const OperatorUse& use) {
  choice_attribute(use, "approximate", "none", {"none", "tanh"});
  return infer_float(use);
}

void compute_gelu(const OperatorUse& use, std::span<Operand> outputs) {
  compute_each(use, outputs, string_attribute(use, "approximate", "none") == "tanh" ? gelu_tanh : gelu);
}

/// Relu takes integers from opset 14 on, Shrink always.
constexpr Operator activation_operators[] = {
    {"", "Celu", "celu", 1, 1, "alpha", infer_float, elementwise_work, compute_celu, "12"},
    {"", "Elu", "elu", 1, 1, "alpha", infer_float, elementwise_work, compute_elu, "7 22"},
    {"", "Gelu", "gelu", 1, 1, "approximate", infer_gelu, elementwise_work, compute_gelu, "20"},
    {"", "HardSigmoid", "hard_sigmoid", 1, 1, "alpha beta", infer_float, elementwise_work, compute_hard_sigmoid,
     "7 22"},
    {"", "HardSwish", "hard_swish", 1, 1, "", infer_float, elementwise_work, compute_function<hard_swish>, "14 22"},
    {"", "LeakyRelu", "leaky_relu", 1, 1, "alpha", infer_float, elementwise_work, compute_leaky_relu, "7 16"},
    {"", "Mish", "mish", 1, 1, "", infer_float, elementwise_work, compute_function<mish>, "18 22"},
    {"", "Relu", "relu", 1, 1, "", infer_number, elementwise_work, compute_relu, "7 13 14"},
    {"", "ScaledTanh", "scaled_tanh", 1, 1, "alpha beta", infer_scaled_tanh, elementwise_work, compute_scaled_tanh,
     "7"},
    {"", "Selu", "selu", 1, 1, "alpha gamma", infer_float, elementwise_work, compute_selu, "7 22"},
    {"", "Shrink", "shrink", 1, 1, "bias lambd", infer_number, elementwise_work, compute_shrink, "9"},
    {"", "Sigmoid", "sigmoid", 1, 1, "", infer_float, elementwise_work, compute_function<sigmoid>, "7 13"},
    {"", "Softplus", "softplus", 1, 1, "", infer_float, elementwise_work, compute_function<softplus>, "7 22"},
    {"", "Softsign", "softsign", 1, 1, "", infer_float, elementwise_work, compute_function<softsign>, "7 22"},
    {"", "Swish", "swish", 1, 1, "alpha", infer_float, elementwise_work, compute_swish, "24"},
    {"", "ThresholdedRelu", "thresholded_relu", 1, 1, "alpha", infer_float, elementwise_work,
     compute_thresholded_relu, "10 22"},
    {"sdip", "Gelu", "gelu", 1, 1, "approximate", infer_gelu, elementwise_work, compute_gelu, "1"},
    {"sdip", "QuickGelu", "quick_gelu", 1, 1, "alpha", infer_float, elementwise_work, compute_swish, "1"},
    {"sdip", "Silu", "silu", 1, 1, "", infer_float, elementwise_work, compute_function<silu>, "1"},
};

}  // namespace

std::span<const Operator> activation_rows() { return activation_operators; }

}  // namespace sdip
