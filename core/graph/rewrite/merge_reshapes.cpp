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

bool merge_reshapes_at(Graph& graph, NodeId n) {
  if (!is_view(graph, n)) return false;
  const NodeId before = value_at(graph, node_at(graph, n).inputs[0]).producer;
  if (!is_view(graph, before) || only_consumer(graph, before) != n) return false;
  const Shape shape = value_at(graph, node_at(graph, n).outputs[0]).operand.shape;
  const ValueId target =
      add_constant(graph, node_at(graph, n).name + "/shape", {ElementType::int64, {std::ssize(shape)}, shape, {}});
  replace_last(graph, {before, n}, "", "Reshape", {node_at(graph, before).inputs[0], target},
               {{"allowzero", std::int64_t{1}}});
  return true;
}

}  // namespace

std::int64_t merge_reshapes(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return merge_reshapes_at(graph, n); });
}

}  // namespace sdip
