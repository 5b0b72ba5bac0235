// The arithmetic of one node on tensors at hand.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// Throws Error("not_computable", node, ...) for random numbers and operators without arithmetic.
void require_arithmetic(const Node& node);

/// All outputs of a node, with their values, for inputs that have theirs (nullptr where an optional one is absent).
/// Throws what require_arithmetic and the rules throw, Error("not_computable", node, ...) for strings, and what
/// `stop` does, which products and convolutions ask.
std::vector<Operand> outputs_of(const Node& node, std::span<const Operand* const> inputs, const Stop& stop = {});

/// The same for tensors, nothing where one is absent; which of them are weights `graph` says.
std::vector<Tensor> outputs_of(const Graph& graph, const Node& node,
                               const std::vector<std::optional<Tensor>>& inputs, const Stop& stop = {});

}  // namespace sdip
