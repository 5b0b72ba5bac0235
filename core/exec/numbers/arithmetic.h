// Which operators a tile of the result needs a tile of the operands for.
#pragma once

#include "core/graph/node_arithmetic.h"

namespace sdip::exec {

/// Whether each element of the result is made of the elements that numpy's broadcast puts beside it, so that a
/// tile of the result needs those of a tile alone.
bool is_pointwise(const Node& node);

}  // namespace sdip::exec
