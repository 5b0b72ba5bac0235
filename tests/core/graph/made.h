// Small graphs for tests: values in a row, nodes named by hand, shapes inferred.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// A graph whose value 0 is an input of `shape`; `nodes` make the values 1, 2, ... in order, the last is its
/// output.
struct MadeNode {
  std::string name;
  const char* type;
  std::vector<ValueId> inputs;
};
inline Graph made_graph(const Shape& shape, const std::vector<MadeNode>& nodes) {
  Graph graph;
  graph.values.resize(nodes.size() + 1);
  graph.values[0].name = "x";
  graph.values[0].kind = ValueKind::input;
  graph.values[0].operand.shape = shape;
  graph.inputs = {0};
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Node node;
    node.name = nodes[n].name;
    node.op = find_operator("", nodes[n].type);
    node.inputs = nodes[n].inputs;
    node.outputs = {static_cast<ValueId>(n + 1)};
    graph.values[n + 1].name = nodes[n].name;
    graph.nodes.push_back(std::move(node));
  }
  graph.outputs = {static_cast<ValueId>(nodes.size())};
  link(graph);
  infer(graph);
  return graph;
}

}  // namespace sdip
