// Compares what the datapath moved with what the clock charges for it.
#pragma once

#include <string>
#include <vector>

#include "core/exec/clock/operations.h"
#include "core/exec/clock/transfers.h"

namespace sdip::exec {

/// Puts the bytes that an instruction's tile operations moved in place of those that `operations` were charged, as
/// docs/model/counting.md#what-the-datapath-moves says: operands A and B, partial sums and results, operation
/// by operation. Throws Error("execution_failed", who, ...) where they differ, or where an operation began with
/// another tile of weights, and when the other operands or the results come to other totals. Strips and
/// instructions that were computed whole are compared and left as they are.
void charge_moved(std::vector<Operation>& operations, const InstructionClass& c, const Machine& machine,
                  const InstructionTransfers& moved, const std::string& who);

}  // namespace sdip::exec
