// Tiles of 6 rows and 16 columns in AVX2 registers.
#if defined(__x86_64__)
#define SDIP_TARGET __attribute__((target("avx2,fma")))
#include "core/exec/kernels/kernels_avx2.h"

namespace sdip::exec {
namespace {

constexpr int most_rows = 6;

struct Floats : Vector {
  static constexpr int group = 1, strip_rows = 2;
  using Sum = __m256;
  using Operand = __m256;
  explicit Floats(const TileTask&) {}
  SDIP_INLINE Sum load(const char* at, std::int64_t columns) const {
    return _mm256_castsi256_ps(
        _mm256_maskload_epi32(static_cast<const int*>(static_cast<const void*>(at)), mask_of(columns)));
  }
  SDIP_INLINE void store(char* at, std::int64_t columns, Sum sum, std::int32_t) const {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    const __m256 one_nan = _mm256_blendv_ps(sum, nan, _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q));
    _mm256_maskstore_epi32(static_cast<int*>(static_cast<void*>(at)), mask_of(columns),
                           _mm256_castps_si256(one_nan));
  }
  SDIP_INLINE Operand all(const char* at) const {
    float one;
    __builtin_memcpy(&one, at, 4);
    return _mm256_set1_ps(one);
  }
  SDIP_INLINE Operand each(const char* at) const {
    return _mm256_loadu_ps(static_cast<const float*>(static_cast<const void*>(at)));
  }
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm256_fmadd_ps(l, r, c); }
  SDIP_INLINE Sum product(Operand l, Operand r) const { return _mm256_mul_ps(l, r); }
  SDIP_INLINE Sum sum(Sum a, Sum b) const { return _mm256_add_ps(a, b); }
};

struct Codes16 : Codes {
  using Codes::Codes;
  static constexpr int group = 2;
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm256_add_epi32(c, _mm256_madd_epi16(l, r)); }
};

}  // namespace

TileKernel avx2_kernel(TileKind kind) {
  switch (kind) {
    case TileKind::fused:
      return {most_rows, 16, 1, false, add_sequentially<Floats, most_rows, 2>};
    case TileKind::tree:
      return {most_rows, 16, 1, false, add_trees<Floats>};
    case TileKind::codes16:
      return {most_rows, 16, Codes16::group, false, add_sequentially<Codes16, most_rows, 2>};
    default:
      return {};
  }
}

}  // namespace sdip::exec
#endif
