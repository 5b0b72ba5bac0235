// Conversions between floats and scaled integers.
#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Scale and zero point are scalars, or one value an index of `axis`.
void require_scale(const OperatorUse& use) {
  const Shape &in = input(use, 0).shape, &scale = input(use, 1).shape;
  const Operand* zero = optional_input(use, 2);
  if (zero != nullptr && zero->shape != scale)
    refuse(use, "shape_mismatch", "scale and zero point differ in shape");
  if (element_count(scale) == 1) return;
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", 1), in.size());
  if (scale != Shape{in[axis]}) {
    refuse(use, "shape_mismatch",
           "scale " + shape_text(scale) + " along axis " + std::to_string(axis) + " of " + shape_text(in));
  }
}

std::vector<Operand> infer_quantize(const OperatorUse& use) {
  require_scale(use);
  Operand out;
  const Operand* zero = optional_input(use, 2);
  out.type = zero == nullptr ? ElementType::uint8 : zero->type;
  out.shape = input(use, 0).shape;
  return {out};
}

std::vector<Operand> infer_dequantize(const OperatorUse& use) {
  require_scale(use);
  Operand out;
  out.type = input(use, 1).type;
  out.shape = input(use, 0).shape;
  return {out};
}

/// A scale along an axis stays in a register while the axes inside it pass by.
Work quantize_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape& in = input(use, 0).shape;
  Work work;
  work.row_length = work.write_elements = element_count(outputs[0].shape);
  const bool scalar = element_count(input(use, 1).shape) == 1;
  const std::int64_t fetches =
      scalar ? 1 : count_between(in, 0, axis_within(use, int_attribute(use, "axis", 1), in.size()) + 1);
  work.read_elements = {work.row_length, fetches};
  if (use.inputs.size() > 2) work.read_elements.push_back(use.inputs[2] == nullptr ? 0 : fetches);
  return work;
}

/// Outputs: uint8 values, scale, zero point; the range is found in a first pass.
std::vector<Operand> infer_dynamic_quantize(const OperatorUse& use) {
  Operand y, scale, zero;
  y.type = zero.type = ElementType::uint8;
  y.shape = input(use, 0).shape;
  return {y, scale, zero};
}

Work dynamic_quantize_work(const OperatorUse&, std::span<const Operand> outputs) {
  Work work;
  work.row_length = work.write_elements = element_count(outputs[0].shape);
  work.passes = 2;
  work.read_elements = {2 * work.row_length};
  return work;
}

constexpr Operator rows[] = {
    {"", "DequantizeLinear", "dequantize", 2, 3, "axis", infer_dequantize, quantize_work},
    {"", "DynamicQuantizeLinear", "dynamic_quantize", 1, 1, "", infer_dynamic_quantize, dynamic_quantize_work},
    {"", "QuantizeLinear", "quantize", 2, 3, "axis saturate", infer_quantize, quantize_work},
};

}  // namespace

std::span<const Operator> quantize_rows() { return rows; }

}  // namespace sdip
