// The facts that figures of a network rest on: which nodes and values matter, and which values are parameters.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// 1 for every node and value that an output depends on. Requires that nodes are sorted.
struct Reached {
  List<char> nodes, values;
};
Reached reached_from_outputs(const Graph& graph);

/// 1 for every value that GraphFacts counts as parameters: float and quantised initializers that the outputs
/// depend on, without the running statistics of batch norms; and constants where such a one would stand: the second
/// and later operands of products, norms and recurrent operators, what is added to a MatMul, the table of a Gather,
/// unless all their elements are equal, or, of a norm, too many to be known. Requires that nodes are sorted.
std::vector<char> parameter_values(const Graph& graph);

}  // namespace sdip
