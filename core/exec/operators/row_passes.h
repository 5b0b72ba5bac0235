// Row-wise work that goes through its rows in passes, tile by tile: softmax and norms. Internal to its room.
#pragma once

#include "core/exec/operators/operators.h"

namespace sdip::exec {

/// Runs the current instruction, softmax or a norm, in the tiles of its mapping: all passes over a tile of rows,
/// or, where rows are cut into chunks, each pass over a row's chunks one after the other; the last one writes.
/// False when its operator is neither by rows.
bool run_row_passes(Chip& chip, const Operators& operators, ValueId result);

/// Softmax of rows one behind the other, whole.
Numbers softmax_of(const Chip& chip, const Node& node, std::vector<double> rows);

/// The passes of an instruction that makes the sums of a norm alone.
void run_sums(Chip& chip);

}  // namespace sdip::exec
