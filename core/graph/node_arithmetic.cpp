// The arithmetic of one node on tensors at hand.
#include "core/graph/node_arithmetic.h"

#include "core/base/error.h"

namespace sdip {

void require_arithmetic(const Node& node) {
  if (node.op->compute == nullptr || node.op->random)
    throw Error("not_computable", node.name,
                fmt::format("node '{}' ({}) has no arithmetic", node.name, node.op->type));
}

std::vector<Operand> outputs_of(const Node& node, std::span<const Operand* const> inputs, const Stop& stop) {
  require_arithmetic(node);
  const OperatorUse use{node.name, node.op->type,       node.opset, &node.attributes,
                        inputs,    node.outputs.size(), node.op,    &stop};
  std::vector<Operand> outputs = infer_use(*node.op, use, std::int64_t{1} << 53);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].value && node.outputs[i] != none)
      throw Error("not_computable", node.name, "node '" + node.name + "' makes strings, which have no values here");
  return outputs;
}

std::vector<Tensor> outputs_of(const Graph& graph, const Node& node,
                               const std::vector<std::optional<Tensor>>& inputs, const Stop& stop) {
  std::vector<Operand> operands(inputs.size());
  std::vector<const Operand*> given(inputs.size(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    operands[i].type = inputs[i]->type;
    operands[i].shape = inputs[i]->shape;
    operands[i].value = *inputs[i];
    operands[i].weight = graph.values[node.inputs[i]].kind == ValueKind::weight;
    given[i] = &operands[i];
  }
  std::vector<Tensor> results;
  for (Operand& out : outputs_of(node, given, stop))
    results.push_back(out.value ? std::move(*out.value) : Tensor{});
  return results;
}

}  // namespace sdip
