// Programs as a compiler could have written them: at least 20 instructions of a few classes, tensors that fit their
// SRAM or go through DRAM in tiles, STACKRAM used as a stack.
#pragma once

#include "core/program/program.h"
#include "tests/core/cost/random_program.h"

namespace sdip::witness {

inline constexpr std::int64_t least_instructions = 20;

/// A stage of any role with a drawn program. Sizes DSRAM, STACKRAM, PSRAM and IMEM of `machine`: often barely what
/// the program needs, or less than its tensors.
CompiledStage drawn_stage(Dice& dice, Machine& machine);

/// Gives each instruction its weights' place in `.weight`, and the program the bytes of those that are pinned.
void place_weights(Program& program, const Machine& machine);

/// PSRAM bytes without which a program cannot run on a machine: the largest tile with what its instruction
/// holds.
std::int64_t least_psram_bytes(const Program& program, const Machine& machine);

/// IMEM bytes of the longest instruction, and of all.
struct Words {
  std::int64_t longest = 0, all = 0;
};
Words words_of(const Program& program, const Machine& machine, Role role);

/// Elements of the largest operand or result of a class.
std::int64_t largest_tensor(const InstructionClass& c);

/// STACKRAM replayed, push by push and pop by pop: the most entries at once, and whether each was there, at its
/// address, when it was read; on a stack on top when it was popped; none overlapped, none lay beyond the capacity,
/// and none was left.
struct StackUse {
  std::int64_t deepest = 0;
  bool sound = true;
};
StackUse stack_use(const Program& program, const Machine& machine);

}  // namespace sdip::witness
