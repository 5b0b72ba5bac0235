// The arithmetic of operators on tensors at hand.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace sdip::exec {

/// All outputs of a node for these inputs (nothing where an optional one is absent), in their shapes. Throws
/// Error("not_computable", node, ...) for random numbers and operators without arithmetic, and what the rules
/// throw.
std::vector<Tensor> computed(const Graph& graph, const Node& node,
                             const std::vector<std::optional<Tensor>>& inputs);

/// Whether each element of the result is made of the elements that numpy's broadcast puts beside it, so that a
/// tile of the result needs those of a tile alone.
bool is_pointwise(const Node& node);

}  // namespace sdip::exec
