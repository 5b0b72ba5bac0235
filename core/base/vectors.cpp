// Which instructions the processor has for many numbers at once.
#include "core/base/vectors.h"

namespace sdip {
namespace {

Vectors widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni"))
    return Vectors::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Vectors::avx2;
#endif
  return Vectors::portable;
}

}  // namespace

Vectors widest_vectors() {
  static const Vectors vectors = widest();
  return vectors;
}

}  // namespace sdip
