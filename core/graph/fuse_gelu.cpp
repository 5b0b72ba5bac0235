// GELU by erf: Div(x, 1.41421) -> Erf -> Add(1) -> Mul(x) -> Mul(0.5); and by tanh: Pow(x, 3) -> Mul(0.044715) ->
// Add(x) -> Mul(0.797885) -> Tanh -> Add(1) -> Mul(x) -> Mul(0.5). The half may stand at either factor.
#include <cmath>

#include "core/graph/passes.h"
#include "core/graph/pattern.h"

namespace sdip {
namespace {

/// Constants are written in single precision, some with few digits.
bool near(double number, double wanted) { return std::fabs(number - wanted) < 1e-6; }

/// The operand of a node of this type with a constant near `number`, or `none`.
ValueId operand_scaled(const Graph& graph, ValueId out, std::string_view type, double number) {
  const NodeId node = made_by(graph, out, type);
  if (node == none || is_graph_output(graph, out) || value_at(graph, out).consumers.size() != 1) return none;
  if (type == "Div" && !number_in(graph, node_at(graph, node).inputs[1])) return none;
  const auto found = scaled(graph, node);
  return found && near(found->number, number) ? found->operand : none;
}

/// x of erf(x / sqrt 2).
ValueId erf_operand(const Graph& graph, NodeId erf) {
  const ValueId in = node_at(graph, erf).inputs[0];
  const ValueId divided = operand_scaled(graph, in, "Div", std::sqrt(2.0));
  return divided != none ? divided : operand_scaled(graph, in, "Mul", std::sqrt(0.5));
}

/// x of Pow(x, 3), Mul(x, Mul(x, x)).
ValueId cubed(const Graph& graph, ValueId cube) {
  const NodeId pow = made_by(graph, cube, "Pow"), mul = made_by(graph, cube, "Mul");
  if (pow != none && number_in(graph, node_at(graph, pow).inputs[1]) == 3.0) return node_at(graph, pow).inputs[0];
  if (mul == none) return none;
  for (ValueId factor : node_at(graph, mul).inputs) {
    const NodeId square = made_by(graph, factor, "Mul");
    if (square == none) continue;
    const auto& factors = node_at(graph, square).inputs;
    const ValueId other = other_input(graph, mul, factor);
    if (factors[0] == other && factors[1] == other) return other;
  }
  return none;
}

/// x of tanh(0.797885 * (x + 0.044715 x^3)).
ValueId tanh_operand(const Graph& graph, NodeId tanh) {
  const ValueId sum = operand_scaled(graph, node_at(graph, tanh).inputs[0], "Mul", std::sqrt(2.0 / M_PI));
  const NodeId add = made_by(graph, sum, "Add");
  if (add == none || value_at(graph, sum).consumers.size() != 1) return none;
  for (ValueId term : node_at(graph, add).inputs) {
    const ValueId cube = operand_scaled(graph, term, "Mul", 0.044715);
    if (cube == none) continue;
    const ValueId x = cubed(graph, cube);
    if (x != none && other_input(graph, add, term) == x) return x;
  }
  return none;
}

/// The nodes that make 0.5 * x * (1 + f) from f, the last one last; none when they do something else.
std::vector<NodeId> tail_of(const Graph& graph, NodeId f, ValueId x) {
  const NodeId add = only_consumer(graph, f);
  if (!is_node(graph, add, "Add")) return {};
  const auto one = scaled(graph, add);
  const NodeId first = only_consumer(graph, add);
  if (!one || one->number != 1.0 || !is_node(graph, first, "Mul")) return {};
  const ValueId factor = other_input(graph, first, node_at(graph, add).outputs[0]);
  if (operand_scaled(graph, factor, "Mul", 0.5) == x) return {add, first};  // (0.5 x)(1 + f)
  const NodeId second = only_consumer(graph, first);
  if (!is_node(graph, second, "Mul")) return {};
  const ValueId last = other_input(graph, second, node_at(graph, first).outputs[0]);
  const bool x_first = factor == x && number_in(graph, last) == 0.5;
  const bool half_first = number_in(graph, factor) == 0.5 && last == x;
  return x_first || half_first ? std::vector<NodeId>{add, first, second} : std::vector<NodeId>{};
}

bool rewrite_at(Graph& graph, NodeId f, ValueId x, const char* approximate) {
  if (x == none) return false;
  std::vector<NodeId> pattern = tail_of(graph, f, x);
  if (pattern.empty()) return false;
  pattern.insert(pattern.begin(), f);
  const Shape& out = value_at(graph, node_at(graph, pattern.back()).outputs[0]).operand.shape;
  if (out != value_at(graph, x).operand.shape) return false;
  replace_last(graph, pattern, "sdip", "Gelu", {x}, {{"approximate", std::string(approximate)}});
  return true;
}

}  // namespace

std::int64_t fuse_gelu(Graph& graph) {
  std::int64_t count = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (is_node(graph, id, "Erf") && rewrite_at(graph, id, erf_operand(graph, id), "none")) ++count;
    if (is_node(graph, id, "Tanh") && rewrite_at(graph, id, tanh_operand(graph, id), "tanh")) ++count;
  }
  return count;
}

}  // namespace sdip
