// Resize and Upsample: another resolution by nearest, linear or cubic interpolation.
#include "core/ops/windows/resize.h"

#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::vector<double> floats_of_input(const OperatorUse& use, std::size_t i) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr || element_count(operand->shape) == 0) return {};
  if (!operand->value) {
    refuse(use, "shape_unknown", fmt::format("input {} (scales or region) is not known at import", i));
  }
  return doubles_of(use, i);
}

/// Where scales stand: Upsample 7 has an attribute, Upsample 9 and Resize 10 an input, Resize 11 a region before.
std::vector<double> given_scales(const OperatorUse& use) {
  if (use.type == "Upsample" && use.opset < 9) {
    require_attribute(use, "scales");
    return floats_attribute(use, "scales", {});
  }
  return floats_of_input(use, use.type == "Upsample" || use.opset < 11 ? 1 : 2);
}

std::vector<std::int64_t> given_sizes(const OperatorUse& use) {
  if (use.type == "Upsample" || use.opset < 11 || optional_input(use, 3) == nullptr) return {};
  return ints_of_input(use, 3);
}

/// The axes that scales, sizes and region speak of, in their order; all of them unless the attribute says.
std::vector<std::size_t> given_axes(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  std::vector<std::size_t> axes;
  for (std::int64_t axis : ints_attribute(use, "axes", {})) axes.push_back(axis_within(use, axis, rank));
  std::vector<std::size_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    refuse(use, "shape_mismatch", "an axis stands twice");
  }
  if (has_attribute(use, "axes")) return axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

std::int64_t checked_size(const OperatorUse& use, double size) {
  if (!(size >= 0 && size < 1.1e12)) refuse(use, "shape_mismatch", "a size or scale is out of range");
  return static_cast<std::int64_t>(size);
}

/// Sizes as given, or, when the aspect ratio is kept, all axes by the smallest (not_larger) or largest scale.
void apply_sizes(const OperatorUse& use, const std::vector<std::int64_t>& sizes,
                 const std::vector<std::size_t>& which, std::vector<ResizeAxis>& axes) {
  const std::string policy =
      known_attribute(use, "keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  double common = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    ResizeAxis& axis = axes[which[i]];
    axis.out = checked_size(use, static_cast<double>(sizes[i]));
    axis.scale = axis.in == 0 ? 1 : static_cast<double>(axis.out) / static_cast<double>(axis.in);
    const bool better = policy == "not_larger" ? axis.scale < common : axis.scale > common;
    if (i == 0 || better) common = axis.scale;
  }
  if (policy == "stretch") return;
  for (std::size_t a : which) {
    axes[a].scale = common;
    axes[a].out = checked_size(use, std::floor(common * static_cast<double>(axes[a].in) + 0.5));
  }
}

std::vector<ResizeAxis> axes_of(const OperatorUse& use) {
  std::vector<ResizeAxis> axes;
  for (std::int64_t size : input(use, 0).shape) axes.push_back({size, size, 1, 0, 1});
  const std::vector<std::size_t> which = given_axes(use);
  const std::vector<double> scales = given_scales(use);
  const std::vector<std::int64_t> sizes = given_sizes(use);
  if (!sizes.empty() && sizes.size() == which.size()) {
    apply_sizes(use, sizes, which, axes);
  } else if (scales.size() == which.size()) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      ResizeAxis& axis = axes[which[i]];
      axis.scale = scales[i];
      if (!(scales[i] > 0)) refuse(use, "shape_mismatch", "a scale is not above 0");
      axis.out = checked_size(use, std::floor(static_cast<double>(axis.in) * scales[i]));
    }
  } else {
    refuse(use, "shape_mismatch", "scales or sizes must have one value an axis");
  }
  for (const ResizeAxis& axis : axes) {
    if (axis.in == 0 && axis.out > 0) refuse(use, "shape_mismatch", "an axis without elements cannot grow");
  }
  return axes;
}

/// Upsample and Resize 10 know no coordinate modes: they map as asymmetric does and round down.
ResizeRule rule_of(const OperatorUse& use) {
  ResizeRule rule;
  rule.mode = known_attribute(use, "mode", "nearest", {"nearest", "linear", "bilinear", "cubic"});
  if (rule.mode == "bilinear") rule.mode = "linear";  // as some wrote Upsample 7
  if (use.type == "Upsample" || use.opset < 11) {
    rule.coordinates = "asymmetric";
    rule.nearest = "floor";
    return rule;
  }
  rule.coordinates = known_attribute(use, "coordinate_transformation_mode", "half_pixel",
                                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  rule.nearest = known_attribute(use, "nearest_mode", "round_prefer_floor",
                                 {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  rule.antialias = int_attribute(use, "antialias", 0) != 0;
  rule.exclude_outside = int_attribute(use, "exclude_outside", 0) != 0;
  rule.cubic_a = float_attribute(use, "cubic_coeff_a", -0.75);
  rule.extrapolation = float_attribute(use, "extrapolation_value", 0);
  return rule;
}

std::vector<Operand> infer_resize(const OperatorUse& use) {
  rule_of(use);
  Shape shape;
  for (const ResizeAxis& axis : axes_of(use)) shape.push_back(axis.out);
  return {typed(input(use, 0).type, shape)};
}

/// Nearest reads each element of the input once and writes it as often as it is needed. Linear looks at 2 elements
/// an axis that changes, cubic at 4, and with antialias at as many more as the axis shrinks: [1,3,8,8] to
/// [1,3,16,16] linear reads 768 x 4.
Work resize_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape &in = input(use, 0).shape, &out = outputs[0].shape;
  const ResizeRule rule = rule_of(use);
  const std::int64_t made = element_count(out);
  if (rule.mode == "nearest") return vector_work(use, outputs, made, {std::min(element_count(in), made)});
  Shape touched = {made};
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] == out[i]) continue;
    touched.push_back(rule.mode == "cubic" ? 4 : 2);
    if (rule.antialias && out[i] > 0 && out[i] < in[i]) touched.push_back((in[i] + out[i] - 1) / out[i]);
  }
  return vector_work(use, outputs, element_count(touched), {element_count(touched)});
}

void compute_resize(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<ResizeAxis> axes = axes_of(use);
  const ResizeRule rule = rule_of(use);
  if (rule.coordinates == "tf_crop_and_resize") {
    const std::vector<std::size_t> which = given_axes(use);
    const std::vector<double> roi = doubles_of(use, 1);
    if (roi.size() != 2 * which.size()) {
      refuse(use, "shape_mismatch", "the region must have a start and an end an axis");
    }
    for (std::size_t i = 0; i < which.size(); ++i) {
      axes[which[i]].roi_start = roi[i], axes[which[i]].roi_end = roi[which.size() + i];
    }
  }
  const bool nothing = element_count(outputs[0].shape) == 0;
  set_doubles(outputs[0], resized(use, axes, rule, nothing ? std::vector<double>{} : doubles_of(use, 0)));
}

constexpr Operator resize_operators[] = {
    {"", "Resize", "resize", 1, 4,
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy mode nearest_mode",
     infer_resize, resize_work, compute_resize, "10 11 13 18 19"},
    {"", "Upsample", "resize", 1, 2, "mode scales", infer_resize, resize_work, compute_resize, "7 9 10"},
};

}  // namespace

std::span<const Operator> resize_rows() { return resize_operators; }

}  // namespace sdip
