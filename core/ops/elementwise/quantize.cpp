// Conversions between floats and scaled integers, small floats or codes of eight bits.
#include "core/ops/elementwise/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/element_codes.h"
#include "core/base/units.h"
#include "core/ops/elementwise/shift_quantize.h"
#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {

double quantised(ElementType type, double scaled, double zero, bool saturate) {
  if (is_floating(type)) return rounded(type, scaled, saturate);
  const auto bits = static_cast<int>(bits_of(type));
  const double least = is_signed(type) ? -std::ldexp(1.0, bits - 1) : 0.0;
  return std::clamp(std::nearbyint(scaled) + zero, least, least + std::ldexp(1.0, bits) - 1);
}

namespace {

/// How elements of x, seen as [outer, length, inner] around the axis, share scales: each by itself (per tensor:
/// length of a block unbounded), along an axis, or blocks of it.
struct Sharing {
  bool scalar = true;
  std::int64_t length = 1, inner = 1, block = 1, blocks = 1;
  bool per_outer = false;
  std::int64_t scale_of(std::int64_t i) const {
    if (scalar) return 0;
    const std::int64_t along = i / inner % length / block;
    return per_outer ? (i / inner / length * blocks + along) * inner + i % inner : along;
  }
};

Sharing sharing_of(const OperatorUse& use) {
  const Shape &in = input(use, 0).shape, &scale = input(use, 1).shape;
  const Operand* zero = optional_input(use, 2);
  const bool single = zero != nullptr && element_count(zero->shape) == 1 && element_count(scale) == 1;
  if (zero != nullptr && zero->shape != scale && !single) {  // exporters write one number with an axis and without
    refuse(use, "shape_mismatch", "scale and zero point differ in shape");
  }
  Sharing sharing;
  const std::int64_t block = int_attribute(use, "block_size", 0);
  if (block < 0) refuse(use, "unsupported_attribute", "block_size is negative");
  if (element_count(scale) == 1) return sharing;
  sharing.scalar = false;
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", 1), in.size());
  sharing.length = in[axis];
  sharing.inner = count_between(in, axis + 1, in.size());
  Shape expected = {in[axis]};
  if (block > 0) {
    expected = in;
    expected[axis] = sharing.blocks = ceil_div(in[axis], block);
    sharing.block = block;
    sharing.per_outer = true;
  }
  if (scale != expected) {
    refuse(use, "shape_mismatch",
           fmt::format("scale {} along axis {} of {}, expected {}", shape_text(scale), axis, shape_text(in),
                       shape_text(expected)));
  }
  return sharing;
}

ElementType named_type(const OperatorUse& use, const char* name, ElementType otherwise) {
  const std::int64_t number = int_attribute(use, name, 0);
  if (number == 0) return otherwise;
  const auto type = element_type_of_onnx(number);
  if (!type || *type == ElementType::string) {
    refuse(use, "unsupported_attribute", fmt::format("{} {} is no type known", name, number));
  }
  return *type;
}

bool is_quantised_type(ElementType type) {
  using enum ElementType;
  return type == int8 || type == uint8 || type == int16 || type == uint16 || type == int32 || type == int4 ||
         type == uint4 || type == int2 || type == uint2 || (type >= float8e4m3fn && type <= float4e2m1);
}

std::vector<Operand> infer_quantize(const OperatorUse& use) {
  sharing_of(use);
  const Operand* zero = optional_input(use, 2);
  const auto type = named_type(use, "output_dtype", zero == nullptr ? ElementType::uint8 : zero->type);
  if (!is_quantised_type(type) || (zero != nullptr && zero->type != type)) {
    refuse(use, "unsupported_attribute", "quantises to " + std::string(element_type_text(type)));
  }
  return {typed(type, input(use, 0).shape)};
}

std::vector<Operand> infer_dequantize(const OperatorUse& use) {
  sharing_of(use);
  const auto type = named_type(use, "output_dtype", input(use, 1).type);
  if (!is_floating(type)) {
    refuse(use, "unsupported_attribute", "dequantises to " + std::string(element_type_text(type)));
  }
  return {typed(type, input(use, 0).shape)};
}

/// A scale along an axis stays in a register while the axes inside it pass by; that of a block while the block
/// does, when it lies along the last axis.
Work quantize_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape& in = input(use, 0).shape;
  const Sharing sharing = sharing_of(use);
  const std::int64_t elements = element_count(outputs[0].shape);
  std::int64_t fetches = 1;
  if (sharing.per_outer) {
    fetches = sharing.inner == 1 ? element_count(input(use, 1).shape) : elements;
  } else if (!sharing.scalar) {
    fetches = count_between(in, 0, axis_within(use, int_attribute(use, "axis", 1), in.size()) + 1);
  }
  return vector_work(use, outputs, elements, {elements, fetches, optional_input(use, 2) == nullptr ? 0 : fetches});
}

