// Logarithm and exponential by additions, multiplications and one division, each rounded as IEEE 754 says.
#include "core/base/powers.h"

#include <cmath>

#include "core/base/error.h"

namespace sdip {
namespace {

// ln 2 in two: k times the first is exact for |k| < 2^21.
constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

}  // namespace

double logarithm(double x) {
  check(x >= 0x1p-1022 && x <= 0x1.fffffffffffffp1023, "a logarithm of what has none here");
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < 0x1.6a09e667f3bcdp-1) {
    m *= 2;
    --k;
  }
  const double f = (m - 1) / (m + 1), square = f * f;
  double rest = 0;  // of the series, from its small end
  for (int n = 23; n >= 3; n -= 2) rest = (rest + 1.0 / n) * square;
  // ln m = 2 f (1 + rest); with h = m - 1: 2 f = h - f h, whose first term is exact.
  const double h = m - 1;
  return k * ln2_high + (h - (f * (h - 2 * rest) - k * ln2_low));
}

double exponential(double x) {
  check(x >= -700 && x <= 700, "an exponential beyond what a double holds");
  const double k = std::nearbyint(x * 0x1.71547652b82fep+0);
  const double high = x - k * ln2_high, low = k * ln2_low, r = high - low;
  constexpr double inverse[] = {1.0 / 14, 1.0 / 13, 1.0 / 12, 1.0 / 11, 1.0 / 10, 1.0 / 9, 1.0 / 8,
                                1.0 / 7,  1.0 / 6,  1.0 / 5,  1.0 / 4,  1.0 / 3,  1.0 / 2};
  double sum = 0;  // (e^r - 1 - r) / r^2
  for (const double each : inverse) sum = (1 + sum * r) * each;
  return std::ldexp(1 + (high - (low - r * r * sum)), static_cast<int>(k));
}

double power(double base, double x) { return exponential(x * logarithm(base)); }

}  // namespace sdip
