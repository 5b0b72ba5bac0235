// Resampling axis by axis: the coordinate an element comes from, its neighbours and their weights.
#include <algorithm>
#include <cmath>

#include "core/ops/values.h"
#include "core/ops/windows/resize.h"

namespace sdip {
namespace {

/// Weighted input elements of one result element; none and `outside` when the extrapolation value stands there.
struct Mix {
  std::vector<std::pair<std::int64_t, double>> parts;
  bool outside = false;
};

/// Where in the input result element `i` lies (ONNX's Resize, coordinate_transformation_mode).
double coordinate_of(const ResizeAxis& axis, const std::string& mode, std::int64_t i) {
  const auto x = static_cast<double>(i), in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  if (mode == "asymmetric") return x / axis.scale;
  if (mode == "align_corners") return axis.out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / axis.scale;
  if (mode == "tf_crop_and_resize") {
    if (axis.out == 1) return 0.5 * (axis.roi_start + axis.roi_end) * (in - 1);
    return axis.roi_start * (in - 1) + x * (axis.roi_end - axis.roi_start) * (in - 1) / (out - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.out == 1) return 0;
  const double half = (x + 0.5) / axis.scale - 0.5;
  if (mode != "half_pixel_symmetric") return half;
  return in / 2 * (1 - out / (axis.scale * in)) + half;  // both ends lie equally far from the border
}

double rounded_coordinate(double x, const std::string& mode) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

/// Weight of an element `distance` away: a triangle, or Keys' cubic with parameter `a`.
double weight_at(double distance, const ResizeRule& rule) {
  const double x = std::fabs(distance), a = rule.cubic_a;
  if (rule.mode == "linear") return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Neighbours of `x`: 1 or 2 on either side, more where a smaller result takes the mean of them (antialias); then
/// weights are made to sum up to 1. Outside the input the border is repeated, or left out (exclude_outside).
Mix mix_at(const OperatorUse& use, const ResizeAxis& axis, const ResizeRule& rule, double x) {
  const double stretch = rule.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = rule.mode == "linear" ? 1 : 2;
  const double first = std::floor(-reach / stretch) + 1, left = std::ceil(x) - 1;
  // Sizes rounded down keep a scale above half of 1 / in; only a scale that contradicts the sizes reaches further.
  if (!(-first <= 8 * static_cast<double>(axis.in) + 64) || !(std::fabs(x) <= 0x1p52)) {
    refuse(use, "shape_mismatch", "a scale of " + std::to_string(axis.scale) + " does not fit the sizes");
  }
  Mix mix;
  double sum = 0;
  for (double i = first; i <= 1 - first; ++i) {
    const double at = left + i;
    const bool outside = at < 0 || at > static_cast<double>(axis.in - 1);
    const double weight = outside && rule.exclude_outside ? 0 : weight_at((at - x) * stretch, rule);
    if (weight == 0) continue;
    const double clamped = std::clamp(at, 0.0, static_cast<double>(axis.in - 1));
    mix.parts.emplace_back(static_cast<std::int64_t>(clamped), weight);
    sum += weight;
  }
  if (rule.antialias || rule.exclude_outside) {
    for (auto& [element, weight] : mix.parts) weight /= sum;
  }
  return mix;
}

Mix mix_of(const OperatorUse& use, const ResizeAxis& axis, const ResizeRule& rule, std::int64_t i) {
  const double x = coordinate_of(axis, rule.coordinates, i), last = static_cast<double>(axis.in - 1);
  if (!std::isfinite(x)) refuse(use, "shape_mismatch", "a scale or region gives no coordinate");
  if (rule.coordinates == "tf_crop_and_resize" && (x < 0 || x > last)) return {{}, true};
  if (rule.mode != "nearest") return mix_at(use, axis, rule, x);
  const double nearest = std::clamp(rounded_coordinate(x, rule.nearest), 0.0, last);
  return {{{static_cast<std::int64_t>(nearest), 1.0}}, false};
}

/// One axis of x, seen as [outer, in, inner], to [outer, out, inner].
std::vector<double> resized_axis(const std::vector<double>& x, const std::vector<Mix>& mixes, std::size_t in,
                                 std::size_t inner, double extrapolation) {
  std::vector<double> y;
  for (std::size_t outer = 0; outer < x.size() / (in * inner); ++outer) {
    for (const Mix& mix : mixes) {
      for (std::size_t i = 0; i < inner; ++i) {
        double sum = mix.outside ? extrapolation : 0;
        for (const auto& [element, weight] : mix.parts) {
          sum += weight * x[(outer * in + as_size(element)) * inner + i];
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

}  // namespace

std::vector<double> resized(const OperatorUse& use, const std::vector<ResizeAxis>& axes, const ResizeRule& rule,
                            std::vector<double> x) {
  if (x.empty()) return x;
  std::size_t inner = 1;
  for (std::size_t a = axes.size(); a-- > 0;) {
    const ResizeAxis& axis = axes[a];
    const bool crops = rule.coordinates == "tf_crop_and_resize" && (axis.roi_start != 0 || axis.roi_end != 1);
    if (axis.in != axis.out || axis.scale != 1 || crops) {
      std::vector<Mix> mixes;
      for (std::int64_t i = 0; i < axis.out; ++i) mixes.push_back(mix_of(use, axis, rule, i));
      x = resized_axis(x, mixes, as_size(axis.in), inner, rule.extrapolation);
    }
    inner *= as_size(axis.out);
    if (x.empty()) return x;
  }
  return x;
}

}  // namespace sdip
