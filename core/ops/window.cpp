// Sliding windows: what convolution and pooling share.
#include "core/ops/window.h"

#include <algorithm>

#include "core/base/units.h"

namespace sdip {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;  // of any size, stride or pad: sums stay far from 2^63

std::vector<std::int64_t> sizes_of(const OperatorUse& use, const char* name, std::size_t count,
                                   std::int64_t otherwise, std::int64_t least) {
  auto sizes = ints_attribute(use, name, std::vector<std::int64_t>(count, otherwise));
  if (sizes.size() != count) {
    refuse(use, "unsupported_attribute",
           "attribute '" + std::string(name) + "' has " + std::to_string(sizes.size()) + " values, expected " +
               std::to_string(count));
  }
  for (std::int64_t size : sizes) {
    if (size < least || size > most) {
      refuse(use, "unsupported_attribute",
             "attribute '" + std::string(name) + "' has " + std::to_string(size) + ", expected at least " +
                 std::to_string(least));
    }
  }
  return sizes;
}

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

Window window_of(const OperatorUse& use, std::vector<std::int64_t> in, std::vector<std::int64_t> kernel) {
  const std::size_t rank = in.size();
  if (kernel.size() != rank) refuse(use, "shape_mismatch", "the kernel's rank differs from the input's");
  Window window;
  window.in = std::move(in);
  window.kernel = std::move(kernel);
  window.strides = sizes_of(use, "strides", rank, 1, 1);
  window.dilations = sizes_of(use, "dilations", rank, 1, 1);
  window.out.assign(rank, 0);
  const auto pads = sizes_of(use, "pads", 2 * rank, 0, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  for (std::int64_t size : window.kernel) {
    if (size < 1 || size > (std::int64_t{1} << 20))
      refuse(use, "unsupported_attribute", "kernel size out of range");
  }
  for (std::int64_t size : window.dilations) {
    if (size > (std::int64_t{1} << 20)) refuse(use, "unsupported_attribute", "dilation out of range");
  }
  const std::string auto_pad = string_attribute(use, "auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    pad_same(window, auto_pad == "SAME_UPPER");
    return window;
  }
  if (auto_pad == "VALID") {
    window.pads_begin.assign(rank, 0);
    window.pads_end.assign(rank, 0);
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    refuse(use, "unsupported_attribute", "auto_pad '" + auto_pad + "' is not known");
  }
  const bool up = int_attribute(use, "ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t room = window.in[i] + window.pads_begin[i] + window.pads_end[i] - span;
    if (room < 0) {
      refuse(use, "shape_mismatch",
             "a window of " + std::to_string(span) + " does not fit an input of " + std::to_string(window.in[i]) +
                 " with its padding");
    }
    window.out[i] = (up ? ceil_div(room, window.strides[i]) : room / window.strides[i]) + 1;
  }
  return window;
}

}  // namespace sdip
