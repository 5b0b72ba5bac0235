// Convolutions over any number of spatial axes, and what a batch norm leaves of their weights.
#include "core/ops/products/conv.h"

#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {

Convolution convolution_of(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &w = input(use, 1).shape;
  if (x.size() < 3 || w.size() != x.size()) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} and weight {} must be of equal rank, 3 or more", shape_text(x), shape_text(w)));
  }
  Convolution conv;
  conv.window = window_of(use, std::vector<std::int64_t>(x.begin() + 2, x.end()), kernel_of_weight(use));
  conv.groups = int_attribute(use, "group", 1);
  conv.batch = x[0];
  conv.in_channels = x[1];
  conv.out_channels = w[0];
  if (conv.groups < 1 || x[1] % conv.groups != 0 || w[0] % conv.groups != 0 || w[1] != x[1] / conv.groups) {
    refuse(use, "shape_mismatch",
           fmt::format("input {}, weight {} and {} groups do not fit", shape_text(x), shape_text(w), conv.groups));
  }
  return conv;
}

Shape shape_of(const Convolution& conv) {
  Shape shape = {conv.batch, conv.out_channels};
  shape.insert(shape.end(), conv.window.out.begin(), conv.window.out.end());
  return shape;
}

Work convolution_work(const Convolution& conv) {
  const Window& window = conv.window;
  Work work;
  work.family = Family::conv2d;
  LoopNest& nest = work.nest;
  nest.groups = conv.groups;
  nest.out_channels = conv.out_channels / conv.groups;
  Shape planes = {conv.batch}, channels = {conv.in_channels / conv.groups};
  const std::size_t last = window.in.size() - 1;
  for (std::size_t i = 0; i + 1 < last; ++i) {
    planes.push_back(window.out[i]);
    channels.push_back(window.kernel[i]);
  }
  nest.batch = element_count(planes);
  nest.in_channels = element_count(channels);
  nest.in_w = window.in[last], nest.out_w = window.out[last], nest.kernel_w = window.kernel[last];
  nest.stride_w = window.strides[last], nest.dilation_w = window.dilations[last];
  nest.pad_left = window.pads_begin[last], nest.pad_right = window.pads_end[last];
  if (last >= 1) {
    const std::size_t rows = last - 1;
    nest.in_h = window.in[rows], nest.out_h = window.out[rows], nest.kernel_h = window.kernel[rows];
    nest.stride_h = window.strides[rows], nest.dilation_h = window.dilations[rows];
    nest.pad_top = window.pads_begin[rows], nest.pad_bottom = window.pads_end[rows];
  }
  return work;
}

namespace {

std::vector<Operand> infer_conv(const OperatorUse& use) {
  const Convolution conv = convolution_of(use);
  require_shape(use, 2, {conv.out_channels});
  return {typed(input(use, 0).type, shape_of(conv))};
}

Work conv_work(const OperatorUse& use, std::span<const Operand>) { return convolution_work(convolution_of(use)); }

void compute_conv(const OperatorUse& use, std::span<Operand> outputs) {
  set_doubles(outputs[0],
              convolved(convolution_of(use), doubles_of(use, 0), doubles_of(use, 1), doubles_of(use, 2), use.stop));
}

/// The weight and bias of a convolution that a batch norm was folded into (core/graph/rewrite/fold_batchnorm.cpp);
/// made at compile time. Inputs: W [M,...], scale, var; and scale, beta, mean, var and perhaps the convolution's
/// own bias, each [M].
std::vector<Operand> infer_folded(const OperatorUse& use) {
  const Operand& first = input(use, 0);
  if (first.shape.empty()) refuse(use, "shape_mismatch", "the first input is a scalar");
  for (std::size_t i = 1; i < use.inputs.size(); ++i) require_shape(use, i, {first.shape[0]});
  return {typed(first.type, first.shape)};
}

/// Factor of each channel: scale / sqrt(var + epsilon).
std::vector<double> channel_factors(const OperatorUse& use, std::size_t scale, std::size_t variance) {
  std::vector<double> factors = doubles_of(use, scale), variances = doubles_of(use, variance);
  const double epsilon = float_attribute(use, "epsilon", 1e-5);
  for (std::size_t m = 0; m < factors.size(); ++m) factors[m] /= std::sqrt(variances[m] + epsilon);
  return factors;
}

/// W * scale / sqrt(var + epsilon)
void compute_folded_weight(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> weights = doubles_of(use, 0);
  const std::vector<double> factors = channel_factors(use, 1, 2);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= factors[i / (weights.size() / factors.size())];
  set_doubles(outputs[0], weights);
}

/// beta + (bias - mean) * scale / sqrt(var + epsilon)
void compute_folded_bias(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<double> factors = channel_factors(use, 0, 3), mean = doubles_of(use, 2);
  std::vector<double> beta = doubles_of(use, 1);
  const std::vector<double> bias = doubles_of(use, 4);
  for (std::size_t m = 0; m < beta.size(); ++m) beta[m] += ((bias.empty() ? 0.0 : bias[m]) - mean[m]) * factors[m];
  set_doubles(outputs[0], beta);
}

constexpr Operator conv_operators[] = {
    {"", "Conv", "conv2d", 2, 3, "auto_pad dilations group kernel_shape pads strides", infer_conv, conv_work,
     compute_conv, "7 11 22"},
    {"sdip", "FoldedBias", "constant", 4, 5, "epsilon", infer_folded, constant_work, compute_folded_bias},
    {"sdip", "FoldedWeight", "constant", 3, 3, "epsilon", infer_folded, constant_work, compute_folded_weight},
};

}  // namespace

std::span<const Operator> conv_rows() { return conv_operators; }

}  // namespace sdip
