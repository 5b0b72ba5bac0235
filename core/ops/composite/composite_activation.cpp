// Activations and sums that onnxruntime's optimiser makes (com.microsoft): Gelu and its kin, BiasAdd.
#include "core/ops/body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

Attributes gelu_by(const char* approximate) { return {{"approximate", std::string(approximate)}}; }

std::vector<int> expand_gelu(BodyWriter& w, const OperatorUse&) {
  return {w.node("sdip.Gelu", {0}, gelu_by("none"))};
}

/// By tanh, of x or x + bias.
std::vector<int> expand_fast_gelu(BodyWriter& w, const OperatorUse&) {
  const int x = w.given(1) < 0 ? 0 : w.node("Add", {0, 1});
  return {w.node("sdip.Gelu", {x}, gelu_by("tanh"))};
}

std::vector<int> expand_bias_gelu(BodyWriter& w, const OperatorUse&) {
  return {w.node("sdip.Gelu", {w.node("Add", {0, 1})}, gelu_by("none"))};
}

std::vector<int> expand_quick_gelu(BodyWriter& w, const OperatorUse& use) {
  return {w.node("sdip.QuickGelu", {0}, {{"alpha", float_attribute(use, "alpha", 1.702)}})};
}

/// left * gelu(right) of the halves of x + bias along the last axis.
std::vector<int> expand_bias_split_gelu(BodyWriter& w, const OperatorUse& use) {
  const Shape& x = shape_of_rank(use, 0, 3);
  if (x[2] % 2 != 0) refuse(use, "shape_mismatch", "the last size of " + shape_text(x) + " must be even");
  const int sum = w.node("Add", {0, 1});
  const int left = w.slice(sum, 2, 0, x[2] / 2), right = w.slice(sum, 2, x[2] / 2, x[2]);
  return {w.node("Mul", {left, w.node("sdip.Gelu", {right}, gelu_by("none"))})};
}

std::vector<int> expand_bias_add(BodyWriter& w, const OperatorUse&) {
  return {w.node("Add", {w.node("Add", {0, 1}), 2})};
}

constexpr Operator composite_activation_operators[] = {
    composite<expand_bias_add>("com.microsoft", "BiasAdd", "add", 3, 3, ""),
    composite<expand_bias_gelu>("com.microsoft", "BiasGelu", "gelu", 2, 2, ""),
    composite<expand_bias_split_gelu>("com.microsoft", "BiasSplitGelu", "gelu", 2, 2, ""),
    composite<expand_fast_gelu>("com.microsoft", "FastGelu", "gelu", 1, 2, ""),
    composite<expand_gelu>("com.microsoft", "Gelu", "gelu", 1, 1, ""),
    composite<expand_quick_gelu>("com.microsoft", "QuickGelu", "quick_gelu", 1, 1, "alpha"),
};

}  // namespace

std::span<const Operator> composite_activation_rows() { return composite_activation_operators; }

}  // namespace sdip
