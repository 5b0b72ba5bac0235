// Shapes and element types: as text, their sizes, and the numbers that types hold.
#include "core/base/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/element_codes.h"
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

}  // namespace

double rounded(ElementType type, double x, bool saturate) {
  if (type == ElementType::float64) return x;
  // The default rounding mode of the machine, too, is to the nearest, ties to even.
  if (type == ElementType::float32 && !saturate) return static_cast<double>(static_cast<float>(x));
  if (type == ElementType::float8e8m0) return nearest_power(x, saturate);
  const bool finite_only = type == ElementType::float4e2m1;  // neither infinity nor NaN: ONNX takes NaN for 6
  if (std::isnan(x)) return finite_only ? 6.0 : x;
  const StoredFloat& form = stored_float(type);
  double y = x;
  if (std::isfinite(x) && x != 0) {
    const double step = std::ldexp(1.0, std::max(std::ilogb(x), form.least_exponent()) - form.fraction_bits);
    y = std::nearbyint(x / step) * step;
  }
  if (y == 0) return form.negative_zero() ? y : 0.0;
  if (std::fabs(y) <= form.largest) return y;
  if (saturate || finite_only) return std::copysign(form.largest, x);
  return form.ieee ? std::copysign(HUGE_VAL, x) : std::nan("");
}

std::int64_t wrapped(ElementType type, std::int64_t x) {
  if (type == ElementType::boolean) return x != 0;
  const std::int64_t unused = 64 - bits_of(type);
  if (unused == 0 || is_floating(type) || type == ElementType::string) return x;
  const std::uint64_t high = static_cast<std::uint64_t>(x) << unused;
  return is_signed(type) ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
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
