// The arithmetic of one node on tensors at hand.
#include "core/graph/node_arithmetic.h"

#include "core/base/error.h"

namespace sdip {

std::vector<Tensor> outputs_of(const Graph& graph, const Node& node,
                               const std::vector<std::optional<Tensor>>& inputs) {
  if (node.op->compute == nullptr || node.op->random)
    throw Error("not_computable", node.name,
                "node '" + node.name + "' (" + std::string(node.op->type) + ") has no arithmetic");
  std::vector<Operand> operands(inputs.size());
  std::vector<const Operand*> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      given.push_back(nullptr);
      continue;
    }
    const bool weight = graph.values[static_cast<std::size_t>(node.inputs[i])].kind == ValueKind::weight;
    operands[i].type = inputs[i]->type;
    operands[i].shape = inputs[i]->shape;
    operands[i].value = *inputs[i];
    operands[i].weight = weight;
    given.push_back(&operands[i]);
  }
  const OperatorUse use{node.name, node.op->type, node.opset, &node.attributes, given, node.outputs.size()};
  std::vector<Tensor> results;
  for (Operand& out : infer_use(*node.op, use, std::int64_t{1} << 53)) {
    if (!out.value)
      throw Error("not_computable", node.name, "node '" + node.name + "' makes strings, which have no values here");
    results.push_back(std::move(*out.value));
  }
  return results;
}

}  // namespace sdip
