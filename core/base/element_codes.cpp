// Element types' numbers as bits, and bits as numbers.
#include "core/base/element_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace sdip {
namespace {

constexpr std::int64_t no_nan = -1;

/// Sources: IEEE 754 binary16; bfloat16 is the upper half of binary32; float8 as ONNX's page on it has them
/// (https://onnx.ai/onnx/technical/float8.html), float4 as its page on that.
constexpr auto stored_floats = [] {
  using enum ElementType;
  std::array<StoredFloat, at(last_element_type) + 1> rows{};
  rows.fill({8, 23, 127, true, 0, 0x1.FFFFFEp127});  // float32
  rows[at(float16)] = {5, 10, 15, true, 0, 65504};
  rows[at(bfloat16)] = {8, 7, 127, true, 0, 0x1.FEp127};
  rows[at(float8e4m3fn)] = {4, 3, 7, false, 0x7f, 448};
  rows[at(float8e4m3fnuz)] = {4, 3, 8, false, 0x80, 240};
  rows[at(float8e5m2)] = {5, 2, 15, true, 0, 57344};
  rows[at(float8e5m2fnuz)] = {5, 2, 16, false, 0x80, 57344};
  rows[at(float4e2m1)] = {2, 1, 1, false, no_nan, 6};
  return rows;
}();

/// float8e8m0 is an exponent alone: https://onnx.ai/onnx/technical/float8.html.
constexpr int power_bias = 127, power_nan = 255;

}  // namespace

const StoredFloat& stored_float(ElementType type) { return stored_floats[at(type)]; }

bool is_signed(ElementType type) {
  using enum ElementType;
  return type == int8 || type == int16 || type == int32 || type == int64 || type == int4 || type == int2;
}

double float_of_code(ElementType type, std::int64_t code) {
  if (type == ElementType::float64) return std::bit_cast<double>(code);
  if (type == ElementType::float32)
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
  if (type == ElementType::float8e8m0) {
    const auto power = static_cast<int>(code & 255);
    return power == power_nan ? std::nan("") : std::ldexp(1.0, power - power_bias);
  }
  const StoredFloat& form = stored_float(type);
  const int highest = (1 << form.exponent_bits) - 1;
  const auto exponent = static_cast<int>(code >> form.fraction_bits & highest);
  const std::int64_t fraction = code & ((std::int64_t{1} << form.fraction_bits) - 1);
  const std::int64_t without_sign = code & (form.sign() - 1);
  const double sign = (code >> form.sign_at() & 1) != 0 ? -1.0 : 1.0;
  if (!form.negative_zero() ? code == form.nan : form.nan > 0 && without_sign == form.nan) return std::nan("");
  if (form.ieee && exponent == highest) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  const std::int64_t whole = exponent == 0 ? fraction : fraction + (std::int64_t{1} << form.fraction_bits);
  return sign * std::ldexp(static_cast<double>(whole), std::max(exponent, 1) - form.bias - form.fraction_bits);
}

std::int64_t code_of_float(ElementType type, double x) {
  if (type == ElementType::float64) return std::bit_cast<std::int64_t>(x);
  if (type == ElementType::float32)
    return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  if (type == ElementType::float8e8m0) return std::isnan(x) ? power_nan : std::ilogb(x) + power_bias;
  const StoredFloat& form = stored_float(type);
  if (std::isnan(x)) {
    const std::int64_t quiet = form.infinity() | std::int64_t{1} << (form.fraction_bits - 1);
    return form.ieee ? quiet : std::max<std::int64_t>(form.nan, 0);
  }
  const std::int64_t sign = std::signbit(x) ? form.sign() : 0;
  if (std::isinf(x)) return sign | form.infinity();
  if (x == 0) return form.negative_zero() ? sign : 0;
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
