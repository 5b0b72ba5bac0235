// pass `load_constants`: constants that have to be activations are copied, and a program of nothing copies its
// results.
//
// Worked example: y = W x with W [3,4] weights and x [4,5]: a product reads activations first, weights second, so
// /load = Copy(W), y = /load x. Where the rewritten graph has x first (core/graph/rewrite/put_weights_second.cpp),
// none is.
#include <algorithm>

#include "core/program/compile/passes.h"
#include "core/program/compile/weight_products.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

bool is_weight(const Graph& graph, ValueId v) { return v != none && graph.values[v].kind == ValueKind::weight; }

/// A product whose first operand is a constant, though it makes no constant.
bool needs_load(const Graph& graph, const Node& node) {
  const auto makes = [&](ValueId v) { return v != none && !is_weight(graph, v); };
  return !node.inputs.empty() && is_weight(graph, node.inputs[0]) && std::ranges::any_of(node.outputs, makes) &&
         is_nest(work_of(graph, node).family);
}

}  // namespace

void load_constants(Compilation& c) {
  if (std::ranges::none_of(c.graph->nodes, [&](const Node& node) { return needs_load(*c.graph, node); })) return;
  Graph graph = *c.graph;
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  for (Node& node : nodes) {
    if (needs_load(*c.graph, node)) {
      const std::string name = node.name + "/load";
      node.inputs[0] = append_like(graph, "Copy", node.inputs[0], name, name);
    }
    graph.nodes.push_back(std::move(node));
  }
  link(graph);
  c.graph = std::make_shared<const Graph>(std::move(graph));
}

void copy_results(Compilation& c) {
  Graph graph = *c.graph;
  for (ValueId& out : graph.outputs) {
    const std::string name = c.graph->values[out].name;  // a result keeps its own
    if (graph.values[out].kind == ValueKind::activation) graph.values[out].name = name + "/view";
    out = append_like(graph, "Copy", out, name + "/copy", name);
  }
  link(graph);
  c.graph = std::make_shared<const Graph>(std::move(graph));
}

}  // namespace sdip
