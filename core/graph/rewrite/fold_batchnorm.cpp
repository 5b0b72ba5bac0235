// Batch norm after a convolution is the same convolution with other weights: with s = scale / sqrt(var + eps),
// W' = W * s for each output channel and b' = beta + (b - mean) * s. Both are made at compile time. With scale 2,
// var 4, eps 0, mean 1, beta 5: s = 1, W' = W, b' = 4 + b.
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

/// A weight made by a new node that reads `inputs`.
ValueId add_folded(Graph& graph, std::vector<Node>& made, const Node& norm, const char* type,
                   std::vector<ValueId> inputs, const Operand& like) {
  Node node;
  node.name = norm.name + "/" + type;
  node.op = find_operator("sdip", type);
  const auto epsilon = norm.attributes.find("epsilon");
  if (epsilon != norm.attributes.end()) node.attributes.insert(*epsilon);
  node.inputs = std::move(inputs);
  node.outputs = {add_value(graph, node.name, ValueKind::weight, like.type, like.shape)};
  made.push_back(std::move(node));
  return made.back().outputs[0];
}

/// In training: before opset 14 the outputs say so, from there on an attribute.
bool uses_batch_statistics(const Node& norm) {
  const auto mode = norm.attributes.find("training_mode");
  const auto* training = mode == norm.attributes.end() ? nullptr : std::get_if<std::int64_t>(&mode->second);
  return norm.outputs.size() > 1 || (training != nullptr && *training != 0);
}

bool fold_batchnorm_at(Graph& graph, NodeId norm, std::vector<Node>& made) {
  if (!is_node(graph, norm, "BatchNormalization")) return false;
  const Node node = node_at(graph, norm);
  if (uses_batch_statistics(node)) return false;
  const NodeId conv = made_by(graph, node.inputs[0], "Conv");
  if (conv == none || only_consumer(graph, conv) != norm) return false;
  std::vector<ValueId> inputs = node_at(graph, conv).inputs;
  std::vector<ValueId> weights(node.inputs.begin() + 1, node.inputs.end());  // scale, beta, mean, var
  weights.insert(weights.end(), inputs.begin() + 1, inputs.end());
  for (ValueId id : weights) {
    if (id == none || value_at(graph, id).kind != ValueKind::weight) return false;
  }
  const ValueId scale = node.inputs[1], beta = node.inputs[2], mean = node.inputs[3], variance = node.inputs[4];
  const Operand like_weight = value_at(graph, inputs[1]).operand, like_bias = value_at(graph, beta).operand;
  std::vector<ValueId> of_bias = {scale, beta, mean, variance};
  if (inputs.size() > 2) of_bias.push_back(inputs[2]);
  inputs.resize(3);
  inputs[1] = add_folded(graph, made, node, "FoldedWeight", {inputs[1], scale, variance}, like_weight);
  inputs[2] = add_folded(graph, made, node, "FoldedBias", std::move(of_bias), like_bias);
  replace_last(graph, {conv, norm}, "", "Conv", std::move(inputs), node_at(graph, conv).attributes);
  return true;
}

}  // namespace

std::int64_t fold_batchnorm(Graph& graph) { return rewrite_each(graph, Made::before, fold_batchnorm_at); }

}  // namespace sdip
