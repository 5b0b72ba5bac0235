// Random weights of a program, as a built-in model gets them.
#include "server/models/program_weights.h"

#include "core/workload/workload.h"

namespace sdip {
namespace {

struct ReadAs {
  std::string_view op;
  std::size_t operand = 0;
};

/// The operands of a weight that fold_batchnorm made, as they were read: by a convolution and the norm behind it.
constexpr ReadAs folded_weight[] = {{"Conv", 1}, {"BatchNormalization", 1}, {"BatchNormalization", 4}};
constexpr ReadAs folded_bias[] = {{"BatchNormalization", 1},
                                  {"BatchNormalization", 2},
                                  {"BatchNormalization", 3},
                                  {"BatchNormalization", 4},
                                  {"Conv", 2}};

/// The node of a model's file that a rewrite made the first reader from, as far as random weights tell nodes apart.
ReadAs first_reader(const Graph& graph, const Value& value) {
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      // Compares names: who computes a graph may do so on a copy of it.
      if (node.inputs[i] == none || graph.values[node.inputs[i]].name != value.name) continue;
      if (node.op->type == "Split")  // into the weights of several products (split_products)
        for (const ValueId part : node.outputs)
          if (part != none) return first_reader(graph, graph.values[part]);
      if (node.op->domain != "sdip") return {node.op->type, i};
      if (node.op->type == "GroupNorm" || node.op->type == "RMSNorm") return {i == 1 ? "Mul" : "Add", i};
      const auto turned = node.attributes.find("trans_b");
      const auto* set = turned == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&turned->second);
      if (node.op->type == "FoldedWeight") return folded_weight[i];
      if (node.op->type == "FoldedBias") return folded_bias[i];
      if (node.op->type == "Linear") return {set && *set != 0 ? "Gemm" : "MatMul", i};
      if (node.op->type.starts_with("LowRank")) return {set && *set != 0 ? "Gemm" : "MatMul", 1};
      return {node.op->type, i};
    }
  return {};
}

}  // namespace

CompiledStage asking_for_weights(CompiledStage stage) {
  Graph graph = *stage.graph;
  for (Value& value : graph.values)
    if (value.kind == ValueKind::weight && value.producer == none && !value.operand.value && !value.bytes)
      value.bytes = WeightBytes{"random", 0, 0};
  stage.graph = std::make_shared<const Graph>(std::move(graph));
  return stage;
}

StoredTensors random_weights(const Graph& graph, std::uint64_t seed) {
  return [&graph, seed](const Value& value) -> std::optional<Tensor> {
    const ReadAs reader = first_reader(graph, value);
    Tensor tensor{value.operand.type, value.operand.shape, {}, {}};
    for (const float x : random_weight(value.name, value.operand.shape, reader.op, reader.operand, seed)) {
      if (is_floating(tensor.type))
        tensor.floats.push_back(rounded(tensor.type, static_cast<double>(x)));
      else
        tensor.ints.push_back(x > 0 ? 1 : 0);
    }
    return tensor;
  };
}

}  // namespace sdip
