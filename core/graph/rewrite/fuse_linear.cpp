// Linear layers. x [1,77,768] -> MatMul(W [768,3072]) -> Add(b [3072]) is Linear(x, W, b); so is Gemm(x, W, b),
// with trans_b as it has it. A weight of many matrices, [8,40,64], makes LinearBatch.
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Whether a weight is one value a column: [N], [1,N], ...
bool is_bias(const Graph& graph, ValueId id, std::int64_t columns) {
  if (!is_weight(graph, id)) return false;
  const Shape& shape = value_at(graph, id).operand.shape;
  return !shape.empty() && shape.back() == columns && element_count(shape) == columns;
}

bool rewrite_matmul(Graph& graph, NodeId matmul) {
  std::vector<ValueId> inputs = node_at(graph, matmul).inputs;
  if (!is_weight(graph, inputs[1]) || is_weight(graph, inputs[0])) return false;
  const Shape& weight = value_at(graph, inputs[1]).operand.shape;
  const ValueId product = node_at(graph, matmul).outputs[0];
  const Shape& out = value_at(graph, product).operand.shape;
  if (weight.size() < 2) return false;
  const bool batch = weight.size() > 2;
  if (batch && count_between(weight, 0, weight.size() - 2) == 1) return false;
  std::vector<NodeId> pattern = {matmul};
  const NodeId add = only_consumer(graph, matmul);
  if (is_node(graph, add, "Add")) {
    const ValueId bias = other_input(graph, add, product);
    const Shape& sum = value_at(graph, node_at(graph, add).outputs[0]).operand.shape;
    if (is_bias(graph, bias, weight.back()) && sum == out) {
      inputs.push_back(bias);
      pattern.push_back(add);
    }
  }
  replace_last(graph, pattern, "sdip", batch ? "LinearBatch" : "Linear", std::move(inputs), {});
  return true;
}

bool rewrite_gemm(Graph& graph, NodeId gemm) {
  const NodeUse use = use_of(graph, node_at(graph, gemm));
  const auto inputs = node_at(graph, gemm).inputs;
  const std::int64_t transposed = int_attribute(use.use, "transB", 0);
  if (!is_weight(graph, inputs[1]) || is_weight(graph, inputs[0]) || int_attribute(use.use, "transA", 0) != 0 ||
      float_attribute(use.use, "alpha", 1.0) != 1.0) {
    return false;
  }
  const std::int64_t columns = value_at(graph, node_at(graph, gemm).outputs[0]).operand.shape[1];
  const bool biased = inputs.size() > 2 && inputs[2] != none;
  if (biased && (!is_bias(graph, inputs[2], columns) || float_attribute(use.use, "beta", 1.0) != 1.0)) return false;
  Attributes attributes;
  if (transposed != 0) attributes.emplace("trans_b", std::int64_t{1});
  replace_last(graph, {gemm}, "sdip", "Linear", inputs, std::move(attributes));
  return true;
}

}  // namespace

std::int64_t fuse_linear(Graph& graph) {
  return count_each(graph, [&](NodeId n) {
    return is_node(graph, n, "MatMul") ? rewrite_matmul(graph, n)
                                       : is_node(graph, n, "Gemm") && rewrite_gemm(graph, n);
  });
}

}  // namespace sdip
