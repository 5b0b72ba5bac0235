// ConvTranspose: every input element spread over the window it stands for.
#include <algorithm>
#include <numeric>

#include "core/base/units.h"
#include "core/ops/families.h"
#include "core/ops/products/conv_arithmetic.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// Pads so that the result has the size asked for; what is missing then (never more than asked) stays 0.
void pad_to_shape(const OperatorUse& use, Window& window, const std::vector<std::int64_t>& full) {
  const std::string auto_pad = auto_pad_of(use);
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  const std::size_t rank = window.out.size();
  const bool given = has_attribute(use, "output_shape");
  const auto wanted = window_sizes(use, "output_shape", rank, 0, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    if (given || same) {
      window.in[i] = given ? wanted[i] : window.out[i] * window.strides[i];
      const std::int64_t pad = std::max<std::int64_t>(0, full[i] - window.in[i]);
      window.pads_begin[i] = auto_pad == "SAME_UPPER" ? pad / 2 : pad - pad / 2;
    } else {
      if (auto_pad == "VALID") window.pads_begin[i] = window.pads_end[i] = 0;
      window.in[i] = full[i] - window.pads_begin[i] - window.pads_end[i];
    }
    if (window.in[i] < 0 || window.in[i] > most_window_size) {
      refuse(use, "shape_mismatch", "the result would have a size of " + std::to_string(window.in[i]));
    }
  }
}

/// The window of the convolution this is the transpose of: from the result (in) to the input (out).
Convolution transposed_of(const OperatorUse& use) {
  const Shape &x = input(use, 0).shape, &w = input(use, 1).shape;
  Convolution conv;
  conv.groups = int_attribute(use, "group", 1);
  if (x.size() < 3 || w.size() != x.size() || conv.groups < 1 || w[0] != x[1] || x[1] % conv.groups != 0 ||
      w[1] > most_window_size / conv.groups) {
    refuse(use, "shape_mismatch",
           fmt::format("input {}, weight {} and {} groups do not fit", shape_text(x), shape_text(w), conv.groups));
  }
  conv.batch = x[0];
  conv.in_channels = x[1];
  conv.out_channels = w[1] * conv.groups;
  Window& window = conv.window;
  const std::size_t rank = x.size() - 2;
  window.out.assign(x.begin() + 2, x.end());
  window.kernel = kernel_of_weight(use);
  window.in.assign(rank, 0);
  read_steps_and_pads(use, window);
  const auto more = window_sizes(use, "output_padding", rank, 0, 0);
  std::vector<std::int64_t> full(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t span = 0, steps = 0;
    if (window.out[i] < 1 || window.kernel[i] < 1 ||
        __builtin_mul_overflow(window.kernel[i] - 1, window.dilations[i], &span) || span > most_window_size ||
        __builtin_mul_overflow(window.out[i], window.strides[i], &steps) || steps > most_window_size) {
      refuse(use, "shape_mismatch", "sizes, strides or dilations are out of range");
    }
    full[i] = window.strides[i] * (window.out[i] - 1) + more[i] + span + 1;
  }
  pad_to_shape(use, window, full);
  return conv;
}

std::vector<Operand> infer_transposed(const OperatorUse& use) {
  const Convolution conv = transposed_of(use);
  require_shape(use, 2, {conv.out_channels});
  Shape shape = {conv.batch, conv.out_channels};
  shape.insert(shape.end(), conv.window.in.begin(), conv.window.in.end());
  return {typed(input(use, 0).type, shape)};
}

/// One axis of the nest below.
struct Phases {
  std::int64_t count, kernel, dilation, out, pad_begin, pad_end;
};
Phases phases_of(const Window& w, std::size_t axis) {
  const std::int64_t common = std::gcd(w.strides[axis], w.dilations[axis]);
  Phases p{};
  p.count = w.strides[axis];
  p.kernel = ceil_div(w.kernel[axis], w.strides[axis] / common);
  p.dilation = w.dilations[axis] / common;
  p.out = ceil_div(w.in[axis], w.strides[axis]);
  const std::int64_t span = (p.kernel - 1) * p.dilation + 1;
  p.pad_begin = span - 1;
  p.pad_end = std::max<std::int64_t>(0, p.out - w.out[axis]);
  return p;
}

/// The equivalent convolution of stride 1 over the input as it is: the results of each phase (position modulo the
/// stride) are output channels of their own and gather only those kernel elements that meet an input. A kernel of 4
/// at stride 2 is 2 phases of 2 elements, exactly; one of 3 counts 2 phases of 2 although one of them has only 1.
Work transposed_work(const OperatorUse& use, std::span<const Operand>) {
  const Convolution conv = transposed_of(use);
  Work work;
  work.family = Family::conv2d;
  LoopNest& nest = work.nest;
  nest.groups = conv.groups;
  Shape planes = {conv.batch}, in_channels = {conv.in_channels / conv.groups},
        out_channels = {conv.out_channels / conv.groups};
  const std::size_t rank = conv.window.in.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Phases p = phases_of(conv.window, axis);
    out_channels.push_back(p.count);
    if (axis + 1 == rank) {
      nest.in_w = conv.window.out[axis], nest.out_w = p.out, nest.kernel_w = p.kernel, nest.dilation_w = p.dilation;
      nest.pad_left = p.pad_begin, nest.pad_right = p.pad_end;
    } else if (axis + 2 == rank) {
      nest.in_h = conv.window.out[axis], nest.out_h = p.out, nest.kernel_h = p.kernel, nest.dilation_h = p.dilation;
      nest.pad_top = p.pad_begin, nest.pad_bottom = p.pad_end;
    } else {  // as Conv over three axes: planes of the result, each of all planes under its kernel
      planes.push_back(p.out);
      in_channels.push_back(p.kernel);
    }
  }
  nest.batch = element_count(planes);
  nest.in_channels = element_count(in_channels);
  nest.out_channels = element_count(out_channels);
  return work;
}

void compute_transposed(const OperatorUse& use, std::span<Operand> outputs) {
  set_doubles(outputs[0],
              spread_out(transposed_of(use), doubles_of(use, 0), doubles_of(use, 1), doubles_of(use, 2), use.stop));
}

constexpr Operator conv_transpose_operators[] = {
    {"", "ConvTranspose", "conv_transpose", 2, 3,
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides", infer_transposed,
     transposed_work, compute_transposed, "7 11 22"},
};

}  // namespace

std::span<const Operator> conv_transpose_rows() { return conv_transpose_operators; }

}  // namespace sdip
