// Sliding windows: what convolution and pooling share.
#pragma once

#include <vector>

#include "core/ops/values.h"

namespace sdip {

/// The most of any size, stride or pad: sums stay far from 2^63.
inline constexpr std::int64_t most_window_size = std::int64_t{1} << 40;

/// The one integer of input `i`, `least` or more. Throws shape_mismatch.
std::int64_t size_input(const OperatorUse& use, std::size_t i, std::int64_t least);

/// A window over the spatial axes, one entry an axis.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilations, pads_begin, pads_end, in, out;
};

/// Attribute `name`, one value an axis and `count` in all, or all of them `otherwise`. Throws unsupported_attribute
/// on another number of values and on one below `least` or above 2^40.
std::vector<std::int64_t> window_sizes(const OperatorUse& use, const char* name, std::size_t count,
                                       std::int64_t otherwise, std::int64_t least);

/// The window of a convolution or pool over `in`, by the attributes strides, pads, dilations, auto_pad and
/// ceil_mode. Throws shape_mismatch when the window is larger than its input, unsupported_attribute on values out
/// of range.
Window window_of(const OperatorUse& use, std::vector<std::int64_t> in, std::vector<std::int64_t> kernel);

/// What window_of does of it, where `out` is given and `in` follows: strides, dilations and pads of a window whose
/// kernel is known; auto_pad, refused where it is not known; the kernel of the weight, which kernel_shape must not
/// contradict.
void read_steps_and_pads(const OperatorUse& use, Window& window);
std::string auto_pad_of(const OperatorUse& use);
std::vector<std::int64_t> kernel_of_weight(const OperatorUse& use);

/// One element under a window: its number in the input's plane and in the kernel, row-major.
struct Tap {
  std::int64_t input = 0, kernel = 0;
};

/// Elements of the input under the window at `position` (one of `window.out`), in the kernel's order, padding left
/// out. 3 wide with a pad of 1 over an input of 5, position 0: taps {0,1}, {1,2}.
void taps_at(const Window& window, const std::vector<std::int64_t>& position, std::vector<Tap>& taps);

/// Calls `then(number, taps, position)` at each position of the window in order.
template <class Then>
void for_each_position(const Window& window, Then then) {
  std::vector<std::int64_t> position(window.out.size(), 0);
  std::vector<Tap> taps;
  for (std::int64_t number = 0, count = element_count(window.out); number < count; ++number) {
    taps_at(window, position, taps);
    then(number, taps, position);
    next_index(position, window.out);
  }
}

/// How many elements of the window at `position` lie in the padded input: what hangs over its end (ceil_mode) is
/// not counted.
std::int64_t padded_taps_at(const Window& window, const std::vector<std::int64_t>& position);

}  // namespace sdip
