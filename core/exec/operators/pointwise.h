// Elementwise operators on the elements of a tile, as they appear. Internal to its room.
#pragma once

#include <functional>
#include <map>
#include <span>

#include "core/exec/chip/chip.h"
#include "core/exec/walk/broadcast.h"

namespace sdip::exec {

/// A tile of values that an instruction makes one after the other: elements `at` of each, all of one count.
struct TileValues {
  Elements at;
  ValueId current = none;             // whose elements `at` numbers
  std::map<ValueId, Numbers> made{};  // in the order of `at`, each [at.size()]
};

/// Whether a node is a Transpose that the current instruction does by writing its results in another order.
bool is_turn(const Chip& chip, const Node& node);

/// Computes `node` on the tile: operands that the tile has made are taken from it, the others read at the elements
/// that broadcasting puts beside each result. The result joins `made` and is `current`. A turn changes only `at`.
/// Requires is_pointwise(node) or is_turn, and that its result has as many elements as `current`.
void apply_pointwise(Chip& chip, const Node& node, TileValues& tile);

/// Makes the numbers of a piece of a tile, whose first is number `first` of the tile's; called by several threads.
using PieceMaker = std::function<Numbers(const Elements& piece, std::int64_t first)>;

/// Pieces of a tile that `numbers` has made.
PieceMaker pieces_of(Numbers numbers);

inline constexpr std::int64_t piece_elements = 1 << 14;  // 64 KiB of floats a value: in the second-level cache

/// Elements `at` of value `made`, which `make` makes (`none`: of nothing yet), and all `nodes` on them; what the
/// last one makes is the instruction's result: written once the whole tile is computed. The tile is shared by the
/// team in pieces of `size`.
void write_pointwise(Chip& chip, std::span<const Node* const> nodes, const Elements& at, ValueId made,
                     const PieceMaker& make, std::int64_t size = piece_elements);

}  // namespace sdip::exec
