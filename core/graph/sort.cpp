// Nodes in an order in which every value is made before it is used.
#include "core/graph/sort.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/graph.h"

namespace sdip {
namespace {

using Needs = std::vector<std::vector<std::int32_t>>;

bool is_sorted(const Needs& needs) {
  for (std::size_t n = 0; n < needs.size(); ++n) {
    for (std::int32_t need : needs[n]) {
      if (need >= static_cast<std::int32_t>(n)) return false;
    }
  }
  return true;
}

/// One on a cycle: walking from one that waits for itself to what it needs ends on it.
std::int32_t one_on_cycle(const Needs& needs) {
  List<char> state(needs.size(), 0);  // 1: on the path being walked, 2: done
  for (std::size_t start = 0; start < needs.size(); ++start) {
    std::vector<std::pair<std::size_t, std::size_t>> path;  // which, next need to look at
    if (state[start] == 0) path.emplace_back(start, 0);
    state[start] = state[start] == 0 ? 1 : state[start];
    while (!path.empty()) {
      auto& [which, next] = path.back();
      if (next == needs[which].size()) {
        state[which] = 2;
        path.pop_back();
        continue;
      }
      const std::int32_t need = needs[which][next++];
      if (state[need] == 2) continue;
      if (state[need] == 1) return need;
      state[need] = 1;
      path.emplace_back(at(need), 0);
    }
  }
  throw Bug("one_on_cycle: there is no cycle");
}

}  // namespace

SortOrder order_of(const Needs& needs) {
  SortOrder result;
  if (is_sorted(needs)) {
    result.order.resize(needs.size());
    std::iota(result.order.begin(), result.order.end(), 0);
    return result;
  }
  // An edge from each to those it needs: depth-first search in the given order finishes needs first, and otherwise
  // keeps that order.
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> edges(needs.size());
  for (std::size_t n = 0; n < needs.size(); ++n) {
    for (std::int32_t need : needs[n]) boost::add_edge(n, at(need), edges);
  }
  result.order.reserve(needs.size());
  try {
    boost::topological_sort(edges, std::back_inserter(result.order));
  } catch (const boost::not_a_dag&) {
    return {{}, one_on_cycle(needs)};
  }
  return result;
}

void sort_nodes(Graph& graph) {
  link(graph);
  Needs needs(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].inputs) {
      const NodeId producer = id == none ? none : graph.values[id].producer;
      if (producer != none) needs[n].push_back(producer);
    }
  }
  const SortOrder found = order_of(needs);
  if (found.on_cycle != none) {
    const Node& node = graph.nodes[found.on_cycle];
    throw Error(
        "graph_cycle", node.name,
        fmt::format("node '{}' ({}) needs its own result: the graph has a cycle", node.name, node.op->type));
  }
  std::vector<Node> sorted;
  sorted.reserve(found.order.size());
  for (std::int32_t n : found.order) sorted.push_back(std::move(graph.nodes[n]));
  graph.nodes = std::move(sorted);
  link(graph);
}

}  // namespace sdip
