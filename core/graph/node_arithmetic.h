// The arithmetic of one node on tensors at hand.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// All outputs of a node for these inputs (nothing where an optional one is absent), in their shapes. Throws
/// Error("not_computable", node, ...) for random numbers, strings and operators without arithmetic, and what the
/// rules throw.
std::vector<Tensor> outputs_of(const Graph& graph, const Node& node,
                               const std::vector<std::optional<Tensor>>& inputs);

}  // namespace sdip
