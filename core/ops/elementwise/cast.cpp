// Conversions from one element type to another, of numbers or of bits.
#include <cmath>

#include "core/base/element_codes.h"
#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

bool is_float8(ElementType type) {
  return (type >= ElementType::float8e4m3fn && type <= ElementType::float8e5m2fnuz) ||
         type == ElementType::float8e8m0;
}

/// Which power of two a number becomes that is none: `up` where nothing is said, `down`, or the nearest.
enum class PowerRounding { up, down, nearest };

PowerRounding power_rounding(const OperatorUse& use) {
  const std::string mode = string_attribute(use, "round_mode", "up");
  if (mode == "up") return PowerRounding::up;
  if (mode == "down") return PowerRounding::down;
  if (mode != "nearest") refuse(use, "unsupported_attribute", "round_mode must be up, down or nearest");
  return PowerRounding::nearest;
}

/// A size as a power of two; what is none of a float type is left for it to round. Up: 1.1 is 2; down: 1.9 is 1.
double power_of_two(double x, PowerRounding rounding) {
  if (rounding == PowerRounding::nearest || !std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  const bool is_power = std::frexp(std::fabs(x), &exponent) == 0.5;
  return std::ldexp(rounding == PowerRounding::up && !is_power ? 1.0 : 0.5, exponent);
}

/// `x` as a float type holds it, by the attributes of a cast.
struct FloatCast {
  ElementType to;
  bool saturate;
  PowerRounding rounding;
  double operator()(double x) const {
    return rounded(to, to == ElementType::float8e8m0 ? power_of_two(x, rounding) : x, saturate);
  }
};

FloatCast float_cast(const OperatorUse& use, ElementType to) {
  return {to, is_float8(to) && int_attribute(use, "saturate", 1) != 0, power_rounding(use)};
}

bool is_no_string(ElementType type) { return type != ElementType::string; }

Operand cast_to(const OperatorUse& use, ElementType to) {
  const Operand& in = input(use, 0);
  Operand out = typed(to, in.shape);
  const FloatCast cast = float_cast(use, to);
  if (in.fill && is_floating(to)) out.fill = cast(*in.fill);
  return out;
}

std::vector<Operand> infer_cast(const OperatorUse& use) {
  require_type(use, 0, is_no_string, "numbers or booleans");
  require_attribute(use, "to");
  return {cast_to(use, type_attribute(use, "to", ElementType::float32))};
}

/// Integers of 4 and 2 bits are rounded to nearest, halves away from zero, as onnxruntime does; the others are cut
/// towards zero. Beyond the type, which ONNX leaves open, all of them wrap, as ONNX's node tests and onnxruntime
/// do.
std::int64_t int_of_float(ElementType to, double x) { return int_of(to, bits_of(to) <= 4 ? std::round(x) : x); }

/// From opset 19 on `saturate` says whether an fp8 result beyond the largest is the largest, or infinity or NaN;
/// from 24 on `round_mode` which power of two a float8e8m0 is.
void compute_cast(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  Operand& out = outputs[0];
  if (is_floating(out.type)) {
    const FloatCast cast = float_cast(use, out.type);
    std::vector<double> values = doubles_of(in);
    for (double& x : values) x = cast(x);
    out.value = Tensor{out.type, out.shape, {}, std::move(values)};
  } else if (is_floating(in.type)) {
    std::vector<std::int64_t> values;
    for (double x : in.floats) values.push_back(int_of_float(out.type, x));
    set_ints(out, std::move(values));
  } else {
    set_ints(out, in.ints);
  }
}

/// The second operand gives the type alone: its values need not be known.
std::vector<Operand> infer_cast_like(const OperatorUse& use) {
  require_type(use, 0, is_no_string, "numbers or booleans");
  require_type(use, 1, is_no_string, "numbers or booleans");
  std::vector<Operand> outputs{cast_to(use, input(use, 1).type)};
  if (input(use, 0).value && is_foldable(outputs[0].shape)) compute_cast(use, outputs);
  return outputs;
}

Work cast_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return input(use, 0).type == outputs[0].type ? view_work(use, outputs) : elementwise_work(use, outputs);
}

/// The second operand gives the type alone, and may be of any shape.
Work cast_like_work(const OperatorUse& use, std::span<const Operand> outputs) {
  return input(use, 0).type == outputs[0].type ? view_work(use, outputs) : first_input_work(use, outputs);
}

std::vector<Operand> infer_bit_cast(const OperatorUse& use) {
  require_type(use, 0, is_no_string, "numbers or booleans");
  require_attribute(use, "to");
  const Operand& in = input(use, 0);
  const ElementType to = type_attribute(use, "to", in.type);
  if (bits_of(to) != bits_of(in.type)) {
    refuse(use, "unsupported_attribute",
           fmt::format("the bits of {} are not as many as those of {}", element_type_text(in.type),
                       element_type_text(to)));
  }
  return {typed(to, in.shape)};
}

/// The same bits as numbers of another type: 1 of float32 is 1065353216 of int32.
void compute_bit_cast(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  std::vector<std::int64_t> codes = in.ints;
  for (double x : in.floats) codes.push_back(code_of_float(in.type, x));
  if (!is_floating(outputs[0].type)) return set_ints(outputs[0], std::move(codes));
  std::vector<double> numbers;
  for (std::int64_t code : codes) numbers.push_back(float_of_code(outputs[0].type, code));
  set_doubles(outputs[0], std::move(numbers));
}

/// sdip.Convert, which the compiler puts between layers of different number formats: the numbers stay, but for what
/// the format does to them as they are written.
void compute_convert(const OperatorUse& use, std::span<Operand> outputs) {
  set_doubles(outputs[0], doubles_of(use, 0));
}

constexpr Operator cast_operators[] = {
    {"sdip", "Convert", "convert", 1, 1, "", infer_float, elementwise_work, compute_convert, "1"},
    {"", "BitCast", "bit_cast", 1, 1, "to", infer_bit_cast, elementwise_work, compute_bit_cast, "26"},
    {"", "Cast", "cast", 1, 1, "round_mode saturate to", infer_cast, cast_work, compute_cast,
     "7 9 13 19 21 23 24 25"},
    {"", "CastLike", "cast", 2, 2, "round_mode saturate", infer_cast_like, cast_like_work, compute_cast,
     "15 19 21 23 24 25"},
};

}  // namespace

std::span<const Operator> cast_rows() { return cast_operators; }

}  // namespace sdip
