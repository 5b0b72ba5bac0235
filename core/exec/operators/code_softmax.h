// Softmax of rows of 8-bit codes. Internal to its room.
#pragma once

#include "core/exec/operators/operators.h"

namespace sdip::exec {

/// Runs the current instruction, a Softmax of `rows` rows of `length` elements each, one behind the other, that
/// makes `result`: where its operand and its result lie in 8-bit codes and nothing stands behind it. False where
/// they do not; then nothing was done.
bool run_softmax_of_codes(Chip& chip, const Operators& operators, std::int64_t rows, std::int64_t length,
                          ValueId result);

}  // namespace sdip::exec
