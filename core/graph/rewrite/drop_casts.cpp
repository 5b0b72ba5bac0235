// Casts around an operator that is precise inside. x (float16) -> Cast (float32) -> sdip.GroupNorm -> Cast
// (float16) becomes sdip.GroupNorm of x: the circuits of norms, softmax and activations are wider inside than the
// values they read and write, which is what the casts ask for.
#include <algorithm>

#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

bool is_wide_inside(const Operator& op) {
  constexpr std::string_view types[] = {"Softmax",
                                        "LayerNormalization",
                                        "InstanceNormalization",
                                        "GroupNorm",
                                        "RMSNorm",
                                        "Silu",
                                        "Gelu",
                                        "QuickGelu",
                                        "HardSwish",
                                        "Mish"};
  return std::find(std::begin(types), std::end(types), op.type) != std::end(types);
}

bool drop_casts_at(Graph& graph, NodeId id) {
  const Node& node = node_at(graph, id);
  if (!is_wide_inside(*node.op) || node.outputs.size() != 1) return false;
  const NodeId up = made_by(graph, node.inputs[0], "Cast"), down = only_consumer(graph, id);
  if (up == none || only_consumer(graph, up) != id || !is_node(graph, down, "Cast")) return false;
  const ValueId x = node_at(graph, up).inputs[0];
  const ElementType narrow = value_at(graph, x).operand.type;
  const bool half = narrow == ElementType::float16 || narrow == ElementType::bfloat16;
  if (!half || value_at(graph, node_at(graph, down).outputs[0]).operand.type != narrow) return false;
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = x;
  const Operator& op = *node.op;
  const std::int64_t opset = node.opset;
  replace_last(graph, {up, id, down}, op.domain, op.type, std::move(inputs), node.attributes);
  graph.nodes[down].opset = opset;  // its meaning stays what it was
  return true;
}

}  // namespace

std::int64_t drop_casts(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return drop_casts_at(graph, n); });
}

}  // namespace sdip
