// Elementwise operators on the elements of a tile, as they appear.
#include "core/exec/operators/pointwise.h"

#include "core/base/error.h"
#include "core/exec/numbers/arithmetic.h"
#include "core/exec/numbers/plain_functions.h"
#include "core/exec/operators/operators.h"
#include "core/exec/operators/streams.h"

namespace sdip::exec {
namespace {

/// The tile's value that `v` is a view of, or `none`.
ValueId made_as(const Chip& chip, const TileValues& tile, ValueId v) {
  const ValueId root = chip.views.root[v];
  return tile.made.contains(root) ? root : none;
}

/// The same numbers, each at its place in the result.
void apply_turn(const std::vector<std::int64_t>& places, ValueId result, TileValues& tile) {
  Elements turned;
  tile.at.each([&](std::int64_t element) { turned.add({places.at(as_size(element)), 1, 1}); });
  tile.at = std::move(turned);
  tile.made[result] = tile.made.at(tile.current);
  tile.current = result;
}

/// Whether an operand is in DRAM and smaller than the result: the circuit reads it once and holds it.
bool is_held(Chip& chip, ValueId v, const Shape& result) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight || element_count(value.operand.shape) >= element_count(result)) return false;
  const auto placed = placed_operand(chip, chip.views.root[v]);
  return placed && placed->reading.slot.second == Place::dram;
}

/// Whether the clock charges a held operand as it is repeated outside.
bool is_repeated(const Chip& chip, const Node& node, std::size_t i) {
  const std::int64_t count = element_count(chip.value(node.inputs[i]).operand.shape);
  return work_of(chip.graph, node).read_elements.at(i) > count;
}

void log_held(Chip& chip, const Node& node, std::size_t i) {
  if (!chip.log || !is_repeated(chip, node, i)) return;
  const std::scoped_lock lock(*chip.holding);
  chip.log->reads_less();
}

/// Elements of one where each core needs its own.
Numbers held_elements(Chip& chip, OperandPlace place, const Elements& at) {
  const std::scoped_lock lock(*chip.holding);
  const ValueId v = place.first->inputs[place.second];
  List<Numbers>& held = chip.held_elements[place];
  held.resize(as_size(element_count(chip.value(v).operand.shape)));
  Numbers picked;
  at.each([&](std::int64_t element) {
    Numbers& one = held[element];
    if (one.size() == 0) one = read_operand(chip, v, Elements::line({element, 1, 1}));
    picked.type = one.type;
    picked.floats.insert(picked.floats.end(), one.floats.begin(), one.floats.end());
    picked.doubles.insert(picked.doubles.end(), one.doubles.begin(), one.doubles.end());
    picked.ints.insert(picked.ints.end(), one.ints.begin(), one.ints.end());
  });
  return picked;
}

/// Whether cores that share an instruction hold elements of a held operand, and not all of it: where they share
/// weights, and where what is repeated has an element for each result.
bool has_parts(const Chip& chip, const Node& node, std::size_t i) {
  const InstructionClass& c = chip.instruction_class();
  return c.spread_cores > 1 && (c.operand_b == Place::psram || is_repeated(chip, node, i));
}

/// An operand of one element stays one.
Numbers operand_of(Chip& chip, const TileValues& tile, const Node& node, std::size_t i, const Shape& shape) {
  const ValueId v = node.inputs[i];
  const Shape& own = chip.value(v).operand.shape;
  const bool held = is_held(chip, v, shape);
  if (held) log_held(chip, node, i);
  const OperandPlace place{&node, i};
  if (element_count(own) == 1) return held ? held_operand(chip, place) : read_operand(chip, v, Elements::first(1));
  const Elements at = elements_beside(own, shape, tile.at);
  if (!held) return read_operand(chip, v, at);
  return has_parts(chip, node, i) ? held_elements(chip, place, at) : picked(held_operand(chip, place), at);
}

