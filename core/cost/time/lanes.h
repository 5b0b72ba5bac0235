// Counts of several machines side by side.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <cstdint>

#include "core/base/in_vectors.h"
#include "core/cost/time/lane_timeline.h"

// Vectors go from function to function only where these are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace sdip {

/// In memory as wide as the widest registers want it.
typedef std::int64_t Lanes __attribute__((vector_size(lane_count * sizeof(std::int64_t)), aligned(64)));
typedef double RealLanes __attribute__((vector_size(lane_count * sizeof(double)), aligned(64)));

SDIP_EACH Lanes all_lanes(std::int64_t x) { return Lanes{x, x, x, x, x, x, x, x}; }
SDIP_EACH Lanes later(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
SDIP_EACH bool everywhere(const Lanes& mask) { return !any(~mask); }

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
