// The search for the tiling of fewest bytes, each transfer rounded up as DRAM moves it. A price is bytes before
// that: what pays more than the bytes found so far need not be counted.
//
// Worked example: a product of 1 x 1 by 1 x 7 whose 7 weights of a byte come in bursts of 2. Tiles of 3 are 3 of 4,
// 4 and 2 bytes, tiles of 2 are 4 of 2: as many words, but 10 and 8 bytes.
#include <functional>
#include <tuple>

#include "core/program/tiling/tiling_search.h"

namespace sdip {
namespace {

struct BytesSearch {
  Search& search;
  const ExactBytes& exact;
  const std::vector<std::int64_t> channels;
  const std::vector<TileSize> sums;
  std::int64_t fewest;  // found so far; at first one less than what is to be beaten
  std::optional<Mapping> best{};
  std::int64_t best_folds = 0;

  /// What pays more moves more bytes than the fewest.
  bool too_dear(std::int64_t price) const { return price > times(fewest - exact.fixed, exact.price_a_byte); }

  void consider(const Mapping& m) {
    const std::int64_t bytes = exact.of(m);
    if (bytes > fewest) return;
    const std::int64_t folds = reference_folds(search.nest, m, search.sizes.reference_lanes);
    if (best && std::tuple(bytes, folds, m) >= std::tuple(fewest, best_folds, *best)) return;
    if (!search.accepted(m)) return;
    best = m, fewest = bytes, best_folds = folds;
  }

  void try_channels(Order order, const TileSize& r, const TileSize& c, const TileSize& s) {
    const auto over =
        std::ranges::partition_point(channels, [&](std::int64_t size) { return search.fits(r, c, s, size); });
    for (auto size = over; size != channels.begin();) {
      --size;
      if (too_dear(search.price(order, r, c, s, search.channel_tiles(*size)))) return;
      consider(search.mapping(order, r, c, *size, s));
    }
  }

  void try_pair(const TileSize& r, const TileSize& c) {
    for (std::size_t o = 0; o < tiling_orders.size(); ++o) {
      const auto order = static_cast<Order>(o);
      for (auto s = sums.rbegin(); s != sums.rend(); ++s) {
        if (order != results_stay && s->count > 1 && !search.terms.partials_leave) break;
        if (too_dear(search.price(order, r, c, *s, 1))) break;  // nor do more tiles of sums pay less
        try_channels(order, r, c, *s);
      }
    }
  }

  std::optional<Mapping> run() {
    const LoopNest& n = search.n;
    consider({n.out_h, n.out_w, search.nest.channels(), n.in_channels, tiling_orders[weights_stay_rows]});
    consider(least_sizes());
    for (const TileSize& r : search.rows)
      for (const TileSize& c : search.columns) {
        if (!search.may_fit(r, c)) break;
        try_pair(r, c);
      }
    return best;
  }

  Mapping least_sizes() const {
    const TileSizes& sizes = search.sizes;
    return {search.rows.front().tile, search.columns.front().tile,
            sizes.split_channels ? search.least_channels : search.nest.channels(), search.sums.front().tile,
            tiling_orders[0]};
  }
};

template <class Size, class Tile = std::identity>
void sort_out(std::vector<Size>& sizes, Tile tile = {}) {
  std::ranges::sort(sizes, {}, tile);
  const auto same = [&](const Size& a, const Size& b) { return std::invoke(tile, a) == std::invoke(tile, b); };
  sizes.erase(std::unique(sizes.begin(), sizes.end(), same), sizes.end());
}

/// Tiles of channels that are tried: of every number of tiles the smallest multiple of each granule.
std::vector<std::int64_t> channels_tried(const Nest& nest, bool split, std::span<const std::int64_t> granules) {
  std::vector<std::int64_t> tiles{nest.channels()};
  if (!split) return tiles;
  for (const std::int64_t granule : granules)
    for (const TileSize& s : sizes_of_loop(nest.loops.out_channels, granule, true)) tiles.push_back(s.tile);
  if (nest.weighted && nest.loops.groups > 1)
    for (const TileSize& s : sizes_of_loop(nest.loops.groups, 1, true))
      tiles.push_back(s.tile * nest.loops.out_channels);
  sort_out(tiles);
  return tiles;
}

}  // namespace

Mapping with_tried_channels(const Nest& nest, std::span<const std::int64_t> granules, Mapping m) {
  const auto count = [&](std::int64_t tile) {
    m.tile_channels = tile;
    const TileCounts counts = tile_counts(nest, m);
    return counts.channels * counts.groups;
  };
  const std::int64_t most = m.tile_channels, tiles = count(most);
  const std::vector<std::int64_t> tried = channels_tried(nest, true, granules);
  auto size = std::ranges::upper_bound(tried, most);
  m.tile_channels = size == tried.begin() || count(*--size) != tiles ? most : *size;
  return m;
}

std::optional<Mapping> fewest_bytes(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                                    std::span<const std::int64_t> granules, const Accept& accept,
                                    const ExactBytes& exact, std::int64_t below) {
  const std::int64_t most = times(std::max<std::int64_t>(0, below - 1 - exact.fixed), exact.price_a_byte);
  if (below - 1 < exact.fixed || least_price(nest, terms) > most) return std::nullopt;
  TileSizes finest = sizes;
  finest.channel_granule = finest.sum_granule = granules.front();
  if (!best_tiling(nest, terms, finest, accept, plus(most, 1))) return std::nullopt;
  Search search{nest, terms, finest, accept, most_price};
  std::vector<TileSize> sums = search.sums;
  for (const std::int64_t granule : granules)
    for (const TileSize& s : sizes_of_loop(nest.loops.in_channels, granule, sizes.split_sums)) sums.push_back(s);
  sort_out(sums, &TileSize::tile);
  return BytesSearch{search, exact, channels_tried(nest, sizes.split_channels, granules), std::move(sums),
                     below - 1}
      .run();
}

}  // namespace sdip
