// A nest computed without its tiles. Internal to its room.
//
// What a result is does not depend on tiles of rows, columns and channels. So where no tile leaves partial sums,
// both operands lie in single precision and results may be put as they are made, the product is computed in blocks
// that suit the processor, from operands where they lie to results where they go; tiles are counted.
#pragma once

#include "core/exec/operators/nest.h"

namespace sdip::exec {

/// Runs `node` and the operators `behind` it so, and tells whether it could: if not, nothing was done.
bool run_nest_untiled(Chip& chip, const Node& node, const NestMap& map, bool weighted, const NestOperand& a,
                      const NestOperand& b, std::span<const Node* const> behind);

}  // namespace sdip::exec
