// Values that are the bytes of another one.
#include "core/exec/walk/views.h"

#include <numeric>

#include "core/base/error.h"
#include "core/graph/node_arithmetic.h"

namespace sdip::exec {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// For each element of what reorders its operand, the element of that: the operator's own arithmetic on 0, 1, 2,
/// ...
std::vector<std::int64_t> order_of(const Graph& graph, const Node& node, ValueId from) {
  std::vector<std::optional<Tensor>> operands;
  for (const ValueId v : node.inputs) {
    operands.emplace_back();
    if (v == none) continue;
    const Operand& operand = graph.values[at(v)].operand;
    operands.back() = operand.value;
    if (v != from) continue;
    operands.back() = zero_tensor(ElementType::int64, operand.shape);
    std::iota(operands.back()->ints.begin(), operands.back()->ints.end(), 0);
  }
  return outputs_of(graph, node, operands).at(0).ints;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& map) {
  std::vector<std::int64_t> back(map.size());
  for (std::size_t i = 0; i < map.size(); ++i) back[at(map[i])] = static_cast<std::int64_t>(i);
  return back;
}

ValueId viewed(const Graph& graph, const Node& node) {
  const ValueId v = node.inputs.empty() ? none : node.inputs[0];
  return v != none && graph.values[at(v)].kind != ValueKind::weight ? v : none;
}

}  // namespace

Views views_of(const CompiledStage& stage) {
  const Graph& graph = *stage.graph;
  Views views;
  views.root.resize(graph.values.size());
  std::iota(views.root.begin(), views.root.end(), 0);
  views.map.resize(graph.values.size());
  views.back.resize(graph.values.size());
  std::vector<char> computed(graph.nodes.size(), 0), behind(graph.nodes.size(), 0);
  for (const Instruction& instruction : stage.program.instructions)
    for (std::size_t i = 0; i < instruction.nodes.size(); ++i) {
      computed[at(instruction.nodes[i])] = 1;
      behind[at(instruction.nodes[i])] = i > 0;
    }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.outputs.empty() || node.outputs[0] == none) continue;
    const ValueId out = node.outputs[0], from = viewed(graph, node);
    if (graph.values[at(out)].kind != ValueKind::activation || from == none) continue;
    const Family family = work_of(graph, node).family;
    if (behind[n] != 0 && family == Family::transpose) views.turned[out] = inverse(order_of(graph, node, from));
    if (computed[n] != 0 || (family != Family::view && family != Family::transpose)) continue;
    views.root[at(out)] = views.root[at(from)];
    views.map[at(out)] = views.map[at(from)];
    if (family != Family::transpose) continue;
    std::vector<std::int64_t> map = order_of(graph, node, from);
    for (std::int64_t& position : map) position = views.at(from, position);
    views.map[at(out)] = std::move(map);
  }
  for (std::size_t v = 0; v < views.map.size(); ++v)
    if (!views.map[v].empty()) views.back[v] = inverse(views.map[v]);
  return views;
}

namespace {

/// Elements by their numbers in a map. What a value does not have is nowhere in it: a bug of who asks.
Elements mapped(const std::vector<std::int64_t>& map, const Elements& elements) {
  if (map.empty()) return elements;
  check(elements.are_below(std::ssize(map)), "elements that a view has");
  Elements found;
  elements.each([&](std::int64_t e) { found.add({map[at(e)], 1, 1}); });
  return found;
}

}  // namespace

Elements elements_in_view(const Views& views, ValueId view, const Elements& elements) {
  return mapped(views.back[at(view)], elements);
}

Elements elements_behind_view(const Views& views, ValueId view, const Elements& elements) {
  return mapped(views.map[at(view)], elements);
}

}  // namespace sdip::exec
