// A stage's machine as an instruction meets it, whatever options make of it: written from docs/model/ alone.
#pragma once

#include <cstdint>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip::exec {

/// Weights that stand side by side along a sum and share a scale: of a block format a block, of integers so many as
/// scale_granularity names; 0: each scale is of more.
std::int64_t group_length(const Machine& machine);

/// Formats of the multipliers that a product goes to, and of its own operands.
struct Multiplier {
  NumberFormat a, b;
};

/// Narrow multipliers that work side by side in a MAC built for `wide`, on operands of `narrow`.
std::int64_t multipliers_side_by_side(Multiplier wide, Multiplier narrow);

/// Multipliers side by side in each MAC that a class's products find.
std::int64_t multipliers_found(const InstructionClass& c, const Machine& machine);

/// The machine that an instruction finds: of micro-operations one array of MACs and one vector unit; its formats
/// those of the class, its arrays as long along the sums as the multipliers that its products find there; where
/// weights share scales by groups, as long as is used of them: a fold is part of one group, the group cut into
/// equal ones, or is whole groups. Its cores are all that work at once, of those that share it too, each with its
/// part on its own stack; inside a compound the host does nothing. Formats of its results stand in its class.
Machine resolve(const InstructionClass& c, const Machine& machine);

}  // namespace sdip::exec
