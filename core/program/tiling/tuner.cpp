// Greedy and sampled searches for a tiling.
#include "core/program/tiling/tuner.h"

#include <algorithm>
#include <random>

namespace sdip {
namespace {

std::int64_t& tile_of(Mapping& m, Loop loop) {
  constexpr std::int64_t Mapping::*tiles[] = {&Mapping::tile_rows, &Mapping::tile_columns, &Mapping::tile_channels,
                                              &Mapping::tile_sums};
  return m.*tiles[at(loop)];
}

/// The divisor of `size` nearest to `tile` among those below it (or above it) that are multiples of `granule`;
/// `none` when there is none.
std::int64_t next_divisor(std::int64_t size, std::int64_t tile, std::int64_t granule, bool below,
                          std::int64_t none) {
  std::int64_t nearest = 0;
  for (std::int64_t d = 1; d <= size / d; ++d) {
    if (size % d != 0) continue;
    for (const std::int64_t divisor : {d, size / d})
      if (divisor % granule == 0 && (below ? divisor < tile : divisor > tile) &&
          (nearest == 0 || (below ? divisor > nearest : divisor < nearest)))
        nearest = divisor;
  }
  return nearest == 0 ? none : nearest;
}

constexpr LoopOrder all_loops{Loop::rows, Loop::columns, Loop::channels, Loop::sums};

struct SplitLoop {
  std::int64_t size = 1, least = 1;  // least: of a tile; the size where it is not split
};
SplitLoop split_loop(std::int64_t size, bool split, std::int64_t granule) {
  return {size, split ? std::min(size, granule) : size};
}

/// The cheapest of `start` and those with a larger tile of a loop, as long as they fit.
Tuned grown(const Tuned& start, Loop loop, const SplitLoop& sizes, const MappingCost& cost) {
  Tuned best = start;
  Mapping m = start.mapping;
  std::int64_t& tile = tile_of(m, loop);
  while (tile < sizes.size) {
    tile = next_divisor(sizes.size, tile, sizes.least, false, sizes.size);
    const auto found = cost(m);
    if (!found) break;
    if (*found < best.cost) best = {m, *found};
  }
  return best;
}

std::optional<Tuned> first_fit(const Nest& nest, const TileSizes& sizes, const MappingCost& cost,
                               std::size_t order) {
  constexpr Loop free_of[] = {Loop::sums, Loop::rows, Loop::columns, Loop::channels, Loop::channels};
  const LoopNest& n = nest.loops;
  const SplitLoop loops[] = {split_loop(n.out_h, sizes.split_rows, 1), split_loop(n.out_w, sizes.split_columns, 1),
                             split_loop(n.out_channels, sizes.split_channels, sizes.channel_granule),
                             split_loop(n.in_channels, sizes.split_sums, sizes.sum_granule)};
  const auto loop_at = [&](Loop loop) { return loops[at(loop)]; };
  Mapping m{n.out_h, n.out_w, nest.channels(), n.in_channels, tiling_orders[order]};
  const Loop free = free_of[order];
  if (free != Loop::channels || sizes.split_channels) tile_of(m, free) = loop_at(free).least;
  while (true) {
    if (const auto found = cost(m)) return grown({m, *found}, free, loop_at(free), cost);
    std::optional<Loop> largest;
    for (const Loop loop : all_loops) {
      const bool splits = loop == Loop::channels ? sizes.split_channels : true;
      if (splits && tile_of(m, loop) > loop_at(loop).least && (!largest || tile_of(m, loop) > tile_of(m, *largest)))
        largest = loop;
    }
    if (!largest) return std::nullopt;
    std::int64_t& tile = tile_of(m, *largest);
    const SplitLoop loop = loop_at(*largest);
    const bool groups = *largest == Loop::channels && tile > n.out_channels;
    tile = groups ? n.out_channels * next_divisor(n.groups, tile / n.out_channels, 1, true, 1)
                  : next_divisor(loop.size, tile, loop.least, true, loop.least);
  }
}

/// The sizes that a loop may take, ascending, and mappings made of them.
struct Drawer {
  const Nest& nest;
  std::mt19937_64 rng;
  std::array<std::vector<std::int64_t>, 4> sizes{};