/// x / scale is rounded to x's type (a float32 runtime sees no more of it), then quantised.
void compute_quantize(const OperatorUse& use, std::span<Operand> outputs) {
  const Sharing sharing = sharing_of(use);
  const ElementType own = input(use, 0).type;
  const auto precision = named_type(use, "precision", is_floating(own) ? own : input(use, 1).type);
  const bool saturate = int_attribute(use, "saturate", 1) != 0;
  std::vector<double> x = doubles_of(use, 0);
  const std::vector<double> scale = doubles_of(use, 1), zero = doubles_of(use, 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto s = at(sharing.scale_of(static_cast<std::int64_t>(i)));
    const double scaled = held_double(precision, x[i] / scale[s]);
    x[i] = quantised(outputs[0].type, scaled, zero.empty() ? 0.0 : zero[s], saturate);
  }
  set_doubles(outputs[0], x);
}

void compute_dequantize(const OperatorUse& use, std::span<Operand> outputs) {
  const Sharing sharing = sharing_of(use);
  std::vector<double> x = doubles_of(use, 0);
  const std::vector<double> scale = doubles_of(use, 1), zero = doubles_of(use, 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto s = at(sharing.scale_of(static_cast<std::int64_t>(i)));
    x[i] = (x[i] - (zero.empty() ? 0.0 : zero[s])) * scale[s];
  }
  set_doubles(outputs[0], x);
}

/// Outputs: uint8 values, scale, zero point; the range is found in a first pass.
std::vector<Operand> infer_dynamic_quantize(const OperatorUse& use) {
  return {typed(ElementType::uint8, input(use, 0).shape), typed(ElementType::float32, {}),
          typed(ElementType::uint8, {})};
}

Work dynamic_quantize_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = first_input_work(use, outputs.first(1));
  work.passes = 2;
  work.read_elements[0] *= 2;
  return work;
}

/// The range always holds 0; a range of 0 alone gets scale 1. In steps of float32, as ONNX defines it.
/// [-1, 0, 1.5]: scale 2.5 / 255, zero point 102.
void compute_dynamic_quantize(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = doubles_of(use, 0);
  float least = 0, greatest = 0;
  for (double value : x) {
    least = std::min(least, static_cast<float>(value));
    greatest = std::max(greatest, static_cast<float>(value));
  }
  const float scale = greatest == least ? 1.0F : (greatest - least) / 255.0F;
  const double zero = quantised(ElementType::uint8, static_cast<double>(-least / scale), 0);
  for (double& value : x) {
    const float scaled = static_cast<float>(value) / scale;
    value = quantised(ElementType::uint8, static_cast<double>(scaled), zero);
  }
  set_doubles(outputs[0], x);
  set_doubles(outputs[1], {static_cast<double>(scale)});
  set_doubles(outputs[2], {zero});
}

/// sdip.Unpack: bytes [..., n] as the integers of 4 or 2 bits in them, the first in the lowest: [..., n * 8 /
/// bits].
std::vector<Operand> infer_unpack(const OperatorUse& use) {
  const std::int64_t bits = int_attribute(use, "bits", 4);
  const Operand& in = input(use, 0);
  if (in.type != ElementType::uint8 || in.shape.empty() || (bits != 2 && bits != 4))
    refuse(use, "shape_mismatch", "unpacks bytes into integers of 2 or 4 bits");
  Shape shape = in.shape;
  shape.back() = element_count({shape.back(), 8 / bits});
  return {typed(bits == 4 ? ElementType::uint4 : ElementType::uint2, std::move(shape))};
}

/// 0xe4 of 2 bits: 0, 1, 2, 3.
void compute_unpack(const OperatorUse& use, std::span<Operand> outputs) {
  const std::int64_t bits = bits_of(outputs[0].type);
  std::vector<std::int64_t> codes;
  for (const std::int64_t byte : value_of(use, 0).ints) {
    for (std::size_t i = 0; i < as_size(8 / bits); ++i) codes.push_back(code_in_byte(byte, bits, i));
  }
  set_ints(outputs[0], std::move(codes));
}

/// The quantiser of an attention accelerator on a PYNQ-Z2 (domain pynq), behind its host's softmax.
std::vector<Operand> infer_shift_quantize(const OperatorUse& use) {
  require_type(
      use, 0, [](ElementType type) { return type == ElementType::float32; }, "float32");
  return {typed(ElementType::uint8, input(use, 0).shape)};
}

void compute_shift_quantize(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<std::int64_t> codes;
  for (const double x : value_of(use, 0).floats)
    codes.push_back(shift_quantised(std::bit_cast<std::uint32_t>(static_cast<float>(x))));
  set_ints(outputs[0], std::move(codes));
}

constexpr Operator quantize_operators[] = {
    {"sdip", "Unpack", "unpack", 1, 1, "bits", infer_unpack, copy_work, compute_unpack, "1"},
    {"", "DequantizeLinear", "dequantize", 2, 3, "axis block_size output_dtype", infer_dequantize, quantize_work,
     compute_dequantize, "10 13 19 21 23 24 25"},
    {"", "DynamicQuantizeLinear", "dynamic_quantize", 1, 1, "", infer_dynamic_quantize, dynamic_quantize_work,
     compute_dynamic_quantize, "11"},
    {"", "QuantizeLinear", "quantize", 2, 3, "axis block_size output_dtype precision saturate", infer_quantize,
     quantize_work, compute_quantize, "10 13 19 21 23 24 25"},
    {"pynq", "ShiftQuantize", "shift_quantize", 1, 1, "", infer_shift_quantize, elementwise_work,
     compute_shift_quantize, "1"},
};

}  // namespace

std::span<const Operator> quantize_rows() { return quantize_operators; }

}  // namespace sdip
