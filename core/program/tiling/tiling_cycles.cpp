// The search for the tiling of fewest cycles on the reference machine.
//
// Worked example: 4 rows of 3 sums by 4 channels in 8 words, 4 lanes and DRAM of a word a cycle. The fewest words,
// 64, are those of results that stay, tiles of 2 x 2 with one sum at a time in 2 + 2 + 4 words; but their port
// takes 4 folds x 4 rows x (2 x 3 - 1) = 80 cycles. One row by one channel with all sums in 3 + 3 + 1 words, inputs
// stay: A once, B for each row, 12 + 4 x 12 + 16 = 76 words, 16 folds x 4 rows of results: 76 cycles.
#include <tuple>

#include "core/program/tiling/tiling_search.h"

namespace sdip {
namespace {

/// Cycles for each fold: its sums, or writing its results and reading them again for each further tile of sums.
std::int64_t fold_cycles(const Nest& nest, std::int64_t sums_tiles, std::int64_t lanes) {
  const LoopNest& n = nest.loops;
  return std::max(times(times(n.kernel_h, n.kernel_w), n.in_channels), times(lanes, 2 * sums_tiles - 1));
}

struct CyclesSearch {
  Search& search;
  Tiling best;
  std::int64_t most;  // that a mapping may pay
  std::vector<ChannelSize> channels = channel_sizes(search);
  std::int64_t least_folds = std::ranges::min(channels, {}, &ChannelSize::folds).folds;
  std::int64_t least_fold_cycles = fold_cycles(search.nest, 1, search.sizes.reference_lanes.rows);

  std::int64_t shortfall_of(const Mapping& m) const {
    if (search.sizes.least_results == 0) return 0;
    return std::max<std::int64_t>(0, search.sizes.least_results - tile_words(search.nest, m).out);
  }
  std::int64_t waits(std::int64_t price) const { return ceil_div(price, search.terms.price_a_cycle); }

  std::int64_t best_cycles = 0;

  void consider(Order order, const TileSize& r, const TileSize& c, const TileSize& s, const ChannelSize& k,
                std::int64_t folds) {
    if (order != results_stay && s.count > 1 && !search.terms.partials_leave) return;
    const std::int64_t price = search.price(order, r, c, s, k.tiles);
    if (price > most) return;
    const std::int64_t cycles =
        std::max(waits(price), times(folds, fold_cycles(search.nest, s.count, search.sizes.reference_lanes.rows)));
    if (std::tuple(cycles, price, folds) > std::tuple(best_cycles, best.price, best.folds)) return;
    const auto rank = [&](std::int64_t of_cycles, const Tiling& t) {
      const Mapping& m = t.mapping;
      return std::tuple(of_cycles, t.price, t.folds, shortfall_of(m), m.tile_rows, m.tile_columns, m.tile_channels,
                        m.tile_sums);
    };
    const Tiling found{search.mapping(order, r, c, k.tile, s), price, folds};
    if (rank(cycles, found) >= rank(best_cycles, best) || !search.accepted(found.mapping)) return;
    best = found;
    best_cycles = cycles;
  }

  /// The largest tile of sums that fits; nullptr when none does.
  const TileSize* most_sums(const TileSize& r, const TileSize& c, const ChannelSize& k) const {
    const auto fits = [&](const TileSize& s) {
      return search.fits(r, c, s, k.tile) && search.accepted(search.mapping(results_stay, r, c, k.tile, s));
    };
    if (fits(search.sums.back())) return &search.sums.back();
    const auto over = std::ranges::partition_point(search.sums.begin(), search.sums.end() - 1, fits);
    return over == search.sums.begin() ? nullptr : &*(over - 1);
  }

  /// Whether some order may pay so little with so many tiles of channels, whatever the tiles of sums.
  bool affordable(const TileSize& r, const TileSize& c, std::int64_t channel_tiles) const {
    for (std::size_t order = 0; order < tiling_orders.size(); ++order)
      if (search.price(static_cast<Order>(order), r, c, search.sums.back(), channel_tiles) <= most) return true;
    return false;
  }

  void choose_pair(const TileSize& r, const TileSize& c) {
    if (!affordable(r, c, 1)) return;
    if (times(times(r.count * c.count, least_folds), least_fold_cycles) > best_cycles) return;
    const std::int64_t places = search.place_folds(r, c);
    for (const ChannelSize& k : channels) {
      const std::int64_t folds = times(places, k.folds);
      if (times(folds, least_fold_cycles) > best_cycles) continue;
      if (!affordable(r, c, k.tiles)) continue;
      const TileSize* s = most_sums(r, c, k);
      if (s == nullptr) break;  // nor does a larger tile fit
      for (std::size_t order = 0; order < tiling_orders.size(); ++order)
        consider(static_cast<Order>(order), r, c, *s, k, folds);
    }
  }

  Tiling run() {
    const std::int64_t least = waits(least_price(search.nest, search.terms));
    std::size_t end = search.columns.size();
    for (const TileSize& r : search.rows) {
      while (end > 0 && !search.may_fit(r, search.columns[end - 1])) --end;
      if (best_cycles <= least && best.price <= least_price(search.nest, search.terms)) break;
      for (std::size_t c = 0; c < end; ++c) choose_pair(r, search.columns[c]);
    }
    return best;
  }
};

}  // namespace

std::int64_t reference_cycles(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                              const Mapping& mapping) {
  const std::int64_t sums_tiles = ceil_div(nest.loops.in_channels, mapping.tile_sums);
  return std::max(ceil_div(price_of(nest, terms, mapping), terms.price_a_cycle),
                  times(reference_folds(nest, mapping, sizes.reference_lanes),
                        fold_cycles(nest, sums_tiles, sizes.reference_lanes.rows)));
}

Tiling fewest_cycles(const Nest& nest, const TileTerms& terms, const TileSizes& sizes, const Accept& accept,
                     const Tiling& start, std::int64_t most) {
  const std::int64_t cycles = reference_cycles(nest, terms, sizes, start.mapping);
  if (cycles == ceil_div(start.price, terms.price_a_cycle)) return start;  // it waits for DRAM alone
  Search search{nest, terms, sizes, accept, most_price};
  CyclesSearch of_cycles{search, start, most};
  of_cycles.best.folds = reference_folds(nest, start.mapping, sizes.reference_lanes);
  of_cycles.best_cycles = cycles;
  return of_cycles.run();
}

}  // namespace sdip
