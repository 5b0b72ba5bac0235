// How the elements of a view stand in the value whose bytes it is.
#include "core/program/fusing/view_axes.h"

#include <algorithm>
#include <numeric>

#include "core/ops/use.h"
#include "core/program/compile/passes.h"

namespace sdip {
namespace {

/// Which of the axes each axis of a shape is, those of the shape's last one first; nothing where one of the shape
/// would end inside one of them otherwise than by a whole number.
std::optional<std::vector<ViewAxes>> axes_by_axis(ViewAxes axes, const Shape& shape) {
  std::vector<ViewAxes> by_axis(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;)
    for (std::int64_t left = shape[i]; left > 1;) {
      if (axes.empty()) return std::nullopt;
      ViewAxis& last = axes.back();
      const std::int64_t taken = std::min(left, last.size);
      if (left % taken != 0 || last.size % taken != 0) return std::nullopt;
      by_axis[i].insert(by_axis[i].begin(), {taken, last.stride});
      left /= taken;
      last = {last.size / taken, last.stride * taken};
      if (last.size == 1) axes.pop_back();
    }
  return axes.empty() ? std::optional(by_axis) : std::nullopt;
}

std::optional<ViewAxes> turned(const Graph& graph, const Node& node, const ViewAxes& axes) {
  const NodeUse held = use_of(graph, node);
  const auto by_axis = axes_by_axis(axes, input(held.use, 0).shape);
  if (!by_axis) return std::nullopt;
  std::vector<std::int64_t> order(by_axis->size());
  std::iota(order.rbegin(), order.rend(), 0);
  ViewAxes result;
  for (const std::int64_t axis : ints_attribute(held.use, "perm", order)) {
    const ViewAxes& its = by_axis->at(as_size(axis));
    result.insert(result.end(), its.begin(), its.end());
  }
  return result;
}

constexpr std::size_t most_views = 32;  // one behind the other; of more nobody asks

/// The nodes between a value and its root, from the root on; nothing where one of them makes a part.
std::optional<std::vector<NodeId>> views_between(const Graph& graph, const List<ValueId>& roots, ValueId v) {
  const ValueId root = roots[v];
  std::vector<NodeId> views;
  while (v != root) {
    const NodeId maker = graph.values[v].producer;
    if (maker == none || views.size() == most_views) return std::nullopt;
    const Node& node = graph.nodes[maker];
    const auto from =
        std::ranges::find_if(node.inputs, [&](ValueId input) { return input != none && roots[input] == root; });
    if (node.in_place || from == node.inputs.end()) return std::nullopt;
    views.insert(views.begin(), maker);
    v = *from;
  }
  return views;
}

}  // namespace

ViewAxes fewest_axes(const ViewAxes& axes) {
  ViewAxes fewest;
  for (const ViewAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (!fewest.empty() && fewest.back().stride == axis.size * axis.stride)
      fewest.back() = {fewest.back().size * axis.size, axis.stride};
    else
      fewest.push_back(axis);
  }
  return fewest;
}

std::optional<ViewAxes> view_axes(const Graph& graph, const List<ValueId>& roots, ValueId v) {
  const std::int64_t elements = element_count(shape_of(graph, roots[v]));
  if (elements == 0 || elements != element_count(shape_of(graph, v))) return std::nullopt;
  const auto views = views_between(graph, roots, v);
  if (!views) return std::nullopt;
  ViewAxes axes = {{elements, 1}};
  for (const NodeId view : *views) {
    const Node& node = graph.nodes[view];
    if (node.op->type != "Transpose") continue;  // others leave the order as it is
    const auto next = turned(graph, node, fewest_axes(axes));
    if (!next) return std::nullopt;
    axes = *next;
  }
  return fewest_axes(axes);
}

}  // namespace sdip
