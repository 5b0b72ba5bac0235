// The input and the state of the rule of time: machines' numbers on a tape, sums of a pass, and what the future
// depends on. Internal to its room.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/cost/time/lane_queue.h"
#include "core/cost/time/tape.h"
#include "core/cost/work/scoreboard.h"

namespace sdip {

/// Machines' numbers on a tape: of each transfer, shape or class as many as there are machines, one behind the
/// other.
template <std::size_t machines>
struct Columns {
  std::array<const TapeNumbers*, machines> of{};
  const std::int64_t *transfer_cycles{}, *cycles{};
  const std::int64_t *dispatch_cycles{}, *delay_cycles{}, *link_in_cycles{}, *behind_cycles{};
  const std::int64_t *latency_cycles{}, *turn_cycles{};  // one number of each machine
};

/// Counts of a pass so far. Stalls, in cycles, are told apart for one machine alone.
template <std::size_t machines>
struct Passed {
  using Count = CountOf<machines>;
  Count cycles{};
  Count dispatch_cycles{};  // waited for, where the sequencer dispatches while the instruction before runs
  std::int64_t stall_weights{}, stall_activations{}, stall_program{};
  std::int64_t turns{};  // of the channel, in all machines alike
};

/// Which way the channel's last transfer went.
enum class Way : std::uint8_t { untold, in, out };

/// All that the future depends on, relative to now.
template <std::size_t machines>
struct FoundState {
  using Count = CountOf<machines>;
  Count channel_cycles{}, last_cycles{};  // until the channel is free; that what dispatch hides behind lasts
  Way way{};
  typename WeightMemory<machines>::Seen weights;
  Queue<1>::Seen words;
};

/// Used again and again.
template <std::size_t machines>
struct RecurrenceMemory {
  struct Checkpoint {
    FoundState<machines> state;
    Passed<machines> pass;
  };
  WeightMemory<machines> weights;
  Queue<1> words;                       // of the instructions in IMEM
  Scoreboard board;                     // where instructions overlap
  std::vector<Checkpoint> checkpoints;  // of the pass before
};

}  // namespace sdip
