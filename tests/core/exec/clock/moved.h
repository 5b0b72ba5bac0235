// What instructions of a program moved, and what is said against it.
#pragma once

#include <string>
#include <vector>

#include "core/exec/chip/execute.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {

const InstructionClass& class_of_instruction(const CompiledStage& stage, std::size_t i);

/// What each instruction moved; nothing where the network has what cannot be computed. Expects the same bits and
/// tile operations of an execution that nobody asks.
std::vector<InstructionTransfers> transfers_of(const CompiledStage& stage, const Machine& machine,
                                               const MadeNetwork& network);

/// What require_charged says of an instruction; nothing: it moved what it is charged.
std::string difference_of(const CompiledStage& stage, const Machine& machine, std::size_t i,
                          const InstructionTransfers& moved);

}  // namespace sdip
