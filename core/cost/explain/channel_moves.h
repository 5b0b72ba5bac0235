// Transfers of an instruction through DRAM, one by one: kinds, sizes and how many of each. Internal to its room.
//
// Worked example. 5 rows in tiles of 2 inside 2 channel tiles, A and weights in DRAM: A moves all six times (four
// times a window of 2 rows, twice of 1), the weights twice.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/cost/explain/filled.h"
#include "core/cost/time/timeline.h"
#include "core/cost/work/circuit.h"

namespace sdip {

/// Transfers that are alike: `bytes` of one core, `copies` of them one after the other.
struct Move {
  std::string_view what;  // "weights", "operand A", ...
  std::int64_t times{}, bytes{}, unpacked_bytes{}, copies{};
  bool weights{}, out{};
};

struct ChannelMoves {
  std::vector<Move> moves;                     // of the steady pass
  std::vector<Move> first_loads;               // activations that the first operation waits for
  std::vector<Move> last_stores;               // what the last operation leaves
  std::int64_t first_cycles{}, last_cycles{};  // of the first operation and of the last
  bool last_loads{};                           // whether it waits for activations of its own
};

/// Transfers of one instruction of the class; `pinned` as the class has it.
ChannelMoves channel_moves(const ClassCost& cost, bool pinned, const TimelineRules& rules);

/// Cycles of the channel: times x ceil(copies x ceil(bytes/burst) x burst x q/p), summed. `weights` or not alone.
/// Counted (std::int64_t) or written out (Filled).
template <class Number>
Number channel_cycles(std::span<const Move> moves, const TimelineRules& rules);
/// Bytes, whole bursts.
Filled channel_bytes(std::span<const Move> moves, const TimelineRules& rules);

}  // namespace sdip
