// Live intervals of a graph in its order: who shares bytes, what the peak is, which intervals cross.
#include "core/graph/live.h"

#include <algorithm>

#include "core/base/exact.h"

namespace sdip {
namespace {

bool is_activation(const Graph& graph, ValueId id) {
  return id != none && graph.values[id].kind != ValueKind::weight;
}

ValueId first_activation(const Graph& graph, const Node& node) {
  for (const ValueId id : node.inputs)
    if (is_activation(graph, id)) return id;
  return none;
}

bool is_slice(std::string_view type) { return type == "Slice" || type == "Split"; }

bool shares_input(const Node& node, Family family, LiveRule rule) {
  if (rule == LiveRule::naive) return false;
  if (family == Family::view) return true;
  return rule != LiveRule::in_place && (family == Family::transpose || is_slice(node.op->type));
}

bool overwrites(Family family) {
  return family == Family::vector || family == Family::softmax || family == Family::norm;
}

/// Which node a value's bytes are seen to be made and read at: a node of an attention stands for its last one.
std::vector<NodeId> steps_of(const Graph& graph, const List<Family>& families, LiveRule rule) {
  List<NodeId> steps(graph.nodes.size());
  for (NodeId n = 0; n < std::ssize(steps); ++n) steps[n] = n;
  if (rule != LiveRule::flash) return steps;
  const auto is_product = [&](NodeId n) { return n != none && families[n] == Family::matmul; };
  const auto only_reader = [&](NodeId n) {
    const std::vector<ValueId>& outputs = graph.nodes[n].outputs;
    if (outputs.empty() || outputs[0] == none) return none;
    const auto& readers = graph.values[outputs[0]].consumers;
    return readers.size() == 1 ? readers[0] : none;
  };
  for (NodeId n = 0; n < std::ssize(steps); ++n) {
    if (families[n] != Family::softmax) continue;
    std::vector<NodeId> chain = {n};
    NodeId last = only_reader(chain[0]);
    for (; last != none && !is_product(last); last = only_reader(last)) {
      const Family family = families[last];
      if (family != Family::view && family != Family::vector && family != Family::transpose) last = none;
      if (last == none) break;
      chain.push_back(last);
    }
    if (last == none) continue;
    NodeId first = n;
    while (first != none && !is_product(first)) {
      const ValueId from = first_activation(graph, graph.nodes[first]);
      first = from == none ? none : graph.values[from].producer;
      if (first == none || only_reader(first) == none) break;
      const Family family = families[first];
      if (family != Family::matmul && family != Family::view && family != Family::vector) break;
      chain.push_back(first);
    }
    if (!is_product(first) || only_reader(first) == none) continue;
    for (const NodeId one : chain) steps[one] = last;
  }
  return steps;
}

/// Everything about the order that intervals follow from.
struct Order {
  List<Family> families;  // by node
  List<NodeId> steps;     // by node
  List<ValueId> roots;    // by value: whose bytes it has
};

Order order_of(const Graph& graph, LiveRule rule) {
  Order order;
  order.families.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) order.families.push_back(work_of(graph, node).family);
  order.steps = steps_of(graph, order.families, rule);
  order.roots.resize(graph.values.size());
  for (ValueId v = 0; v < std::ssize(order.roots); ++v) order.roots[v] = v;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const ValueId from = first_activation(graph, node);
    if (from == none || !shares_input(node, order.families[n], rule)) continue;
    for (const ValueId out : node.outputs)
      if (out != none) order.roots[out] = order.roots[from];
  }
  return order;
}

List<LiveInterval> intervals_of(const Graph& graph, const Order& order) {
  List<LiveInterval> by_value(graph.values.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const NodeId step = order.steps[n];
    for (const ValueId id : graph.nodes[n].inputs) {
      if (!is_activation(graph, id)) continue;
      LiveInterval& read = by_value[order.roots[id]];
      read.last = std::max(read.last, step);
    }
    for (const ValueId id : graph.nodes[n].outputs) {
      if (id == none || graph.values[id].kind != ValueKind::activation || order.roots[id] != id) continue;
      const auto& readers = graph.values[id].consumers;
      const bool stored = readers.empty() || std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
                            return order.steps[reader] != step;
                          });
      if (stored) by_value[id] = {id, element_count(graph.values[id].operand.shape), step, step};
    }
  }
  for (const ValueId id : graph.outputs) {
    const auto end = static_cast<NodeId>(graph.nodes.size());
    by_value[order.roots[id]].last = end;
  }
  std::erase_if(by_value, [](const LiveInterval& one) { return one.value == none; });
  std::stable_sort(by_value.begin(), by_value.end(),
                   [](const LiveInterval& a, const LiveInterval& b) { return a.made < b.made; });
  return by_value;
}

