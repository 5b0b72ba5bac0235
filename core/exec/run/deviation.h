// How far numbers are from what they should be: signal to quantisation noise, and cosine. Internal to its room.
//
// Worked example: 3 and 4, held as 3 and 5: signal 9 + 16 = 25, noise 0 + 1 = 1: 10 log10 25 = 13.98 dB; cosine
// (9 + 20) / sqrt(25 * 34) = 0.9947.
#pragma once

#include <cstdint>

#include "core/base/tensor.h"

namespace sdip {

/// Sums over elements x as they should be and q as they are; they add up over tensors.
struct Deviation {
  double signal = 0, noise = 0, other = 0, product = 0;  // of x^2, (q - x)^2, q^2 and x q
  std::int64_t elements = 0;
  std::int64_t not_finite = 0;  // where x or q is none; in no sum

  /// 10 log10(signal / noise) in decibels: infinite without noise, -infinite for noise on nothing. NaN when an
  /// element is not finite, or there is none.
  double sqnr_db() const;
  /// The cosine of the angle between both as vectors; 1 when both are 0, 0 when one is, NaN as above.
  double cosine() const;
};

/// Requires tensors of one shape and kind.
Deviation deviation_of(const Tensor& got, const Tensor& want);

}  // namespace sdip
