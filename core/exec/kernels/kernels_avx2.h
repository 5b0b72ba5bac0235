// Codes in AVX2 registers: what sets of instructions that SDIP_TARGET says have in common.
// Internal to its room.
#pragma once

#include <immintrin.h>

#include "core/exec/kernels/kernels_tiles.h"

namespace sdip::exec {
namespace {

SDIP_INLINE __m256i mask_of(std::int64_t columns) {
  const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(columns < 8 ? static_cast<std::int32_t>(columns) : 8), numbers);
}

struct Vector {
  static constexpr int width = 8, panel_vectors = 2;
};

struct Codes : Vector {
  using Sum = __m256i;
  using Operand = __m256i;
  explicit Codes(const TileTask&) {}
  SDIP_INLINE Sum load(const char* at, std::int64_t columns) const {
    return _mm256_maskload_epi32(static_cast<const int*>(static_cast<const void*>(at)), mask_of(columns));
  }
  SDIP_INLINE void store(char* at, std::int64_t columns, Sum sum, std::int32_t bias) const {
    _mm256_maskstore_epi32(static_cast<int*>(static_cast<void*>(at)), mask_of(columns),
                           _mm256_sub_epi32(sum, _mm256_set1_epi32(bias)));
  }
  SDIP_INLINE Operand all(const char* at) const {
    std::int32_t group;
    __builtin_memcpy(&group, at, 4);
    return _mm256_set1_epi32(group);
  }
  SDIP_INLINE Operand each(const char* at) const {
    return _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(at)));
  }
};

}  // namespace
}  // namespace sdip::exec
