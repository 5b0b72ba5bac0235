// Logarithm and exponential as the same bits on every processor: the C library's differ in the last place between
// processors with and without fused multiply-add.
#pragma once

namespace sdip {

/// Natural logarithm, within 2 units of the last place. Requires a finite x > 0 that is not subnormal.
///
/// x = 2^k m with m from 0.71 to 1.42; ln m = 2 (f + f^3 / 3 + f^5 / 5 + ...), f = (m - 1) / (m + 1). Example: x =
/// 6 = 2^2 x 1.5 -> 2^3 x 0.75, f = -1/7: 3 x 0.6931 + 2 x (-0.142857 - 0.000972 - 0.000012) = 1.7918.
double logarithm(double x);

/// e to the power x, within 2 units of the last place. Requires |x| <= 700.
///
/// x = k ln 2 + r with |r| <= 0.35; e^x = 2^k (1 + r + r^2 / 2! + ...). Example: x = 1 -> k = 1, r = 0.3069, 2 x
/// (1 + 0.3069 + 0.0471 + 0.0048 + 0.0004) = 2.7183.
double exponential(double x);

/// base to the power x. Requires what those two do.
double power(double base, double x);

}  // namespace sdip
