// The rule of a Resize along each axis, and its arithmetic. Internal to its room.
#pragma once

#include <string>
#include <vector>

#include "core/ops/use.h"

namespace sdip {

/// One axis: sizes, the scale that coordinates are mapped with, and what of the input is taken (crop and resize).
struct ResizeAxis {
  std::int64_t in = 1, out = 1;
  double scale = 1, roi_start = 0, roi_end = 1;
};

/// How coordinates are mapped and elements mixed; attribute values of ONNX.
struct ResizeRule {
  std::string mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75, extrapolation = 0;
};

/// Elements of the result, row-major: axis by axis, each result element a weighted sum of input elements.
/// [1,2] to 4 by linear and half_pixel: 1, 1.25, 1.75, 2.
std::vector<double> resized(const OperatorUse& use, const std::vector<ResizeAxis>& axes, const ResizeRule& rule,
                            std::vector<double> x);

}  // namespace sdip
