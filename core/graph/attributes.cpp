// Attributes of a node, as passes and circuits ask for them.
#include "core/graph/attributes.h"

#include "core/ops/use.h"

namespace sdip {

bool works_by_elements(const Graph& graph, const Node& node) {
  if (node.op->work == elementwise_work || node.op->type == "Cast") return true;
  const bool quantises = node.op->type == "QuantizeLinear" || node.op->type == "DequantizeLinear";
  if (!quantises || node.inputs.size() < 2 || node.inputs[1] == none) return false;
  return element_count(graph.values[node.inputs[1]].operand.shape) == 1;
}

}  // namespace sdip
