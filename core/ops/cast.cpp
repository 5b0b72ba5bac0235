// Conversions from one element type to another.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

bool is_float8(ElementType type) {
  return type >= ElementType::float8e4m3fn && type <= ElementType::float8e5m2fnuz;
}

bool is_no_string(ElementType type) { return type != ElementType::string; }

Operand cast_to(const Operand& in, ElementType to) {
  Operand out = typed(to, in.shape);
  if (in.fill && is_floating(to)) out.fill = rounded(to, *in.fill, is_float8(to));
  return out;
}

std::vector<Operand> infer_cast(const OperatorUse& use) {
  require_type(use, 0, is_no_string, "numbers or booleans");
  if (!has_attribute(use, "to")) refuse(use, "unsupported_attribute", "attribute 'to' is missing");
  return {cast_to(input(use, 0), type_attribute(use, "to", ElementType::float32))};
}

/// 4-bit integers are rounded to nearest, ties to even, and clamped, as ONNX's reference does; the others are cut
/// towards zero and, beyond the type, which ONNX leaves open, wrapped.
std::int64_t int_of_float(ElementType to, double x) {
  if (to == ElementType::int4) return int_of(to, std::clamp(std::nearbyint(x), -8.0, 7.0));
  if (to == ElementType::uint4) return int_of(to, std::clamp(std::nearbyint(x), 0.0, 15.0));
  return int_of(to, x);
}

/// From opset 19 on `saturate` says whether an fp8 result beyond the largest is the largest, or infinity or NaN.
void compute_cast(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  Operand& out = outputs[0];
  if (is_floating(out.type)) {
    const bool saturate = is_float8(out.type) && int_attribute(use, "saturate", 1) != 0;
    std::vector<double> values = doubles_of(in);
    for (double& x : values) x = rounded(out.type, x, saturate);
    out.value = Tensor{out.type, out.shape, {}, std::move(values)};
  } else if (is_floating(in.type)) {
    std::vector<std::int64_t> values;
    for (double x : in.floats) values.push_back(int_of_float(out.type, x));
    give_ints(out, std::move(values));
  } else {
    give_ints(out, in.ints);
  }
}

/// The second operand gives the type alone: its values need not be known.
std::vector<Operand> infer_cast_like(const OperatorUse& use) {
  require_type(use, 0, is_no_string, "numbers or booleans");
  require_type(use, 1, is_no_string, "numbers or booleans");
  std::vector<Operand> outputs{cast_to(input(use, 0), input(use, 1).type)};
  if (input(use, 0).value && is_foldable(outputs[0].shape)) compute_cast(use, outputs);
  return outputs;
}

Work cast_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return input(use, 0).type == outputs[0].type ? view_work(use, outputs) : elementwise_work(use, outputs);
}

/// The second operand gives the type alone, and may be of any shape.
Work cast_like_work(const OperatorUse& use, std::span<const Operand> outputs) {
  if (input(use, 0).type == outputs[0].type) return view_work(use, outputs);
  Work work;
  work.row_length = work.write_elements = element_count(outputs[0].shape);
  work.read_elements = {work.row_length, 0};
  return work;
}

/// sdip.Convert, which the compiler puts between layers of different number formats: the numbers stay, but for what
/// the format does to them as they are written.
std::vector<Operand> infer_convert(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  return {like_first(use)};
}

void compute_convert(const OperatorUse& use, std::span<Operand> outputs) {
  give_numbers(outputs[0], doubles_of(value_of(use, 0)));
}

constexpr Operator cast_operators[] = {
    {"sdip", "Convert", "convert", 1, 1, "", infer_convert, elementwise_work, compute_convert, "1"},
    {"", "Cast", "cast", 1, 1, "saturate to", infer_cast, cast_work, compute_cast, "7 9 13 19 21 23 24"},
    {"", "CastLike", "cast", 2, 2, "saturate", infer_cast_like, cast_like_work, compute_cast, "15 19 21 23 24"},
};

}  // namespace

std::span<const Operator> cast_rows() { return cast_operators; }

}  // namespace sdip
