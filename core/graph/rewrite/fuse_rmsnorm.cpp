// RMS norm. x [1,77,512] -> r = Sqrt(Add(ReduceMean(Pow(x, 2), -1), 1e-6)); Mul(Div(x, r), gamma [512]) is
// sdip.RMSNorm of axis 2. T5 and Llama in half precision compute x / r in single precision between two casts, which
// go: the operator is as precise inside.
#include <algorithm>

#include "core/graph/rewrite/match.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

const std::vector<PatternNode>& rmsnorm_forms() {
  const std::string sum = "Add(v:ReduceMean((Pow(x, 2)|Mul(x, x)), ...), $eps)";
  static const std::vector<PatternNode> patterns = {
      parse_pattern("Div(x, Sqrt(" + sum + "))"),
      parse_pattern(fmt::format("Mul(x, (Reciprocal(Sqrt({}))|Div(1, Sqrt({}))|Pow({}, -0.5)))", sum, sum, sum)),
      parse_pattern("Div(x, Pow(" + sum + ", 0.5))")};
  return patterns;
}

std::optional<Match> rmsnorm_at(const Graph& graph, NodeId last) {
  for (const PatternNode& form : rmsnorm_forms()) {
    if (auto found = match(graph, last, form)) return found;
  }
  return std::nullopt;
}

/// A weight of the last axes from `axis` on.
bool is_gamma(const Graph& graph, ValueId id, const Shape& shape, std::int64_t axis) {
  return is_weight(graph, id) && value_at(graph, id).operand.shape == Shape(shape.begin() + axis, shape.end());
}

/// The value that is cast to make x, when nothing outside `pattern` uses the cast; else `none`.
ValueId cast_from(const Graph& graph, ValueId x, const std::vector<NodeId>& pattern) {
  const NodeId cast = made_by(graph, x, "Cast");
  if (cast == none || is_graph_output(graph, x)) return none;
  const auto& uses = value_at(graph, x).consumers;
  const bool own = std::all_of(uses.begin(), uses.end(), [&](NodeId user) {
    return std::find(pattern.begin(), pattern.end(), user) != pattern.end();
  });
  return own ? node_at(graph, cast).inputs[0] : none;
}

bool fuse_rmsnorm_at(Graph& graph, NodeId last) {
  auto found = rmsnorm_at(graph, last);
  if (!found) return false;
  ValueId x = found->values.at("x");
  const Shape shape = value_at(graph, x).operand.shape;
  const std::int64_t axis = trailing_axis(reduced_axes(graph, found->nodes.at("v")), shape.size());
  if (axis < 0 || is_weight(graph, x) || value_at(graph, node_at(graph, last).outputs[0]).operand.shape != shape)
    return false;
  std::vector<NodeId> pattern = found->pattern;
  const auto result = [&] { return node_at(graph, pattern.back()).outputs[0]; };
  const ValueId narrow = cast_from(graph, x, pattern);
  const NodeId back = only_user(graph, result());
  if (narrow != none && is_node(graph, back, "Cast") && is_floating(value_at(graph, narrow).operand.type) &&
      value_at(graph, node_at(graph, back).outputs[0]).operand.type == value_at(graph, narrow).operand.type) {
    x = narrow;
    pattern.push_back(back);
  }
  std::vector<ValueId> inputs = {x};
  const NodeId mul = only_user(graph, result());
  if (is_node(graph, mul, "Mul")) {
    const ValueId gamma = other_input(graph, mul, result());
    if (is_gamma(graph, gamma, shape, axis)) {
      inputs.push_back(gamma);
      pattern.push_back(mul);
    }
  }
  replace_last(graph, pattern, "sdip", "RMSNorm", std::move(inputs),
               {{"axis", axis}, {"epsilon", found->numbers.at("eps")}});
  return true;
}

}  // namespace

std::int64_t fuse_rmsnorm(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return fuse_rmsnorm_at(graph, n); });
}

}  // namespace sdip
