// The operators that stand before a nest: a norm and its activations, element by element as the nest reads.
// Internal to its room.
#pragma once

#include "core/exec/operators/nest.h"
#include "core/exec/operators/operators.h"

namespace sdip::exec {

/// Reads elements of `v`, the nest's operand that the operators before it make: those of the norm's operand, with
/// sums that an instruction before made, or, when the class has a pass for them, with those of whole rows as they
/// are read. Nothing when they are not a norm by rows and elementwise operators behind it.
std::optional<OperandReader> prologue_reader(Chip& chip, const Operators& operators, ValueId v);

}  // namespace sdip::exec
