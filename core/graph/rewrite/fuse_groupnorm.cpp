// Group norm, as every PyTorch exporter writes it. x [2,320,64,64] -> Reshape [2,32,40960] -> InstanceNormalization
// (scale 1, bias 0) -> Reshape [2,320,64,64] -> Mul [320,1,1] -> Add [320,1,1] is GroupNorm of 32 groups. The norm
// in the middle may be a LayerNormalization without gamma, which is what ReduceMean forms become; gamma and beta
// may be missing.
#include <algorithm>

#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Whether a node normalises each of [N,G] over all the rest, and does nothing else.
bool normalises_groups(const Graph& graph, NodeId norm) {
  const Node& node = node_at(graph, norm);
  if (is_node(graph, norm, "InstanceNormalization"))
    return is_filled(graph, node.inputs[1], 1.0) && is_filled(graph, node.inputs[2], 0.0);
  if (!is_node(graph, norm, "LayerNormalization")) return false;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] != none) return false;
  }
  const std::size_t rank = value_at(graph, node.inputs[0]).operand.shape.size();
  const NodeUse use = use_of(graph, node);
  return rank >= 3 && axis_within(use.use, int_attribute(use.use, "axis", -1), rank) == 2;
}

/// x -> Reshape -> norm -> Reshape, with the groups made of whole channels that stand side by side.
struct Grouped {
  std::vector<NodeId> nodes;
  ValueId x = none;
  std::int64_t groups = 0;
};

std::optional<Grouped> grouped(const Graph& graph, NodeId norm) {
  if (!normalises_groups(graph, norm)) return std::nullopt;
  const Node& node = node_at(graph, norm);
  const NodeId split = made_by(graph, node.inputs[0], "Reshape");
  if (split == none || only_consumer(graph, split) != norm) return std::nullopt;
  const ValueId x = node_at(graph, split).inputs[0];
  const Shape& shape = value_at(graph, x).operand.shape;
  const Shape& inner = value_at(graph, node.inputs[0]).operand.shape;
  if (shape.size() < 2 || inner.size() < 3 || inner[0] != shape[0] || inner[1] == 0 || shape[1] % inner[1] != 0)
    return std::nullopt;
  const NodeId back = only_consumer(graph, norm);
  if (!is_node(graph, back, "Reshape") || value_at(graph, node_at(graph, back).outputs[0]).operand.shape != shape)
    return std::nullopt;
  return Grouped{{split, norm, back}, x, inner[1]};
}

/// A weight that stands for a missing gamma or beta.
ValueId filled(Graph& graph, const std::string& name, const Operand& x, double number) {
  Tensor tensor = zero_tensor(x.type, {x.shape[1]});
  std::fill(tensor.floats.begin(), tensor.floats.end(), number);
  return add_constant(graph, name, std::move(tensor));
}

bool fuse_groupnorm_at(Graph& graph, NodeId norm) {
  auto found = grouped(graph, norm);
  if (!found) return false;
  const Operand x = value_at(graph, found->x).operand;
  const Node& node = node_at(graph, norm);
  Attributes attributes{{"num_groups", found->groups}};
  const auto epsilon = node.attributes.find("epsilon");
  if (epsilon != node.attributes.end()) attributes.insert(*epsilon);
  ValueId weights[2] = {none, none};
  const char* types[2] = {"Mul", "Add"};
  for (std::size_t i = 0; i < 2; ++i) {
    const ValueId out = node_at(graph, found->nodes.back()).outputs[0];
    const NodeId next = only_user(graph, out);
    if (!is_node(graph, next, types[i])) continue;
    const ValueId weight = other_input(graph, next, out);
    const Operand& after = value_at(graph, node_at(graph, next).outputs[0]).operand;
    if (!is_one_per_channel(graph, weight, x.shape) || after.shape != x.shape || after.type != x.type) break;
    weights[i] = weight;
    found->nodes.push_back(next);
  }
  const std::string name = node.name;
  if (weights[0] == none) weights[0] = filled(graph, name + "/ones", x, 1.0);
  if (weights[1] == none) weights[1] = filled(graph, name + "/zeros", x, 0.0);
  replace_last(graph, found->nodes, "sdip", "GroupNorm", {found->x, weights[0], weights[1]}, std::move(attributes));
  return true;
}

}  // namespace

std::int64_t fuse_groupnorm(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return fuse_groupnorm_at(graph, n); });
}

}  // namespace sdip
