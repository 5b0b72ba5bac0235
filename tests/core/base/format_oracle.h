// A number format as the list of all its numbers, made from its definition by doubling and adding, in double; no
// shift and no mask of the encoder's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/number_format.h"

namespace sdip {

/// The numbers of codes 0, 1, 2, ... up to the largest finite one, without sign: they grow.
struct FormatOracle {
  std::vector<double> numbers;
  std::uint32_t sign = 0;  // the code of -0

  /// 2^e, by doubling or halving.
  static double power(int e) {
    double x = 1;
    for (; e > 0; --e) x *= 2;
    for (; e < 0; ++e) x /= 2;
    return x;
  }

  /// `fields` exponents of `fractions` numbers each; those of exponent 0 are subnormal; `left_out` codes at the top
  /// are infinities or NaN.
  static FormatOracle made(int fields, int fractions, int bias, int left_out) {
    FormatOracle oracle;
    for (int field = 0; field < fields; ++field)
      for (int fraction = 0; fraction < fractions; ++fraction) {
        const double part = static_cast<double>(fraction) / fractions;
        oracle.numbers.push_back(field == 0 ? part * power(1 - bias) : (1 + part) * power(field - bias));
      }
    oracle.sign = static_cast<std::uint32_t>(oracle.numbers.size());
    oracle.numbers.resize(oracle.numbers.size() - static_cast<std::size_t>(left_out));
    return oracle;
  }

  /// The code of the number nearest to x, of two equally near that of the even code; the largest beyond it.
  std::uint32_t nearest(double x) const {
    const std::uint32_t negative = std::signbit(x) ? sign : 0;
    const double size = std::fabs(x);
    const auto above = std::lower_bound(numbers.begin(), numbers.end(), size);
    if (above == numbers.end()) return negative + static_cast<std::uint32_t>(numbers.size() - 1);
    auto code = static_cast<std::uint32_t>(above - numbers.begin());
    if (*above != size) {
      const double up = *above - size, down = size - numbers[code - 1];  // exact: both are within a factor of two,
      if (down < up || (down == up && code % 2 == 1)) --code;            // or the number below is a subnormal's
    }
    return negative + code;
  }
};

/// IEEE 754-2008 binary16; its binary32 with 16 fraction bits less; OCP OFP8, revision 1.0, table 1: E4M3 has no
/// infinities, and NaN in the top code alone; E5M2 has both as IEEE does.
inline FormatOracle oracle_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp16:
      return FormatOracle::made(32, 1024, 15, 1024);
    case NumberFormat::bf16:
      return FormatOracle::made(256, 128, 127, 128);
    case NumberFormat::fp8_e4m3:
      return FormatOracle::made(16, 8, 7, 1);
    default:
      return FormatOracle::made(32, 4, 15, 4);
  }
}

}  // namespace sdip
