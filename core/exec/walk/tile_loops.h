// The tile operations of a nest, in the order of its mapping.
//
// The loops, outermost first: those of the mapping's order, and two that are never split. Repeats: of a weighted
// nest the frames of its batch, just outside the outer one of rows and columns, one at a time unless a tile has all
// rows and columns; of a product of two activations its batch x groups products, outermost of all, one at a time
// unless a tile is a whole product. Channels: a tile holds channels of one group, or whole groups.
//
// Example: out_h 3 in tiles of 2, 4 channels in tiles of 2, rows outside channels: (rows 0-1, channels 0-1),
// (0-1, 2-3), (2, 0-1), (2, 2-3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/program/program.h"

namespace sdip::exec {

/// From `begin` on, up to and without `end`.
struct Extent {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  friend auto operator<=>(const Extent&, const Extent&) = default;
};

/// One tile operation. `copies`: frames of a weighted nest, products of one of two activations (frame x groups +
/// group). `channels`: of all groups of a weighted nest, else of one product.
struct TileOperation {
  Extent copies, rows, columns, channels, sums;
  bool first_sums = true, last_sums = true;
  friend bool operator==(const TileOperation&, const TileOperation&) = default;
};

/// One loop: its tiles, in order.
struct TileLoop {
  std::vector<Extent> tiles;
  Extent TileOperation::*extent = nullptr;
};

/// Part of a nest's results: these rows, of these copies and channels (of all groups) or of all.
struct NestPart {
  Extent rows;
  std::optional<Extent> copies{}, channels{};
};

/// A nest's loops over tiles, outermost first, over that part of its results alone; of products shared by `cores`,
/// one core's after the other's, where a tile is whole products. Requires tile sizes of at least 1, and channels
/// said only of a nest of one group.
std::vector<TileLoop> tile_loops(const LoopNest& nest, bool weighted, const Mapping& mapping, const NestPart& part,
                                 std::int64_t cores = 1);

/// The part of a product of weights that one core has of those which share its groups, or its output channels, as
/// its class says; and the loops over the part of core number `core`, in channels of all.
LoopNest part_of_core(const LoopNest& nest, const InstructionClass& c);
std::vector<TileLoop> loops_of_core(const LoopNest& nest, const InstructionClass& c, const NestPart& part,
                                    std::int64_t core);

template <class Visit>
void walk_tiles(std::span<const TileLoop> loops, TileOperation& tile, Visit& visit) {
  if (loops.empty()) return visit(std::as_const(tile));
  const TileLoop& loop = loops.front();
  for (std::size_t i = 0; i < loop.tiles.size(); ++i) {
    tile.*loop.extent = loop.tiles[i];
    if (loop.extent == &TileOperation::sums) {
      tile.first_sums = i == 0;
      tile.last_sums = i + 1 == loop.tiles.size();
    }
    walk_tiles(loops.subspan(1), tile, visit);
  }
}

/// Calls `visit` with each tile operation of these loops in order.
template <class Visit>
void for_each_tile(std::span<const TileLoop> loops, Visit&& visit) {
  TileOperation tile;
  walk_tiles(loops, tile, visit);
}

}  // namespace sdip::exec
