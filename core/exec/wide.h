// Loops compiled for the processor's widest vectors. Their bits do not depend on it: nothing is contracted or
// reordered, and each number is computed by itself.
#pragma once

#include "core/exec/kernels.h"

namespace sdip::exec {

#if defined(__x86_64__)
template <class Loop>
[[gnu::target("avx2,fma")]] void run_avx2(const Loop& loop) {
  loop();
}
template <class Loop>
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]] void run_avx512(const Loop& loop) {
  loop();
}
#endif

/// Runs `loop`, a lambda that is always inlined (SDIP_WIDE behind its parameters) and calls nothing that is not.
template <class Loop>
void widely(const Loop& loop) {
#if defined(__x86_64__)
  static const Vectors widest = widest_vectors();
  if (widest == Vectors::avx512) return run_avx512(loop);
  if (widest == Vectors::avx2) return run_avx2(loop);
#endif
  loop();
}

#define SDIP_WIDE __attribute__((always_inline))

}  // namespace sdip::exec
