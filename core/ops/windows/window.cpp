// Sliding windows: what convolution and pooling share.
#include "core/ops/windows/window.h"

#include <algorithm>

#include "core/base/units.h"

namespace sdip {
namespace {

/// SAME: as many outputs as strides fit the input; what is missing is padded, the odd one at the end (UPPER) or
/// start.
void pad_same(Window& window, bool odd_one_at_end) {
  for (std::size_t i = 0; i < window.in.size(); ++i) {
    window.out[i] = ceil_div(window.in[i], window.strides[i]);
    const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t pad =
        std::max<std::int64_t>(0, (window.out[i] - 1) * window.strides[i] + span - window.in[i]);
    window.pads_begin[i] = odd_one_at_end ? pad / 2 : pad - pad / 2;
    window.pads_end[i] = pad - window.pads_begin[i];
  }
}

}  // namespace

std::int64_t size_input(const OperatorUse& use, std::size_t i, std::int64_t least) {
  const auto sizes = ints_of_input(use, i);
  if (sizes.size() != 1 || sizes[0] < least || sizes[0] > most_window_size) {
    refuse(use, "shape_mismatch", fmt::format("input {} must be one number from {}", i, least));
  }
  return sizes[0];
}

std::vector<std::int64_t> window_sizes(const OperatorUse& use, const char* name, std::size_t count,
                                       std::int64_t otherwise, std::int64_t least) {
  auto sizes = ints_attribute(use, name, std::vector<std::int64_t>(count, otherwise));
  if (sizes.size() != count) {
    refuse(use, "unsupported_attribute",
           fmt::format("attribute '{}' has {} values, expected {}", name, sizes.size(), count));
  }
  for (std::int64_t size : sizes) {
    if (size < least || size > most_window_size) {
      refuse(use, "unsupported_attribute",
             fmt::format("attribute '{}' has {}, expected at least {}", name, size, least));
    }
  }
  return sizes;
}

void read_steps_and_pads(const OperatorUse& use, Window& window) {
  const std::size_t rank = window.kernel.size();
  window.strides = window_sizes(use, "strides", rank, 1, 1);
  window.dilations = window_sizes(use, "dilations", rank, 1, 1);
  const auto pads = window_sizes(use, "pads", 2 * rank, 0, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
}

std::string auto_pad_of(const OperatorUse& use) {
  return known_attribute(use, "auto_pad", "NOTSET", {"NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER"});
}

std::vector<std::int64_t> kernel_of_weight(const OperatorUse& use) {
  const Shape& weight = input(use, 1).shape;
  std::vector<std::int64_t> kernel(weight.begin() + 2, weight.end());
  if (ints_attribute(use, "kernel_shape", kernel) != kernel) {
    refuse(use, "shape_mismatch", "kernel_shape differs from the weight's shape " + shape_text(weight));
  }
  return kernel;
}

Window window_of(const OperatorUse& use, std::vector<std::int64_t> in, std::vector<std::int64_t> kernel) {
  const std::size_t rank = in.size();
  if (kernel.size() != rank) refuse(use, "shape_mismatch", "the kernel's rank differs from the input's");
  Window window;
  window.in = std::move(in);
  window.kernel = std::move(kernel);
  window.out.assign(rank, 0);
  read_steps_and_pads(use, window);
  for (std::int64_t size : window.kernel) {
    if (size < 1 || size > (std::int64_t{1} << 20))
      refuse(use, "unsupported_attribute", "kernel size out of range");
  }
  for (std::int64_t size : window.dilations) {
    if (size > (std::int64_t{1} << 20)) refuse(use, "unsupported_attribute", "dilation out of range");
  }
  const std::string auto_pad = auto_pad_of(use);
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pad_same(window, auto_pad == "SAME_UPPER");
    return window;
  }
  if (auto_pad == "VALID") {
    window.pads_begin.assign(rank, 0);
    window.pads_end.assign(rank, 0);
  }
  const bool up = int_attribute(use, "ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t room = window.in[i] + window.pads_begin[i] + window.pads_end[i] - span;
    if (room < 0) {
      refuse(use, "shape_mismatch",
             fmt::format("a window of {} does not fit an input of {} with its padding", span, window.in[i]));
    }
    window.out[i] = (up ? ceil_div(room, window.strides[i]) : room / window.strides[i]) + 1;
    // A last window that would start behind the input, in its padding, is left out (as ONNX says from opset 22 on
    // and runtimes do for all).
    if (up && (window.out[i] - 1) * window.strides[i] >= window.in[i] + window.pads_begin[i]) --window.out[i];
  }
  return window;
}

namespace {

/// Kernel positions [first, last] of one axis whose element lies in [low, high) of the input.
struct Positions {
  std::int64_t first, last;
};
Positions range_within(const Window& w, std::size_t axis, std::int64_t position, std::int64_t low,
                       std::int64_t high) {
  const std::int64_t start = position * w.strides[axis] - w.pads_begin[axis], step = w.dilations[axis];
  const std::int64_t first = start >= low ? 0 : ceil_div(low - start, step);
  const std::int64_t last = start >= high ? -1 : (high - 1 - start) / step;
  return {first, std::min(last, w.kernel[axis] - 1)};
}

}  // namespace

void taps_at(const Window& window, const std::vector<std::int64_t>& position, std::vector<Tap>& taps) {
  taps.assign(1, Tap{});
  std::vector<Tap> wider;
  for (std::size_t axis = 0; axis < window.in.size(); ++axis) {
    const Positions range = range_within(window, axis, position[axis], 0, window.in[axis]);
    const std::int64_t start = position[axis] * window.strides[axis] - window.pads_begin[axis];
    wider.clear();
    for (const Tap& tap : taps) {
      for (std::int64_t k = range.first; k <= range.last; ++k) {
        wider.push_back({tap.input * window.in[axis] + start + k * window.dilations[axis],
                         tap.kernel * window.kernel[axis] + k});
      }
    }
    taps.swap(wider);
  }
}

std::int64_t padded_taps_at(const Window& window, const std::vector<std::int64_t>& position) {
  Shape counts;
  for (std::size_t axis = 0; axis < window.in.size(); ++axis) {
    const Positions range = range_within(window, axis, position[axis], -window.pads_begin[axis],
                                         window.in[axis] + window.pads_end[axis]);
    counts.push_back(std::max<std::int64_t>(0, range.last - range.first + 1));
  }
  return element_count(counts);
}

}  // namespace sdip
