// A report on a network, put together.
#include "core/graph/report.h"

#include <algorithm>
#include <map>

#include "core/base/exact.h"
#include "core/graph/facts.h"

namespace sdip {
namespace {

std::vector<ParameterCount> parameter_counts(const Graph& graph, const std::vector<char>& counted) {
  std::map<ElementType, ParameterCount> by_type;
  for (std::size_t v = 0; v < counted.size(); ++v) {
    if (counted[v] == 0) continue;
    const Operand& operand = graph.values[v].operand;
    ParameterCount& one = by_type[operand.type];
    one.type = operand.type;
    ++one.tensors;
    one.elements = exact_sum(one.elements, element_count(operand.shape));
  }
  std::vector<ParameterCount> counts;
  for (const auto& [type, one] : by_type) {
    exact_product(one.elements, bits_of(type));
    counts.push_back(one);
  }
  return counts;
}

std::vector<FamilyCount> family_counts(const Graph& graph) {
  std::map<Family, FamilyCount> by_family;
  for (const LayerClass& layer : layer_classes(graph)) {
    FamilyCount& one = by_family[layer.work.family];
    one.family = layer.work.family;
    one.nodes += layer.nodes;
    one.macs = exact_sum(one.macs, exact_product(layer.macs, layer.nodes));
    one.elements = exact_sum(one.elements, exact_product(layer.elements, layer.nodes));
  }
  std::vector<FamilyCount> counts;
  for (const auto& [family, one] : by_family) counts.push_back(one);
  return counts;
}

/// The largest of the values that `wanted` picks, the first of equals first.
template <class Wanted>
std::vector<TensorFigure> largest(const Graph& graph, Wanted wanted) {
  std::vector<std::pair<std::int64_t, std::size_t>> sizes;
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (wanted(v)) sizes.emplace_back(-element_count(graph.values[v].operand.shape), v);
  const std::size_t count = std::min(sizes.size(), most_largest_tensors);
  std::partial_sort(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count), sizes.end());
  std::vector<TensorFigure> figures;
  for (std::size_t i = 0; i < count; ++i) {
    const Value& value = graph.values[sizes[i].second];
    figures.push_back({value.name, value.operand.type, value.operand.shape, -sizes[i].first});
  }
  return figures;
}

void add_live(GraphReport& report, const Graph& graph, LiveRule rule) {
  const auto place = at(rule);
  report.live[place] = live_figures(graph, rule);
  const NodeId peak = report.live[place].peak_node;
  if (peak != none) report.live_nodes[place] = graph.nodes[peak].name;
}

void report_imported(GraphReport& report, const Graph& graph) {
  report.facts = facts_of(graph);
  report.imported = graph.imported;
  const std::vector<char> counted = parameter_values(graph);
  report.parameters = parameter_counts(graph, counted);
  report.nodes = static_cast<std::int64_t>(graph.nodes.size());
  List<char> told(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    const Family family = work_of(graph, node).family;
    report.constant_nodes += family == Family::constant;
    for (const ValueId id : node.outputs)
      if (id != none && family != Family::view && family != Family::constant) told[id] = 1;
  }
  report.activations = largest(graph, [&](std::size_t v) { return told[v] != 0; });
  report.weights = largest(graph, [&](std::size_t v) { return counted[v] != 0; });
  add_live(report, graph, LiveRule::naive);
  add_live(report, graph, LiveRule::in_place);
}

}  // namespace

GraphReport report_of(const Graph& imported, const Graph& rewritten, const RewriteCounts& rewrites) {
  GraphReport report;
  report_imported(report, imported);
  report.rewrites = rewrites;
  report.decomposed = decomposed(rewritten);
  report.rewritten_nodes = static_cast<std::int64_t>(rewritten.nodes.size());
  report.families = family_counts(rewritten);
  report.layers = layer_classes(rewritten);
  add_live(report, rewritten, LiveRule::fused);
  add_live(report, rewritten, LiveRule::flash);
  report.residual = residual_figures(rewritten);
  report.tree = layer_tree(rewritten);
  return report;
}

}  // namespace sdip
