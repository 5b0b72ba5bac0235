// Figures of a network: parameters, multiply-accumulates, operators.
#include "core/graph/facts.h"

#include <algorithm>
#include <functional>

#include "core/base/exact.h"

namespace sdip {
namespace {

/// Running means and variances of batch norms, folded or not: initializers that no training step changes.
std::vector<char> running_statistics(const Graph& graph) {
  List<char> statistics(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    const std::string_view type = node.op->type;
    std::size_t first = node.inputs.size(), last = first;  // of the inputs
    if (type == "BatchNormalization") first = 3, last = 5;
    if (type == "FoldedWeight") first = 2, last = 3;
    if (type == "FoldedBias") first = 2, last = 4;
    for (std::size_t i = first; i < last && i < node.inputs.size(); ++i)
      if (node.inputs[i] != none) statistics[node.inputs[i]] = 1;
  }
  return statistics;
}

/// Where quantised numbers go in: the data of DequantizeLinear, both operands of a product
/// (core/ops/products/quantized.cpp).
std::size_t quantised_inputs(std::string_view type) {
  if (type == "DequantizeLinear") return 1;
  return type == "QuantizedConv" || type == "QuantizedMatMul" ? 2 : 0;
}

/// Values that are quantised numbers there, and what such weights are made of: they may be transposed before.
std::vector<char> quantised_values(const Graph& graph) {
  List<char> quantised(graph.values.size(), 0);
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const std::size_t first = quantised_inputs(node->op->type);
    const ValueId out = node->outputs[0];
    const bool made_of = out != none && quantised[out] != 0 && graph.values[out].kind == ValueKind::weight;
    for (std::size_t i = 0; i < std::min(node->inputs.size(), made_of ? std::max<std::size_t>(1, first) : first);
         ++i) {
      if (node->inputs[i] != none) quantised[node->inputs[i]] = 1;
    }
  }
  return quantised;
}

/// Whether a value may be a weight that its file has as a constant: stored and no initializer, and neither a single
/// number nor all the same ones, as the scales and shifts are that exporters write where there are none.
bool may_be_learned(const Value& value, bool made) {
  if (made || value.initializer || value.kind != ValueKind::weight || !may_be_parameter(value.operand.type) ||
      element_count(value.operand.shape) < 2)
    return false;
  const auto varied = [](const auto& numbers) {
    return std::ranges::adjacent_find(numbers, std::not_equal_to<>()) != numbers.end();
  };
  const auto& tensor = value.operand.value;
  return !tensor || varied(tensor->floats) || varied(tensor->ints);
}

/// The inputs of a node that hold what was learned when they are weights: kernels, scales, tables, and what is
/// added to a product. A first operand is none, but for a table's: exporters compute positions with constants.
std::pair<std::size_t, std::size_t> learned_inputs(const Graph& graph, const Node& node,
                                                   const List<const Node*>& makers) {
  const std::string_view type = node.op->type;
  if (type == "Gather") return {0, 1};
  if (type == "Add") {
    const bool bias = std::ranges::any_of(node.inputs, [&](ValueId id) {
      return id != none && makers[id] != nullptr && makers[id]->op->type == "MatMul";
    });
    return {0, bias ? 2 : 0};
  }
  const Family family = work_of(graph, node).family;
  // A norm's scale is often there for its form alone, all ones: one that is too long to look at may be such a one.
  const bool looked_at =
      node.inputs.size() > 1 && node.inputs[1] != none && graph.values[node.inputs[1]].operand.value.has_value();
  const bool learns = type == "LSTM" || type == "GRU" || type == "RNN" || type == "PRelu" ||
                      family == Family::conv2d || family == Family::linear || (family == Family::norm && looked_at);
  return {1, learns ? node.inputs.size() : 1};
}

/// Weights that stand in the file as constants, where other exporters write initializers.
std::vector<char> learned_constants(const Graph& graph) {
  List<const Node*> makers(graph.values.size(), nullptr);
  for (const Node& node : graph.nodes)
    for (const ValueId id : node.outputs)
      if (id != none) makers[id] = &node;
  List<char> candidate(graph.values.size(), 0), learned(candidate);  // or made of a candidate alone
  for (std::size_t v = 0; v < candidate.size(); ++v)
    candidate[v] = may_be_learned(graph.values[v], makers[v] != nullptr);
  if (std::ranges::find(candidate, 1) == candidate.end()) return learned;
  for (const Node& node : graph.nodes) {
    const ValueId first = node.inputs.empty() ? none : node.inputs[0], out = node.outputs[0];
    if (first != none && out != none && candidate[first] != 0 && graph.values[out].kind == ValueKind::weight)
      candidate[out] = 1;
  }
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto of_candidate = [&](ValueId id) { return id != none && candidate[id] != 0; };
    if (!std::ranges::any_of(node->inputs, of_candidate)) continue;
    const bool made_of = of_candidate(node->outputs[0]);  // a weight, perhaps transposed or dequantised
    const auto [first, last] = made_of ? std::pair<std::size_t, std::size_t>{0, learned[node->outputs[0]]}
                                       : learned_inputs(graph, *node, makers);
    for (std::size_t i = first; i < std::min(last, node->inputs.size()); ++i)
      if (of_candidate(node->inputs[i])) learned[node->inputs[i]] = 1;
  }
  for (std::size_t v = 0; v < learned.size(); ++v)
    if (makers[v] != nullptr) learned[v] = 0;
  return learned;
}

}  // namespace

Reached reached_from_outputs(const Graph& graph) {
  Reached reached{std::vector<char>(graph.nodes.size(), 0), std::vector<char>(graph.values.size(), 0)};
  for (ValueId id : graph.outputs) reached.values[id] = 1;
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    const Node& node = graph.nodes[n];
    reached.nodes[n] = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [&](ValueId id) { return id != none && reached.values[id] != 0; });
    if (reached.nodes[n] == 0) continue;
    for (ValueId id : node.inputs) {
      if (id != none) reached.values[id] = 1;
    }
  }
  return reached;
}

std::vector<char> parameter_values(const Graph& graph) {
  const List<char> statistics = running_statistics(graph);
  const List<char> quantised = quantised_values(graph);
  const List<char> learned = learned_constants(graph);
  std::vector<char> counted = reached_from_outputs(graph).values;
  for (std::size_t v = 0; v < counted.size(); ++v) {
    const Value& value = graph.values[v];
    const ElementType type = value.operand.type;
    const bool numbers = is_floating(type) || (quantised[v] != 0 && may_be_parameter(type));
    counted[v] = counted[v] != 0 && (value.initializer || learned[v] != 0) && statistics[v] == 0 && numbers;
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
