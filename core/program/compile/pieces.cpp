// Pieces that Split, Slice and Gather take of their operand.
#include "core/program/compile/pieces.h"

#include <algorithm>

#include "core/ops/use.h"
#include "core/program/compile/passes.h"

namespace sdip {
namespace {

std::vector<Piece> pieces_of_split(const Graph& graph, const Node& split) {
  const NodeUse held = use_of(graph, split);
  const Shape& whole = shape_of(graph, split.inputs[0]);
  const auto axis = as_size(axis_within(held.use, int_attribute(held.use, "axis", 0), whole.size()));
  std::vector<Piece> pieces;
  std::int64_t begin = 0;
  for (const ValueId part : split.outputs) {
    if (part == none) return {};  // how large it is cannot be seen
    const std::int64_t end = begin + shape_of(graph, part).at(axis);
    pieces.push_back({part, axis, begin, end});
    begin = end;
  }
  return pieces;
}

/// The only number that a constant input has.
std::optional<std::int64_t> number_of(const OperatorUse& use, std::size_t input) {
  const Operand* operand = optional_input(use, input);
  if (operand == nullptr || !operand->value || element_count(operand->shape) != 1) return std::nullopt;
  return ints_of_input(use, input)[0];
}

std::vector<Piece> piece_of_slice(const Graph& graph, const Node& slice) {
  const NodeUse held = use_of(graph, slice);
  const OperatorUse& use = held.use;
  const Shape& whole = input(use, 0).shape;
  if (slice.opset < 10) return {};
  const auto start = number_of(use, 1), end = number_of(use, 2), of_axis = number_of(use, 3);
  if (!start || !end || !of_axis) return {};
  if (optional_input(use, 4) != nullptr && number_of(use, 4) != 1) return {};
  const auto axis = as_size(axis_within(use, *of_axis, whole.size()));
  const std::int64_t size = whole.at(axis);
  const std::int64_t begin = std::clamp<std::int64_t>(*start < 0 ? *start + size : *start, 0, size);
  return {{slice.outputs[0], axis, begin, begin + shape_of(graph, slice.outputs[0]).at(axis)}};
}

std::vector<Piece> piece_of_gather(const Graph& graph, const Node& gather) {
  const NodeUse held = use_of(graph, gather);
  const Shape& whole = shape_of(graph, gather.inputs[0]);
  const auto place = number_of(held.use, 1);
  if (!place) return {};
  const auto axis = as_size(axis_within(held.use, int_attribute(held.use, "axis", 0), whole.size()));
  const std::int64_t begin = index_within(held.use, *place, whole.at(axis));
  return {{gather.outputs[0], axis, begin, begin + 1}};
}

}  // namespace

std::vector<Piece> pieces_of_operand(const Graph& graph, const Node& node) {
  if (!node.op->domain.empty() || node.inputs.empty() || node.inputs[0] == none) return {};
  if (node.op->type == "Split") return pieces_of_split(graph, node);
  if (node.op->type == "Slice") return piece_of_slice(graph, node);
  if (node.op->type == "Gather" && node.inputs.size() == 2) return piece_of_gather(graph, node);
  return {};
}

}  // namespace sdip
