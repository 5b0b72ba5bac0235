// A pass as a tape: what the timeline does, step by step, for all machines that run the same program in the same
// way. Their numbers stand apart, in TapeNumbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/time/timeline.h"

namespace sdip {

/// Of machines on which instructions do not overlap, operations are no instructions of their own, and IMEM holds
/// the program: those of equal tapes differ in nothing but how long things last.
struct Tape {
  static constexpr std::int32_t none = -1;

  /// One tile operation. Transfers by number.
  struct Operation {
    std::int32_t shape = 0;
    std::int32_t weights = none, a = none, b = none, split = none, partial = none, out = none;
    std::int64_t tile_bytes = 0;  // in PSRAM, of the weights
    bool leaves_tile = false;     // its weights are in no streamed tile
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  /// Steps: an instruction that transfers nothing (`delay`); its beginning, operations and end; loops over those.
  enum class Kind : std::uint8_t { delay, begin, operate, loop, next, end, checkpoint };
  struct Step {
    Kind kind;
    bool fetches = false, loads = false;  // of a loop: weights; activations, or results that it leaves
    std::int32_t what = 0;                // class, operation, or the loop that ends
    std::int64_t count = 0;               // of a loop
    friend bool operator==(const Step&, const Step&) = default;
  };
  /// A transfer: by each core that takes part, or once (weights).
  struct Moved {
    std::int64_t copies;  // a core's; 0: once
    std::int64_t uses;    // in a warm pass
    friend bool operator==(const Moved&, const Moved&) = default;
  };
  struct Class {
    std::int32_t held = none;
    std::int64_t held_tile_bytes = 0, uses = 0;
    bool pinned = false;
    friend bool operator==(const Class&, const Class&) = default;
  };

  std::vector<Step> steps;
  std::vector<Operation> operations;
  std::vector<Moved> moved;
  std::vector<Class> classes;
  std::size_t shapes{};              // of all classes
  std::int64_t warm_tile_bytes = 0;  // weights put into PSRAM in a warm pass, unpacked
  std::int64_t pinned_bytes{};
  bool weights_double_buffered = true, tiles_double_buffered = true, dispatch_overlaps = false;
  bool fetches_once = false, runs_ahead = false;
  friend bool operator==(const Tape&, const Tape&) = default;
};

/// Whether a machine's passes can be written on a tape.
bool on_tape(const Machine& machine);

Tape make_tape(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules);

/// A machine's own numbers on a tape, but for what the channel makes of them. Bytes are whole bursts.
struct TapeNumbers {
  std::vector<std::int64_t> bytes, least_cycles;  // of each transfer, on one core; its time is no shorter
  std::vector<std::int64_t> cycles;               // of each shape
  std::vector<std::int64_t> dispatch, delay;      // of each class; what it lasts otherwise, where nothing is moved
  std::vector<std::int64_t> link_in, behind;      // before its operations, and behind them
  std::int64_t psram_bytes{};                     // room for streamed weights
  std::int64_t fixed_cycles = 0;                  // of a pass, but for stalls and dispatch
  std::int64_t dispatch_cycles = 0;               // of all its instructions
  friend bool operator==(const TapeNumbers&, const TapeNumbers&) = default;
};
TapeNumbers tape_numbers(const Tape& tape, const std::vector<ClassCost>& costs, const TimelineRules& rules);

}  // namespace sdip
