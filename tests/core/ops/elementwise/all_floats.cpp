// Definitions of the shift quantiser over all floats.
#include "tests/core/ops/elementwise/all_floats.h"

#include <bit>
#include <cmath>

#include "core/ops/elementwise/shift_quantize.h"

namespace sdip {
namespace {

/// bits[high:low]
constexpr std::uint32_t slice(std::uint32_t bits, int high, int low) {
  return bits >> low & ((1U << (high - low + 1)) - 1);
}

}  // namespace

std::uint8_t quantised_by_cases(std::uint32_t bits) {
  const std::uint32_t e = slice(bits, 30, 23);
  const std::uint32_t shift_delta = e + 8 - 127;  // as wide as a wire may be: below 0 it is huge
  const auto with_one = [&](int low) { return 1U << (23 - low) | slice(bits, 22, low); };
  switch (shift_delta) {
    case 0:
      return 1;
    case 1:
      return static_cast<std::uint8_t>(with_one(22));
    case 2:
      return static_cast<std::uint8_t>(with_one(21));
    case 3:
      return static_cast<std::uint8_t>(with_one(20));
    case 4:
      return static_cast<std::uint8_t>(with_one(19));
    case 5:
      return static_cast<std::uint8_t>(with_one(18));
    case 6:
      return static_cast<std::uint8_t>(with_one(17));
    case 7:
      return static_cast<std::uint8_t>(with_one(16));
    case 8:
      return 255;
    default:
      return 0;
  }
}

std::uint8_t quantised_by_arithmetic(float x) {
  const float size = x < 0 ? -x : x;
  if (size >= 2) return 0;
  if (size >= 1) return 255;
  return static_cast<std::uint8_t>(static_cast<int>(256 * size));
}

std::uint8_t quantised_plainly(float x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 255;
  constexpr float units = 0x1.8p23F;  // floats of this size are whole numbers, and sums are rounded to nearest
  const float y = 256 * x + units - units;
  return y > 255 ? 255 : static_cast<std::uint8_t>(y);
}

SeenFloats& SeenFloats::operator+=(const SeenFloats& more) {
  differ_from_cases += more.differ_from_cases;
  differ_from_arithmetic += more.differ_from_arithmetic;
  sign_ignored += more.sign_ignored;
  zero_from_2_upwards += more.zero_from_2_upwards;
  cut += more.cut;
  other += more.other;
  return *this;
}

SeenFloats look_at(std::uint64_t first_bits, std::uint64_t count, std::uint32_t stride) {
  SeenFloats seen;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(first_bits + i * stride);
    const auto x = std::bit_cast<float>(bits);
    const std::uint8_t found = shift_quantised(bits);
    seen.differ_from_cases += found != quantised_by_cases(bits);
    if (std::isnan(x)) {
      seen.differ_from_arithmetic += found != 0;
      continue;
    }
    seen.differ_from_arithmetic += found != quantised_by_arithmetic(x);
    const std::uint8_t plainly = quantised_plainly(x);
    if (found == plainly) continue;
    const bool negative = x<0, large = x >= 2, small = x> 0 && x < 1 && found + 1 == plainly;
    seen.sign_ignored += negative;
    seen.zero_from_2_upwards += large;
    seen.cut += small;
    seen.other += !negative && !large && !small;
  }
  return seen;
}

}  // namespace sdip
