// The second half of the search for a tiling: what decides between mappings that pay the same.
#include <algorithm>
#include <functional>
#include <tuple>

#include "core/program/tiling/tiling_search.h"

namespace sdip {
namespace {

/// The second half: among mappings of the best price, the one of fewest folds, and so on.
struct Refinement {
  Search& search;
  std::vector<ChannelSize> channels = channel_sizes(search);
  std::int64_t least_folds = std::ranges::min(channels, {}, &ChannelSize::folds).folds;
  std::int64_t fewest_folds =  // whatever the tiles
      times(ceil_div(times(search.n.out_h * search.n.out_w, search.copies), search.sizes.reference_lanes.rows),
            least_folds);
  std::int64_t price = search.best->price;
  std::int64_t most_b = price - plus(search.least_a, search.terms.out_price);  // of loading B
  std::int64_t shortfall_of(const TileSize& r, const TileSize& c, std::int64_t tile_channels) const {
    if (search.sizes.least_results == 0) return 0;
    const bool all = search.whole(r, c) && (search.nest.weighted || tile_channels == search.n.out_channels);
    const std::int64_t results = times(times(r.tile * c.tile, tile_channels), all ? search.copies : 1);
    return std::max<std::int64_t>(0, search.sizes.least_results - results);
  }
  std::int64_t best_shortfall = 0;

  /// The last sizes that did not fit, by order: as rows only grow, larger ones do not either.
  struct Misfit {
    std::int64_t columns = 0, channels = 0, sums = 0;
  };
  std::array<Misfit, tiling_orders.size()> misfits{};

  /// Takes a better one of the mappings of these sizes whose channels make `tiles` tiles (0: any) and fit. `folds`
  /// of the places are counted once something fits; they are 0 until then.
  void choose_channels(Order order, const TileSize& r, const TileSize& c, const TileSize& s, std::int64_t& folds,
                       std::int64_t tiles) {
    auto size = channels.begin();
    if (tiles != 0) size = std::ranges::lower_bound(channels, tiles, std::greater<>(), &ChannelSize::tiles);
    Misfit& misfit = misfits[order];
    for (; size != channels.end() && (tiles == 0 || size->tiles == tiles); ++size) {
      if (c.tile >= misfit.columns && s.tile == misfit.sums && size->tile >= misfit.channels) break;
      if (!search.fits(r, c, s, size->tile)) {
        misfit = {c.tile, size->tile, s.tile};
        break;
      }
      if (folds == 0) folds = search.place_folds(r, c);
      Tiling& best = *search.best;
      const std::int64_t all_folds = times(folds, size->folds);
      if (all_folds > best.folds) continue;
      const Mapping m = search.mapping(order, r, c, size->tile, s);
      const std::int64_t shortfall = shortfall_of(r, c, size->tile);
      const auto key = [](const Mapping& x) {
        return std::tuple(x.tile_rows, x.tile_columns, x.tile_channels, x.tile_sums);
      };
      if (std::tuple(all_folds, shortfall, key(m)) >= std::tuple(best.folds, best_shortfall, key(best.mapping)))
        continue;
      if (!search.accepted(m)) continue;
      best = {m, price, all_folds};
      best_shortfall = shortfall;
    }
  }

  /// Whether A at price `a`, loaded once for each of some number of channels tiles, makes up `rest`.
  static bool pays(std::int64_t rest, std::int64_t a) { return a == 0 ? rest == 0 : rest >= a && rest % a == 0; }

  /// Numbers of tiles with which weights that stay make up the price: of sums, and of channels (0: any).
  struct Way {
    const TileSize* sums;
    std::int64_t channel_tiles;
  };
  /// Ways with weights that stay, where A costs `a` each time and is loaded once for each tile of channels.
  std::vector<Way> ways_to_keep_weights(std::int64_t a) const {
    std::vector<Way> ways;
    for (auto s = search.sums.rbegin(); s != search.sums.rend(); ++s) {
      const std::int64_t rest = price - plus(search.out_price(*s), search.terms.b_price);
      if (rest < a || (s->count > 1 && !search.terms.partials_leave)) break;
      if (pays(rest, a)) ways.push_back({&*s, a == 0 ? 0 : rest / a});
    }
    return ways;
  }

  /// The sums tiles with which inputs that stay make up the price; nullptr when none do. No two have the same
  /// price, since partial sums that leave are paid for.
  const TileSize* sums_of_kept_inputs(const TileSize& r, const TileSize& c, std::int64_t b, bool rows_slide) const {
    const std::int64_t rest = price - plus(b, search.kept_inputs_price(r, c, rows_slide));
    for (auto s = search.sums.rbegin(); s != search.sums.rend(); ++s) {
      const std::int64_t out = search.out_price(*s);
      if (out > rest || (s->count > 1 && !search.terms.partials_leave)) return nullptr;
      if (out == rest) return &*s;
    }
    return nullptr;
  }

