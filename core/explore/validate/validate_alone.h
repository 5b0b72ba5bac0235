// One instruction of a program as a program of its own, so that it can be executed without what comes before it.
// Internal to its room.
//
// Its sources become inputs and lie where the instruction finds them; its nodes, and the views, constants and
// computed weights that these read, are the graph. Sums of a norm that another instruction made are in general
// registers as it begins (ExecuteOptions::sums_of_inputs): they follow from the norm's operand, an input. A copy of
// a further result of a product (a recurrent layer's last state) comes with the instruction that computes it.
//
// Worked example: of x -> conv -> y -> relu -> z, where y waits in STACKRAM, the relu alone is a graph of one node
// with input y and output z, and one instruction that reads y from STACKRAM.
#pragma once

#include <optional>
#include <string>

#include "core/program/program.h"

namespace sdip {

/// The last instruction of the stage's program is the tested one; the graph's output is its result.
struct AloneInstruction {
  CompiledStage stage;
  // The machine it ran on. On one with a DSRAM pair for each family one pair stands for all: the others' bytes lie
  // behind it, since what is there from the start lies in the instruction's own.
  Machine machine;
};

/// Nothing, and why in `reason`, where an instruction cannot run alone.
std::optional<AloneInstruction> alone(const CompiledStage& stage, const Machine& machine, std::size_t instruction,
                                      std::string& reason);

}  // namespace sdip
