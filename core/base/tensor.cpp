// Shapes and element types: as text, their sizes, and the numbers that types hold.
#include "core/base/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"

namespace sdip {

std::int64_t element_count(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 53;  // counts stay exact in a double, too
  bool empty = false;
  for (std::int64_t size : shape) {
    if (size < 0) {
      throw Error("model_too_large", shape_text(shape),
                  "a tensor of shape " + shape_text(shape) + ": a negative size");
    }
    empty = empty || size == 0;
  }
  if (empty) return 0;
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count) || count > most) {
      throw Error("model_too_large", shape_text(shape),
                  "a tensor of shape " + shape_text(shape) + " has more than 2^53 elements");
    }
  }
  return count;
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

std::string_view element_type_text(ElementType type) {
  static constexpr std::string_view names[] = {
      "float32",    "float64", "float16",      "bfloat16",       "int8",       "uint8",
      "int16",      "uint16",  "int32",        "uint32",         "int64",      "uint64",
      "boolean",    "string",  "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "float4e2m1", "int4",    "uint4",        "float8e8m0",     "int2",       "uint2"};
  static_assert(std::size(names) == at(last_element_type) + 1);
  return names[at(type)];
}

bool is_floating(ElementType type) {
  using enum ElementType;
  return type == float32 || type == float64 || type == float16 || type == bfloat16 ||
         (type >= float8e4m3fn && type <= float4e2m1) || type == float8e8m0;
}

std::int64_t bits_of(ElementType type) {
  static constexpr std::int64_t bits[] = {32, 64, 16, 16, 8, 8, 16, 16, 32, 32, 64, 64,
                                          8,  0,  8,  8,  8, 8, 4,  4,  4,  8,  2,  2};
  static_assert(std::size(bits) == at(last_element_type) + 1);
  return bits[at(type)];
}

namespace {

/// The nearest power of two to a size, the higher of two: 1.5 is 2.
double nearest_power(double x, bool saturate) {
  constexpr double least = 0x1p-127, largest = 0x1p127;
  if (std::isnan(x)) return x;
  const double size = std::fabs(x);
  if (size == 0 || std::isinf(size)) return !saturate ? std::nan("") : size == 0 ? least : largest;
  int exponent = 0;
  const double fraction = std::frexp(size, &exponent);  // from 0.5 up to 1
  const double power = std::ldexp(fraction >= 0.75 ? 1.0 : 0.5, exponent);
  if (power >= least && power <= largest) return power;
  return saturate ? std::clamp(power, least, largest) : std::nan("");
}

/// The form of a stored float: bits after the point, exponent of the smallest normal number, largest number. The
/// fp8 types without infinities are those of ONNX's "Float stored in 8 bits": fnuz has neither infinity nor -0.
struct FloatForm {
  int fraction_bits, least_exponent;
  double largest;
  bool infinities, negative_zero = true;
};

FloatForm form_of(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return {10, -14, 65504, true};
    case ElementType::bfloat16:
      return {7, -126, 0x1.FEp127, true};
    case ElementType::float8e4m3fn:
      return {3, -6, 448, false};
    case ElementType::float8e4m3fnuz:
      return {3, -7, 240, false, false};
    case ElementType::float8e5m2:
      return {2, -14, 57344, true};
    case ElementType::float8e5m2fnuz:
      return {2, -15, 57344, false, false};
    case ElementType::float4e2m1:
      return {1, 0, 6, false};
    default:
      return {23, -126, 0x1.FFFFFEp127, true};
  }
}

}  // namespace

double rounded(ElementType type, double x, bool saturate) {
  if (type == ElementType::float64) return x;
  // The default rounding mode of the machine, too, is to the nearest, ties to even.
  if (type == ElementType::float32 && !saturate) return static_cast<double>(static_cast<float>(x));
  if (type == ElementType::float8e8m0) return nearest_power(x, saturate);
  const bool finite_only = type == ElementType::float4e2m1;  // neither infinity nor NaN: ONNX takes NaN for 6
  if (std::isnan(x)) return finite_only ? 6.0 : x;
  const FloatForm form = form_of(type);
  double y = x;
  if (std::isfinite(x) && x != 0) {
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), form.least_exponent) - form.fraction_bits);
    y = std::nearbyint(x / step) * step;
  }
  if (y == 0) return form.negative_zero ? y : 0.0;
  if (std::fabs(y) <= form.largest) return y;
  if (saturate || finite_only) return std::copysign(form.largest, x);
  return form.infinities ? std::copysign(HUGE_VAL, x) : std::nan("");
}

std::int64_t wrapped(ElementType type, std::int64_t x) {
  switch (type) {
    case ElementType::int8:
      return static_cast<std::int8_t>(x);
    case ElementType::uint8:
      return static_cast<std::uint8_t>(x);
    case ElementType::int16:
      return static_cast<std::int16_t>(x);
    case ElementType::uint16:
      return static_cast<std::uint16_t>(x);
    case ElementType::int32:
      return static_cast<std::int32_t>(x);
    case ElementType::uint32:
      return static_cast<std::uint32_t>(x);
    case ElementType::int4:
      return ((x & 15) ^ 8) - 8;
    case ElementType::uint4:
      return x & 15;
    case ElementType::int2:
      return ((x & 3) ^ 2) - 2;
    case ElementType::uint2:
      return x & 3;
    case ElementType::boolean:
      return x != 0;
    default:
      return x;
  }
}

Tensor zero_tensor(ElementType type, Shape shape) {
  Tensor tensor{type, std::move(shape), {}, {}};
  const auto count = as_size(element_count(tensor.shape));
  if (is_floating(type)) {
    tensor.floats.assign(count, type == ElementType::float8e8m0 ? 0x1p-127 : 0.0);
  } else {
    tensor.ints.assign(count, 0);
  }
  return tensor;
}

}  // namespace sdip
