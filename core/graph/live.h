// How much of a network is alive at once when its nodes run in their order, and whether a stack could hold it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/graph/graph.h"

namespace sdip {

/// Which values share bytes. naive: every node's output has its own. in_place: views share their input's, and an
/// elementwise operator, a softmax or a norm writes over an operand of the same size that dies there. fused: as
/// in_place, and transposes and slices are views too; meant for a rewritten graph, where a norm or an activation is
/// one node. flash: as fused, and the scores of an attention (product, scaling, softmax, product) are never stored.
enum class LiveRule { naive, in_place, fused, flash };
inline constexpr LiveRule live_rules[] = {LiveRule::naive, LiveRule::in_place, LiveRule::fused, LiveRule::flash};
std::string_view live_rule_text(LiveRule rule);

/// The bytes of one value or more that share them, from the node that makes them to the last that reads them.
struct LiveInterval {
  ValueId value = none;  // whose bytes they are
  std::int64_t elements = 0;
  NodeId made = 0, last = 0;  // last = the number of nodes for an output of the graph
};
/// In the order in which they are made. Inputs and weights of the graph are not among them. Requires a linked
/// graph.
List<LiveInterval> live_intervals(const Graph& graph, LiveRule rule);

/// Pairs of spans, sorted by `from`, of which one begins while the other lasts and ends after it: a.from < b.from <
/// a.to < b.to. Example: (0,3), (1,2), (2,5): one, the first with the last. In O(n log n).
struct Span {
  std::int64_t from = 0, to = 0;
};
std::int64_t crossing_pairs(std::span<const Span> spans);

/// Most elements alive at a node, its operands, its results and waiting inputs of the graph included; and pairs of
/// intervals of which one is made while the other lives and dies after it: a stack, which frees only what was made
/// last, cannot hold such a pair. Example: x -> Relu -> a, x -> Exp -> b, Add(a, b): a and b die together, no pair
/// crosses. Were a's last reader after b was made and before b's last reader, the pair a, b would.
struct LiveFigures {
  std::int64_t peak_elements = 0;
  NodeId peak_node = none;
  std::int64_t intervals = 0, crossings = 0;
};
LiveFigures live_figures(const Graph& graph, LiveRule rule);

}  // namespace sdip
