// The graph of a network: links between nodes and values, dead code, and work.
#include "core/graph/graph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/facts.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

void renumber(std::vector<ValueId>& ids, const List<ValueId>& fresh) {
  for (ValueId& id : ids) {
    if (id != none) id = fresh[id];
  }
}

}  // namespace

bool may_be_in_place(const Operator& op) {
  return op.domain.empty() &&
         (op.type == "Split" || op.type == "Slice" || op.type == "Gather" || op.type == "Concat");
}

bool may_be_parameter(ElementType type) {
  return is_floating(type) || (bits_of(type) > 0 && bits_of(type) <= 8 && type != ElementType::boolean);
}

void link(Graph& graph) {
  for (Value& value : graph.values) {
    value.producer = none;
    value.consumers.clear();
  }
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    for (ValueId id : graph.nodes[n].inputs) {
      if (id != none) graph.values[id].consumers.push_back(n);
    }
    for (ValueId id : graph.nodes[n].outputs) {
      if (id != none) graph.values[id].producer = n;
    }
  }
}

void remove_dead(Graph& graph) {
  Reached reached = reached_from_outputs(graph);
  for (ValueId id : graph.inputs) reached.values[id] = 1;
  std::size_t kept = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (reached.nodes[n] == 0) continue;
    Node& node = graph.nodes[n];
    for (ValueId& id : node.outputs) {
      if (id != none && reached.values[id] == 0) id = none;  // an output nobody uses
    }
    if (kept != n) graph.nodes[kept] = std::move(node);
    ++kept;
  }
  graph.nodes.resize(kept);
  List<ValueId> fresh(graph.values.size(), none);
  kept = 0;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (reached.values[v] == 0) continue;
    fresh[v] = static_cast<ValueId>(kept);
    if (kept != v) graph.values[kept] = std::move(graph.values[v]);
    ++kept;
  }
  graph.values.resize(kept);
  renumber(graph.inputs, fresh);
  renumber(graph.outputs, fresh);
  for (Node& node : graph.nodes) {
    renumber(node.inputs, fresh);
    renumber(node.outputs, fresh);
  }
  link(graph);
}

NodeUse use_of(const Graph& graph, const Node& node) {
  NodeUse result;
  result.inputs.reserve(node.inputs.size());
  for (ValueId id : node.inputs) result.inputs.push_back(id == none ? nullptr : &graph.values[id].operand);
  result.use = {node.name,     node.op->type,       node.opset, &node.attributes,
                result.inputs, node.outputs.size(), node.op};
  return result;
}

namespace {

/// A nest or rows with something to do.
bool does_something(const Work& work) {
  using enum Family;
  if (work.family == view || work.family == constant) return true;
  const LoopNest& n = work.nest;
  if (work.family == conv2d || work.family == linear || work.family == matmul)
    return std::min({n.groups, n.batch, n.out_channels, n.in_channels, n.out_h, n.out_w, n.in_h, n.in_w, n.kernel_h,
                     n.kernel_w}) > 0;
  return std::min({work.rows, work.row_length, work.passes}) > 0;
}

}  // namespace

Work work_of(const Graph& graph, const Node& node) {
  const NodeUse use = use_of(graph, node);
  std::vector<Operand> outputs;
  bool constant = true;
  for (ValueId id : node.outputs) {
    if (id == none) {
      outputs.push_back({});
      outputs.back().shape = {0};  // an output nobody uses is not written
      continue;
    }
    const Value& value = graph.values[id];
    constant = constant && value.kind == ValueKind::weight;
    Operand output;
    output.type = value.operand.type;
    output.shape = value.operand.shape;
    outputs.push_back(std::move(output));
  }
  if (constant) return constant_work(use.use, outputs);
  Work work = node.op->work(use.use, outputs);
  // A product whose sums have no terms, or another result made of nothing, is filled, with 0 or what is added to
  // it; what there is of its operands is fetched once. [2,0] by [0,3] plus a bias of 3: 6 elements written, 3
  // fetched.
  return does_something(work) ? work : copy_work(use.use, outputs);
}

}  // namespace sdip
