// The search for the tiling of fewest bytes, each transfer rounded up as DRAM moves it. A price is bytes before
// that: what pays more than the bytes found so far need not be counted.
//
// Worked example: a product of 1 x 1 by 1 x 7 whose 7 weights of a byte come in bursts of 2. Tiles of 3 are 3 of 4,
// 4 and 2 bytes, tiles of 2 are 4 of 2: as many words, but 10 and 8 bytes.
#include <functional>
#include <tuple>
#include <utility>

#include "core/program/tiling/tile_kinds.h"
#include "core/program/tiling/tiling_search.h"

namespace sdip {
namespace {

/// Counts the bytes that mappings of some rows and columns move, operand by operand and each transfer rounded up:
/// all but operands of fused operators, of which it knows the bytes alone. Requires nests of one group of weights.
class PartBytes {
 public:
  PartBytes(const Search& search, const ExactBytes& exact, const std::vector<std::int64_t>& channels,
            const std::vector<TileSize>& sums)
      : search_(search),
        exact_(exact),
        channels_(channels),
        sums_(sums),
        b_(channels.size() * sums.size(), unknown) {
    for (const TileSize& r : search.rows) row_loads_.push_back(loads_of(row_axis(search.n), r));
    for (const TileSize& c : search.columns) column_loads_.push_back(loads_of(column_axis(search.n), c));
    for (const std::int64_t size : channels) {
      tiles_.push_back(search.channel_tiles(size));
      const Cut pieces = cut(search.n.out_channels, size);
      channel_kinds_.push_back({Kind{size, pieces.full}, Kind{pieces.edge, pieces.edge > 0 ? 1 : 0}});
    }
    find_rounds();
  }

  /// Takes up this row and column size, given by their places.
  void take(std::size_t r, std::size_t c) {
    r_ = r, c_ = c;
    cut_ = false;
    whole_a_.fill(unknown);
    whole_out_ = unknown;
    const bool whole = search_.whole(search_.rows[r], search_.columns[c]);
    joined_ = search_.nest.weighted && whole;
    apart_ = search_.copies == 1 || search_.nest.weighted || !whole;
    place_kinds_.clear();
  }

  /// The bytes that tiles of these sums move in an order, by channels: with a tile of all and with several tiles.
  /// The bytes of B, results and partial sums, once, come on top so many times.
  struct Ways {
    std::size_t s;
    std::array<std::int64_t, 2> fixed, a, b_rounds, more_rounds;  // `a` for each tile of channels
    std::int64_t least;                                           // whatever the channels
  };
  Ways ways(Order order, std::size_t s) {
    Ways ways{s, {}, {}, {}, {}, most_price};
    for (std::size_t several = 0; several < 2; ++several) {
      const TileRounds rounds = rounds_of(order, sums_[s].count > 1, several == 1);
      const std::int64_t a = exact_.a_bits > 0 ? a_of(rounds.rows_slide ? 1 : rounds.columns_slide ? 2 : 0, s) : 0;
      const bool for_each = several == 1 && rounds.a > 1;
      ways.fixed[several] = for_each ? exact_.fixed : plus(exact_.fixed, times(a, rounds.a));
      ways.a[several] = for_each ? a : 0;
      ways.b_rounds[several] = rounds.b;
      ways.more_rounds[several] = rounds.out > 1 ? 2 * (sums_[s].count - 1) : 0;
      ways.least = std::min(ways.least, plus(plus(ways.fixed[several], 2 * ways.a[several]),
                                             plus(times(b_of(tiles_.size() - 1, s), rounds.b), least_results())));
    }
    return ways;
  }

  /// Whether tiles of the rows and columns taken may move no more than so many bytes in an order, whatever the
  /// sums: transfers that are cut are rounded up to no less.
  bool may_move(Order order, std::int64_t most) {
    if (!apart_) return true;
    const std::size_t all = sums_.size() - 1;
    for (const bool several_sums : {false, true})
      for (const bool several : {false, true}) {
        const TileRounds rounds = rounds_of(order, several_sums, several);
        std::int64_t bytes =
            plus(exact_.fixed, plus(least_results(), times(b_of(tiles_.size() - 1, all), rounds.b)));
        if (exact_.a_bits > 0)
          bytes = plus(bytes, times(a_of(rounds.rows_slide ? 1 : rounds.columns_slide ? 2 : 0, all), rounds.a));
        if (bytes <= most) return true;
      }
    return false;
  }

