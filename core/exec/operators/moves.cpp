// Operators that move elements and compute nothing.
#include "core/exec/operators/moves.h"

#include <algorithm>
#include <numeric>

#include "core/exec/operators/streams.h"
#include "core/exec/walk/broadcast.h"
#include "core/graph/attributes.h"

namespace sdip::exec {
namespace {

const Shape& shape_of(const Graph& graph, ValueId v) { return graph.values[v].operand.shape; }

std::size_t axis_of(const Node& node, std::size_t rank, std::int64_t otherwise) {
  const auto axis = attribute_or(node, "axis", otherwise);
  return as_size(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

std::vector<std::int64_t> permutation_of(const Node& node, std::size_t rank) {
  std::vector<std::int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return attribute_or(node, "perm", std::move(reversed));
}

/// Elements from `axis` on: one along it and all behind.
std::int64_t elements_from(const Shape& shape, std::size_t axis) {
  std::int64_t count = 1;
  for (std::size_t i = axis; i < shape.size(); ++i) count *= shape[i];
  return count;
}

void add_to(std::vector<Moved>& moved, ValueId from, const Line& line) {
  if (moved.empty() || moved.back().from != from) moved.push_back({from});
  moved.back().at.add(line);
}

std::vector<Moved> joined_elements(const Graph& graph, const Node& node, ValueId result, const Elements& at) {
  const Shape& shape = shape_of(graph, result);
  const std::size_t axis = axis_of(node, shape.size(), 0);
  std::vector<Moved> moved;
  at.each_run(elements_from(shape, axis), [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    for (const ValueId v : node.inputs) {
      const std::int64_t own = elements_from(shape_of(graph, v), axis);
      const std::int64_t fit = std::clamp<std::int64_t>(own - first, 0, count);
      if (fit > 0) add_to(moved, v, {block * own + first, fit, 1});
      first = std::max<std::int64_t>(0, first - own);
      count -= fit;
    }
  });
  return moved;
}

std::vector<Moved> split_elements(const Graph& graph, const Node& node, ValueId result, const Elements& at) {
  const Shape &shape = shape_of(graph, result), &whole = shape_of(graph, node.inputs[0]);
  const std::size_t axis = axis_of(node, shape.size(), 0);
  std::int64_t before = 0;
  for (const ValueId v : node.outputs) {
    if (v == result) break;
    before += elements_from(shape_of(graph, v), axis);
  }
  const std::int64_t all = elements_from(whole, axis);
  std::vector<Moved> moved;
  at.each_run(elements_from(shape, axis), [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    add_to(moved, node.inputs[0], {block * all + before + first, count, 1});
  });
  return moved;
}

Numbers read_moved(Chip& chip, const std::vector<Moved>& moved) {
  if (moved.size() == 1) return read_operand(chip, moved[0].from, moved[0].at);
  Numbers numbers;
  for (const Moved& part : moved) {
    const Numbers read = read_operand(chip, part.from, part.at);
    numbers.type = read.type;
    numbers.floats.insert(numbers.floats.end(), read.floats.begin(), read.floats.end());
    numbers.doubles.insert(numbers.doubles.end(), read.doubles.begin(), read.doubles.end());
    numbers.ints.insert(numbers.ints.end(), read.ints.begin(), read.ints.end());
  }
  return numbers;
}

}  // namespace

std::vector<Moved> moved_elements(const Graph& graph, const Node& node, ValueId result, const Elements& at) {
  if (node.op->type == "Concat") return joined_elements(graph, node, result, at);
  if (node.op->type == "Split") return split_elements(graph, node, result, at);
  const Shape& shape = shape_of(graph, node.inputs[0]);
  return {{node.inputs[0], elements_before(shape, permutation_of(node, shape.size()), at)}};
}

bool run_moves(Chip& chip, const Operators& operators, const std::vector<Elements>& tiles, ValueId result) {
  const Node& node = *operators.main;
  const std::string_view type = node.op->type;
  if (!node.op->domain.empty() || (type != "Concat" && type != "Split" && type != "Transpose")) return false;
  if (!operators.before.empty() || std::ranges::find(node.outputs, none) != node.outputs.end()) return false;
  find_weights(chip, node);
  for_each_result_tile(chip, operators.behind, tiles, [&](const Elements& at) {
    end_tile(chip, operators, result, at, [&](const Elements& piece, std::int64_t) {
      return read_moved(chip, moved_elements(chip.graph, node, result, piece));
    });
  });
  return true;
}

}  // namespace sdip::exec
