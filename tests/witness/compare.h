// A stage's program by formula and by stepping, counter by counter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/clock/step.h"
#include "core/program/program.h"

namespace sdip::witness {

/// What the two say differently: "network: pass 1, instruction 7: weight_bytes".
struct Difference {
  std::string where;
  std::int64_t estimated = 0, executed = 0;
};

/// A stage's cores in lockstep and its share of the channel, in hundredths: docs/model/frames.md.
struct Lockstep {
  std::int64_t cores = 1;
  Decimal share{100};
};
Lockstep lockstep_of(const CompiledStage& stage, const Machine& machine);

/// What was compared, and the first difference, if any.
struct Comparison {
  StepCounts executed;    // of the passes estimated, and two more where a pass repeats
  bool repeats = false;   // a pass left the state that it found
  bool reported = false;  // what estimate() and evaluate() say was compared, too
  std::optional<Difference> difference{};
};

/// Steps a stage and estimates at most `most_passes` of it. `with_report`: and compares what estimate() and
/// evaluate() report of an application of that stage alone, where the machine can hold it and a pass repeats.
/// `stepped_on`: a machine that the executor is given instead, to see that a difference is found.
Comparison compare(const CompiledStage& stage, const Machine& machine, std::int64_t most_passes, bool with_report,
                   const Machine* stepped_on = nullptr);

/// The counters of InstructionCounts by name.
struct CounterRow {
  std::string_view name;
  std::int64_t InstructionCounts::*field;
};
inline constexpr CounterRow counters[] = {
    {"start", &InstructionCounts::start},
    {"end", &InstructionCounts::end},
    {"stall_weights", &InstructionCounts::stall_weights},
    {"stall_activations", &InstructionCounts::stall_activations},
    {"weight_bytes", &InstructionCounts::weight_bytes},
    {"activation_in_bytes", &InstructionCounts::activation_in_bytes},
    {"activation_out_bytes", &InstructionCounts::activation_out_bytes},
    {"stall_program", &InstructionCounts::stall_program},
    {"program_bytes", &InstructionCounts::program_bytes},
    {"waiting", &InstructionCounts::waiting},
    {"turns", &InstructionCounts::turns},
    {"tile_operations", &InstructionCounts::tile_operations},
    {"compute_cycles", &InstructionCounts::compute_cycles},
    {"dsram_read_beats", &InstructionCounts::dsram_read_beats},
    {"dsram_write_beats", &InstructionCounts::dsram_write_beats},
    {"stackram_read_beats", &InstructionCounts::stackram_read_beats},
    {"stackram_write_beats", &InstructionCounts::stackram_write_beats},
    {"psram_read_beats", &InstructionCounts::psram_read_beats},
    {"dma_read_beats", &InstructionCounts::dma_read_beats},
    {"dma_write_beats", &InstructionCounts::dma_write_beats},
    {"dma_psram_beats", &InstructionCounts::dma_psram_beats},
    {"psram_stack_beats", &InstructionCounts::psram_stack_beats},
    {"accumulator_writes", &InstructionCounts::accumulator_writes},
    {"accumulator_reads", &InstructionCounts::accumulator_reads},
    {"register_writes", &InstructionCounts::register_writes},
};

}  // namespace sdip::witness
