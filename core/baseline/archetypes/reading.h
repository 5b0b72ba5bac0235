// The values that the nodes of a graph read and make, with views looked through. Internal to its room.
#pragma once

#include <optional>
#include <vector>

#include "core/baseline/archetypes/layers.h"
#include "core/graph/graph.h"
#include "core/program/kinds.h"

namespace sdip {

/// Looks values up with views looked through: these are other names of what they show.
class Reading {
 public:
  explicit Reading(const Graph& graph) : graph_(graph), roots_(graph.values.size()), readers_(graph.values.size()) {
    for (ValueId v = 0; v < std::ssize(graph.values); ++v) roots_[v] = v;
    for (const Node& node : graph.nodes) works_.push_back(work_of(graph, node));
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
      if (works_[n].family == Family::view && graph.nodes[n].inputs[0] != none)
        for (const ValueId out : graph.nodes[n].outputs)
          if (out != none) roots_[out] = root(graph.nodes[n].inputs[0]);
    for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
      if (!is_layer(at(n))) continue;
      for (const ValueId in : graph.nodes[n].inputs)
        if (in != none) readers_[root(in)].push_back(n);
    }
    for (const ValueId out : graph.outputs) readers_[root(out)].push_back(none);
  }

  const Work& work(std::size_t node) const { return works_[node]; }
  bool is_layer(std::size_t node) const {
    return works_[node].family != Family::view && works_[node].family != Family::constant;
  }
  ValueId root(ValueId value) const { return roots_[value]; }
  const Value& value(ValueId id) const { return graph_.values[id]; }
  std::int64_t elements(ValueId id) const { return element_count(value(id).operand.shape); }
  bool is_weight(ValueId id) const { return value(id).kind == ValueKind::weight; }
  /// The node that makes what stands behind a value.
  std::optional<std::size_t> maker(ValueId id) const {
    const NodeId made = value(root(id)).producer;
    return made == none ? std::nullopt : std::optional(as_size(made));
  }
  /// The one node that reads what stands behind a value; nothing where several do, or the graph gives it.
  std::optional<std::size_t> only_reader(ValueId id) const {
    const auto& readers = readers_[root(id)];
    if (readers.size() != 1 || readers[0] == none) return std::nullopt;
    return as_size(readers[0]);
  }

 private:
  const Graph& graph_;
  List<ValueId> roots_;
  List<std::vector<NodeId>> readers_;
  std::vector<Work> works_;
};

/// A node as a layer of its own, joined to nothing.
Layer layer_of_node(const Graph& graph, std::size_t node, const Reading& reading);

}  // namespace sdip
