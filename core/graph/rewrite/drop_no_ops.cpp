// Drops nodes that change nothing. x -> Identity -> Mul(1.0) -> Cast(float to float) -> Conv becomes x -> Conv.
#include <algorithm>

#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

bool same_type_and_shape(const Graph& graph, ValueId a, ValueId b) {
  const Operand &x = value_at(graph, a).operand, &y = value_at(graph, b).operand;
  return x.type == y.type && x.shape == y.shape;
}

/// The operand that passes unchanged through a node of two, because the other is `neutral` everywhere.
ValueId beside_neutral(const Graph& graph, const Node& node, double neutral, bool either_side) {
  if (node.inputs.size() != 2) return none;
  if (is_filled(graph, node.inputs[1], neutral)) return node.inputs[0];
  return either_side && is_filled(graph, node.inputs[0], neutral) ? node.inputs[1] : none;
}

bool keeps_order(const Node& transpose) {
  const auto given = transpose.attributes.find("perm");
  if (given == transpose.attributes.end()) return false;
  const auto* order = std::get_if<std::vector<std::int64_t>>(&given->second);
  return order != nullptr && std::is_sorted(order->begin(), order->end()) && order->front() >= 0;
}

/// A slice as long as its input keeps everything, unless it goes backwards.
bool goes_forward(const Graph& graph, const Node& slice) {
  if (slice.inputs.size() < 5 || slice.inputs[4] == none) return true;
  const auto& steps = value_at(graph, slice.inputs[4]).operand.value;
  return steps && std::all_of(steps->ints.begin(), steps->ints.end(), [](auto step) { return step > 0; });
}

bool pads_nothing(const Graph& graph, const Node& pad) {
  const NodeUse use = use_of(graph, pad);
  const bool by_input = pad.inputs.size() > 1 && pad.inputs[1] != none;
  if (by_input && !value_at(graph, pad.inputs[1]).operand.value) return false;
  const auto pads = by_input ? ints_of_input(use.use, 1) : ints_attribute(use.use, "pads", {1});
  return std::all_of(pads.begin(), pads.end(), [](auto size) { return size == 0; });
}

/// The value that a Where always takes, or `none`.
ValueId always_taken(const Graph& graph, const Node& where) {
  if (is_filled(graph, where.inputs[0], 1)) return where.inputs[1];
  return is_filled(graph, where.inputs[0], 0) ? where.inputs[2] : none;
}

/// Casting up and back again: float16 to float32 to float16. The other way round loses digits.
ValueId cast_back(const Graph& graph, const Node& cast) {
  const NodeId before = made_by(graph, cast.inputs[0], "Cast");
  if (before == none) return none;
  const ValueId from = node_at(graph, before).inputs[0];
  using enum ElementType;
  const ElementType narrow = value_at(graph, from).operand.type;
  const ElementType wide = value_at(graph, cast.inputs[0]).operand.type;
  const bool holds_all = ((narrow == float16 || narrow == bfloat16) && (wide == float32 || wide == float64)) ||
                         (narrow == float32 && wide == float64);
  return holds_all ? from : none;
}

/// The only part of a Concat that has elements, or `none`.
ValueId only_part(const Graph& graph, const Node& concat) {
  const auto has_elements = [&](ValueId id) { return element_count(value_at(graph, id).operand.shape) > 0; };
  const auto part = std::find_if(concat.inputs.begin(), concat.inputs.end(), has_elements);
  return part != concat.inputs.end() && std::none_of(part + 1, concat.inputs.end(), has_elements) ? *part : none;
}

/// The input that a node passes on unchanged if type and shape stay, or `none`.
ValueId passed_on(const Graph& graph, const Node& node) {
  const std::string_view type = node.op->type;
  if (!node.op->domain.empty() || node.inputs.empty() || node.inputs[0] == none) return none;
  const bool alone = node.inputs.size() == 1;
  if (type == "Mul") return beside_neutral(graph, node, 1.0, true);
  if (type == "Div" || type == "Pow") return beside_neutral(graph, node, 1.0, false);
  if (type == "Add") return beside_neutral(graph, node, 0.0, true);
  if (type == "Sub") return beside_neutral(graph, node, 0.0, false);
  if (type == "Transpose") return keeps_order(node) ? node.inputs[0] : none;
  if (type == "Slice") return goes_forward(graph, node) ? node.inputs[0] : none;
  if (type == "Pad") return pads_nothing(graph, node) ? node.inputs[0] : none;
  if (type == "Where") return always_taken(graph, node);
  if (type == "Concat") return only_part(graph, node);
  for (std::string_view of_many : {"Sum", "Mean", "Max", "Min"}) {
    if (type == of_many) return alone ? node.inputs[0] : none;
  }
  for (std::string_view as_is : {"Identity", "Dropout", "Cast", "CastLike", "Expand", "Reshape", "Flatten",
                                 "Squeeze", "Unsqueeze", "Split", "Tile"}) {
    if (type == as_is) return node.inputs[0];
  }
  return none;
}

bool mask_is_used(const Node& node) { return node.outputs.size() > 1 && node.outputs[1] != none; }

}  // namespace

std::int64_t drop_no_ops(Graph& graph) {
  std::int64_t count = 0;
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    const Node& node = graph.nodes[n];
    if (node.outputs.empty() || node.outputs[0] == none || mask_is_used(node)) continue;
    ValueId in = passed_on(graph, node);
    if (in == none || is_graph_output(graph, node.outputs[0])) continue;
    if (!same_type_and_shape(graph, in, node.outputs[0])) {
      in = node.op->type == "Cast" ? cast_back(graph, node) : none;
      if (in == none || !same_type_and_shape(graph, in, node.outputs[0])) continue;
    }
    bypass(graph, n, in);
    ++count;
  }
  return count;
}

}  // namespace sdip
