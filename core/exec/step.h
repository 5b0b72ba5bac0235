// A program run on the clock: every tile operation, fold, beat and DRAM transfer one after the other, and what it
// took, counted. Section 8 of the machine and docs/model.md say what happens; no formula of core/cost is used.
#pragma once

#include <cstdint>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// What one instruction took. Times in core cycles within the pass; bytes through DRAM, bursts included, of all
/// cores' activations; beats of each port, of one core.
struct InstructionCounts {
  std::int64_t start = 0, end = 0, stall_weights = 0, stall_activations = 0;
  std::int64_t weight_bytes = 0, activation_in_bytes = 0, activation_out_bytes = 0;
  std::int64_t stall_program = 0, program_bytes = 0;
  std::int64_t waiting = 0;
  std::int64_t tile_operations = 0, compute_cycles = 0;
  std::int64_t dsram_read_beats = 0, dsram_write_beats = 0;  // pairs of other families included
  std::int64_t stackram_read_beats = 0, stackram_write_beats = 0, psram_read_beats = 0;
  friend bool operator==(const InstructionCounts&, const InstructionCounts&) = default;
};

struct StepCounts {
  std::vector<std::vector<InstructionCounts>> passes;  // times within the pass
  std::int64_t psram_peak_bytes = 0;
};

/// Section 5: `passes` runs through the program from cold. `share` of the channel, `cores` in lockstep.
StepCounts step(const Program& program, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, Role role = Role::network);

}  // namespace sdip
