// Loops written once for vectors of any length, and compiled for those of each set of instructions.
//
// Sources alone include this. Example, where add is SDIP_EACH and adds SideBySide<float, count> at a time:
// in_vectors(widest_vectors(), [&](auto count) SDIP_LOOP { add<count>(x, y); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/base/vectors.h"

#define SDIP_EACH [[gnu::always_inline]] inline
#define SDIP_LOOP __attribute__((always_inline))

namespace sdip {

/// `Count` numbers side by side.
template <class T, std::size_t Count>
struct Side {
  typedef T Vector __attribute__((vector_size(Count * sizeof(T))));
};
template <class T, std::size_t Count>
using SideBySide = typename Side<T, Count>::Vector;

template <class V>
SDIP_EACH void load(V& to, const void* from) {
  std::memcpy(&to, from, sizeof(V));
}

template <class V>
SDIP_EACH void store(const V& from, void* to) {
  std::memcpy(to, &from, sizeof(V));
}

template <class V>
SDIP_EACH bool any(const V& mask) {
  if constexpr (sizeof(V) > 16) {  // half upon half
    SideBySide<std::uint64_t, sizeof(V) / 16> halves[2];
    std::memcpy(halves, &mask, sizeof(V));
    return any(halves[0] | halves[1]);
  } else {
    std::uint64_t parts[2];
    std::memcpy(parts, &mask, sizeof(V));
    return (parts[0] | parts[1]) != 0;
  }
}

/// Numbers of single precision in a vector.
template <std::size_t Count>
using VectorOf = std::integral_constant<std::size_t, Count>;

/// Compiles a loop, which must be inlined, for each set of instructions, and runs the one asked for.
template <class Loop>
void in_portable(const Loop& loop) {
  loop(VectorOf<4>());
}
#if defined(__x86_64__) && !defined(SDIP_PORTABLE_VECTORS)
template <class Loop>
[[gnu::target("avx2,fma")]] void in_avx2(const Loop& loop) {
  loop(VectorOf<8>());
}
template <class Loop>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void in_avx512(const Loop& loop) {
  loop(VectorOf<16>());
}
#endif

template <class Loop>
void in_vectors(Vectors vectors, const Loop& loop) {
#if defined(__x86_64__) && !defined(SDIP_PORTABLE_VECTORS)
  if (vectors == Vectors::avx512) return in_avx512(loop);
  if (vectors == Vectors::avx2) return in_avx2(loop);
#endif
  in_portable(loop);
}

}  // namespace sdip