  /// Whether mappings of these rows and columns can be no better, when they take `folds` at least.
  bool hopeless(const TileSize& r, const TileSize& c, std::int64_t folds) const {
    const Tiling& best = *search.best;
    if (folds != best.folds) return folds > best.folds;
    const std::int64_t results = times(r.tile * c.tile, times(search.nest.channels(), search.copies));
    const std::int64_t shortfall = std::max<std::int64_t>(0, search.sizes.least_results - results);
    if (shortfall != best_shortfall) return shortfall > best_shortfall;
    return std::pair(r.tile, c.tile) > std::pair(best.mapping.tile_rows, best.mapping.tile_columns);
  }

  void choose_pair(const TileSize& r, const TileSize& c, const std::vector<Way>& by_column,
                   const std::vector<Way>& by_row) {
    if (hopeless(r, c, fewest_folds)) return;
    const std::int64_t b = times(search.terms.b_price, search.rounds(r, c));
    const std::int64_t rest = price - plus(search.terms.out_price, b), a = search.a_price(r.read, c.read);
    const bool results = search.sums.front().count > 1 && pays(rest, a);
    const TileSize* by_rows = b > most_b ? nullptr : sums_of_kept_inputs(r, c, b, true);
    const TileSize* by_columns = b > most_b ? nullptr : sums_of_kept_inputs(r, c, b, false);
    std::int64_t folds = 0;
    if (results) choose_channels(results_stay, r, c, search.sums.front(), folds, a == 0 ? 0 : rest / a);
    if (by_rows) choose_channels(inputs_stay_rows, r, c, *by_rows, folds, 0);
    if (by_columns) choose_channels(inputs_stay_columns, r, c, *by_columns, folds, 0);
    for (const Way& way : by_column) choose_channels(weights_stay_rows, r, c, *way.sums, folds, way.channel_tiles);
    for (const Way& way : by_row) choose_channels(weights_stay_columns, r, c, *way.sums, folds, way.channel_tiles);
  }

  /// Numbers of tiles fall as sizes grow: what too many tiles rule out is a start of the columns, and what finds no
  /// room an end that comes sooner the more rows there are.
  void run() {
    const Mapping& first = search.best->mapping;
    const auto size = [](std::int64_t all, std::int64_t tile) { return TileSize{tile, ceil_div(all, tile), 0, 0}; };
    best_shortfall = shortfall_of(size(search.n.out_h, first.tile_rows), size(search.n.out_w, first.tile_columns),
                                  first.tile_channels);
    const auto& columns = search.columns;
    List<std::vector<Way>> by_column;
    for (const TileSize& c : columns)
      by_column.push_back(ways_to_keep_weights(search.a_price(search.rows_read, c.read)));
    auto end = columns.end();
    for (const TileSize& r : search.rows) {
      while (end != columns.begin() && !search.may_fit(r, *(end - 1))) --end;
      if (end == columns.begin()) return;
      if (search.sizes.least_results == 0 && hopeless(r, columns.front(), fewest_folds)) return;
      const auto folded = [&](const TileSize& c) {
        return times(r.count * c.count, least_folds) > search.best->folds;
      };
      const auto too_dear = [&](const TileSize& c) {
        return times(search.terms.b_price, search.rounds(r, c)) > most_b;
      };
      const std::vector<Way> by_row = ways_to_keep_weights(search.a_price(r.read, search.columns_read));
      auto c = std::partition_point(columns.begin(), end, folded);
      const auto affordable = !by_row.empty() ? c : std::partition_point(columns.begin(), end, too_dear);
      for (; c != end; ++c) {
        const auto& ways = by_column[c - columns.begin()];
        if (c >= affordable || !ways.empty()) choose_pair(r, *c, ways, by_row);
      }
    }
  }
};

}  // namespace

std::vector<ChannelSize> channel_sizes(const Search& search) {
  const LoopNest& n = search.n;
  const std::int64_t lanes = search.sizes.reference_lanes.channels, whole = search.nest.channels();
  std::vector<std::int64_t> tiles{whole};
  if (search.sizes.split_channels) {
    for (const TileSize& s : sizes_of_loop(n.out_channels, search.sizes.channel_granule, true))
      tiles.push_back(s.tile);
    for (std::int64_t t = lanes; t < n.out_channels && t <= 64 * lanes; t += lanes)
      if (t % search.sizes.channel_granule == 0) tiles.push_back(t);
    if (search.grouped)
      for (const TileSize& s : sizes_of_loop(n.groups, 1, true)) tiles.push_back(s.tile * n.out_channels);
  }
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  std::vector<ChannelSize> sizes;
  for (const std::int64_t t : tiles) {
    const std::int64_t in_group = std::min(t, n.out_channels);
    const std::int64_t folds =
        n.out_channels / in_group * ceil_div(in_group, lanes) + ceil_div(n.out_channels % in_group, lanes);
    const ChannelSize size{t, search.channel_tiles(t), folds * (search.nest.weighted ? n.groups : 1)};
    const bool as_good = !sizes.empty() && sizes.back().tiles == size.tiles && sizes.back().folds <= size.folds;
    if (!as_good || search.sizes.least_results > 0) sizes.push_back(size);  // else the smaller one does
  }
  return sizes;
}

void break_ties(Search& search) { Refinement{search}.run(); }

}  // namespace sdip
