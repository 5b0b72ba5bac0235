// Numbers as the bits of a number format.
#include "core/base/encode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

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
  using enum NumberFormat;
  return format == q3_4 ? 4 : format == q7_8 ? 8 : format == q15_16 ? 16 : 0;
}

/// QLoRA (arXiv:2305.14314), appendix E: by code.
constexpr float nf4_values[16] = {
    -1.0F,
    -0.6961928009986877F,
    -0.5250730514526367F,
    -0.39491748809814453F,
    -0.28444138169288635F,
    -0.18477343022823334F,
    -0.09105003625154495F,
    0.0F,
    0.07958029955625534F,
    0.16093020141124725F,
    0.24611230194568634F,
    0.33791524171829224F,
    0.44070982933044434F,
    0.5626170039176941F,
    0.7229568362236023F,
    1.0F,
};

/// The nearest; of two equally near the even one.
std::uint32_t nf4_code(double x) {
  std::uint32_t best = 0;
  const double within = std::clamp(x, -1.0, 1.0);
  const auto far = [&](std::uint32_t code) { return std::fabs(within - static_cast<double>(nf4_values[code])); };
  for (std::uint32_t code = 1; code < 16; ++code)
    if (far(code) < far(best) || (far(code) == far(best) && code % 2 == 0)) best = code;
  return best;
}

/// Elements that are whole numbers of steps, no step below the largest: mxint8 in two's complement, msfp as sign
/// and magnitude.
struct WholeElements {
  int fraction_bits = 0;
  std::uint32_t largest = 0, sign = 0;  // sign 0: two's complement
};
std::optional<WholeElements> whole_elements(NumberFormat format) {
  if (format == NumberFormat::mxint8) return WholeElements{6, 127, 0};
  if (format == NumberFormat::msfp16) return WholeElements{6, 127, 128};
  if (format == NumberFormat::msfp12) return WholeElements{2, 7, 8};
  return std::nullopt;
}

std::uint32_t whole_code(const WholeElements& e, double x) {
  const double steps = std::nearbyint(std::ldexp(std::isnan(x) ? 0.0 : x, e.fraction_bits));
  const auto magnitude = static_cast<std::uint32_t>(std::min(std::fabs(steps), static_cast<double>(e.largest)));
  if (!(steps < 0)) return magnitude;
  return e.sign != 0 ? magnitude | e.sign : (256 - magnitude) & 255;
}

double whole_value(const WholeElements& e, std::uint32_t code) {
  const std::uint32_t top = e.sign != 0 ? e.sign : 128;
  double steps = static_cast<double>(code & (top - 1));
  if ((code & top) != 0) steps = e.sign != 0 ? -steps : steps - 128;
  return std::ldexp(steps, -e.fraction_bits);
}

/// As float_bits, of a quotient that no float need hold.
std::uint32_t element_bits(const FloatLayout& layout, double x) {
  const std::uint32_t sign = std::signbit(x) ? 1U << (layout.exponent_bits + layout.fraction_bits) : 0;
  if (std::isnan(x)) return sign | layout.nan;
  if (std::isinf(x)) return sign | layout.largest;
  const int exponent = x == 0 ? 1 - layout.bias() : std::max(std::ilogb(x), 1 - layout.bias());
  if (exponent > layout.bias() + 1) return sign | layout.largest;
  const auto steps =
      static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::fabs(x), layout.fraction_bits - exponent)));
  const std::uint32_t code =
      (static_cast<std::uint32_t>(exponent + layout.bias() - 1) << layout.fraction_bits) + steps;
  return sign | std::min(code, layout.largest);
}

/// An element of a block whose scale is `scale`.
std::uint32_t block_code(NumberFormat format, float x, float scale) {
  const double element = static_cast<double>(x) / static_cast<double>(scale);
  if (const auto whole = whole_elements(format)) return whole_code(*whole, element);
  if (format == NumberFormat::nf4) return nf4_code(std::isnan(element) ? 0.0 : element);
  return element_bits(float_layout(format), element);
}

float block_value(NumberFormat format, std::uint32_t code, float scale) {
  double element = 0;
  if (const auto whole = whole_elements(format))
    element = whole_value(*whole, code);
  else if (format == NumberFormat::nf4)
    element = static_cast<double>(nf4_values[code & 15]);
  else
    element = static_cast<double>(float_value(float_layout(format), code));
  return static_cast<float>(element * static_cast<double>(scale));
}

}  // namespace

FloatLayout float_layout(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp16:
      return {5, 10, 0x7bff, 0x7e00, true};
    case NumberFormat::bf16:
      return {8, 7, 0x7f7f, 0x7fc0, true};
    case NumberFormat::fp8_e4m3:
    case NumberFormat::mxfp8:
      return {4, 3, 0x7e, 0x7f, false};
    case NumberFormat::fp16_e6m9:
      return {6, 9, 0x7dff, 0x7f00, true};
    case NumberFormat::mxfp6:
      return {2, 3, 0x1f, 0, false};
    case NumberFormat::mxfp6_e3m2:
      return {3, 2, 0x1f, 0, false};
    case NumberFormat::mxfp4:
    case NumberFormat::nvfp4:
      return {2, 1, 0x7, 0, false};
    default:
      check(format == NumberFormat::fp8_e5m2 || format == NumberFormat::mxfp8_e5m2, "a floating format");
      return {5, 2, 0x7b, 0x7e, true};
  }
}

bool needs_zero_point(NumberFormat format) {
  return format == NumberFormat::uint8 || format == NumberFormat::uint4;
}

std::int64_t largest_code(NumberFormat format) {
  return (std::int64_t{1} << (bits_of(format) - (needs_zero_point(format) ? 0 : 1))) - 1;
}

bool needs_scale(NumberFormat format) { return !is_floating(format) && fraction_bits(format) == 0; }

bool has_tensor_scale(NumberFormat format) {
  return needs_scale(format) || (is_block_format(format) && row_of(format).scale == BlockScale::e4m3);
}

std::uint32_t encoded(NumberFormat format, float x, float scale, std::int64_t zero) {
  if (format == NumberFormat::fp32) return std::bit_cast<std::uint32_t>(x);
  if (is_block_format(format)) return block_code(format, x, scale);
  if (is_floating(format)) return float_bits(float_layout(format), x);
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
  if (is_block_format(format)) return block_value(format, bits, scale);
  if (is_floating(format)) return float_value(float_layout(format), bits);
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