  /// Whether these tiles may move no more than so many bytes.
  bool may_move(const Ways& ways, std::size_t k, std::int64_t most) {
    const std::size_t several = tiles_[k] == 1 ? 0 : 1;
    if (several == 0 && !apart_) return true;  // a tile covers several products
    std::int64_t left = most - plus(ways.fixed[several], times(ways.a[several], tiles_[k]));
    if (left < least_results()) return false;
    left -= times(b_of(k, ways.s), ways.b_rounds[several]);
    if (left < least_results()) return false;
    if (exact_.out_bits > 0) left -= results(false, k);
    const std::int64_t more = ways.more_rounds[several];
    return left >= 0 && (more == 0 || times(results(true, k), more) <= left);
  }
  bool apart() const { return apart_; }

 private:
  static constexpr std::int64_t unknown = -1;
  using Loads = std::array<Kinds, 2>;  // whole windows, and what slides

  static Loads loads_of(const NestAxis& axis, const TileSize& size) {
    const Cut pieces = cut(axis.out, size.tile);
    return {loads_along(axis, pieces, size.tile, false), loads_along(axis, pieces, size.tile, true)};
  }
  std::int64_t copies_in_tile() const { return joined_ ? search_.copies : 1; }
  std::int64_t copies_apart() const { return joined_ ? 1 : search_.copies; }
  std::int64_t moved(std::int64_t elements, std::int64_t bits, std::int64_t count) const {
    const std::int64_t bytes = (elements * bits + 7) >> 3;
    const std::int64_t burst = exact_.burst_bytes;
    const bool even = (burst & (burst - 1)) == 0;
    return times(even ? (bytes + burst - 1) & -burst : ceil_div(bytes, burst) * burst, count);
  }

  std::int64_t least_results() { return exact_.out_bits > 0 ? results(false, tiles_.size() - 1) : 0; }

  /// Counts of two tiles of sums and channels stand for all: what comes again for each comes so many times.
  TileRounds rounds_of(Order order, bool several_sums, bool several_channels) const {
    const std::int64_t rows = search_.rows[r_].count, columns = search_.columns[c_].count;
    const std::size_t pattern =
        (rows > 1 ? 8U : 0U) + (columns > 1 ? 4U : 0U) + (several_sums ? 2U : 0U) + (several_channels ? 1U : 0U);
    TileRounds rounds = rounds_[order][pattern];
    const std::int64_t met = rounds.b;  // by which loops B comes again
    rounds.b = 1;
    if (met % rows_mark == 0) rounds.b = times(rounds.b, rows);
    if (met % columns_mark == 0) rounds.b = times(rounds.b, columns);
    if (met % repeats_mark == 0 && !joined_) rounds.b = times(rounds.b, search_.copies);
    return rounds;
  }

  /// Those of every order where loops of more than one tile have counts that tell them apart.
  void find_rounds() {
    for (std::size_t order = 0; order < tiling_orders.size(); ++order)
      for (std::size_t pattern = 0; pattern < rounds_[order].size(); ++pattern) {
        TileCounts counts;
        counts.rows = (pattern & 8U) != 0 ? rows_mark : 1, counts.columns = (pattern & 4U) != 0 ? columns_mark : 1;
        counts.sums = (pattern & 2U) != 0 ? 2 : 1, counts.channels = (pattern & 1U) != 0 ? 2 : 1;
        const bool joined = search_.nest.weighted && counts.rows == 1 && counts.columns == 1;
        if (!joined && search_.copies > 1) counts.repeats = repeats_mark;
        Mapping m;
        m.order = tiling_orders[order];
        rounds_[order][pattern] = tile_rounds(search_.nest, m, counts);
      }
  }

  std::int64_t b_of(std::size_t k, std::size_t s) {
    std::int64_t& bytes = b_[k * sums_.size() + s];
    if (bytes == unknown) bytes = exact_.b_once(channels_[k], sums_[s].tile);
    return bytes;
  }
  /// Forgets what follows from cut sums and channels, once it is asked for.
  void forget_cut() {
    if (std::exchange(cut_, true)) return;
    for (auto& a : a_) a.assign(sums_.size(), unknown);
    for (auto& out : out_) out.assign(channels_.size(), unknown);
  }

