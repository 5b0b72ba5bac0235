// Values that are the bytes of another one.
#include "core/exec/views.h"

#include <numeric>

#include "core/base/error.h"
#include "core/ops/fold.h"

namespace sdip::exec {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

/// For each element of a transpose's result the element of its operand.
std::vector<std::int64_t> turned(const Graph& graph, const Node& node, ValueId from) {
  const Shape& in = graph.values[at(from)].operand.shape;
  std::vector<std::int64_t> perm(in.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (const auto found = node.attributes.find("perm"); found != node.attributes.end())
    perm = std::get<std::vector<std::int64_t>>(found->second);
  const Shape& out = graph.values[at(node.outputs[0])].operand.shape;
  const std::vector<std::int64_t> strides = strides_of(in);
  const std::int64_t count = element_count(out);
  std::vector<std::int64_t> map;
  map.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, position = 0;
    for (std::size_t axis = out.size(); axis-- > 0; rest /= out[axis])
      position += rest % out[axis] * strides[static_cast<std::size_t>(perm[axis])];
    map.push_back(position);
  }
  return map;
}

ValueId viewed(const Graph& graph, const Node& node) {
  for (const ValueId v : node.inputs)
    if (v != none && graph.values[at(v)].kind != ValueKind::weight) return v;
  return none;
}

}  // namespace

Views views_of(const CompiledStage& stage) {
  const Graph& graph = *stage.graph;
  Views views;
  views.root.resize(graph.values.size());
  std::iota(views.root.begin(), views.root.end(), 0);
  views.map.resize(graph.values.size());
  std::vector<char> computed(graph.nodes.size(), 0);
  for (const Instruction& instruction : stage.program.instructions)
    for (const NodeId n : instruction.nodes) computed[at(n)] = 1;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (computed[n] != 0 || node.outputs.empty() || node.outputs[0] == none) continue;
    const ValueId out = node.outputs[0], from = viewed(graph, node);
    if (graph.values[at(out)].kind != ValueKind::activation || from == none) continue;
    const Family family = work_of(graph, node).family;
    if (family != Family::view && family != Family::transpose) continue;
    views.root[at(out)] = views.root[at(from)];
    views.map[at(out)] = views.map[at(from)];
    if (family != Family::transpose) continue;
    std::vector<std::int64_t> map = turned(graph, node, from);
    for (std::int64_t& position : map) position = views.at(from, position);
    views.map[at(out)] = std::move(map);
  }
  return views;
}

std::vector<std::int64_t> elements_in_view(const Views& views, ValueId view,
                                           std::span<const std::int64_t> elements) {
  const std::vector<std::int64_t>& map = views.map[at(view)];
  if (map.empty()) return {elements.begin(), elements.end()};
  std::vector<std::int64_t> back(map.size());
  for (std::size_t i = 0; i < map.size(); ++i)
    back[static_cast<std::size_t>(map[i])] = static_cast<std::int64_t>(i);
  std::vector<std::int64_t> found;
  found.reserve(elements.size());
  for (const std::int64_t e : elements) found.push_back(back[static_cast<std::size_t>(e)]);
  return found;
}

}  // namespace sdip::exec
