// Two views in a row are one. x [1,4096,320] -> Reshape [1,64,64,320] -> Unsqueeze [1,1,64,64,320] becomes
// Reshape [1,1,64,64,320] of x.
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

bool is_view(const Graph& graph, NodeId id) {
  for (const char* type : {"Reshape", "Flatten", "Squeeze", "Unsqueeze"}) {
    if (is_node(graph, id, type)) return true;
  }
  return false;
}

/// A new constant that holds a shape.
ValueId shape_value(Graph& graph, const std::string& name, const Shape& shape) {
  Value value;
  value.name = name + "/shape";
  value.kind = ValueKind::weight;
  value.operand.type = ElementType::int64;
  value.operand.shape = {std::ssize(shape)};
  value.operand.value = Tensor{ElementType::int64, {std::ssize(shape)}, shape, {}};
  value.operand.weight = true;
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

}  // namespace

std::int64_t merge_reshapes(Graph& graph) {
  std::int64_t count = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (!is_view(graph, id)) continue;
    const NodeId before = value_at(graph, node_at(graph, id).inputs[0]).producer;
    if (!is_view(graph, before) || only_consumer(graph, before) != id) continue;
    const Shape shape = value_at(graph, node_at(graph, id).outputs[0]).operand.shape;
    const ValueId target = shape_value(graph, node_at(graph, id).name, shape);
    replace_last(graph, {before, id}, "", "Reshape", {node_at(graph, before).inputs[0], target},
                 {{"allowzero", std::int64_t{1}}});
    ++count;
  }
  return count;
}

}  // namespace sdip