  /// All of A once, in tiles of rows and columns; 1: rows slide, 2: columns do.
  std::int64_t a_of(std::size_t slides, std::size_t s) {
    const bool whole = s + 1 == sums_.size();
    if (!whole) forget_cut();
    std::int64_t& bytes = whole ? whole_a_[slides] : a_[slides][s];
    if (bytes != unknown) return bytes;
    bytes = 0;
    const Cut pieces = cut(search_.n.in_channels, sums_[s].tile);
    const std::int64_t full = sums_[s].tile * copies_in_tile(), edge = pieces.edge * copies_in_tile();
    for (const Kind& r : row_loads_[r_][slides == 1 ? 1 : 0])
      for (const Kind& c : column_loads_[c_][slides == 2 ? 1 : 0]) {
        const std::int64_t size = r.size * c.size, count = r.count * c.count * copies_apart();
        bytes = plus(bytes, moved(size * full, exact_.a_bits, count * pieces.full));
        if (edge > 0) bytes = plus(bytes, moved(size * edge, exact_.a_bits, count));
      }
    return bytes;
  }

  /// All results once, or partial sums.
  std::int64_t results(bool partial, std::size_t k) {
    const bool whole = !partial && k + 1 == channels_.size();
    if (!whole) forget_cut();
    std::int64_t& bytes = whole ? whole_out_ : out_[partial ? 1 : 0][k];
    if (bytes != unknown) return bytes;
    bytes = 0;
    const LoopNest& n = search_.n;
    const std::int64_t row = search_.rows[r_].tile, column = search_.columns[c_].tile;
    if (place_kinds_.empty())
      for (const Kind& r : kinds_of(cut(n.out_h, row), row))
        for (const Kind& c : kinds_of(cut(n.out_w, column), column))
          place_kinds_.push_back({r.size * c.size, r.count * c.count});
    for (const Kind& place : place_kinds_)
      for (const Kind& o : channel_kinds_[k])
        bytes =
            plus(bytes, moved(place.size * o.size * copies_in_tile(), partial ? exact_.sums_bits : exact_.out_bits,
                              place.count * o.count * copies_apart()));
    return bytes;
  }

  const Search& search_;
  const ExactBytes& exact_;
  const std::vector<std::int64_t>& channels_;
  const std::vector<TileSize>& sums_;
  std::vector<Loads> row_loads_, column_loads_;
  std::vector<std::array<Kind, 2>> channel_kinds_;
  Kinds place_kinds_;  // of the rows and columns taken, once they are asked for
  static constexpr std::int64_t rows_mark = 3, columns_mark = 5, repeats_mark = 7;
  std::array<std::array<TileRounds, 16>, tiling_orders.size()> rounds_;
  std::vector<std::int64_t> tiles_, b_;
  std::array<std::vector<std::int64_t>, 3> a_;    // by sums, of the rows and columns taken
  std::array<std::vector<std::int64_t>, 2> out_;  // by channels: results, partial sums
  std::array<std::int64_t, 3> whole_a_{};         // a_ and out_ of what is not cut
  std::int64_t whole_out_ = unknown;
  std::size_t r_ = 0, c_ = 0;
  bool cut_ = false;  // whether a_ and out_ are of these
  bool joined_ = false, apart_ = true;
};

struct BytesSearch {
  Search& search;
  const ExactBytes& exact;
  const std::vector<std::int64_t> channels;
  const std::vector<TileSize> sums;
  std::int64_t fewest;                // found so far; at first one less than what is to be beaten
  std::vector<std::int64_t> tiles{};  // by channels
  std::optional<PartBytes> parts{};
  std::optional<Mapping> best{};
  std::int64_t best_folds = 0;
  std::vector<std::ptrdiff_t> fitting{};  // by sums: how many sizes of channels fit beside the rows and columns

  /// Whether a price is so high that more bytes are moved than the fewest.
  bool too_dear(std::int64_t price) const { return price > times(fewest - exact.fixed, exact.price_a_byte); }

  void consider(const Mapping& m) {
    const std::int64_t bytes = exact.of(m);
    if (bytes > fewest) return;
    const std::int64_t folds = reference_folds(search.nest, m, search.sizes.reference_lanes);
    if (best && std::tuple(bytes, folds, m) >= std::tuple(fewest, best_folds, *best)) return;
    if (!search.accepted(m)) return;
    best = m, fewest = bytes, best_folds = folds;
  }

