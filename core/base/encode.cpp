// Numbers as the bits of a number format.
#include "core/base/encode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/float_layout.h"

namespace sdip {
namespace {

/// Codes grow with the number, so rounding up into the next exponent is a carry, and clamping a minimum.
std::uint32_t float_bits(const FloatLayout& layout, float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 31) << (layout.exponent_bits + layout.fraction_bits);
  if (std::isnan(x)) return sign | layout.nan;
  if (std::isinf(x)) return sign | layout.largest;
  const std::uint32_t field = bits >> 23 & 255, fraction = bits & 0x7fffff;
  const std::uint32_t significand = field == 0 ? fraction : fraction | 0x800000;
  const int exponent = std::max(static_cast<int>(field), 1) - 127;
  const int kept = std::max(exponent, 1 - layout.bias());
  const int shift = 23 - layout.fraction_bits + kept - exponent;
  if (shift > 24) return sign;  // less than half of the smallest
  const std::uint32_t odd = significand >> shift & 1;
  const std::uint32_t rounded = (significand + (1U << (shift - 1)) - 1 + odd) >> shift;
  const std::uint32_t code =
      (static_cast<std::uint32_t>(kept + layout.bias() - 1) << layout.fraction_bits) + rounded;
  return sign | std::min(code, layout.largest);
}

float float_value(const FloatLayout& layout, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & ((1U << (layout.exponent_bits + layout.fraction_bits)) - 1);
  const float sign = magnitude == bits ? 1.0F : -1.0F;
  const auto field = static_cast<int>(magnitude >> layout.fraction_bits);
  const auto fraction = static_cast<int>(magnitude & ((1U << layout.fraction_bits) - 1));
  if (magnitude > layout.largest) {
    const bool infinite = layout.infinities && fraction == 0;
    return std::copysign(
        infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN(), sign);
  }
  const int significand = field == 0 ? fraction : fraction + (1 << layout.fraction_bits);
  return sign *
         static_cast<float>(std::ldexp(significand, std::max(field, 1) - layout.bias() - layout.fraction_bits));
}

int fraction_bits(NumberFormat format) {
  switch (format) {
    case NumberFormat::q3_4:
      return 4;
    case NumberFormat::q7_8:
      return 8;
    case NumberFormat::q15_16:
      return 16;
    default:
      return 0;
  }
}

}  // namespace

FloatLayout float_layout(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp16:
      return {5, 10, 0x7bff, 0x7e00, true};
    case NumberFormat::bf16:
      return {8, 7, 0x7f7f, 0x7fc0, true};
    case NumberFormat::fp8_e4m3:
      return {4, 3, 0x7e, 0x7f, false};
    default:
      check(format == NumberFormat::fp8_e5m2, "a floating format");
      return {5, 2, 0x7b, 0x7e, true};
  }
}

bool needs_zero_point(NumberFormat format) {
  return format == NumberFormat::uint8 || format == NumberFormat::uint4;
}

std::int64_t largest_code(NumberFormat format) {
  return (std::int64_t{1} << (bits_of(format) - (needs_zero_point(format) ? 0 : 1))) - 1;
}

bool needs_scale(NumberFormat format) {
  return !number_formats[static_cast<std::size_t>(format)].floating && fraction_bits(format) == 0;
}

std::uint32_t encoded(NumberFormat format, float x, float scale, std::int64_t zero) {
  if (format == NumberFormat::fp32) return std::bit_cast<std::uint32_t>(x);
  if (number_formats[static_cast<std::size_t>(format)].floating) return float_bits(float_layout(format), x);
  check(scale > 0, "a positive scale");
  double whole = needs_scale(format) ? std::nearbyint(static_cast<double>(x) / static_cast<double>(scale))
                                     : std::nearbyint(std::ldexp(static_cast<double>(x), fraction_bits(format)));
  whole = (std::isnan(x) ? 0.0 : whole) + static_cast<double>(zero);
  const auto most = static_cast<double>(largest_code(format));
  const double least = needs_zero_point(format) ? 0.0 : -most - 1.0;
  const auto code = static_cast<std::int64_t>(std::clamp(whole, least, most));
  const std::uint64_t mask = (std::uint64_t{1} << bits_of(format)) - 1;
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(code) & mask);
}

float decoded(NumberFormat format, std::uint32_t bits, float scale, std::int64_t zero) {
  if (format == NumberFormat::fp32) return std::bit_cast<float>(bits);
  if (number_formats[static_cast<std::size_t>(format)].floating) return float_value(float_layout(format), bits);
  std::int64_t code = bits;
  if (code > largest_code(format)) code -= std::int64_t{1} << bits_of(format);
  if (!needs_scale(format))
    return static_cast<float>(std::ldexp(static_cast<double>(code), -fraction_bits(format)));
  return static_cast<float>(static_cast<double>(code - zero) * static_cast<double>(scale));
}

void BitPacker::push(std::byte byte) {
  constexpr std::size_t piece_bytes = 1 << 20;
  piece_.push_back(byte);
  ++bytes_;
  if (piece_.size() < piece_bytes) return;
  sink_(piece_);
  piece_.clear();
}

void BitPacker::put(std::uint32_t code, std::int64_t bits) {
  open_ |= std::uint64_t{code} << open_bits_;
  for (open_bits_ += bits; open_bits_ >= 8; open_bits_ -= 8, open_ >>= 8) push(static_cast<std::byte>(open_ & 255));
}

void BitPacker::pad_to(std::int64_t bytes) {
  if (open_bits_ > 0) put(0, 8 - open_bits_);
  check(bytes_ <= bytes, "weights are not longer than their place");
  while (bytes_ < bytes) push(std::byte{0});
}

void BitPacker::finish() {
  pad_to(bytes_ + (open_bits_ > 0));
  if (!piece_.empty()) sink_(piece_);
  piece_.clear();
}

}  // namespace sdip
