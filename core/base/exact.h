// Sums and products of counts that a model's numbers may drive beyond int64.
#pragma once

#include <cstdint>

#include "core/base/error.h"

namespace sdip {

/// a + b. Throws Error("model_too_large", "", ...) beyond int64.
inline std::int64_t exact_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw Error("model_too_large", "", "a total is beyond 2^63");
  return sum;
}

/// a * b. Throws as exact_sum.
inline std::int64_t exact_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw Error("model_too_large", "", "a total is beyond 2^63");
  return product;
}

}  // namespace sdip
