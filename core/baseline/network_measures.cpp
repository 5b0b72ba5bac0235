// Sums over the nodes of a network, each as its declaration says.
#include "core/baseline/network_measures.h"

#include <algorithm>
#include <array>

#include "core/base/exact.h"
#include "core/graph/facts.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

template <std::size_t count>
bool is_any(std::string_view type, const std::array<std::string_view, count>& types) {
  return std::ranges::find(types, type) != types.end();
}

constexpr std::array<std::string_view, 4> joins = {"Add", "Sub", "Mul", "Div"};
/// Operators of the vector family that only pick, place or repeat elements.
constexpr std::array<std::string_view, 9> copies = {"Slice",  "Split",  "Concat", "Gather", "Pad",
                                                    "Resize", "Expand", "Tile",   "Cast"};
constexpr std::array<std::string_view, 2> pieces = {"Slice", "Split"};

const Value& value_of(const Graph& graph, ValueId id) { return graph.values[id]; }

std::int64_t elements_of(const Graph& graph, ValueId id) {
  return element_count(value_of(graph, id).operand.shape);
}

bool is_weight(const Graph& graph, ValueId id) {
  return id != none && value_of(graph, id).kind == ValueKind::weight;
}

bool is_activation(const Graph& graph, ValueId id) {
  return id != none && value_of(graph, id).kind != ValueKind::weight;
}

/// Scores that their product's node scales: a product, and an elementwise operator behind it.
bool is_scaled_product(const Node& node) {
  return node.op->domain == "sdip" && node.op->type == "Scores" && node.attributes.contains("scale");
}

/// Elements of what `picks(node, family, input number)` says, each value once.
template <class Picks>
std::int64_t distinct_weights(const Graph& graph, Picks picks) {
  List<char> picked(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    const Family family = work_of(graph, node).family;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (is_weight(graph, node.inputs[i]) && picks(family, i)) picked[node.inputs[i]] = 1;
  }
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < picked.size(); ++v)
    if (picked[v] != 0) sum = exact_sum(sum, element_count(graph.values[v].operand.shape));
  return sum;
}

/// The largest result of a node of that family.
std::int64_t largest_result(const Graph& graph, Family family) {
  std::int64_t most = 0;
  for (const Node& node : graph.nodes)
    if (node.outputs[0] != none && work_of(graph, node).family == family)
      most = std::max(most, elements_of(graph, node.outputs[0]));
  return most;
}

}  // namespace

std::int64_t mac_weight_elements(const Graph& rewritten) {
  return distinct_weights(rewritten, [](Family family, std::size_t i) { return is_nest(family) && i < 2; });
}

std::int64_t mac_and_norm_elements(const Graph& rewritten) {
  return distinct_weights(rewritten,
                          [](Family family, std::size_t) { return is_nest(family) || family == Family::norm; });
}

std::int64_t expanded_constant_elements(const Graph& as_written) {
  const List<char> parameters = parameter_values(as_written);
  std::int64_t sum = 0;
  for (const Node& node : as_written.nodes) {
    if (!is_any(node.op->type, joins) || !is_activation(as_written, node.outputs[0])) continue;
    for (const ValueId id : node.inputs) {
      if (!is_weight(as_written, id) || parameters[id] != 0) continue;
      if (!is_floating(value_of(as_written, id).operand.type) || elements_of(as_written, id) < 2) continue;
      sum = exact_sum(sum, elements_of(as_written, node.outputs[0]));
    }
  }
  return sum;
}

std::int64_t moved_elements(const Graph& rewritten, std::int64_t kept_elements) {
  std::int64_t sum = 0;
  const auto add = [&](ValueId id) {
    if (!is_activation(rewritten, id)) return;
    const std::int64_t elements = elements_of(rewritten, id);
    if (elements > kept_elements) sum = exact_sum(sum, elements);
  };
  for (const Node& node : rewritten.nodes) {
    const Family family = work_of(rewritten, node).family;
    if (family == Family::view || family == Family::constant || family == Family::transpose) continue;
    if (is_any(node.op->type, pieces)) continue;
    for (const ValueId id : node.inputs) add(id);
    for (const ValueId id : node.outputs) add(id);
    if (!is_scaled_product(node)) continue;
    add(node.outputs[0]);  // read by the scale
    add(node.outputs[0]);  // and written again
  }
  return sum;
}

std::int64_t largest_mac_operands(const Graph& graph) {
  std::int64_t most = 0;
  for (const Node& node : graph.nodes) {
    if (!is_nest(work_of(graph, node).family)) continue;
    std::int64_t sum = 0;
    for (const auto* ids : {&node.inputs, &node.outputs})
      for (const ValueId id : *ids)
        if (is_activation(graph, id)) sum = exact_sum(sum, elements_of(graph, id));
    most = std::max(most, sum);
  }
  return most;
}

std::int64_t largest_product(const Graph& graph) { return largest_result(graph, Family::matmul); }

std::int64_t largest_convolved(const Graph& graph) { return largest_result(graph, Family::conv2d); }

std::int64_t mac_result_elements(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes)
    if (node.outputs[0] != none && is_nest(work_of(graph, node).family))
      sum = exact_sum(sum, elements_of(graph, node.outputs[0]));
  return sum;
}

std::int64_t vector_elements(const Graph& rewritten) {
  std::int64_t sum = 0;
  for (const Node& node : rewritten.nodes) {
    const Family family = work_of(rewritten, node).family;
    const bool counts = family == Family::vector || family == Family::norm || family == Family::softmax;
    if (!is_scaled_product(node) && (!counts || is_any(node.op->type, copies))) continue;
    for (const ValueId id : node.outputs)
      if (is_activation(rewritten, id)) sum = exact_sum(sum, elements_of(rewritten, id));
  }
  return sum;
}

}  // namespace sdip
