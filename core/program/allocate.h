// Where values lie in one memory: an offset for each value's life. Plain numbers in, offsets out.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/index.h"

namespace sdip {

/// A value in a memory from instruction `first`, which makes it (-1: there from the start), to `last`, which reads
/// it last; both included. Its bytes may be those of one of `replaceable`, values as large that die at `first`.
struct MemoryValue {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;
  std::vector<std::int32_t> replaceable;
};

struct Allocation {
  List<std::int64_t> offsets;   // by value
  std::int64_t peak_bytes = 0;  // highest byte ever in use
  std::int64_t live_bytes = 0;  // most bytes alive at once: no allocation has a lower peak
};

/// How many changed orders the search tries when none of the usual ones reaches the live bytes.
inline constexpr std::int32_t usual_allocation_rounds = 64;

/// Offsets such that no two values alive at once overlap, in the best of several orders, then, while the peak is
/// above `enough_bytes`, of `rounds` changed ones. A value takes the place of the first of its `replaceable` that
/// dies as it is made.
Allocation allocate_offsets(View<const MemoryValue> values, std::int32_t rounds, std::int64_t enough_bytes = 0);

/// Most bytes alive at once.
std::int64_t most_live(View<const MemoryValue> values);

/// Whether allocate_offsets without changed orders has a peak of at most `bytes`.
bool fits_in(View<const MemoryValue> values, std::int64_t bytes);

/// Offsets on a stack: values are pushed when made, those of the start by descending `last`; space returns only
/// from the top, and what dies below waits. The peak is the least for these lives: a result takes the lowest place
/// of those that it may.
Allocation allocate_stack(View<const MemoryValue> values);

/// Bytes in use at each of `instructions`: the highest byte of what is alive, on a stack dead bytes below included.
std::vector<std::int64_t> highest_byte(View<const MemoryValue> values, const Allocation& allocation,
                                       std::int32_t instructions);

/// Bytes alive at each of `instructions`, a value whose place is taken over and the one that takes it counted once.
std::vector<std::int64_t> live_bytes(View<const MemoryValue> values, std::int32_t instructions);

/// Two values of which `lower` is there first and dies first, though `upper` is made while it lives: on a stack it
/// waits for `upper`. Values of which one took the other's place count as one.
struct CrossingPair {
  std::int32_t lower = 0, upper = 0;
};
struct Crossings {
  std::int64_t count = 0;
  std::vector<CrossingPair> pairs;  // the first `most`, by when `upper` is made
};
Crossings crossings_of(View<const MemoryValue> values, std::size_t most);

}  // namespace sdip
