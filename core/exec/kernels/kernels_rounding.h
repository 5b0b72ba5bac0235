// Sums as an accumulator's format rounds them, once, from the exact value.
//
// Example: bf16 has 8 bits of precision. 256 + 1 lies between 256 and 258, ties to even: 256. 256 + 1 + 2^-40, were
// it rounded to double's 53 bits and then to 8, is no tie: 258, as the exact sum is.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/base/number_format.h"

namespace sdip::exec {

/// The numbers that rounding to a format needs: the bits of precision, the spacing of its smallest numbers, its
/// largest. Fixed-point formats have one spacing, `unit`, everywhere.
struct Rounding {
  bool fixed = false;
  int precision = 24;
  double unit = 0, least = 0, largest = 0;
};

/// Requires a floating format other than fp32, or a fixed-point one.
Rounding rounding_of(NumberFormat format);

/// x rounded to odd: of a sum x + error that double cannot hold, the neighbour of the exact value whose last bit
/// is 1, so that a later rounding to at most 51 bits gives what rounding the exact value would.
inline double to_odd(double x, double error) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  if (!(error != 0) || (bits & 1) != 0 || !std::isfinite(x)) return x;
  const bool outwards = (error > 0) == (x > 0);
  return std::bit_cast<double>(outwards ? bits + 1 : bits - 1);
}

/// a + b, rounded to odd.
inline double odd_sum(double a, double b) {
  const double sum = a + b, from_b = sum - a;
  return to_odd(sum, (a - (sum - from_b)) + (b - from_b));
}

/// x as the format holds it: nearest, ties to even, kept within the format; NaN stays one, of fixed point it is 0.
/// (A number is divided by the spacing where it stands, a power of two, and rounded to a whole one by adding and
/// taking away 1.5 x 2^52, beside which double holds whole numbers alone.)
inline double rounded_to(const Rounding& r, double x) {
  if (x != x) return r.fixed ? 0 : x;
  if (x >= r.largest) return r.largest;
  if (x <= r.least) return r.least;
  constexpr std::uint64_t one = 1023, fraction_bits = 52;
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(x) >> fraction_bits & 2047;
  std::uint64_t spacing = std::bit_cast<std::uint64_t>(r.unit) >> fraction_bits;
  if (!r.fixed) {
    const auto below = static_cast<std::uint64_t>(r.precision - 1);
    if (exponent > spacing + below) spacing = exponent - below;
  }
  const double unit = std::bit_cast<double>(spacing << fraction_bits);
  const double per_unit = std::bit_cast<double>((2 * one - spacing) << fraction_bits);
  const double to = std::copysign((x * per_unit + 0x1.8p52 - 0x1.8p52) * unit, x);
  return to > r.largest ? r.largest : to < r.least ? r.least : to;
}

}  // namespace sdip::exec
