// Group norm, as every PyTorch exporter writes it. x [2,320,64,64] -> Reshape [2,32,40960] -> InstanceNormalization
// (scale 1, bias 0) -> Reshape [2,320,64,64] -> Mul [320,1,1] -> Add [320,1,1] is GroupNorm of 32 groups.
#include "core/graph/passes.h"
#include "core/graph/pattern.h"

namespace sdip {
namespace {

/// Whether a weight broadcast to `shape` has one value a channel: [C,1,1] or [1,C,1,1] into [N,C,H,W].
bool is_per_channel(const Graph& graph, ValueId id, const Shape& shape) {
  if (id == none || value_at(graph, id).kind != ValueKind::weight) return false;
  Shape own = value_at(graph, id).operand.shape;
  if (own.size() > shape.size()) return false;
  own.insert(own.begin(), shape.size() - own.size(), 1);
  Shape wanted(shape.size(), 1);
  wanted[1] = shape[1];
  return own == wanted;
}

bool rewrite_at(Graph& graph, NodeId norm) {
  const Node& node = node_at(graph, norm);
  if (!is_filled(graph, node.inputs[1], 1.0) || !is_filled(graph, node.inputs[2], 0.0)) return false;
  const NodeId split = made_by(graph, node.inputs[0], "Reshape");
  if (split == none || only_consumer(graph, split) != norm) return false;
  const ValueId x = node_at(graph, split).inputs[0];
  const Shape& shape = value_at(graph, x).operand.shape;
  const Shape& grouped = value_at(graph, node.inputs[0]).operand.shape;
  if (shape.size() < 3 || grouped.size() != 3 || grouped[0] != shape[0] || grouped[1] == 0 ||
      shape[1] % grouped[1] != 0) {
    return false;
  }
  const NodeId back = only_consumer(graph, norm);
  if (!is_node(graph, back, "Reshape") || value_at(graph, node_at(graph, back).outputs[0]).operand.shape != shape) {
    return false;
  }
  const NodeId mul = only_consumer(graph, back);
  if (!is_node(graph, mul, "Mul")) return false;
  const ValueId gamma = other_input(graph, mul, node_at(graph, back).outputs[0]);
  const NodeId add = only_consumer(graph, mul);
  if (!is_node(graph, add, "Add")) return false;
  const ValueId beta = other_input(graph, add, node_at(graph, mul).outputs[0]);
  if (!is_per_channel(graph, gamma, shape) || !is_per_channel(graph, beta, shape)) return false;
  Attributes attributes{{"num_groups", grouped[1]}};
  const auto epsilon = node.attributes.find("epsilon");
  if (epsilon != node.attributes.end()) attributes.insert(*epsilon);
  replace_last(graph, {split, norm, back, mul, add}, "sdip", "GroupNorm", {x, gamma, beta}, std::move(attributes));
  return true;
}

}  // namespace

std::int64_t fuse_groupnorm(Graph& graph) {
  std::int64_t count = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (is_node(graph, id, "InstanceNormalization") && rewrite_at(graph, id)) ++count;
  }
  return count;
}

}  // namespace sdip
