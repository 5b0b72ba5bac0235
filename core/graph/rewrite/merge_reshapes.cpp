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
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    if (!is_view(graph, n)) continue;
    const NodeId before = value_at(graph, node_at(graph, n).inputs[0]).producer;
    if (!is_view(graph, before) || only_consumer(graph, before) != n) continue;
    const Shape shape = value_at(graph, node_at(graph, n).outputs[0]).operand.shape;
    const ValueId target = shape_value(graph, node_at(graph, n).name, shape);
    replace_last(graph, {before, n}, "", "Reshape", {node_at(graph, before).inputs[0], target},
                 {{"allowzero", std::int64_t{1}}});
    ++count;
  }
  return count;
}

}  // namespace sdip
