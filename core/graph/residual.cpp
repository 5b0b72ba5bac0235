// Residual adds and skips, found by how many operators an operand waited.
#include "core/graph/residual.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/exact.h"
#include "core/graph/live.h"

namespace sdip {
namespace {

struct Skip {
  std::int64_t made, joined;  // operators before it
  std::int64_t elements;
  bool concat;
};

bool is_made(const Graph& graph, ValueId id) {
  return id != none && graph.values[id].kind == ValueKind::activation;
}

bool adds_equals(const Graph& graph, const Node& node) {
  return node.op->type == "Add" && node.inputs.size() == 2 && is_made(graph, node.inputs[0]) &&
         is_made(graph, node.inputs[1]) &&
         graph.values[node.inputs[0]].operand.shape == graph.values[node.inputs[1]].operand.shape;
}

/// One skip for each value: its first join to its last.
std::vector<Skip> skips_of(const Graph& graph, ResidualFigures& figures) {
  List<std::int64_t> operators_before(graph.nodes.size());
  List<ValueId> roots(graph.values.size());
  for (ValueId v = 0; v < std::ssize(roots); ++v) roots[v] = v;
  std::map<ValueId, Skip> skips;
  std::int64_t operators = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    operators_before[n] = operators;
    const Family family = work_of(graph, node).family;
    if (family == Family::view && node.outputs[0] != none && is_made(graph, node.inputs.at(0)))
      roots[node.outputs[0]] = roots[node.inputs[0]];
    operators += family != Family::view && family != Family::constant;
    const bool add = adds_equals(graph, node), concat = node.op->type == "Concat";
    figures.adds += add;
    if (!add && !concat) continue;
    for (const ValueId id : node.inputs) {
      if (!is_made(graph, id)) continue;
      const Value& value = graph.values[roots[id]];
      if (value.producer == none) continue;
      const std::int64_t made = operators_before[value.producer];
      const std::int64_t waited = operators_before[n] - made - 1;
      if (waited <= skip_operators) continue;
      ++(add ? figures.add_skips : figures.concat_skips);
      figures.longest_operators = std::max(figures.longest_operators, waited);
      const ValueId root = roots[id];
      const bool before = skips.contains(root) && skips[root].concat;
      skips[root] = {made, operators_before[n], element_count(value.operand.shape), concat || before};
    }
  }
  std::vector<Skip> list;
  for (const auto& [value, skip] : skips) list.push_back(skip);
  std::stable_sort(list.begin(), list.end(), [](const Skip& a, const Skip& b) { return a.made < b.made; });
  return list;
}

/// The most that skips to Concats hold at once. Requires that they are sorted by when they were made.
std::int64_t held_by_concats(const std::vector<Skip>& skips) {
  std::multimap<std::int64_t, std::int64_t> waiting;  // joined -> elements
  std::int64_t held = 0, most = 0;
  for (const Skip& skip : skips) {
    if (!skip.concat) continue;
    while (!waiting.empty() && waiting.begin()->first <= skip.made) {
      held -= waiting.begin()->second;
      waiting.erase(waiting.begin());
    }
    waiting.emplace(skip.joined, skip.elements);
    held = exact_sum(held, skip.elements);
    most = std::max(most, held);
  }
  return most;
}

}  // namespace

ResidualFigures residual_figures(const Graph& graph) {
  ResidualFigures figures;
  const std::vector<Skip> skips = skips_of(graph, figures);
  std::vector<Span> spans;
  for (const Skip& skip : skips) spans.push_back({skip.made, skip.joined});
  figures.crossings = crossing_pairs(spans);
  figures.concat_held_elements = held_by_concats(skips);
  return figures;
}

}  // namespace sdip
