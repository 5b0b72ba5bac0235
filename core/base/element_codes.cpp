// Element types' numbers as bits, and bits as numbers.
#include "core/base/element_codes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sdip {
namespace {

/// How a float narrower than 32 bits is stored. `ieee`: the highest exponent is infinity and NaN; of the others a
/// single code is NaN, or with `no_nan` none.
struct FloatCode {
  int exponent_bits, fraction_bits, bias;
  bool ieee;
  std::int64_t nan;  // the code without its sign, or the whole code of the types that have no -0
  int sign_at() const { return exponent_bits + fraction_bits; }
  std::int64_t sign() const { return std::int64_t{1} << sign_at(); }
  std::int64_t infinity() const { return ((std::int64_t{1} << exponent_bits) - 1) << fraction_bits; }
};
constexpr std::int64_t no_nan = -1;

/// Sources: IEEE 754 binary16; bfloat16 is the upper half of binary32; float8 as ONNX's page on it has them
/// (https://onnx.ai/onnx/technical/float8.html), float4 as its page on that.
FloatCode float_code(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return {5, 10, 15, true, 0};
    case ElementType::bfloat16:
      return {8, 7, 127, true, 0};
    case ElementType::float8e4m3fn:
      return {4, 3, 7, false, 0x7f};
    case ElementType::float8e4m3fnuz:
      return {4, 3, 8, false, 0x80};
    case ElementType::float8e5m2:
      return {5, 2, 15, true, 0};
    case ElementType::float8e5m2fnuz:
      return {5, 2, 16, false, 0x80};
    default:
      return {2, 1, 1, false, no_nan};  // float4e2m1
  }
}

/// float8e8m0 is an exponent alone: https://onnx.ai/onnx/technical/float8.html.
constexpr int power_bias = 127, power_nan = 255;

}  // namespace

double float_of_code(ElementType type, std::int64_t code) {
  if (type == ElementType::float64) return std::bit_cast<double>(code);
  if (type == ElementType::float32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
  if (type == ElementType::float8e8m0) {
    const auto power = static_cast<int>(code & 255);
    return power == power_nan ? std::nan("") : std::ldexp(1.0, power - power_bias);
  }
  const FloatCode form = float_code(type);
  const int highest = (1 << form.exponent_bits) - 1;
  const auto exponent = static_cast<int>(code >> form.fraction_bits & highest);
  const std::int64_t fraction = code & ((std::int64_t{1} << form.fraction_bits) - 1);
  const std::int64_t without_sign = code & (form.sign() - 1);
  const double sign = (code >> form.sign_at() & 1) != 0 ? -1.0 : 1.0;
  if (form.nan == 0x80 ? code == form.nan : form.nan > 0 && without_sign == form.nan) return std::nan("");
  if (form.ieee && exponent == highest) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  const std::int64_t whole = exponent == 0 ? fraction : fraction + (std::int64_t{1} << form.fraction_bits);
  return sign * std::ldexp(static_cast<double>(whole), std::max(exponent, 1) - form.bias - form.fraction_bits);
}

std::int64_t code_of_float(ElementType type, double x) {
  if (type == ElementType::float64) return std::bit_cast<std::int64_t>(x);
  if (type == ElementType::float32)
    return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  if (type == ElementType::float8e8m0) return std::isnan(x) ? power_nan : std::ilogb(x) + power_bias;
  const FloatCode form = float_code(type);
  if (std::isnan(x)) {
    const std::int64_t quiet = form.infinity() | std::int64_t{1} << (form.fraction_bits - 1);
    return form.ieee ? quiet : std::max<std::int64_t>(form.nan, 0);
  }
  const std::int64_t sign = std::signbit(x) ? form.sign() : 0;
  if (std::isinf(x)) return sign | form.infinity();
  if (x == 0) return form.nan == 0x80 ? 0 : sign;
  const int exponent = std::max(std::ilogb(x), 1 - form.bias);
  // A subnormal number has a leading bit of 0, which takes the exponent's 1 away again.
  const auto whole = static_cast<std::int64_t>(std::ldexp(std::fabs(x), form.fraction_bits - exponent));
  return sign | (whole + (static_cast<std::int64_t>(exponent + form.bias - 1) << form.fraction_bits));
}

std::int64_t code_in_byte(std::int64_t byte, std::int64_t bits, std::size_t i) {
  const auto in_each = as_size(8 / bits);
  return byte >> (i % in_each * as_size(bits)) & ((std::int64_t{1} << bits) - 1);
}

}  // namespace sdip
