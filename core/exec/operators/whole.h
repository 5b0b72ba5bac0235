// Operators that are computed whole, by their own arithmetic. Internal to its room.
#pragma once

#include "core/exec/operators/operators.h"

namespace sdip::exec {

/// Row-wise work: elements of the result that each operation writes, those of one that writes nothing none.
std::vector<Elements> rowwise_tiles(const InstructionClass& c, std::int64_t elements);

/// Row-wise work computed whole from what was `made` before it and from where its operands lie; result `result`.
/// Where someone wants to know what moves, operands come and results leave tile operation by tile operation.
void run_whole_rows(Chip& chip, const Operators& operators, const Whole& made, ValueId result);

/// All operators on whole operands: where one behind the main operator is not elementwise, or a nest has no map.
void run_whole(Chip& chip, const Operators& operators, Whole made, ValueId result);

}  // namespace sdip::exec
