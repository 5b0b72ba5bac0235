// A program run on the clock: every tile operation, fold, beat and DRAM transfer one after the other, and what it
// took, counted. Section 8 of the machine and docs/model/ say what happens; no formula of core/cost is used.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/stop.h"
#include "core/exec/clock/transfers.h"
#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// The times, bytes and beats of one instruction. Times are in core cycles within the pass; bytes through DRAM,
/// bursts included, of all cores' activations; beats of each port, of one core, but of PSRAM's those of all cores'
/// stacks that it holds.
struct InstructionCounts {
  std::int64_t start = 0, end = 0, stall_weights = 0, stall_activations = 0;
  std::int64_t weight_bytes = 0, activation_in_bytes = 0, activation_out_bytes = 0;
  std::int64_t stall_program = 0, program_bytes = 0;
  std::int64_t waiting = 0, turns = 0;
  std::int64_t tile_operations = 0, compute_cycles = 0;
  std::int64_t dsram_read_beats = 0, dsram_write_beats = 0;  // pairs of other families included
  std::int64_t stackram_read_beats = 0, stackram_write_beats = 0, psram_read_beats = 0;
  // Beats that transfers take of the same ports: of the DSRAM of the reading side, of the writing side's, and of
  // PSRAM.
  std::int64_t dma_read_beats = 0, dma_write_beats = 0, dma_psram_beats = 0;
  std::int64_t psram_stack_beats = 0;  // of those of PSRAM, of one core's stack
  // Partial sums to and from accumulators, weights into registers of the arrays.
  std::int64_t accumulator_writes = 0, accumulator_reads = 0, register_writes = 0;
  friend bool operator==(const InstructionCounts&, const InstructionCounts&) = default;
};

/// One run through a program, or the sum of several: bytes of each stream of DRAM.
struct PassCounts {
  std::vector<InstructionCounts> instructions;  // times within the pass
  std::int64_t cycles = 0;
  std::int64_t weight_bytes = 0, activation_in_bytes = 0, activation_out_bytes = 0, program_bytes = 0;
  std::int64_t partial_in_bytes = 0, partial_out_bytes = 0;  // of the activations those that are partial sums
  std::int64_t turns = 0;  // transfers that went the other way than the one before
  std::int64_t dram_bytes() const {
    return weight_bytes + activation_in_bytes + activation_out_bytes + program_bytes;
  }
};

/// The most that each memory held: the highest byte in use of DSRAM's sides that an instruction reads or writes,
/// and of STACKRAM (of a unified memory, all of it; DSRAM's are 0); bytes of weights and of instruction words at
/// once. Those of activations are followed where the stage is given.
struct PeakCounts {
  std::int64_t dsram_read_bytes = 0, dsram_write_bytes = 0, stackram_bytes = 0, psram_bytes = 0, imem_bytes = 0;
};

struct StepCounts {
  std::vector<std::vector<InstructionCounts>> passes;  // times within the pass
  std::int64_t psram_peak_bytes = 0;
  std::vector<PassCounts> streams;  // of each pass, without instructions
  PeakCounts peaks;
};

/// How stepping is watched; what it counts does not depend on it.
struct StepOptions {
  std::function<void(std::int64_t done)> progress{};  // after each instruction: how many, over all passes
  Stop stop{};                                        // asked every `asked_operations` tile operations at least
};
inline constexpr std::int64_t asked_operations = 4096;  // some milliseconds

/// docs/model/time.md: `passes` runs through the program from cold. `share` of the channel, `cores` in lockstep.
/// Throws Error("execution_failed", ...) when weights never fit in PSRAM.
StepCounts step(const Program& program, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, Role role = Role::network);

/// The same of a stage, with its own thousandths of `share`; every address of its activation memories is followed.
/// Throws, too, when an instruction reads what is not there, or opens what lies outside its memory or upon what is
/// still needed, and Error("cancelled", ...) when it was.
StepCounts step(const CompiledStage& stage, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, const StepOptions& options = {});

/// The same where the bytes that the instructions' tile operations moved when they were executed (ExecuteOptions),
/// one for each instruction, are known. Throws, too, where these differ from those that they are charged
/// (docs/model/counting.md#what-the-datapath-moves).
StepCounts step(const CompiledStage& stage, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, std::span<const InstructionTransfers> moved);

}  // namespace sdip
