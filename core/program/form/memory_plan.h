// Where whole values lie on chip, and which leave it. Internal to its library.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/allocate.h"
#include "core/program/tiling/draft.h"

namespace sdip {

/// Bytes of a memory, from `address`.
struct Extent {
  std::int64_t address = 0, bytes = 0;
};

/// Whole values in memory, all or those pushed to STACKRAM only, and what of them is alive when.
struct MemoryPlan {
  List<std::int64_t> addresses;               // by value, in STACKRAM or the unified memory; -1: not there
  std::vector<std::int64_t> dsram_addresses;  // by value, in its side of DSRAM (unified: in the one memory)
  std::vector<std::int64_t> in_use;           // by draft: highest byte of `addresses`, on a stack dead ones' too
  std::vector<std::vector<Extent>> live_extents;  // unified: by draft, by ascending address
  std::int64_t moved_bytes = 0;                   // that what was spilled here goes to and from DRAM with
};

/// Which value leaves first when there are too many. farthest_use: at the first instruction where they do not fit
/// the one whose next use is farthest, of equals the larger. fewest_bytes: of these the one that fewest bytes are
/// moved for, then as before. widest_relief: of all values that which takes most off the excess for each byte
/// moved.
enum class SpillRule { farthest_use, fewest_bytes, widest_relief };

/// Bytes that go to DRAM and come back when `life` does not stay on chip: written once, unless it is there anyway,
/// and read for each use that finds it no more in DSRAM.
std::int64_t spill_bytes(const Life& life);

/// Places what has to be on chip. Marks lives as spilled until all fits, by `rule`; then takes back, the costliest
/// first, what fits after all. Unified memory and allocators use allocate_offsets, else allocate_stack.
MemoryPlan plan_memory(const Machine& machine, const List<Draft>& drafts, Lives& lives, SpillRule rule);

/// The same by the rule that moves the fewest bytes; of equals the first.
MemoryPlan plan_memory(const Machine& machine, const List<Draft>& drafts, Lives& lives);

/// The address of each value in its side of a DSRAM of its own; -1 for one that is not there.
std::vector<std::int64_t> dsram_addresses(const List<Draft>& drafts, const Lives& lives);

/// The value that waits on chip at draft `now` and has the farthest next use, of equals the larger one; with
/// `though_used` also among those that the draft reads or makes. `none` when there is none.
std::int32_t farthest_at(std::int32_t now, const Lives& lives, bool though_used);

/// DRAM addresses of values that lie there, behind one another where they are alive at once; -1 for others.
std::vector<std::int64_t> dram_addresses(const List<Draft>& drafts, const Lives& lives);

}  // namespace sdip
