// Results that are put where they go as they are made.
#include "core/exec/operators/streams.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip::exec {
namespace {

struct Bytes {
  std::int64_t begin = 0, end = 0;
  bool meets(const Bytes& other) const { return begin < other.end && other.begin < end; }
};

/// Whether what a node makes of a piece stands at the piece's own elements.
bool keeps_order(const Chip& chip, const Node& node) {
  return !is_turn(chip, node) &&
         std::ranges::all_of(node.inputs, [&](ValueId v) { return v == none || chip.views.map[v].empty(); });
}

/// Whether `node` reads of `root` only what lies at the elements that it makes, or nothing.
bool reads_own_elements(const Chip& chip, const Node& node, ValueId root) {
  const Shape& made = chip.value(node.outputs[0]).operand.shape;
  return std::ranges::all_of(node.inputs, [&](ValueId v) {
    if (v == none || chip.views.root[v] != root) return true;
    return chip.views.map[v].empty() && chip.value(v).operand.shape == made;
  });
}

/// Whether all that the instruction does with a value is that.
bool read_by_elements(const Chip& chip, std::span<const Node* const> by_elements, ValueId root) {
  if (!std::ranges::all_of(by_elements, [&](const Node* node) { return keeps_order(chip, *node); })) return false;
  return std::ranges::all_of(chip.instruction().nodes, [&](NodeId n) {
    const Node& node = chip.graph.nodes[n];
    if (std::ranges::find(by_elements, &node) != by_elements.end()) return reads_own_elements(chip, node, root);
    return std::ranges::none_of(node.inputs, [&](ValueId v) { return v != none && chip.views.root[v] == root; });
  });
}

}  // namespace

bool may_stream(Chip& chip, std::span<const Node* const> by_elements) {
  const ValueId v = chip.instruction().destination;
  const Value& result = chip.value(v);
  if (chip.log) return false;  // who wants to know what tiles move is told tile by tile
  if (!is_single(result.operand.type) || !chip.summed.empty() || chip.registers.contains(v)) return false;
  if (bits_of(format_of(chip, v)) < 8) return false;  // a byte could be two pieces'
  for (const Destination& to : destinations_of(chip.instruction(), chip.instruction_class(), chip.machine)) {
    const Memory& memory = memory_of(chip, to.place, true);
    const Bytes written{to.address, to.address + value_bytes(result, chip.machine)};
    for (const PlacedOperand& source : chip.instruction().sources) {
      if (source.place == Place::scalar || &memory_of(chip, source) != &memory) continue;
      const Value& operand = chip.value(source.value);
      const std::int64_t address = source.address.value;
      if (!written.meets({address, address + value_bytes(operand, chip.machine)})) continue;
      const bool same_place = address == to.address && format_of(chip, source.value) == format_of(chip, v);
      if (!same_place || !read_by_elements(chip, by_elements, source.value)) return false;
    }
  }
  return true;
}

void for_each_result_tile(Chip& chip, std::span<const Node* const> nodes, std::span<const Elements> tiles,
                          const std::function<void(const Elements& at)>& visit) {
  if (tiles.size() < 2 || !may_stream(chip, nodes)) {
    for (const Elements& tile : tiles) {
      begin_operation(chip);
      if (!tile.empty()) visit(tile);
    }
    return;
  }
  chip.counts.tile_operations += std::ssize(tiles);
  Elements all;
  for (const Elements& tile : tiles) all.add(tile);
  visit(all);
}

PieceSink::PieceSink(Chip& chip, std::span<const Node* const> nodes) : chip_(chip), nodes_(nodes) {
  const ValueId v = chip.instruction().destination;
  for (const Destination& to : destinations_of(chip.instruction(), chip.instruction_class(), chip.machine))
    targets_.push_back({memory_of(chip, to.place, true), slot_of(chip.machine, v, to.place)});
  if (nodes.empty() && targets_.size() == 1) in_place_ = floats_in_place(targets_[0].memory, targets_[0].slot);
  moved_ = std::ranges::any_of(nodes, [&](const Node* node) { return !keeps_order(chip, *node); });
}

void PieceSink::put_piece(TileValues piece) {
  for (const Node* node : nodes_) apply_pointwise(chip_, *node, piece);
  const ValueId v = chip_.instruction().destination;
  check(piece.current == v, "the last operator makes the instruction's result");
  for (const Target& to : targets_) put(to.memory, to.slot, piece.at, piece.made.at(v).floats);
  if (!moved_) return;
  const std::scoped_lock lock(mutex_);
  elsewhere_.push_back(std::move(piece.at));
}

void PieceSink::claim_all(const Elements& at) {
  if (!moved_) elsewhere_ = {at};
  for (const Target& to : targets_)
    for (const Elements& part : elsewhere_) claim(to.memory, to.slot, part);
}

void write_streamed(Chip& chip, std::span<const Node* const> nodes, const Elements& at, std::int64_t count,
                    const PieceTask& make) {
  for (const Node* node : nodes) find_weights(chip, *node);
  PieceSink sink(chip, nodes);
  share_tasks(*chip.team, count,
              [&](std::int64_t i) { chip.scratches->lend([&](Scratch& scratch) { make(i, scratch, sink); }); });
  sink.claim_all(at);
}

}  // namespace sdip::exec
