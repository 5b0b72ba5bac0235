// A bias that stands behind its convolution. Conv(x, W [64,3,7,7]) -> Add([1,64,1,1]) is Conv(x, W, b [64]); the
// constant's reshape to [64] is made at compile time.
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

bool fuse_conv_bias_at(Graph& graph, NodeId conv, std::vector<Node>& made) {
  if (!is_node(graph, conv, "Conv")) return false;
  std::vector<ValueId> inputs = node_at(graph, conv).inputs;
  const NodeId add = only_consumer(graph, conv);
  if ((inputs.size() > 2 && inputs[2] != none) || !is_node(graph, add, "Add")) return false;
  const ValueId out = node_at(graph, conv).outputs[0];
  const ValueId bias = other_input(graph, add, out);
  const Operand product = value_at(graph, out).operand;
  const Operand& sum = value_at(graph, node_at(graph, add).outputs[0]).operand;
  if (!is_one_per_channel(graph, bias, product.shape) ||
      value_at(graph, bias).operand.shape.size() + 1 < product.shape.size() || sum.shape != product.shape)
    return false;
  const std::string name = node_at(graph, add).name + "/bias";
  Tensor shape{ElementType::int64, {1}, {product.shape[1]}, {}};
  const ValueId target = add_constant(graph, name + "/shape", std::move(shape));
  Value flat;
  flat.name = name;
  flat.kind = ValueKind::weight;
  flat.operand = value_at(graph, bias).operand;
  flat.operand.shape = {product.shape[1]};
  if (flat.operand.value) flat.operand.value->shape = flat.operand.shape;
  flat.parameter = value_at(graph, bias).parameter;
  graph.values.push_back(std::move(flat));
  Node view;
  view.name = name;
  view.op = find_operator("", "Reshape");
  view.opset = replacement_opset;
  view.inputs = {bias, target};
  view.outputs = {static_cast<ValueId>(graph.values.size() - 1)};
  inputs.resize(3);
  inputs[2] = view.outputs[0];
  made.push_back(std::move(view));
  replace_last(graph, {conv, add}, "", "Conv", std::move(inputs), node_at(graph, conv).attributes);
  return true;
}

}  // namespace

std::int64_t fuse_conv_bias(Graph& graph) { return rewrite_each(graph, Made::before, fuse_conv_bias_at); }

}  // namespace sdip
