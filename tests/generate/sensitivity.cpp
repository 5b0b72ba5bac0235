// How far a graph's outputs move when every result in it is rounded otherwise.
#include <algorithm>
#include <cmath>

#include "core/graph/node_arithmetic.h"
#include "tests/generate/check.h"

namespace sdip::generate {
namespace {

/// A last place or so more or less; half of one in a narrow type, whose results are rounded again anyhow.
void disturb(Tensor& tensor, double share, Draw& draw) {
  if (tensor.type == ElementType::float16) share = 1.0 / 2048;
  if (tensor.type == ElementType::bfloat16) share = 1.0 / 256;
  for (double& x : tensor.floats) x *= 1 + share * draw.unit();
}

Operand operand_of(Tensor tensor) {
  Operand operand;
  operand.type = tensor.type;
  operand.shape = tensor.shape;
  operand.value = std::move(tensor);
  return operand;
}

std::vector<Tensor> disturbed_outputs(const Graph& graph, const std::vector<Tensor>& inputs,
                                      const StoredTensors& stored, double share, std::uint64_t seed) {
  Draw draw(seed);
  std::vector<std::optional<Operand>> known(graph.values.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) known[at(graph.inputs[i])] = operand_of(inputs[i]);
  const auto find = [&](ValueId id) -> const Operand* {
    if (id == none) return nullptr;
    if (!known[at(id)]) known[at(id)] = operand_of(stored(graph.values[at(id)]).value());
    known[at(id)]->weight = graph.values[at(id)].kind == ValueKind::weight;
    return &*known[at(id)];
  };
  for (const Node& node : graph.nodes) {
    std::vector<const Operand*> operands;
    for (const ValueId id : node.inputs) operands.push_back(find(id));
    std::vector<Operand> made = outputs_of(node, operands);
    const Family family = node.op->work != nullptr ? work_of(graph, node).family : Family::vector;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (node.outputs[i] == none) continue;
      if (family != Family::view && family != Family::transpose) disturb(*made[i].value, share, draw);
      known[at(node.outputs[i])] = std::move(made[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (const ValueId id : graph.outputs) outputs.push_back(*find(id)->value);
  return outputs;
}

/// -1 where integers, or what is no number, differ.
double moved(const Tensor& a, const Tensor& b) {
  if (a.ints != b.ints || a.shape != b.shape) return -1;
  double most = 0;
  for (std::size_t i = 0; i < a.floats.size(); ++i) {
    const double x = a.floats[i], y = b.floats[i];
    if (std::isfinite(x) != std::isfinite(y) || std::isnan(x) != std::isnan(y)) return -1;
    if (std::isfinite(x))
      most = std::max(most, std::fabs(x - y));
    else if (!std::isnan(x) && x != y)
      return -1;
  }
  return most;
}

}  // namespace

std::vector<double> sensitivity(const Graph& graph, const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& outputs, const StoredTensors& stored, double share) {
  std::vector<double> most(outputs.size(), 0);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const std::vector<Tensor> other = disturbed_outputs(graph, inputs, stored, share, seed);
    for (std::size_t i = 0; i < most.size(); ++i) {
      const double by = moved(outputs[i], other[i]);
      most[i] = by < 0 || most[i] < 0 ? -1 : std::max(most[i], by);
    }
  }
  return most;
}

}  // namespace sdip::generate
