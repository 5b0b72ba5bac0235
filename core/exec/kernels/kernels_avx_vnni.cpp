// Tiles of codes in AVX2 registers, of processors that multiply and add four codes at once.
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define SDIP_TARGET __attribute__((target("avx2,fma,avxvnni")))
#include "core/exec/kernels/kernels_tiles.h"

namespace sdip::exec {
namespace {

constexpr int most_rows = 6;

SDIP_INLINE __m256i mask_of(std::int64_t columns) {
  const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(columns < 8 ? static_cast<std::int32_t>(columns) : 8), numbers);
}

/// The instruction takes unsigned codes on one side: those on the right stand plus 128. It wraps.
struct Codes8 {
  static constexpr int width = 8, panel_vectors = 2, group = 4;
  using Sum = __m256i;
  using Operand = __m256i;
  explicit Codes8(const TileTask&) {}
  SDIP_INLINE Sum load(const char* at, std::int64_t columns) const {
    return _mm256_maskload_epi32(static_cast<const int*>(static_cast<const void*>(at)), mask_of(columns));
  }
  SDIP_INLINE void store(char* at, std::int64_t columns, Sum sum, std::int32_t bias) const {
    _mm256_maskstore_epi32(static_cast<int*>(static_cast<void*>(at)), mask_of(columns),
                           _mm256_sub_epi32(sum, _mm256_set1_epi32(bias)));
  }
  SDIP_INLINE Operand all(const char* at) const {
    std::int32_t group_of_four;
    __builtin_memcpy(&group_of_four, at, 4);
    return _mm256_set1_epi32(group_of_four);
  }
  SDIP_INLINE Operand each(const char* at) const {
    return _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(at)));
  }
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm256_dpbusd_avx_epi32(c, r, l); }
};

/// By the processor's own word: leaf 7, part 1, bit 4 of EAX (Intel SDM, CPUID).
bool has_avx_vnni() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 4 & 1) != 0;
}

}  // namespace

TileKernel avx_vnni_kernel() {
  static const bool has = has_avx_vnni();
  if (!has) return {};
  return {most_rows, 16, Codes8::group, true, add_sequentially<Codes8, most_rows, 2>};
}

}  // namespace sdip::exec
#endif
