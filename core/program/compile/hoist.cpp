// hoist_context: what a diffusion step computes from the prompt alone becomes a stage of its own, run once a
// prompt.
#include <algorithm>

#include "core/program/tiling/draft.h"

namespace sdip {
namespace {

/// For every value, whether it follows from the context and weights alone.
std::vector<char> made_of_context(const Graph& graph, ValueId latent) {
  List<char> made(graph.values.size(), 0);
  for (const ValueId v : graph.inputs) made[v] = v != latent && !is_scalar(graph.values[v]);
  const auto allows = [&](ValueId v) {
    return v == none || made[v] != 0 || graph.values[v].kind == ValueKind::weight;
  };
  const auto is_context = [&](ValueId v) { return v != none && made[v] != 0; };
  for (const Node& node : graph.nodes) {
    if (node.op->random || !std::ranges::all_of(node.inputs, allows) ||
        std::ranges::none_of(node.inputs, is_context))
      continue;
    for (const ValueId v : node.outputs)
      if (v != none) made[v] = 1;
  }
  return made;
}

bool is_hoisted(const Node& node, const List<char>& made) {
  return std::ranges::any_of(node.outputs, [&](ValueId v) { return v != none && made[v] != 0; });
}

/// The values of the hoisted part that the rest of the step reads.
std::vector<ValueId> handed_over(const Graph& graph, const List<char>& made) {
  std::vector<ValueId> values;
  const auto add = [&](ValueId v) {
    if (v == none || made[v] == 0) return;
    if (graph.values[v].kind != ValueKind::activation) return;
    if (std::ranges::find(values, v) == values.end()) values.push_back(v);
  };
  for (const Node& node : graph.nodes)
    if (!is_hoisted(node, made))
      for (const ValueId v : node.inputs) add(v);
  for (const ValueId v : graph.outputs) add(v);
  return values;
}

}  // namespace

ValueId latent_input(const Graph& graph) {
  for (const ValueId v : graph.inputs)
    if (graph.values[v].operand.shape.size() >= 3) return v;
  return none;
}

std::optional<Stage> hoist_context(Stage& core) {
  Graph graph = *core.graph;
  const List<char> made = made_of_context(graph, latent_input(graph));
  const std::vector<ValueId> handed = handed_over(graph, made);
  if (handed.empty()) return std::nullopt;
  const auto hoisted = [&](const Node& node) { return is_hoisted(node, made); };
  Graph context = graph;
  std::erase_if(context.nodes, [&](const Node& node) { return !hoisted(node); });
  std::erase_if(context.inputs, [&](ValueId v) { return made[v] == 0; });
  context.outputs = handed;
  link(context);
  remove_dead(context);
  std::erase_if(graph.nodes, hoisted);
  for (const ValueId v : handed) {
    graph.values[v].kind = ValueKind::input;
    graph.inputs.push_back(v);
  }
  link(graph);
  std::erase_if(graph.inputs, [&](ValueId v) {
    const Value& value = graph.values[v];
    return made[v] != 0 && value.consumers.empty();
  });
  remove_dead(graph);
  core.graph = std::make_shared<const Graph>(std::move(graph));
  return Stage{Role::text_encoder, core.name + "/context", std::make_shared<const Graph>(std::move(context)), {}};
}

}  // namespace sdip
