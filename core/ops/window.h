// Sliding windows: what convolution and pooling share.
#pragma once

#include <vector>

#include "core/ops/use.h"

namespace sdip {

/// A window over the spatial axes, one entry an axis.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilations, pads_begin, pads_end, in, out;
};

/// The window of a convolution or pool over `in`, by the attributes strides, pads, dilations, auto_pad and
/// ceil_mode. Throws shape_mismatch when the window is larger than its input, unsupported_attribute on values out
/// of range.
Window window_of(const OperatorUse& use, std::vector<std::int64_t> in, std::vector<std::int64_t> kernel);

}  // namespace sdip
