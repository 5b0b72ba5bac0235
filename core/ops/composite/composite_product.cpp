// Products that onnxruntime's optimiser makes (com.microsoft): with scale, transposition or activation fused, and
// the convolution with channels last.
#include <algorithm>
#include <numeric>

#include "core/ops/body.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

/// The activation named by `type` of x, with parameters in the order that its ONNX attributes or bounds stand in.
int activated(BodyWriter& w, int x, const std::string& type, const std::vector<double>& parameters) {
  const auto at = [&](std::size_t i, double otherwise) {
    return i < parameters.size() ? parameters[i] : otherwise;
  };
  const ElementType element = input(w.use, 0).type;
  if (type.empty()) return x;
  for (const std::string_view plain : {"Relu", "Tanh", "Sigmoid", "HardSwish"})
    if (type == plain) return w.node(plain, {x});
  if (type == "LeakyRelu") return w.node("LeakyRelu", {x}, {{"alpha", at(0, 0.01)}});
  if (type == "HardSigmoid") return w.node("HardSigmoid", {x}, {{"alpha", at(0, 0.2)}, {"beta", at(1, 0.5)}});
  if (type == "Clip") {
    require(w.use, parameters.size() == 2, "activation Clip must have two activation_params");
    return w.node("Clip", {x, w.number(element, parameters[0]), w.number(element, parameters[1])});
  }
  refuse(w.use, "unsupported_attribute", "activation '" + type + "' is not known here");
}

std::vector<double> floats_attribute(const OperatorUse& use, std::string_view name) {
  if (!has_attribute(use, name)) return {};
  const auto* values = std::get_if<std::vector<double>>(&use.attributes->find(name)->second);
  if (values == nullptr) refuse(use, "unsupported_attribute", fmt::format("attribute '{}' must be floats", name));
  return *values;
}

/// Those of the use's attributes that its product has, too.
Attributes kept_attributes(const OperatorUse& use, std::initializer_list<std::string_view> names) {
  Attributes kept;
  for (std::string_view name : names)
    if (has_attribute(use, name)) kept.insert(*use.attributes->find(name));
  return kept;
}

Attributes conv_attributes(const OperatorUse& use) {
  return kept_attributes(use, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"});
}

/// Conv(X, W, B?) + Z?, then the activation.
std::vector<int> expand_fused_conv(BodyWriter& w, const OperatorUse& use) {
  int y = w.node("Conv", {0, 1, w.given(2)}, conv_attributes(use));
  if (w.given(3) >= 0) y = w.node("Add", {y, 3});
  return {activated(w, y, string_attribute(use, "activation", ""), floats_attribute(use, "activation_params"))};
}

/// X [N,H,W,C], W [M,kh,kw,C/group] -> [N,H,W,M].
std::vector<int> expand_nhwc_conv(BodyWriter& w, const OperatorUse& use) {
  shape_of_rank(use, 0, 4);
  shape_of_rank(use, 1, 4);
  const int x = w.transpose(0, {0, 3, 1, 2}), weight = w.transpose(1, {0, 3, 1, 2});
  const int y = w.node("Conv", {x, weight, w.given(2)}, conv_attributes(use));
  return {w.transpose(y, {0, 2, 3, 1})};
}

std::vector<int> expand_fused_gemm(BodyWriter& w, const OperatorUse& use) {
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (has_attribute(use, name)) parameters.push_back(float_attribute(use, name, 0));
  }
  const int y = w.node("Gemm", {0, 1, w.given(2)}, kept_attributes(use, {"alpha", "beta", "transA", "transB"}));
  return {activated(w, y, string_attribute(use, "activation", ""), parameters)};
}

/// The operand with its last two axes exchanged, or, with `batch`, its first axis moved to the last but one:
/// transBatchA says that the matrices' rows stand before the batch.
int arranged(BodyWriter& w, std::size_t i, bool trans, bool batch) {
  const std::size_t rank = input(w.use, i).shape.size();
  if (rank < 2 || (!trans && !batch)) return static_cast<int>(i);
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (batch) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (trans) std::swap(order[rank - 1], order[rank - 2]);
  return w.transpose(static_cast<int>(i), std::move(order));
}

std::vector<int> expand_fused_matmul(BodyWriter& w, const OperatorUse& use) {
  const auto flag = [&](const char* name) { return int_attribute(use, name, 0) != 0; };
  const int a = arranged(w, 0, flag("transA"), flag("transBatchA"));
  const int b = arranged(w, 1, flag("transB"), flag("transBatchB"));
  const double alpha = float_attribute(use, "alpha", 1.0);
  const int y = w.node("MatMul", {a, b});
  if (alpha == 1.0) return {y};
  return {w.node("Mul", {y, w.number(input(use, 0).type, alpha)})};
}

constexpr Operator composite_product_operators[] = {
    composite<expand_fused_conv>("com.microsoft", "FusedConv", "conv2d", 2, 4,
                                 "activation activation_params auto_pad dilations group kernel_shape pads strides"),
    composite<expand_fused_gemm>("com.microsoft", "FusedGemm", "linear", 2, 3,
                                 "activation activation_alpha activation_beta alpha beta transA transB"),
    composite<expand_fused_matmul>("com.microsoft", "FusedMatMul", "matmul", 2, 2,
                                   "alpha transA transB transBatchA transBatchB"),
    composite<expand_nhwc_conv>("com.microsoft", "NhwcConv", "conv2d", 2, 3,
                                "auto_pad dilations group kernel_shape pads strides"),
};

}  // namespace

std::span<const Operator> composite_product_rows() { return composite_product_operators; }

}  // namespace sdip
