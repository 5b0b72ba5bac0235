// Tiles of 12 rows and 32 columns in AVX-512 registers.
#if defined(__x86_64__)
#include <immintrin.h>

#define SDIP_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#include "core/exec/kernels/kernels_tiles.h"

namespace sdip::exec {
namespace {

constexpr int most_rows = 12;

SDIP_INLINE __mmask16 mask_of(std::int64_t columns) {
  return columns >= 16 ? __mmask16(0xffff) : static_cast<__mmask16>((1U << columns) - 1);
}

struct Vector {
  static constexpr int width = 16, panel_vectors = 2;
};

struct Floats : Vector {
  static constexpr int group = 1, strip_rows = 4;
  using Sum = __m512;
  using Operand = __m512;
  explicit Floats(const TileTask&) {}
  SDIP_INLINE Sum load(const char* at, std::int64_t columns) const {
    return _mm512_maskz_loadu_ps(mask_of(columns), at);
  }
  SDIP_INLINE void store(char* at, std::int64_t columns, Sum sum, std::int32_t) const {
    const __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000));
    const __mmask16 unordered = _mm512_cmp_ps_mask(sum, sum, _CMP_UNORD_Q);
    _mm512_mask_storeu_ps(at, mask_of(columns), _mm512_mask_mov_ps(sum, unordered, nan));
  }
  SDIP_INLINE Operand all(const char* at) const {
    float one;
    __builtin_memcpy(&one, at, 4);
    return _mm512_set1_ps(one);
  }
  SDIP_INLINE Operand each(const char* at) const { return _mm512_loadu_ps(at); }
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm512_fmadd_ps(l, r, c); }
  SDIP_INLINE Sum product(Operand l, Operand r) const { return _mm512_mul_ps(l, r); }
  SDIP_INLINE Sum sum(Sum a, Sum b) const { return _mm512_add_ps(a, b); }
};

struct Codes : Vector {
  using Sum = __m512i;
  using Operand = __m512i;
  explicit Codes(const TileTask&) {}
  SDIP_INLINE Sum load(const char* at, std::int64_t columns) const {
    return _mm512_maskz_loadu_epi32(mask_of(columns), at);
  }
  SDIP_INLINE void store(char* at, std::int64_t columns, Sum sum, std::int32_t bias) const {
    _mm512_mask_storeu_epi32(at, mask_of(columns), _mm512_sub_epi32(sum, _mm512_set1_epi32(bias)));
  }
  SDIP_INLINE Operand all(const char* at) const {
    std::int32_t group;
    __builtin_memcpy(&group, at, 4);
    return _mm512_set1_epi32(group);
  }
  SDIP_INLINE Operand each(const char* at) const { return _mm512_loadu_si512(at); }
};

struct Codes16 : Codes {
  using Codes::Codes;
  static constexpr int group = 2;
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm512_dpwssd_epi32(c, l, r); }
};

/// The instruction takes unsigned codes on one side: those on the right stand plus 128.
struct Codes8 : Codes {
  using Codes::Codes;
  static constexpr int group = 4;
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm512_dpbusd_epi32(c, r, l); }
};

}  // namespace

TileKernel avx512_kernel(TileKind kind) {
  switch (kind) {
    case TileKind::fused:
      return {most_rows, 32, 1, false, add_sequentially<Floats, most_rows, 2>};
    case TileKind::tree:
      return {most_rows, 32, 1, false, add_trees<Floats>};
    case TileKind::codes16:
      return {most_rows, 32, Codes16::group, false, add_sequentially<Codes16, most_rows, 2>};
    case TileKind::codes8:
      return {most_rows, 32, Codes8::group, true, add_sequentially<Codes8, most_rows, 2>};
    case TileKind::narrow_fused:
    case TileKind::narrow_tree:
      return avx512_narrow_kernel(kind == TileKind::narrow_tree);
  }
  return {};
}

}  // namespace sdip::exec
#endif