  std::size_t channels_fitting(const TileSize& r, const TileSize& c, std::size_t s) {
    if (fitting[s] < 0)
      fitting[s] = std::ranges::partition_point(
                       channels, [&](std::int64_t size) { return search.fits(r, c, sums[s], size); }) -
                   channels.begin();
    return as_size(fitting[s]);
  }

  void try_channels(Order order, const TileSize& r, const TileSize& c, std::size_t s) {
    const std::int64_t of_one = search.price(order, r, c, sums[s], 1);
    const std::int64_t more = search.price(order, r, c, sums[s], 2) - of_one;
    const std::int64_t most = times(fewest - exact.fixed, exact.price_a_byte);
    // Smaller tiles are more, and too dear; where the smallest that is not finds no room larger ones do not either.
    const std::size_t smallest = more == 0 ? 0 : smallest_tile(1 + (most - of_one) / more);
    if (smallest == channels.size() || !search.fits(r, c, sums[s], channels[smallest])) return;
    std::optional<PartBytes::Ways> ways;
    if (parts) {
      ways = parts->ways(order, s);
      if (parts->apart() && ways->least > fewest) return;
    }
    for (std::size_t k = channels_fitting(r, c, s); k-- > smallest;) {
      if (too_dear(plus(of_one, times(more, tiles[k] - 1)))) return;
      if (ways && !parts->may_move(*ways, k, fewest)) continue;
      consider(search.mapping(order, r, c, channels[k], sums[s]));
    }
  }

  /// The first of the sizes of channels that makes no more tiles.
  std::size_t smallest_tile(std::int64_t most_tiles) const {
    return as_size(std::ranges::lower_bound(tiles, most_tiles, std::greater<>()) - tiles.begin());
  }

  void try_pair(const TileSize& r, const TileSize& c) {
    bool fresh = true;
    for (std::size_t o = 0; o < tiling_orders.size(); ++o) {
      const auto order = static_cast<Order>(o);
      if (too_dear(search.price(order, r, c, sums.back(), 1))) continue;  // nor do more tiles pay less
      if (parts && !parts->may_move(order, fewest)) continue;
      if (std::exchange(fresh, false)) fitting.assign(sums.size(), -1);
      for (std::size_t s = sums.size(); s-- > 0;) {
        if (order != results_stay && sums[s].count > 1 && !search.terms.partials_leave) break;
        if (too_dear(search.price(order, r, c, sums[s], 1))) break;  // nor do more tiles of sums pay less
        try_channels(order, r, c, s);
      }
    }
  }

  std::optional<Mapping> run() {
    const LoopNest& n = search.n;
    consider({n.out_h, n.out_w, search.nest.channels(), n.in_channels, tiling_orders[weights_stay_rows]});
    consider(least_sizes());
    for (const std::int64_t size : channels) tiles.push_back(search.channel_tiles(size));
    if (!search.grouped) parts.emplace(search, exact, channels, sums);
    for (std::size_t r = 0; r < search.rows.size(); ++r)
      for (std::size_t c = 0; c < search.columns.size(); ++c) {
        if (!search.may_fit(search.rows[r], search.columns[c])) break;
        if (parts) parts->take(r, c);
        try_pair(search.rows[r], search.columns[c]);
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
  const LoopNest& n = nest.loops;
  const Mapping whole{n.out_h, n.out_w, nest.channels(), n.in_channels, tiling_orders[weights_stay_rows]};
  if (!may_pay_less(nest, terms, sizes, plus(most, 1)) && !accept(whole)) return std::nullopt;
  TileSizes finest = sizes;
  finest.channel_granule = finest.sum_granule = granules.front();
  Search search{nest, terms, finest, accept, plus(most, 1)};
  if (!has_tiling(search)) return std::nullopt;
  std::vector<TileSize> sums = search.sums;
  for (const std::int64_t granule : granules)
    for (const TileSize& s : sizes_of_loop(nest.loops.in_channels, granule, sizes.split_sums)) sums.push_back(s);
  sort_out(sums, &TileSize::tile);
  return BytesSearch{search, exact, channels_tried(nest, sizes.split_channels, granules), std::move(sums),
                     below - 1}
      .run();
}

}  // namespace sdip
