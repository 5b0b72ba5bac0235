// What the executor counted in a pass, in sum. For tests.
#pragma once

#include <algorithm>
#include <vector>

#include "core/exec/clock/step.h"

namespace sdip {

/// `end`: of the last to end; `start`: what the instructions took, one by one.
inline InstructionCounts sum_of(const std::vector<InstructionCounts>& pass) {
  InstructionCounts sum;
  for (const InstructionCounts& i : pass) {
    sum.start += i.end - i.start;
    sum.end = std::max(sum.end, i.end);
    sum.stall_weights += i.stall_weights;
    sum.stall_activations += i.stall_activations;
    sum.weight_bytes += i.weight_bytes;
    sum.activation_in_bytes += i.activation_in_bytes;
    sum.activation_out_bytes += i.activation_out_bytes;
    sum.stall_program += i.stall_program;
    sum.program_bytes += i.program_bytes;
    sum.waiting += i.waiting;
    sum.turns += i.turns;
    sum.tile_operations += i.tile_operations;
    sum.compute_cycles += i.compute_cycles;
    sum.dsram_read_beats += i.dsram_read_beats;
    sum.dsram_write_beats += i.dsram_write_beats;
    sum.stackram_read_beats += i.stackram_read_beats;
    sum.stackram_write_beats += i.stackram_write_beats;
    sum.psram_read_beats += i.psram_read_beats;
    sum.psram_stack_beats += i.psram_stack_beats;
    sum.accumulator_writes += i.accumulator_writes;
    sum.accumulator_reads += i.accumulator_reads;
    sum.register_writes += i.register_writes;
  }
  return sum;
}

}  // namespace sdip
