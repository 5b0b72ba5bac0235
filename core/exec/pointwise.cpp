// Elementwise operators on the elements of a tile, as they appear.
#include "core/exec/pointwise.h"

#include "core/base/error.h"
#include "core/exec/arithmetic.h"
#include "core/exec/operators.h"
#include "core/ops/arithmetic.h"

namespace sdip::exec {
namespace {

/// The tile's value that `v` is a view of, or `none`.
ValueId made_as(const Chip& chip, const TileValues& tile, ValueId v) {
  const ValueId root = chip.views.root[static_cast<std::size_t>(v)];
  return tile.made.contains(root) ? root : none;
}

/// The same numbers, each at its place in the result.
void apply_turn(const std::vector<std::int64_t>& places, ValueId result, TileValues& tile) {
  for (std::int64_t& element : tile.at) element = places.at(static_cast<std::size_t>(element));
  tile.made[result] = tile.made.at(tile.current);
  tile.current = result;
}

}  // namespace

bool is_turn(const Chip& chip, const Node& node) { return chip.views.turned.contains(node.outputs[0]); }

std::vector<std::int64_t> elements_beside(const Shape& from, const Shape& to, std::span<const std::int64_t> at) {
  if (from == to) return {at.begin(), at.end()};
  std::vector<std::int64_t> elements;
  elements.reserve(at.size());
  const std::size_t skip = to.size() - from.size();
  for (const std::int64_t i : at) {
    std::int64_t rest = i, element = 0, stride = 1;
    for (std::size_t axis = to.size(); axis-- > skip; rest /= to[axis]) {
      const std::int64_t size = from[axis - skip];
      if (size != 1) element += rest % to[axis] * stride;
      stride *= size;
    }
    elements.push_back(element);
  }
  return elements;
}

void apply_pointwise(Chip& chip, const Node& node, TileValues& tile) {
  const ValueId result = node.outputs[0];
  if (is_turn(chip, node)) return apply_turn(chip.views.turned.at(result), result, tile);
  const Shape& shape = chip.value(result).operand.shape;
  // A transposed view between two operators: the tile's elements have other numbers behind it.
  for (const ValueId v : node.inputs)
    if (v != none && made_as(chip, tile, v) == tile.current) {
      tile.at = elements_in_view(chip.views, v, tile.at);
      break;
    }
  const Work work = work_of(chip.graph, node);
  std::vector<std::optional<Tensor>> operands;
  for (const ValueId v : node.inputs) {
    if (v == none) {
      operands.emplace_back();
      continue;
    }
    if (made_as(chip, tile, v) == none && is_unread(chip, work, node, operands.size())) {
      operands.emplace_back(zero_tensor(chip.value(v).operand.type, {}));
      continue;
    }
    const Shape& own = chip.value(v).operand.shape;
    if (const ValueId made = made_as(chip, tile, v); made != none) {
      operands.emplace_back(tile.made.at(made));
    } else if (element_count(own) == 1) {
      operands.emplace_back(read_operand(chip, v, std::vector<std::int64_t>{0}));
      operands.back()->shape = {};
    } else {
      operands.emplace_back(read_operand(chip, v, elements_beside(own, shape, tile.at)));
    }
  }
  Tensor numbers = outputs_of(chip.graph, node, operands).at(0);
  const auto count = static_cast<std::int64_t>(tile.at.size());
  if (element_count(numbers.shape) != count) {  // of one number and scalars
    check(element_count(numbers.shape) == 1, "an elementwise operator makes an element for each");
    numbers.floats.resize(numbers.floats.empty() ? 0 : tile.at.size(),
                          numbers.floats.empty() ? 0 : numbers.floats[0]);
    numbers.ints.resize(numbers.ints.empty() ? 0 : tile.at.size(), numbers.ints.empty() ? 0 : numbers.ints[0]);
  }
  numbers.shape = {count};
  tile.made[result] = std::move(numbers);
  tile.current = result;
}

}  // namespace sdip::exec
