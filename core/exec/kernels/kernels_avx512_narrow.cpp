// Sums in narrow formats in AVX-512 registers: in double, as core/exec/kernels/kernels_rounding.h rounds them.
#if defined(__x86_64__)
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in immintrin.h (GCC bug 105593)
#endif
#include <immintrin.h>

#include <cmath>

#define SDIP_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#include "core/exec/kernels/kernels_tiles.h"

namespace sdip::exec {
namespace {

SDIP_INLINE __mmask8 mask_of(std::int64_t columns) {
  return columns >= 8 ? __mmask8(0xff) : static_cast<__mmask8>((1U << columns) - 1);
}

struct Narrow {
  static constexpr int width = 8, panel_vectors = 2, group = 1, strip_rows = 1;
  using Sum = __m512d;
  using Operand = __m512d;
  const Rounding& rounding;
  double least_spacing, bits_below;  // as exponents

  explicit Narrow(const TileTask& task)
      : rounding(*task.rounding),
        least_spacing(std::ilogb(rounding.unit)),
        bits_below(rounding.fixed ? 4096 : rounding.precision - 1) {}

  SDIP_INLINE Sum load(const char* at, std::int64_t columns) const {
    if (rounding.fixed)
      return _mm512_mul_pd(_mm512_cvtepi32_pd(_mm256_maskz_loadu_epi32(mask_of(columns), at)),
                           _mm512_set1_pd(rounding.unit));
    return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(mask_of(columns), at));
  }
  SDIP_INLINE void store(char* at, std::int64_t columns, Sum sum, std::int32_t) const {
    if (rounding.fixed) {
      const __m512d codes = _mm512_div_pd(sum, _mm512_set1_pd(rounding.unit));
      return _mm256_mask_storeu_epi32(at, mask_of(columns), _mm512_cvttpd_epi32(codes));
    }
    const __m256 floats = _mm512_cvtpd_ps(sum), nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    const __mmask8 unordered = _mm256_cmp_ps_mask(floats, floats, _CMP_UNORD_Q);
    _mm256_mask_storeu_ps(at, mask_of(columns), _mm256_mask_mov_ps(floats, unordered, nan));
  }
  SDIP_INLINE Operand all(const char* at) const {
    float one;
    __builtin_memcpy(&one, at, 4);
    return _mm512_set1_pd(static_cast<double>(one));
  }
  SDIP_INLINE Operand each(const char* at) const { return _mm512_cvtps_pd(_mm256_maskz_loadu_ps(0xff, at)); }

  SDIP_INLINE Sum rounded(Sum x) const {
    const __m512d largest = _mm512_set1_pd(rounding.largest), least = _mm512_set1_pd(rounding.least);
    // Where one of two operands is NaN these instructions give the second one, so that NaN stays.
    const __m512d within = _mm512_max_pd(least, _mm512_min_pd(largest, x));
    const __m512d own = _mm512_sub_pd(_mm512_getexp_pd(within), _mm512_set1_pd(bits_below));
    const __m512d spacing = _mm512_max_pd(own, _mm512_set1_pd(least_spacing));
    const __m512d minus = _mm512_sub_pd(_mm512_setzero_pd(), spacing);
    const __m512d whole = _mm512_roundscale_pd(_mm512_scalef_pd(within, minus), _MM_FROUND_TO_NEAREST_INT);
    const __m512d to = _mm512_scalef_pd(whole, spacing);
    const __m512d kept = _mm512_max_pd(least, _mm512_min_pd(largest, to));
    if (!rounding.fixed) return kept;
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), kept);
  }
  SDIP_INLINE Sum odd(Sum a, Sum b) const {
    const __m512d x = _mm512_add_pd(a, b), from_b = _mm512_sub_pd(x, a);
    const __m512d error = _mm512_add_pd(_mm512_sub_pd(a, _mm512_sub_pd(x, from_b)), _mm512_sub_pd(b, from_b));
    const __m512i bits = _mm512_castpd_si512(x), one = _mm512_set1_epi64(1);
    const __mmask8 inexact = _mm512_cmp_pd_mask(error, _mm512_setzero_pd(), _CMP_NEQ_OQ);
    const __mmask8 even = _mm512_testn_epi64_mask(bits, one) & inexact;
    // The error's sign beside the sum's: outwards where they are the same.
    const __mmask8 inwards = _mm512_movepi64_mask(_mm512_xor_si512(bits, _mm512_castpd_si512(error)));
    const __m512i step = _mm512_mask_mov_epi64(one, inwards, _mm512_set1_epi64(-1));
    return _mm512_castsi512_pd(_mm512_mask_add_epi64(bits, even, bits, step));
  }
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return rounded(odd(_mm512_mul_pd(l, r), c)); }
  SDIP_INLINE Sum product(Operand l, Operand r) const { return rounded(_mm512_mul_pd(l, r)); }
  SDIP_INLINE Sum sum(Sum a, Sum b) const { return rounded(odd(a, b)); }
};

constexpr int most_rows = 4;

}  // namespace

TileKernel avx512_narrow_kernel(bool tree) {
  return {most_rows, 16, 1, false, tree ? add_trees<Narrow> : add_sequentially<Narrow, most_rows, 2>};
}

}  // namespace sdip::exec
#endif
