// Convolutions: Conv over one or two spatial axes. One axis is two of which the first has size 1.
#include "core/ops/families.h"
#include "core/ops/window.h"

namespace sdip {
namespace {

/// The window, from the shapes of input [N,C,...] and weight [M,C/groups,...].
Window conv_window(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &w = input(use, 1).shape;
  if (x.size() < 3 || w.size() != x.size()) {
    refuse(use, "shape_mismatch",
           "input " + shape_text(x) + " and weight " + shape_text(w) + " must be of equal rank, 3 or 4");
  }
  if (x.size() > 4) {
    refuse(use, "unsupported_attribute",
           "a convolution over " + std::to_string(x.size() - 2) + " axes is not supported, only over one or two");
  }
  const std::vector<std::int64_t> kernel(w.begin() + 2, w.end());
  if (ints_attribute(use, "kernel_shape", kernel) != kernel) {
    refuse(use, "shape_mismatch", "kernel_shape differs from the weight's shape " + shape_text(w));
  }
  return window_of(use, std::vector<std::int64_t>(x.begin() + 2, x.end()), kernel);
}

std::vector<Operand> infer_conv(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &w = input(use, 1).shape;
  const Window window = conv_window(use);
  const std::int64_t groups = int_attribute(use, "group", 1);
  if (groups < 1 || x[1] % groups != 0 || w[0] % groups != 0 || w[1] != x[1] / groups) {
    refuse(use, "shape_mismatch",
           "input " + shape_text(x) + ", weight " + shape_text(w) + " and " + std::to_string(groups) +
               " groups do not fit");
  }
  const Operand* bias = optional_input(use, 2);
  if (bias != nullptr && bias->shape != Shape{w[0]}) {
    refuse(use, "shape_mismatch", "bias " + shape_text(bias->shape) + " must be [" + std::to_string(w[0]) + "]");
  }
  Operand out;
  out.type = input(use, 0).type;
  out.shape = {x[0], w[0]};
  out.shape.insert(out.shape.end(), window.out.begin(), window.out.end());
  return {out};
}

Work conv_work(const OperatorUse& use, std::span<const Operand>) {
  const Shape &x = input(use, 0).shape, &w = input(use, 1).shape;
  const Window window = conv_window(use);
  Work work;
  work.family = Family::conv2d;
  LoopNest& nest = work.nest;
  nest.groups = int_attribute(use, "group", 1);
  nest.batch = x[0];
  nest.out_channels = w[0] / nest.groups;
  nest.in_channels = w[1];
  const std::size_t last = window.in.size() - 1;
  nest.in_w = window.in[last], nest.out_w = window.out[last], nest.kernel_w = window.kernel[last];
  nest.stride_w = window.strides[last], nest.dilation_w = window.dilations[last];
  nest.pad_left = window.pads_begin[last], nest.pad_right = window.pads_end[last];
  if (last == 1) {
    nest.in_h = window.in[0], nest.out_h = window.out[0], nest.kernel_h = window.kernel[0];
    nest.stride_h = window.strides[0], nest.dilation_h = window.dilations[0];
    nest.pad_top = window.pads_begin[0], nest.pad_bottom = window.pads_end[0];
  }
  return work;
}

/// The weight and bias of a convolution that a batch norm was folded into (core/graph/fold_batchnorm.cpp); made at
/// compile time. Inputs: W, scale, var; and scale, beta, mean, var and perhaps the convolution's own bias.
std::vector<Operand> infer_folded(const OperatorUse& use) {
  Operand out;
  out.type = input(use, 0).type;
  out.shape = input(use, 0).shape;
  return {out};
}

constexpr Operator rows[] = {
    {"", "Conv", "conv2d", 2, 3, "auto_pad dilations group kernel_shape pads strides", infer_conv, conv_work},
    {"sdip", "FoldedBias", "constant", 4, 5, "epsilon", infer_folded, constant_work},
    {"sdip", "FoldedWeight", "constant", 3, 3, "epsilon", infer_folded, constant_work},
};

}  // namespace

std::span<const Operator> conv_rows() { return rows; }

}  // namespace sdip
