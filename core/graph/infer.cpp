// Types, shapes and small values of a whole graph, node by node.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool all_weights(const Graph& graph, const Node& node) {
  return !node.op->random && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == none || graph.values[at(id)].kind == ValueKind::weight;
  });
}

}  // namespace

void infer(Graph& graph) {
  // Which values are stored parameters, perhaps in another shape: their nodes stay, so that parameters are counted.
  std::vector<char> from_parameter(graph.values.size(), 0);
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    Value& value = graph.values[v];
    value.operand.weight = value.kind == ValueKind::weight;
    from_parameter[v] = value.initializer && is_floating(value.operand.type);
  }
  std::vector<char> folded(graph.nodes.size(), 0);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const NodeUse use = use_of(graph, node);
    std::vector<Operand> outputs = infer_use(*node.op, use.use);
    const bool weights = all_weights(graph, node);
    const bool parameters = std::any_of(node.inputs.begin(), node.inputs.end(),
                                        [&](ValueId id) { return id != none && from_parameter[at(id)] != 0; });
    bool known = true;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == none) continue;
      Value& value = graph.values[at(node.outputs[i])];
      value.operand = std::move(outputs[i]);
      value.operand.weight = weights || value.operand.value.has_value();
      value.kind = value.operand.weight ? ValueKind::weight : ValueKind::activation;
      from_parameter[at(node.outputs[i])] = parameters && is_floating(value.operand.type);
      known = known && value.operand.value && !(parameters && is_floating(value.operand.type));
    }
    folded[n] = known;
  }
  std::size_t kept = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (folded[n] != 0) continue;
    if (kept != n) graph.nodes[kept] = std::move(graph.nodes[n]);
    ++kept;
  }
  graph.nodes.resize(kept);
  link(graph);
}

}  // namespace sdip
