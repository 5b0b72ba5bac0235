// One instruction of a program as a program of its own, so that it can be executed without what comes before it.
//
// Its sources become inputs and lie where the instruction finds them; its nodes, and the views, constants and
// computed weights that these read, are the graph. An instruction whose norm reads sums that another one made comes
// with that one before it.
//
// Worked example: of x -> conv -> y -> relu -> z, where y waits in STACKRAM, the relu alone is a graph of one node
// with input y and output z, and one instruction that reads y from STACKRAM.
#pragma once

#include <optional>
#include <string>

#include "core/program/program.h"

namespace sdip {

/// `tested` is the last instruction of the stage's program. The graph's first output is its result; the second,
/// where there is one, what the instruction before it made, by name an input of `reference`.
struct AloneInstruction {
  CompiledStage stage;
  // Of a machine with a DSRAM pair for each family: with one pair in place of all, behind which the others' bytes
  // lie, since what is there from the start lies in the instruction's own.
  Machine machine;
  std::shared_ptr<const Graph> reference;  // of the tested instruction's nodes alone
};

/// Nothing, and why in `reason`, where an instruction cannot run alone.
std::optional<AloneInstruction> alone(const CompiledStage& stage, const Machine& machine, std::size_t instruction,
                                      std::string& reason);

}  // namespace sdip
