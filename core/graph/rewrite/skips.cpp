// Residual and skip connections. y = Add(x, f(x)) is a residual: one operand is computed from the other. A Concat
// that joins x with f(x) is a skip connection, as in a U-Net. Skips a (made at node 1, joined at 6) and b (made at
// 3, joined at 5) nest: last in, first out. a joined at 5 and b at 6 would cross, and no stack could hold them.
#include <algorithm>

#include "core/graph/graph.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

/// Nodes visited in all; beyond that nothing more is found, so that no graph takes longer.
constexpr std::int64_t most_visits = std::int64_t{1} << 24;

/// Asks for ancestors, again and again, without clearing marks in between.
struct Ancestry {
  const Graph& graph;
  List<std::int32_t> seen;  // by node, the question that last came by
  std::vector<NodeId> open;
  std::int32_t question = 0;
  std::int64_t visits = 0;

  explicit Ancestry(const Graph& of) : graph(of), seen(of.nodes.size(), 0) {}

  /// Whether `later` is computed from `earlier`. Nodes before the one that makes `earlier` are not visited.
  bool leads(ValueId earlier, ValueId later) {
    const NodeId first = value_at(graph, earlier).producer;
    ++question;
    open.assign(1, value_at(graph, later).producer);
    while (!open.empty() && visits < most_visits) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == none || id <= first || seen[id] == question) continue;
      seen[id] = question;
      ++visits;
      for (ValueId input : node_at(graph, id).inputs) {
        if (input == earlier) return true;
        if (input != none && value_at(graph, input).kind == ValueKind::activation)
          open.push_back(value_at(graph, input).producer);
      }
    }
    return false;
  }
};

struct SkipSpan {
  NodeId made = none, joined = none;
};

/// Whether spans are nested, as on a stack: a join takes the latest value made that is not yet joined.
bool are_nested(std::vector<SkipSpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const SkipSpan& a, const SkipSpan& b) {
    return a.made != b.made ? a.made < b.made : a.joined > b.joined;
  });
  std::vector<NodeId> ends;  // of the spans around, the innermost last
  for (const SkipSpan& span : spans) {
    while (!ends.empty() && ends.back() <= span.made) ends.pop_back();
    if (!ends.empty() && ends.back() < span.joined) return false;
    ends.push_back(span.joined);
  }
  return true;
}

bool is_no_weight(const Graph& graph, ValueId id) {
  return id != none && value_at(graph, id).kind != ValueKind::weight;
}

}  // namespace

Skips skips_of(const Graph& graph) {
  Skips skips;
  Ancestry ancestry(graph);
  std::vector<SkipSpan> spans;
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    const bool add = is_node(graph, n, "Add");
    if (!add && !is_node(graph, n, "Concat")) continue;
    const auto& inputs = graph.nodes[n].inputs;
    if (inputs.size() != 2 || !is_no_weight(graph, inputs[0]) || !is_no_weight(graph, inputs[1])) continue;
    if (add && value_at(graph, inputs[0]).operand.shape != value_at(graph, inputs[1]).operand.shape) continue;
    ValueId earlier = inputs[0], later = inputs[1];
    if (value_at(graph, earlier).producer > value_at(graph, later).producer) std::swap(earlier, later);
    if (earlier == later || !ancestry.leads(earlier, later)) continue;
    ++(add ? skips.adds : skips.concats);
    if (!add) spans.push_back({value_at(graph, earlier).producer, n});
  }
  skips.is_stack = are_nested(std::move(spans));
  skips.complete = ancestry.visits < most_visits;
  return skips;
}

}  // namespace sdip
