// Codes of many numbers, and numbers of many codes, side by side in vectors.
//
// x / step is taken as x times the rounded inverse of step: a product that is off by less than `doubt`. Where it
// lies no nearer than that to the middle of two codes, both round to the same one; else the quotient itself is
// taken. Example, 8-bit codes, step 0.1F: 0.35F / 0.1F is 3.49999989, but 0.35F x 10 rounds to 3.5, which would be
// 4: it lies on a middle, so the quotient decides, for 3. For 0.31F the product is 3.1, far from 2.5 and 3.5: 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/float_layout.h"
#include "core/base/vectors.h"

namespace sdip {

/// How x becomes a code: x / step (or, unless `divide`, x times step), rounded to nearest, ties to even, kept
/// within [least, most], NaN 0; plus `zero`.
struct StepRule {
  double step = 1;
  bool divide = true;
  std::int64_t zero = 0;
  double least = 0, most = 0;
};

/// Codes of `bytes` (1, 2, 4) bytes, little-endian, in any of the processor's vectors up to `vectors`. Requires
/// step > 0, and room for all.
void encode_steps(const StepRule& rule, std::int64_t bytes, std::span<const float> numbers, std::byte* codes,
                  Vectors vectors);

/// Codes of a narrow floating format, as `encoded` has them; with `infinities` those stand behind the largest
/// number.
void encode_floats(const FloatLayout& layout, bool infinities, std::int64_t bytes, std::span<const float> numbers,
                   std::byte* codes, Vectors vectors);

/// (code - zero) times step. Requires codes of 1 or 2 bytes: then the product of floats is the rounded exact one.
void decode_steps(float step, std::int64_t zero, bool with_sign, std::int64_t bytes, const std::byte* codes,
                  std::span<float> numbers, Vectors vectors);

/// The least and the largest of numbers and 0, and whether all are finite.
struct FloatRange {
  float least = 0, most = 0;
  bool finite = true;
};
FloatRange range_of(std::span<const float> numbers, Vectors vectors = widest_vectors());

}  // namespace sdip
