// Counts of one machine, or of several side by side: what is written with these works for both. Internal to its
// room.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/in_vectors.h"
#include "core/cost/time/lane_timeline.h"

// Vectors go from function to function only where these are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace sdip {

/// Type of a count, in memory as wide as the widest registers want it.
template <std::size_t machines>
struct CountsOf;
template <>
struct CountsOf<1> {
  using Type = std::int64_t;
};
template <>
struct CountsOf<lane_count> {
  typedef std::int64_t Type __attribute__((vector_size(lane_count * sizeof(std::int64_t)), aligned(64)));
};
/// A count of each of so many machines. A template asks for how many, since as its argument the type would lose its
/// alignment.
template <std::size_t machines>
using CountOf = typename CountsOf<machines>::Type;

using Lanes = CountOf<lane_count>;
typedef double RealLanes __attribute__((vector_size(lane_count * sizeof(double)), aligned(64)));

template <std::size_t machines>
SDIP_EACH CountOf<machines> all_lanes(std::int64_t x) {
  return CountOf<machines>{} + x;
}

template <std::size_t machines>
SDIP_EACH CountOf<machines> loaded(const std::int64_t* from) {
  CountOf<machines> counts;
  std::memcpy(&counts, from, sizeof(counts));
  return counts;
}

SDIP_EACH Lanes later(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
SDIP_EACH std::int64_t later(std::int64_t a, std::int64_t b) { return std::max(a, b); }

SDIP_EACH bool any(std::int64_t mask) { return mask != 0; }
SDIP_EACH bool everywhere(const Lanes& mask) { return !any(~mask); }
SDIP_EACH bool everywhere(bool holds) { return holds; }

/// ceil(a / b). False where a quotient is 2^50 or more. Requires 0 <= a and 0 < b < 2^53.
///
/// As reals it is wrong by less than one half, so that its whole part is at most one below that of the quotient,
/// and above it only where rounding up is right; the rest, a - whole x b, says which. Example: 7 / 2 found as 2:
/// rest 3, above b, two more; found as 3: rest 1, one more; found as 4: rest -1, as it is.
SDIP_EACH bool divide_up(const Lanes& a, const Lanes& b, Lanes& quotient) {
  const RealLanes real = __builtin_convertvector(a, RealLanes) / __builtin_convertvector(b, RealLanes);
  if (any(real >= 0x1p50)) return false;
  quotient = __builtin_convertvector(real, Lanes);
  const Lanes rest = a - quotient * b;
  quotient -= (rest > 0) + (rest > b);  // a comparison that holds is -1
  return true;
}

}  // namespace sdip
