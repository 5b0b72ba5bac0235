// Values that are the bytes of another one.
#include "core/exec/walk/views.h"

#include <numeric>

#include "core/base/error.h"
#include "core/graph/node_arithmetic.h"
#include "core/ops/use.h"

namespace sdip::exec {
namespace {

/// For each result of a node that reorders or cuts its operand, the operand's element at each place: the operator's
/// own arithmetic on 0, 1, 2, ...
std::vector<std::vector<std::int64_t>> orders_of(const Graph& graph, const Node& node, ValueId from) {
  std::vector<std::optional<Tensor>> operands;
  for (const ValueId v : node.inputs) {
    operands.emplace_back();
    if (v == none) continue;
    const Operand& operand = graph.values[v].operand;
    operands.back() = operand.value;
    if (v != from) continue;
    operands.back() = zero_tensor(ElementType::int64, operand.shape);
    std::iota(operands.back()->ints.begin(), operands.back()->ints.end(), 0);
  }
  std::vector<std::vector<std::int64_t>> orders;
  for (Tensor& tensor : outputs_of(graph, node, operands)) orders.push_back(std::move(tensor.ints));
  return orders;
}

/// The same for a node of one result.
std::vector<std::int64_t> order_of(const Graph& graph, const Node& node, ValueId from) {
  return std::move(orders_of(graph, node, from).at(0));
}

std::vector<std::int64_t> inverse(const List<std::int64_t>& map) {
  List<std::int64_t> back(map.size());
  for (std::size_t i = 0; i < map.size(); ++i) back[map[i]] = static_cast<std::int64_t>(i);
  return back;
}

ValueId viewed(const Graph& graph, const Node& node) {
  const ValueId v = node.inputs.empty() ? none : node.inputs[0];
  return v != none && graph.values[v].kind != ValueKind::weight ? v : none;
}

std::size_t elements_of(const Graph& graph, ValueId v) { return at(element_count(graph.values[v].operand.shape)); }

/// Results of what cuts its operand are parts of it.
void view_parts(const Graph& graph, const Node& node, ValueId from, Views& views) {
  std::vector<std::vector<std::int64_t>> maps = orders_of(graph, node, from);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId part = node.outputs[i];
    if (part == none || graph.values[part].kind != ValueKind::activation) continue;
    views.root[part] = views.scaled_as[part] = views.root[from];
    std::vector<std::int64_t>& map = maps.at(i);
    for (std::int64_t& position : map) position = views.at(from, position);
    views.map[part] = std::move(map);
  }
}

/// A Concat is the bytes of its operands, whose scale is the whole's.
void view_joined(const Graph& graph, const Node& node, Views& views) {
  const ValueId whole = node.outputs[0];
  const Shape& shape = graph.values[whole].operand.shape;
  const NodeUse held = use_of(graph, node);
  const std::size_t axis = axis_within(held.use, int_attribute(held.use, "axis", 0), shape.size());
  Views::Join join;
  for (const ValueId part : node.inputs) {
    const Shape& of_part = graph.values[part].operand.shape;
    const std::int64_t elements = count_between(of_part, axis, of_part.size());
    join.parts.emplace_back(part, elements);
    join.row += elements;
    views.scaled_as[views.root[part]] = whole;
  }
  views.joined[whole] = std::move(join);
}

}  // namespace

Views views_of(const CompiledStage& stage) {
  const Graph& graph = *stage.graph;
  Views views;
  views.root.resize(graph.values.size());
  std::iota(views.root.begin(), views.root.end(), 0);
  views.map.resize(graph.values.size());
  views.back.resize(graph.values.size());
  views.scaled_as = views.root;
  List<char> computed(graph.nodes.size(), 0), behind(graph.nodes.size(), 0);
  for (const Instruction& instruction : stage.program.instructions)
    for (std::size_t i = 0; i < instruction.nodes.size(); ++i) {
      computed[instruction.nodes[i]] = 1;
      behind[instruction.nodes[i]] = i > 0;
    }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.outputs.empty() || node.outputs[0] == none) continue;
    const ValueId out = node.outputs[0], from = viewed(graph, node);
    if (graph.values[out].kind != ValueKind::activation || from == none) continue;
    const Family family = work_of(graph, node).family;
    if (behind[n] != 0 && family == Family::transpose) views.turned[out] = inverse(order_of(graph, node, from));
    if (computed[n] != 0) continue;
    if (node.in_place && node.op->type == "Concat")
      view_joined(graph, node, views);
    else if (node.in_place)
      view_parts(graph, node, from, views);
    if (family != Family::view && family != Family::transpose) continue;
    views.root[out] = views.root[from];
    views.map[out] = views.map[from];
    if (family != Family::transpose) continue;
    List<std::int64_t> map = order_of(graph, node, from);
    for (std::int64_t& position : map) position = views.at(from, position);
    views.map[out] = std::move(map);
  }
  for (ValueId v = 0; v < std::ssize(views.map); ++v) {
    ValueId as = views.root[v];
    while (views.scaled_as[as] != as) as = views.scaled_as[as];
    if (as != views.root[v] || views.scaled_as[v] != v) views.scaled_as[v] = as;
    const bool whole = views.map[v].size() == elements_of(graph, views.root[v]);
    if (!views.map[v].empty() && whole) views.back[v] = inverse(views.map[v]);
  }
  return views;
}

Elements mapped(std::span<const std::int64_t> map, const Elements& elements) {
  if (map.empty()) return elements;
  check(elements.are_below(std::ssize(map)), "elements that a view has");
  Elements found;
  elements.each([&](std::int64_t e) { found.add({map[as_size(e)], 1, 1}); });
  return found;
}

Elements elements_in_view(const Views& views, ValueId view, const Elements& elements) {
  check(views.map[view].size() == views.back[view].size(), "a view of all elements");
  return mapped(views.back[view], elements);
}

Elements elements_behind_view(const Views& views, ValueId view, const Elements& elements) {
  return mapped(views.map[view], elements);
}

}  // namespace sdip::exec
