// Figures of a network: parameters, multiply-accumulates, operators.
#include "core/graph/facts.h"

#include <algorithm>

#include "core/base/exact.h"

namespace sdip {
namespace {

/// Running means and variances of batch norms, folded or not: initializers that no training step changes.
std::vector<char> running_statistics(const Graph& graph) {
  std::vector<char> statistics(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    const std::string_view type = node.op->type;
    std::size_t first = node.inputs.size(), last = first;  // of the inputs
    if (type == "BatchNormalization") first = 3, last = 5;
    if (type == "FoldedWeight") first = 2, last = 3;
    if (type == "FoldedBias") first = 2, last = 4;
    for (std::size_t i = first; i < last && i < node.inputs.size(); ++i)
      if (node.inputs[i] != none) statistics[static_cast<std::size_t>(node.inputs[i])] = 1;
  }
  return statistics;
}

/// Where quantised numbers go in: the data of DequantizeLinear, both operands of a product
/// (core/ops/quantized.cpp).
std::size_t quantised_inputs(std::string_view type) {
  if (type == "DequantizeLinear") return 1;
  return type == "QuantizedConv" || type == "QuantizedMatMul" ? 2 : 0;
}

/// Values that are quantised numbers there, and what such weights are made of: they may be transposed before.
std::vector<char> quantised_values(const Graph& graph) {
  std::vector<char> quantised(graph.values.size(), 0);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const std::size_t first = quantised_inputs(node->op->type);
    const ValueId out = node->outputs[0];
    const bool made_of = out != none && quantised[at(out)] != 0 && graph.values[at(out)].kind == ValueKind::weight;
    for (std::size_t i = 0; i < std::min(node->inputs.size(), made_of ? std::max<std::size_t>(1, first) : first);
         ++i) {
      if (node->inputs[i] != none) quantised[at(node->inputs[i])] = 1;
    }
  }
  return quantised;
}

}  // namespace

Reached reached_from_outputs(const Graph& graph) {
  Reached reached{std::vector<char>(graph.nodes.size(), 0), std::vector<char>(graph.values.size(), 0)};
  for (ValueId id : graph.outputs) reached.values[at(id)] = 1;
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    reached.nodes[n] = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [&](ValueId id) { return id != none && reached.values[at(id)] != 0; });
    if (reached.nodes[n] == 0) continue;
    for (ValueId id : node.inputs) {
      if (id != none) reached.values[at(id)] = 1;
    }
  }
  return reached;
}

std::vector<char> parameter_values(const Graph& graph) {
  const std::vector<char> statistics = running_statistics(graph);
  const std::vector<char> quantised = quantised_values(graph);
  std::vector<char> counted = reached_from_outputs(graph).values;
  for (std::size_t v = 0; v < counted.size(); ++v) {
    const Value& value = graph.values[v];
    const ElementType type = value.operand.type;
    const bool numbers = is_floating(type) || (quantised[v] != 0 && may_be_parameter(type));
    counted[v] = counted[v] != 0 && value.initializer && statistics[v] == 0 && numbers;
  }
  return counted;
}

GraphFacts facts_of(const Graph& graph) {
  GraphFacts facts;
  const std::vector<char> parameters = parameter_values(graph);
  for (std::size_t v = 0; v < parameters.size(); ++v)
    if (parameters[v] != 0)
      facts.parameters = exact_sum(facts.parameters, element_count(graph.values[v].operand.shape));
  for (const Node& node : graph.nodes) {
    ++facts.operator_counts[std::string(node.op->type)];
    const Work work = work_of(graph, node);
    if (work.family == Family::conv2d) facts.macs_conv = exact_sum(facts.macs_conv, mac_count(work.nest));
    if (work.family == Family::linear) facts.macs_linear = exact_sum(facts.macs_linear, mac_count(work.nest));
    if (work.family == Family::matmul) facts.macs_matmul = exact_sum(facts.macs_matmul, mac_count(work.nest));
  }
  return facts;
}

}  // namespace sdip
