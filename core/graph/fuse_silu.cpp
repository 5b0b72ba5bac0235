// SiLU, x * sigmoid(x), and QuickGELU, x * sigmoid(1.702 x). s = Sigmoid(x); Mul(x, s) is Silu(x); Mul(y, s) is
// not.
#include "core/graph/passes.h"
#include "core/graph/pattern.h"

namespace sdip {
namespace {

/// The Mul that alone uses a Sigmoid, and what it multiplies with.
struct Gate {
  NodeId mul = none;
  ValueId gated = none;
};
Gate gate_of(const Graph& graph, NodeId sigmoid) {
  const NodeId mul = only_consumer(graph, sigmoid);
  if (!is_node(graph, mul, "Mul")) return {};
  return {mul, other_input(graph, mul, node_at(graph, sigmoid).outputs[0])};
}

bool rewrite_silu(Graph& graph, NodeId sigmoid) {
  const Gate gate = gate_of(graph, sigmoid);
  const ValueId x = node_at(graph, sigmoid).inputs[0];
  if (gate.mul == none || gate.gated != x) return false;
  replace_last(graph, {sigmoid, gate.mul}, "sdip", "Silu", {x}, {});
  return true;
}

bool rewrite_quick_gelu(Graph& graph, NodeId sigmoid) {
  const Gate gate = gate_of(graph, sigmoid);
  const NodeId scale = made_by(graph, node_at(graph, sigmoid).inputs[0], "Mul");
  if (gate.mul == none || scale == none || only_consumer(graph, scale) != sigmoid) return false;
  const auto by = scaled(graph, scale);
  if (!by || by->operand != gate.gated) return false;
  const Shape& out = value_at(graph, node_at(graph, scale).outputs[0]).operand.shape;
  if (out != value_at(graph, by->operand).operand.shape) return false;
  replace_last(graph, {scale, sigmoid, gate.mul}, "sdip", "QuickGelu", {by->operand}, {{"alpha", by->number}});
  return true;
}

std::int64_t rewrite_sigmoids(Graph& graph, bool (*rewrite_at)(Graph&, NodeId)) {
  std::int64_t count = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (is_node(graph, id, "Sigmoid") && rewrite_at(graph, id)) ++count;
  }
  return count;
}

}  // namespace

std::int64_t fuse_silu(Graph& graph) { return rewrite_sigmoids(graph, rewrite_silu); }
std::int64_t fuse_quick_gelu(Graph& graph) { return rewrite_sigmoids(graph, rewrite_quick_gelu); }

}  // namespace sdip