/// Elements that a node's result takes over from an operand of the same size that dies there.
std::int64_t taken_over(const Graph& graph, const Order& order, NodeId n, const List<NodeId>& last) {
  const Node& node = graph.nodes[n];
  if (!overwrites(order.families[n]) || node.outputs.empty() || node.outputs[0] == none) return 0;
  const std::int64_t out = element_count(graph.values[node.outputs[0]].operand.shape);
  for (const ValueId id : node.inputs) {
    if (!is_activation(graph, id)) continue;
    const ValueId root = order.roots[id];
    if (last[root] == n && element_count(graph.values[root].operand.shape) == out) return out;
  }
  return 0;
}

/// Inputs are alive from the start to their last reader. Returns how much that is at the start.
std::int64_t add_inputs(const Graph& graph, const Order& order, List<std::int64_t>& change) {
  List<NodeId> last(graph.values.size(), none);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const ValueId id : graph.nodes[n].inputs)
      if (is_activation(graph, id)) last[order.roots[id]] = order.steps[n];
  std::int64_t start = 0;
  for (const ValueId id : graph.inputs) {
    if (last[id] == none) continue;
    const std::int64_t elements = element_count(graph.values[id].operand.shape);
    start = exact_sum(start, elements);
    std::int64_t& end = change[last[id] + 1];
    end = exact_sum(end, -elements);
  }
  return start;
}

}  // namespace

std::string_view live_rule_text(LiveRule rule) {
  constexpr std::string_view names[] = {"naive", "in_place", "fused", "flash"};
  return names[at(rule)];
}

std::int64_t crossing_pairs(std::span<const Span> spans) {
  std::int64_t latest = 0;
  for (const Span& one : spans) latest = std::max(latest, one.to);
  std::vector<std::int64_t> ends(as_size(latest) + 2, 0);  // a Fenwick tree: spans by their end
  const auto ended_by = [&](std::int64_t to) {
    std::int64_t count = 0;
    for (auto i = at(to) + 1; i > 0; i &= i - 1) count += ends[i];
    return count;
  };
  std::int64_t pairs = 0;
  for (std::size_t first = 0, next = 0; first < spans.size(); first = next) {
    for (; next < spans.size() && spans[next].from == spans[first].from; ++next) {
      const Span& b = spans[next];
      if (b.to > b.from) pairs += ended_by(b.to - 1) - ended_by(b.from);
    }
    for (std::size_t i = first; i < next; ++i)
      for (auto k = at(spans[i].to) + 1; k < ends.size(); k += k & (~k + 1)) ++ends[k];
  }
  return pairs;
}

List<LiveInterval> live_intervals(const Graph& graph, LiveRule rule) {
  return intervals_of(graph, order_of(graph, rule));
}

LiveFigures live_figures(const Graph& graph, LiveRule rule) {
  const Order order = order_of(graph, rule);
  const List<LiveInterval> intervals = intervals_of(graph, order);
  LiveFigures figures;
  figures.intervals = static_cast<std::int64_t>(intervals.size());
  std::vector<Span> spans;
  for (const LiveInterval& one : intervals) spans.push_back({one.made, one.last});
  figures.crossings = crossing_pairs(spans);
  List<std::int64_t> change(graph.nodes.size() + 2, 0);
  List<NodeId> last(graph.values.size(), none);
  for (const LiveInterval& one : intervals) {
    change[one.made] = exact_sum(change[one.made], one.elements);
    change[one.last + 1] = exact_sum(change[one.last + 1], -one.elements);
    last[one.value] = one.last;
  }
  std::int64_t live = add_inputs(graph, order, change);
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    live = exact_sum(live, change[n]);
    const bool own = order.steps[n] == n;
    const std::int64_t now = rule == LiveRule::naive || !own ? live : live - taken_over(graph, order, n, last);
    if (now <= figures.peak_elements) continue;
    figures.peak_elements = now;
    figures.peak_node = n;
  }
  return figures;
}

}  // namespace sdip
