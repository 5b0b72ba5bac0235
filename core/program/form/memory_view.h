// A view of what lies where and when: each memory as rectangles of address by time, from a compiled program alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program/memories.h"
#include "core/program/program.h"

namespace sdip {

/// A value, a tile buffer or weights in a memory, from instruction `from` to instruction `to`, both included. A
/// value whose place the result takes over ends one instruction before its last use. With times, it lasts from the
/// start of the first to when all that read it have ended.
struct MemoryRectangle {
  MemoryName memory = MemoryName::dsram0;
  std::string name;
  std::int64_t address = 0, bytes = 0;
  std::int32_t from = 0, to = 0;
  std::int64_t start_cycle = 0, end_cycle = 0;
};

/// A value that must wait on a stack: it dies below one that was pushed after it.
struct WaitingValue {
  std::string lower, upper;
  std::int32_t dies = 0, waits_to = 0;  // instructions
};

/// How full one memory is. `live_bytes`: most bytes in use at once; `peak_bytes`: the highest byte in use.
struct MemoryFigures {
  MemoryName memory = MemoryName::dsram0;
  std::int64_t capacity_bytes = 0, peak_bytes = 0, live_bytes = 0;
  std::int64_t crossing_pairs = 0;            // of STACKRAM: pairs of lives that do not nest
  std::vector<WaitingValue> waiting;          // the first of them
  std::vector<std::int64_t> occupancy_bytes;  // by instruction: bytes in use
};

struct MemoryView {
  std::string stage;
  std::vector<std::string> instructions;  // names
  std::vector<MemoryRectangle> rectangles;
  std::vector<MemoryFigures> memories;
};

inline constexpr std::size_t most_waiting_values = 20;

/// Start and end cycle of an instruction in a pass.
using CycleSpan = std::pair<std::int64_t, std::int64_t>;

/// The view of one stage. `times`: one an instruction, or none: rectangles then have no cycles. DSRAM's sides swap
/// at each instruction, the first reading side 0; those of a family's pair at each of its own. PSRAM shows pinned
/// weights and those that an instruction works with (its held ones and tile buffers); what is fetched ahead of it
/// lies in what is left.
MemoryView memory_view(const CompiledStage& stage, const Machine& machine, std::span<const CycleSpan> times = {});

}  // namespace sdip
