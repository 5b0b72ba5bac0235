// Time: the exact recurrence of tile operations and DRAM transfers over a program.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/work/circuit.h"
#include "core/machine/machine.h"
#include "core/machine/rate.h"
#include "core/program/program.h"

namespace sdip {

/// Cycles, stalls too, and bytes of one run through a program. Bytes are whole bursts; activations count every
/// active core.
struct PassCost {
  std::int64_t cycles = 0, stall_weights = 0, stall_activations = 0;
  std::int64_t weight_bytes = 0, activation_in_bytes = 0, activation_out_bytes = 0;
  std::int64_t weight_psram_bytes = 0;                // weights put into PSRAM, unpacked
  std::int64_t stall_program = 0, program_bytes = 0;  // instruction words
  std::int64_t turns = 0;                             // transfers that went the other way than the one before

  PassCost& operator+=(const PassCost& other);
  friend PassCost operator*(const PassCost& a, std::int64_t times);
};

/// One instruction of a pass: cycles since this began, and cycles that it took or waited.
struct InstructionTime {
  std::int64_t start = 0, end = 0, overhead = 0, stall_weights = 0, stall_activations = 0;
  std::int64_t weight_bytes = 0, weight_psram_bytes = 0, activation_in_bytes = 0, activation_out_bytes = 0;
  std::int64_t psram_bytes = 0;
  std::int64_t stall_program = 0, program_bytes = 0;
  std::int64_t waiting = 0;  // before `start`, from when it was issued
  std::int64_t turns = 0;    // of the channel
  /// All that goes through DRAM.
  std::int64_t dram_bytes() const {
    return weight_bytes + activation_in_bytes + activation_out_bytes + program_bytes;
  }
};

/// Cycles of `count` passes from cold, of which those simulated last `cycles_of(pass)`; any behind them as long as
/// the last of these. Counted (std::int64_t) or written out (Filled).
template <class Number = std::int64_t, class Passes, class CyclesOf>
Number cycles_of_passes(const Passes& passes, std::int64_t count, CyclesOf cycles_of) {
  Number cycles(0);
  std::int64_t alike = 0, each = 0, left = count;
  for (auto pass = passes.begin(); pass != passes.end() && left > 0; ++pass, ++alike, --left) {
    if (cycles_of(*pass) == each) continue;
    cycles += Number(alike) * Number(each);
    alike = 0;
    each = cycles_of(*pass);
  }
  return cycles + Number(alike + left) * Number(each);
}

struct TimelineResult {
  std::vector<PassCost> passes;  // simulated ones, the cold pass first
  std::size_t steady = 0;        // of them, the first whose state repeats; later passes equal it
  bool repeats = false;          // false: no state repeated within the passes simulated
  std::int64_t psram_peak_bytes = 0;
  std::int64_t operations_run = 0;  // tile operations one by one; of the others is known that they last the same
  // Sums over the last pass that was simulated: the instructions' own times, which are all cycles where none
  // overlap, and the times between their issue and begin.
  std::int64_t running_cycles = 0, waiting_cycles = 0;
  /// Cycles of `count` passes from cold.
  template <class Number = std::int64_t>
  Number total(std::int64_t count) const {
    return cycles_of_passes<Number>(passes, count, [](const PassCost& pass) { return pass.cycles; });
  }
};

/// The channel and memories that a stage's transfers meet.
struct TimelineRules {
  DramRate rate;
  std::int64_t burst_bytes = 64;
  std::int64_t decompressor_bytes = 0;  // a cycle; 0: weights are not compressed
  std::int64_t psram_bytes = 0;         // of the streamed part; 0: weights are wired, nothing is fetched
  std::int64_t pinned_bytes = 0;
  bool weights_double_buffered = true, tiles_double_buffered = true;
  std::int64_t dispatch_cycles = 0, pipeline_stages = 0;
  std::int64_t host_command_cycles = 0;  // more of an instruction that the host computes
  bool dispatch_overlaps = false;
  bool dispatches_tiles = false;  // each tile operation is an instruction of its own, or several
  bool overlaps = false;          // instructions begin as soon as what they own is free (Scoreboard)
  Granularity granularity = Granularity::per_operator;
  std::int64_t imem_bytes = 0;     // that a larger program is streamed through; 0: IMEM holds the program
  std::int64_t cores = 1;          // in lockstep: each adds its own activation transfers
  std::int64_t channel_cores = 0;  // whose activations take as long as those of all these do; 0: these
  std::int64_t gathered_bits = 0;  // of weights that the first die takes in a cycle; 0: there is one die
  std::int64_t on_channel() const { return channel_cores > 0 ? channel_cores : cores; }
};
/// The rules for a stage of `role` that keeps `pinned` bytes of its weights and has `thousandths` of `share`.
TimelineRules timeline_rules(const Machine& machine, Decimal share, std::int64_t active_cores, Bytes pinned,
                             Role role = Role::network, std::int64_t thousandths = 1000);

/// How often a program uses its classes, the same on every machine.
struct ClassUses {
  std::vector<std::int64_t> of;  // instructions of each class
  double words_bytes = 0;        // of the program, where each operator is one instruction
};
ClassUses class_uses(const Program& program);

/// Cycles and bytes of a run through `program` with no two things at once: no run comes to more. `uses` are
/// class_uses(program).
double longest_pass(const Program& program, const ClassUses& uses, const List<ClassCost>& costs,
                    const TimelineRules& rules);

/// True when `passes` runs through `program`, with no two things at once, stay below 2^58 cycles and bytes:
/// whatever is summed of them then fits 64 bits. Example: 10 GB at 2 bytes in a million cycles is 2^52 cycles a
/// pass.
bool countable(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules,
               std::int64_t passes);

/// Runs `program` again and again until a pass leaves the state that it found, or `most_passes`. `trace` gets the
/// times of the last pass simulated. Requires countable(...).
TimelineResult run_timeline(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules,
                            std::int64_t most_passes, std::vector<InstructionTime>* trace = nullptr);

}  // namespace sdip
