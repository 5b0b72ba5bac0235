// The staircase of a nest.
#include "core/program/tiling/staircase.h"

#include <algorithm>

namespace sdip {
namespace {

std::vector<std::int64_t> channel_tiles(const Nest& nest) {
  std::vector<std::int64_t> tiles;
  for (const TileSize& s : sizes_of_loop(nest.loops.out_channels, 1, true)) tiles.push_back(s.tile);
  if (nest.weighted)
    for (const TileSize& s : sizes_of_loop(nest.loops.groups, 1, true))
      if (s.tile > 1) tiles.push_back(s.tile * nest.loops.out_channels);
  return tiles;
}

/// Every mapping that may be a stair: in each order the size that words do not depend on is the smallest.
std::vector<Stair> candidates(const Nest& nest) {
  const auto rows = sizes_of_axis(row_axis(nest.loops), true),
             columns = sizes_of_axis(column_axis(nest.loops), true);
  const auto sums = sizes_of_loop(nest.loops.in_channels, 1, true);
  const auto channels = channel_tiles(nest);
  std::vector<Stair> all;
  for (std::size_t order = 0; order < tiling_orders.size(); ++order)
    for (const TileSize& r : rows) {
      if (order == 1 && r.tile != rows.front().tile) continue;
      for (const TileSize& c : columns) {
        if (order == 2 && c.tile != columns.front().tile) continue;
        for (const TileSize& s : sums) {
          if (order == 0 && s.tile != sums.front().tile) continue;
          for (const std::int64_t k : channels) {
            if (order > 2 && k != channels.front()) continue;
            const Mapping m{r.tile, c.tile, k, s.tile, tiling_orders[order]};
            all.push_back({tile_words(nest, m).all(), traffic(nest, m).words(), m});
          }
        }
      }
    }
  return all;
}

}  // namespace

std::vector<Stair> staircase(const Nest& nest) {
  std::vector<Stair> all = candidates(nest);
  std::ranges::sort(all, {}, [](const Stair& s) { return std::tie(s.capacity, s.moved, s.mapping); });
  std::vector<Stair> stairs;
  for (const Stair& s : all)
    if (stairs.empty() || s.moved < stairs.back().moved) {
      if (!stairs.empty() && stairs.back().capacity == s.capacity) continue;
      stairs.push_back(s);
    }
  return stairs;
}

const Stair* stair_at(const std::vector<Stair>& stairs, std::int64_t capacity) {
  const auto above = std::ranges::upper_bound(stairs, capacity, {}, &Stair::capacity);
  return above == stairs.begin() ? nullptr : &*(above - 1);
}

}  // namespace sdip
