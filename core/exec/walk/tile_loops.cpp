// The tile operations of a nest, in the order of its mapping.
#include "core/exec/walk/tile_loops.h"

#include <algorithm>

#include "core/base/units.h"

namespace sdip::exec {
namespace {

std::vector<Extent> cut_into(const Extent& all, std::int64_t tile) {
  std::vector<Extent> tiles;
  for (std::int64_t begin = all.begin; begin < all.end; begin += tile)
    tiles.push_back({begin, std::min(all.end, begin + tile)});
  return tiles;
}

std::vector<Extent> cut_into(std::int64_t size, std::int64_t tile) { return cut_into(Extent{0, size}, tile); }

/// Tiles of channels: runs of whole groups, or parts of one group.
std::vector<Extent> channel_tiles(const LoopNest& nest, bool weighted, std::int64_t tile) {
  if (!weighted || nest.groups == 1) return cut_into(nest.out_channels, tile);
  if (tile >= nest.out_channels)
    return cut_into(nest.groups * nest.out_channels, tile / nest.out_channels * nest.out_channels);
  std::vector<Extent> tiles;
  for (std::int64_t group = 0; group < nest.groups; ++group)
    for (const Extent& part : cut_into(nest.out_channels, tile))
      tiles.push_back({group * nest.out_channels + part.begin, group * nest.out_channels + part.end});
  return tiles;
}

}  // namespace

std::vector<TileLoop> tile_loops(const LoopNest& nest, bool weighted, const Mapping& mapping, const NestPart& part,
                                 std::int64_t cores) {
  const std::vector<Extent> rows = cut_into(part.rows, mapping.tile_rows);
  const std::vector<Extent> columns = cut_into(nest.out_w, mapping.tile_columns);
  const std::vector<Extent> channels = part.channels ? cut_into(*part.channels, mapping.tile_channels)
                                                     : channel_tiles(nest, weighted, mapping.tile_channels);
  const Extent copies = part.copies.value_or(Extent{0, weighted ? nest.batch : nest.batch * nest.groups});
  const bool whole = rows.size() <= 1 && columns.size() <= 1 && (weighted || channels.size() <= 1);
  const TileLoop repeats{cut_into(copies, whole ? ceil_div(copies.size(), cores) : 1), &TileOperation::copies};
  std::vector<TileLoop> loops;
  bool repeated = !weighted;
  if (!weighted) loops.push_back(repeats);
  for (const Loop loop : mapping.order) {
    if (!repeated && (loop == Loop::rows || loop == Loop::columns)) {
      loops.push_back(repeats);
      repeated = true;
    }
    if (loop == Loop::rows) loops.push_back({rows, &TileOperation::rows});
    if (loop == Loop::columns) loops.push_back({columns, &TileOperation::columns});
    if (loop == Loop::channels) loops.push_back({channels, &TileOperation::channels});
    if (loop == Loop::sums) loops.push_back({cut_into(nest.in_channels, mapping.tile_sums), &TileOperation::sums});
  }
  return loops;
}

LoopNest part_of_core(const LoopNest& nest, const InstructionClass& c) {
  LoopNest part = nest;
  (c.shares_channels ? part.out_channels : part.groups) /= c.spread_cores;
  return part;
}

std::vector<TileLoop> loops_of_core(const LoopNest& nest, const InstructionClass& c, const NestPart& part,
                                    std::int64_t core) {
  const LoopNest own = part_of_core(nest, c);
  const std::int64_t first = core * own.groups * own.out_channels;
  std::vector<TileLoop> loops = tile_loops(own, true, c.mapping, part);
  for (TileLoop& loop : loops)
    if (loop.extent == &TileOperation::channels)
      for (Extent& tile : loop.tiles) tile = {first + tile.begin, first + tile.end};
  return loops;
}

}  // namespace sdip::exec
