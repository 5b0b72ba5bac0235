// Compares what the datapath moved with what the clock charges for it.
#pragma once

#include <string>
#include <vector>

#include "core/exec/clock/operations.h"
#include "core/exec/clock/transfers.h"

namespace sdip::exec {

/// Compares the bytes that an instruction's tile operations moved with those that `operations` are charged, as
/// docs/model/counting.md#what-the-datapath-moves says: operands A and B, partial sums and results, operation
/// by operation. Throws Error("execution_failed", who, ...) where they differ, or where an operation began with
/// another tile of weights, and when the other operands or the results come to other totals.
void require_charged(const std::vector<Operation>& operations, const InstructionClass& c, const Machine& machine,
                     const InstructionTransfers& moved, const std::string& who);

}  // namespace sdip::exec
