// Definitions of the shift quantiser, written apart from core/ops and from each other, over all floats.
#pragma once

#include <array>
#include <cstdint>

namespace sdip {

/// The published circuit's case statement, line by line, on the float with these bits.
std::uint8_t quantised_by_cases(std::uint32_t bits);

/// In arithmetic: 256 |x| cut to a whole number below 1, 255 from 1 to 2, else 0. Requires a number.
std::uint8_t quantised_by_arithmetic(float x);

/// The plain definition: 256 x to the nearest whole number, ties to even, kept within 0 and 255; 0 of no number.
std::uint8_t quantised_plainly(float x);

/// What was seen of `count` floats from these bits on.
struct SeenFloats {
  std::int64_t differ_from_cases = 0, differ_from_arithmetic = 0;
  std::int64_t sign_ignored = 0, zero_from_2_upwards = 0, cut = 0, other = 0;  // not as plainly, and why
  SeenFloats& operator+=(const SeenFloats& more);
};
SeenFloats look_at(std::uint64_t first_bits, std::uint64_t count, std::uint32_t stride = 1);

}  // namespace sdip
