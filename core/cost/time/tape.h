// A pass as a tape: what the recurrence does, step by step, for all machines that run the same program in the same
// way. Their numbers stand apart, in TapeNumbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/time/timeline.h"

namespace sdip {

/// Machines of equal tapes differ in nothing but how long things last.
struct Tape {
  static constexpr std::int32_t none = -1;

  /// One tile operation. Transfers by number.
  struct Operation {
    std::int32_t shape = 0;  // of its class, or kind of operation where it has some
    std::int32_t weights = none, a = none, b = none, split = none, partial = none, out = none;
    std::int64_t tile_bytes = 0;  // in PSRAM, of the weights
    bool leaves_tile = false;     // its weights are in no streamed tile
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  /// The kinds of entries on a tape: operations, and loops over those.
  enum class Kind : std::uint8_t { operate, loop, next };
  struct Step {
    Kind kind;
    bool fetches = false, loads = false;  // of a loop: weights; activations, or results that it leaves
    std::int32_t what = 0;                // operation, or the loop that ends
    std::int64_t count = 0;               // of a loop
    friend bool operator==(const Step&, const Step&) = default;
  };
  /// A transfer: of weights or words once, of activations by each core that takes part.
  enum class Direction : std::uint8_t { weights, in, out, words };
  struct Moved {
    Direction direction;
    std::int32_t of_class;      // none: of an instruction's words
    std::int64_t copies, uses;  // how many cores' activations; how often in an instruction
    std::int64_t in_pass = 0;   // copies in a warm pass
    bool by_cores() const { return direction == Direction::in || direction == Direction::out; }
    friend bool operator==(const Moved&, const Moved&) = default;
  };
  struct Class {
    std::size_t first_step{}, end_step{};  // none where nothing is moved: it lasts what it works
    std::int32_t first_shape{};
    std::int32_t held = none;
    std::int64_t held_tile_bytes = 0;
    std::int64_t psram_bytes = 0;  // put there by an instruction, unpacked
    std::int64_t uses = 0;
    bool pinned = false;
    friend bool operator==(const Class&, const Class&) = default;
  };

  std::vector<std::int32_t> instructions;  // their classes
  List<Class> classes;
  std::vector<Step> steps;
  List<Operation> operations;
  List<Moved> moved;
  std::vector<std::vector<std::int32_t>> after;  // whose end each instruction waits for, where they overlap
  std::int32_t words = none;                     // the first instruction's; none: IMEM holds the program
  std::size_t shapes{};                          // of all classes
  std::int64_t pinned_bytes{};
  std::int64_t psram_bytes{};  // put there in a warm pass, unpacked
  bool weights_double_buffered = true, tiles_double_buffered = true, dispatch_overlaps = false;
  bool dispatches_tiles = false, overlaps = false;
  bool fetches_once = false, runs_ahead = false;
  friend bool operator==(const Tape&, const Tape&) = default;

  /// Instructions follow one another whole, from an IMEM that holds them all.
  bool is_plain() const { return !overlaps && !dispatches_tiles && words == none; }
};

/// Whether the program's words come from DRAM, pass by pass.
bool streams_words(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules);

Tape make_tape(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules);

/// A machine's own numbers on a tape, but for what the channel makes of them. Bytes are whole bursts.
struct TapeNumbers {
  std::vector<std::int64_t> bytes, least_cycles;   // of each transfer, on one core; its time is no shorter
  std::vector<std::int64_t> cycles;                // of each shape
  std::vector<std::int64_t> tile_dispatch_cycles;  // of it, where each is an instruction
  // For each class; the delay is what it lasts otherwise, where nothing is moved.
  std::vector<std::int64_t> class_dispatch_cycles, delay_cycles;
  std::vector<std::int64_t> link_in_cycles, behind_cycles;  // before its operations, and behind them
  std::vector<Circuit> circuits;                            // of each class, and:
  List<Owned> owned;                                        // where instructions overlap
  std::vector<std::int64_t> words_bytes;                    // of each instruction, where words are streamed
  std::int64_t psram_bytes{}, imem_bytes{};                 // room for streamed weights, and for words
  std::int64_t pipeline_stages{};
  std::int64_t fixed_cycles = 0;     // of a pass, but for stalls and dispatch
  std::int64_t dispatch_cycles = 0;  // of all its instructions
  friend bool operator==(const TapeNumbers&, const TapeNumbers&) = default;
};
TapeNumbers tape_numbers(const Tape& tape, const Program& program, const List<ClassCost>& costs,
                         const TimelineRules& rules);

/// Bytes that a transfer moves, all cores' together, each time.
inline std::int64_t moved_bytes(const Tape& tape, const TapeNumbers& numbers, std::size_t transfer,
                                std::int64_t cores) {
  const Tape::Moved& moved = tape.moved[transfer];
  return numbers.bytes[transfer] * (moved.by_cores() ? moved.copies * cores : 1);
}

/// Bytes that an instruction of each class moves, without its words; cold: pinned weights, too. Only bytes are
/// filled in.
std::vector<PassCost> class_bytes(const Tape& tape, const TapeNumbers& numbers, std::int64_t cores, bool cold);
/// The same of a warm pass, with its words.
PassCost pass_bytes(const Tape& tape, const TapeNumbers& numbers, std::int64_t cores);
/// And what a cold one moves besides: pinned weights.
PassCost pinned_bytes(const Tape& tape, const TapeNumbers& numbers);

/// One instruction of the pass run last: cycles since this began, and how many it stalled.
struct InstructionTrace {
  std::int64_t issued, begin, end, stall_weights, stall_activations, stall_program, psram_bytes, turns;
};

/// Runs a tape again and again until a pass leaves the state that it found, or `most_passes`, on `cores` in
/// lockstep, whose activations take the channel as long as those of `channel_cores`. `trace` gets what its
/// instructions did in the last pass simulated. Requires countable(...).
TimelineResult run_tape(const Tape& tape, const TapeNumbers& numbers, const DramRate& rate, std::int64_t cores,
                        std::int64_t channel_cores, std::int64_t most_passes,
                        std::vector<InstructionTrace>* trace = nullptr);

}  // namespace sdip
