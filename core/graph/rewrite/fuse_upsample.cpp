// Upsampling by repetition. x [1,320,32,32] -> Reshape [1,320,32,1,32,1] -> Expand [1,320,32,2,32,2] -> Reshape
// [1,320,64,64] is Resize to twice the size, nearest.
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

bool fuse_upsample_at(Graph& graph, NodeId expand) {
  const NodeId split = made_by(graph, node_at(graph, expand).inputs[0], "Reshape");
  const NodeId join = only_consumer(graph, expand);
  const NodeId apart = split != none ? split : made_by(graph, node_at(graph, expand).inputs[0], "Unsqueeze");
  if (apart == none || only_consumer(graph, apart) != expand || !is_node(graph, join, "Reshape")) return false;
  const ValueId x = node_at(graph, apart).inputs[0];
  const Shape in = value_at(graph, x).operand.shape,
              out = value_at(graph, node_at(graph, join).outputs[0]).operand.shape;
  const Shape& narrow = value_at(graph, node_at(graph, expand).inputs[0]).operand.shape;
  const Shape& wide = value_at(graph, node_at(graph, expand).outputs[0]).operand.shape;
  if (in.size() != 4 || wide.size() != 6 || narrow != Shape{in[0], in[1], in[2], 1, in[3], 1}) return false;
  if (wide != Shape{in[0], in[1], in[2], wide[3], in[3], wide[5]}) return false;
  if (out != Shape{in[0], in[1], in[2] * wide[3], in[3] * wide[5]} || is_weight(graph, x)) return false;
  const std::string name = node_at(graph, join).name + "/scales";
  const std::vector<double> by = {1, 1, static_cast<double>(wide[3]), static_cast<double>(wide[5])};
  const ValueId scales = add_constant(graph, name, Tensor{ElementType::float32, {4}, {}, by});
  replace_last(graph, {apart, expand, join}, "", "Resize", {x, none, scales},
               {{"mode", std::string("nearest")},
                {"coordinate_transformation_mode", std::string("asymmetric")},
                {"nearest_mode", std::string("floor")}});
  return true;
}

}  // namespace

std::int64_t fuse_upsample(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return is_node(graph, n, "Expand") && fuse_upsample_at(graph, n); });
}

}  // namespace sdip