  Drawer(const Nest& of, const TileSizes& allowed, std::uint64_t seed) : nest(of), rng(seed) {
    const auto tiles = [](const std::vector<TileSize>& from, std::int64_t scale, std::vector<std::int64_t>& to) {
      for (const TileSize& s : from) to.push_back(s.tile * scale);
    };
    const LoopNest& n = nest.loops;
    tiles(sizes_of_axis(row_axis(n), allowed.split_rows), 1, sizes[0]);
    tiles(sizes_of_axis(column_axis(n), allowed.split_columns), 1, sizes[1]);
    if (allowed.split_channels) tiles(sizes_of_loop(n.out_channels, allowed.channel_granule, true), 1, sizes[2]);
    if (nest.weighted && n.groups > 1)
      tiles(sizes_of_loop(n.groups, 1, allowed.split_channels), n.out_channels, sizes[2]);
    if (sizes[2].empty()) sizes[2].push_back(nest.channels());
    std::ranges::sort(sizes[2]);
    tiles(sizes_of_loop(n.in_channels, allowed.sum_granule, allowed.split_sums), 1, sizes[3]);
  }
  std::size_t below(std::size_t count) { return as_size(rng() % count); }

  Mapping smallest() const { return {sizes[0][0], sizes[1][0], sizes[2][0], sizes[3][0], tiling_orders[0]}; }
  Mapping whole() const {
    return {sizes[0].back(), sizes[1].back(), sizes[2].back(), sizes[3].back(), tiling_orders[1]};
  }
  Mapping random() {
    Mapping m;
    for (const Loop loop : all_loops) {
      const auto& of = sizes[at(loop)];
      tile_of(m, loop) = of[below(of.size())];
    }
    for (std::size_t i = 3; i > 0; --i) std::swap(m.order[i], m.order[below(i + 1)]);
    return m;
  }
  Mapping near(Mapping m) {
    const std::size_t what = below(7);
    if (what < 3) {
      std::swap(m.order[what], m.order[what + 1]);
      return m;
    }
    const auto& of = sizes[what - 3];
    std::int64_t& tile = tile_of(m, static_cast<Loop>(what - 3));
    const auto at = std::ranges::lower_bound(of, tile);
    if (below(2) == 0 && at + 1 < of.end())
      tile = *(at + 1);
    else if (at > of.begin())
      tile = *(at - 1);
    return m;
  }
};

}  // namespace

std::optional<Tuned> greedy_mapping(const Nest& nest, const TileSizes& sizes, const MappingCost& cost) {
  std::optional<Tuned> best;
  for (std::size_t order = 0; order < tiling_orders.size(); ++order) {
    const auto found = first_fit(nest, sizes, cost, order);
    if (found && (!best || found->cost < best->cost)) best = found;
  }
  return best;
}

std::optional<Tiling> greedy_tiling(const Nest& nest, std::int64_t words) {
  const MappingCost moved = [&](const Mapping& m) -> std::optional<Asked> {
    if (tile_words(nest, m).all() > words) return std::nullopt;
    return Asked{0, traffic(nest, m).words()};
  };
  const auto best = greedy_mapping(nest, {}, moved);
  if (!best) return std::nullopt;
  return Tiling{best->mapping, best->cost.price, reference_folds(nest, best->mapping, TileSizes().reference_lanes)};
}

std::optional<Tuned> tune(const Nest& nest, const TileSizes& sizes, const MappingCost& cost,
                          const TunerOptions& options) {
  Drawer draw(nest, sizes, options.seed);
  std::vector<Tuned> best;  // cheapest first, no mapping twice
  const auto before = [](const Tuned& a, const Tuned& b) {
    return std::tie(a.cost, a.mapping) < std::tie(b.cost, b.mapping);
  };
  const auto consider = [&](const Mapping& m) {
    const auto found = cost(m);
    if (!found) return;
    const Tuned tuned{m, *found};
    const auto at = std::ranges::lower_bound(best, tuned, before);
    if (at != best.end() && at->mapping == m) return;
    best.insert(at, tuned);
    if (std::ssize(best) > std::max<std::int64_t>(1, options.keep)) best.pop_back();
  };
  consider(draw.smallest());
  consider(draw.whole());
  for (std::int64_t i = 0; i < options.random; ++i) consider(draw.random());
  for (std::int64_t i = 0; i < options.guided; ++i) {
    const bool near = !best.empty() && static_cast<std::int64_t>(draw.below(100)) < options.near_percent;
    consider(near ? draw.near(best[draw.below(best.size())].mapping) : draw.random());
  }
  return best.empty() ? std::nullopt : std::optional(best.front());
}

}  // namespace sdip
