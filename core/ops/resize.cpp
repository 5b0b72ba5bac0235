// Resize and Upsample: another resolution by nearest, linear or cubic interpolation.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Where scales and sizes stand: Upsample 7 has an attribute, Upsample 9 and Resize 10 an input, Resize 11 a roi
/// before.
struct Resizing {
  std::vector<double> scales;
  std::vector<std::int64_t> sizes;
};

std::vector<double> scales_of_input(const OperatorUse& use, std::size_t i) {
  const Operand* operand = optional_input(use, i);
  if (operand == nullptr || element_count(operand->shape) == 0) return {};
  if (!operand->value) refuse(use, "shape_unknown", "scales are not known at import");
  return operand->value->floats;
}

Resizing resizing_of(const OperatorUse& use) {
  Resizing resizing;
  if (use.type == "Upsample" && use.opset < 9) {
    const Attribute* given = has_attribute(use, "scales") ? &use.attributes->find("scales")->second : nullptr;
    const auto* scales = given == nullptr ? nullptr : std::get_if<std::vector<double>>(given);
    if (scales == nullptr) refuse(use, "unsupported_attribute", "attribute 'scales' must be a list of floats");
    resizing.scales = *scales;
  } else if (use.type == "Upsample" || use.opset < 11) {
    resizing.scales = scales_of_input(use, 1);
  } else {
    resizing.scales = scales_of_input(use, 2);
    if (optional_input(use, 3) != nullptr) resizing.sizes = ints_of_input(use, 3);
  }
  return resizing;
}

std::vector<Operand> infer_resize(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  if (has_attribute(use, "axes") || string_attribute(use, "keep_aspect_ratio_policy", "stretch") != "stretch") {
    refuse(use, "unsupported_attribute", "axes and keep_aspect_ratio_policy are not supported");
  }
  const Resizing resizing = resizing_of(use);
  Operand out;
  out.type = in.type;
  out.shape = in.shape;
  if (resizing.sizes.size() == in.shape.size()) {
    out.shape = resizing.sizes;
    if (std::any_of(out.shape.begin(), out.shape.end(), [](auto size) { return size < 0; })) {
      refuse(use, "shape_mismatch", "sizes " + shape_text(out.shape));
    }
    return {out};
  }
  if (resizing.scales.size() != in.shape.size()) {
    refuse(use, "shape_mismatch", "scales or sizes must have one value an axis");
  }
  for (std::size_t i = 0; i < out.shape.size(); ++i) {
    const double size = std::floor(static_cast<double>(in.shape[i]) * resizing.scales[i]);
    if (!(size >= 0 && size < 1.1e12)) refuse(use, "shape_mismatch", "a scale is out of range");
    out.shape[i] = static_cast<std::int64_t>(size);
  }
  return {out};
}

/// Nearest reads each element of the input once and writes it as often as it is needed. Linear looks at 2 elements
/// an axis that changes, cubic at 4: [1,3,8,8] to [1,3,16,16] linear reads 768 x 4.
Work resize_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape &in = input(use, 0).shape, &out = outputs[0].shape;
  const std::string mode = string_attribute(use, "mode", "nearest");
  Work work;
  work.row_length = work.write_elements = element_count(out);
  work.read_elements.assign(use.inputs.size(), 0);
  work.read_elements[0] = std::min(element_count(in), work.write_elements);
  if (mode == "nearest") return work;
  Shape touched = {work.write_elements};
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] != out[i]) touched.push_back(mode == "cubic" ? 4 : 2);
  }
  work.row_length = work.read_elements[0] = element_count(touched);
  return work;
}

constexpr Operator rows[] = {
    {"", "Resize", "resize", 1, 4,
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
     "keep_aspect_ratio_policy mode nearest_mode",
     infer_resize, resize_work},
    {"", "Upsample", "resize", 1, 2, "mode scales", infer_resize, resize_work},
};

}  // namespace

std::span<const Operator> resize_rows() { return rows; }

}  // namespace sdip
