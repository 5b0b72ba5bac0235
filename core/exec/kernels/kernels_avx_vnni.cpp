// Tiles of codes in AVX2 registers, of processors that multiply and add four codes at once.
#if defined(__x86_64__)
#include <cpuid.h>

#define SDIP_TARGET __attribute__((target("avx2,fma,avxvnni")))
#include "core/exec/kernels/kernels_avx2.h"

namespace sdip::exec {
namespace {

constexpr int most_rows = 6;

/// The instruction takes unsigned codes on one side: those on the right stand plus 128. It wraps.
struct Codes8 : Codes {
  using Codes::Codes;
  static constexpr int group = 4;
  SDIP_INLINE Sum fused(Operand l, Operand r, Sum c) const { return _mm256_dpbusd_avx_epi32(c, r, l); }
};

/// Asks the processor itself: leaf 7, part 1, bit 4 of EAX (Intel SDM, CPUID).
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
