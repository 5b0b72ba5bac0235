// What the estimate says of an instruction, as the executor counts it. For tests.
#pragma once

#include "core/cost/time/timeline.h"
#include "core/exec/clock/step.h"

namespace sdip {

inline InstructionCounts counted(const InstructionTime& t, const ClassCost& c) {
  InstructionCounts counts;
  counts.start = t.start;
  counts.end = t.end;
  counts.stall_weights = t.stall_weights;
  counts.stall_activations = t.stall_activations;
  counts.weight_bytes = t.weight_bytes;
  counts.activation_in_bytes = t.activation_in_bytes;
  counts.activation_out_bytes = t.activation_out_bytes;
  counts.stall_program = t.stall_program;
  counts.program_bytes = t.program_bytes;
  counts.waiting = t.waiting;
  counts.turns = t.turns;
  counts.tile_operations = c.operations;
  counts.compute_cycles = c.busy[Resource::compute];
  counts.dsram_read_beats = c.busy.all_dsram_reads();
  counts.dsram_write_beats = c.busy[Resource::dsram_write];
  counts.stackram_read_beats = c.busy[Resource::stackram_read];
  counts.stackram_write_beats = c.busy[Resource::stackram_write];
  counts.psram_read_beats = c.busy[Resource::psram_read];
  counts.dma_read_beats = c.dma[Resource::dsram_read];
  counts.dma_write_beats = c.dma[Resource::dsram_write];
  counts.dma_psram_beats = c.dma[Resource::psram_read];
  counts.psram_stack_beats = c.busy.psram_stack;
  counts.accumulator_writes = c.busy.accumulator_writes;
  counts.accumulator_reads = c.busy.accumulator_reads;
  counts.register_writes = c.busy.register_writes;
  return counts;
}

}  // namespace sdip
