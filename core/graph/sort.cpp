// Nodes in an order in which every value is made before it is used.
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>

#include "core/base/error.h"
#include "core/graph/graph.h"

namespace sdip {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

bool is_sorted(const Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].inputs) {
      if (id != none && graph.values[at(id)].producer >= static_cast<NodeId>(n)) return false;
    }
  }
  return true;
}

/// A node on a cycle: walking from a node that waits for itself to its producers ends on one.
NodeId node_on_cycle(const Graph& graph) {
  std::vector<char> state(graph.nodes.size(), 0);  // 1: on the path being walked, 2: done
  for (std::size_t start = 0; start < graph.nodes.size(); ++start) {
    std::vector<std::pair<std::size_t, std::size_t>> path;  // node, next input to look at
    if (state[start] == 0) path.emplace_back(start, 0);
    state[start] = state[start] == 0 ? 1 : state[start];
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == graph.nodes[node].inputs.size()) {
        state[node] = 2;
        path.pop_back();
        continue;
      }
      const ValueId id = graph.nodes[node].inputs[next++];
      const NodeId producer = id == none ? none : graph.values[at(id)].producer;
      if (producer == none || state[at(producer)] == 2) continue;
      if (state[at(producer)] == 1) return producer;
      state[at(producer)] = 1;
      path.emplace_back(at(producer), 0);
    }
  }
  throw Bug("node_on_cycle: the graph has no cycle");
}

}  // namespace

void sort_nodes(Graph& graph) {
  link(graph);
  if (is_sorted(graph)) return;
  // An edge from each node to those that make its inputs: depth-first search in file order finishes producers
  // first, and otherwise keeps that order.
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> needs(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].inputs) {
      if (id != none && graph.values[at(id)].producer != none) {
        boost::add_edge(n, at(graph.values[at(id)].producer), needs);
      }
    }
  }
  std::vector<std::size_t> order;
  order.reserve(graph.nodes.size());
  try {
    boost::topological_sort(needs, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    const Node& node = graph.nodes[at(node_on_cycle(graph))];
    throw Error("graph_cycle", node.name,
                "node '" + node.name + "' (" + std::string(node.op->type) +
                    ") needs its own result: the graph has a cycle");
  }
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (std::size_t n : order) sorted.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(sorted);
  link(graph);
}

}  // namespace sdip