/// The results by the operator's own arithmetic.
Numbers by_operator(Chip& chip, const Node& node, std::vector<std::optional<Numbers>>& operands,
                    const std::vector<const Numbers*>& made, std::int64_t count) {
  std::vector<std::optional<Tensor>> tensors;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    tensors.emplace_back();
    if (node.inputs[i] == none) continue;
    tensors.back() = tensor_of(made[i] != nullptr ? *made[i] : *operands[i]);
    if (made[i] == nullptr && element_count(tensors.back()->shape) == 1) tensors.back()->shape = {};
  }
  Tensor numbers = outputs_of(chip.graph, node, tensors).at(0);
  if (element_count(numbers.shape) != count) {  // of one number and scalars
    check(element_count(numbers.shape) == 1, "an elementwise operator makes an element for each");
    const auto size = as_size(count);
    numbers.floats.resize(numbers.floats.empty() ? 0 : size, numbers.floats.empty() ? 0 : numbers.floats[0]);
    numbers.ints.resize(numbers.ints.empty() ? 0 : size, numbers.ints.empty() ? 0 : numbers.ints[0]);
  }
  return numbers_of(std::move(numbers));
}

Numbers part_of(const Numbers& numbers, std::size_t begin, std::size_t count) {
  const auto cut = [&](const auto& all) {
    std::decay_t<decltype(all)> part;
    if (!all.empty())
      part.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                  all.begin() + static_cast<std::ptrdiff_t>(begin + count));
    return part;
  };
  return {numbers.type, cut(numbers.floats), cut(numbers.doubles), cut(numbers.ints)};
}

}  // namespace

bool is_turn(const Chip& chip, const Node& node) { return chip.views.turned.contains(node.outputs[0]); }

void apply_pointwise(Chip& chip, const Node& node, TileValues& tile) {
  const ValueId result = node.outputs[0];
  if (is_turn(chip, node)) return apply_turn(chip.views.turned.at(result), result, tile);
  const Operand& out = chip.value(result).operand;
  // A transposed view between two operators: the tile's elements have other numbers behind it. The first one has
  // made nothing yet: a view among its operands turns what is read, not what is made.
  for (const ValueId v : node.inputs)
    if (v != none && tile.current != none && made_as(chip, tile, v) == tile.current) {
      tile.at = elements_in_view(chip.views, v, tile.at);
      break;
    }
  std::vector<std::optional<Numbers>> operands(node.inputs.size());
  std::vector<const Numbers*> made(node.inputs.size(), nullptr);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == none) continue;
    if (const ValueId of = made_as(chip, tile, v); of != none)
      made[i] = &tile.made.at(of);
    else if (is_unread(chip, node, i))
      operands[i] = numbers_of(zero_tensor(chip.value(v).operand.type, {}));
    else
      operands[i] = operand_of(chip, tile, node, i, out.shape);
  }
  Numbers numbers;
  std::vector<const Numbers*> all = made;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] == nullptr && operands[i]) all[i] = &*operands[i];
  if (!apply_plain(node, out.type, all, as_size(tile.at.size()), numbers))
    numbers = by_operator(chip, node, operands, made, tile.at.size());
  tile.made[result] = std::move(numbers);
  tile.current = result;
}

PieceMaker pieces_of(Numbers numbers) {
  return [all = std::move(numbers)](const Elements& piece, std::int64_t first) {
    return part_of(all, as_size(first), as_size(piece.size()));
  };
}

void write_pointwise(Chip& chip, std::span<const Node* const> nodes, const Elements& at, ValueId made,
                     const PieceMaker& make, std::int64_t size) {
  const ValueId destination = chip.instruction().destination;
  const List<Elements> pieces = at.pieces(size);
  if (may_stream(chip, nodes))
    return write_streamed(chip, nodes, at, std::ssize(pieces), [&](std::int64_t i, Scratch&, PieceSink& sink) {
      const Elements& piece = pieces[i];
      TileValues part{piece, made};
      if (made != none) part.made[made] = make(piece, i * size);
      sink.put_piece(std::move(part));
    });
  for (const Node* node : nodes) find_weights(chip, *node);
  std::vector<ResultPart> done(pieces.size());
  share_tasks(*chip.team, std::ssize(pieces), [&](std::int64_t i) {
    const auto number = as_size(i);
    TileValues part{pieces[number], made};
    if (made != none) part.made[made] = make(pieces[number], i * size);
    for (const Node* node : nodes) apply_pointwise(chip, *node, part);
    check(part.current == destination, "the last operator makes the instruction's result");
    done[number] = {std::move(part.at), std::move(part.made.at(destination))};
  });
  write_results(chip, done);
}

}  // namespace sdip::exec
