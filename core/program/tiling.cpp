// The search for the tiling of a nest.
//
// Worked example: a product of 6 x 6 by 6 x 6 in 27 words. Whole, 36 words of each, does not fit. Results stay:
// tiles of 3 rows by 6 channels, one sum at a time, 3 + 6 + 18 words: A once, B for each of 2 row tiles: 36 + 72 +
// 36 = 144. Weights stay, 6 sums by 3 channels: 18 + 6 + 3 words, also 144, but rows one at a time are 12 folds and
// not 2. In 26 words the best is 180.
#include "core/program/tiling.h"

#include <algorithm>
#include <tuple>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr std::int64_t most_price = std::int64_t{1} << 61;

std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(std::min<Int128>(static_cast<Int128>(a) * b, most_price));
}
std::int64_t plus(std::int64_t a, std::int64_t b) { return std::min(a + b, most_price); }

/// An order of tiling_orders: which operand stays on chip, and the axis along which A slides.
enum Order : std::size_t {
  results_stay,
  weights_stay_rows,
  weights_stay_columns,
  inputs_stay_rows,
  inputs_stay_columns
};

struct Search {
  const Nest& nest;
  const TileTerms& terms;
  const TileSizes& sizes;
  const Accept& accept;
  const LoopNest& n = nest.loops;
  std::vector<TileSize> rows = sizes_of_axis(row_axis(n), sizes.split_rows);
  std::vector<TileSize> columns = sizes_of_axis(column_axis(n), sizes.split_columns);
  std::vector<TileSize> sums = sizes_of_loop(n.in_channels, sizes.sum_granule, sizes.split_sums);
  std::int64_t copies = nest.weighted ? n.batch : n.batch * n.groups;
  bool grouped = nest.weighted && n.groups > 1;
  bool sliding = !grouped;  // where inputs stay, the loop over groups lies between the slid loop and the next
  std::int64_t rows_read = rows.back().read, columns_read = columns.back().read;
  std::int64_t a_line = times(times(n.in_channels * n.groups, n.batch), terms.a_price);  // of one position
  std::int64_t least_a = a_price(rows_read, columns_read);
  std::int64_t least_channels =
      sizes.split_channels ? std::min(sizes.channel_granule, n.out_channels) : nest.channels();
  std::optional<Tiling> best{};

  bool whole(const TileSize& r, const TileSize& c) const { return r.count == 1 && c.count == 1; }

  /// How often B comes again when rows and columns are outside of its loops.
  std::int64_t rounds(const TileSize& r, const TileSize& c) const {
    return times(r.count * c.count, nest.weighted && !whole(r, c) ? copies : 1);
  }
  std::int64_t channel_tiles(std::int64_t tile) const {
    return ceil_div(n.out_channels, std::min(tile, n.out_channels));
  }
  /// At least so many tiles of channels, since results of a tile take room while they are summed.
  std::int64_t least_channel_tiles(const TileSize& r, const TileSize& c) const {
    const std::int64_t room = times(r.tile * c.tile, terms.sums_room);
    if (room == 0) return 1;
    const std::int64_t most = terms.capacity[terms.out_memory] / room;
    return most == 0 ? most_price : channel_tiles(most);
  }
  /// At least so many tiles of sums, since A of a tile takes room.
  std::int64_t least_sum_tiles(const TileSize& r, const TileSize& c) const {
    const std::int64_t room = times(r.held * c.held, terms.a_room);
    if (room == 0) return 1;
    const std::int64_t most = terms.capacity[terms.a_memory] / room;
    return most == 0 ? most_price : ceil_div(n.in_channels, std::min(most, n.in_channels));
  }
  std::int64_t a_price(std::int64_t rows_words, std::int64_t column_words) const {
    return times(times(rows_words, column_words), a_line);
  }
  std::int64_t kept_inputs_price(const TileSize& r, const TileSize& c, bool rows_slide) const {
    if (!sliding) return a_price(r.read, c.read);
    return rows_slide ? a_price(rows_read, c.read) : a_price(r.read, columns_read);
  }
  std::int64_t out_price(const TileSize& s) const {
    return plus(terms.out_price, times(times(terms.partials_price, 2), s.count - 1));
  }

  /// What a tile takes of each memory: a part that is there anyway and one for each unit of the free size.
  struct Room {
    std::array<std::int64_t, 3> fixed{}, each{};
    std::int64_t units(const std::array<std::int64_t, 3>& capacity) const {
      std::int64_t units = most_price;
      for (std::size_t i = 0; i < capacity.size(); ++i) {
        if (fixed[i] > capacity[i]) return 0;
        if (each[i] > 0) units = std::min(units, (capacity[i] - fixed[i]) / each[i]);
      }
      return units;
    }
    void add(std::array<std::int64_t, 3>& part, std::size_t memory, std::int64_t room) {
      part[memory] = plus(part[memory], room);
    }
  };

  /// The most channels that fit beside tiles of the other sizes; 0 when none do.
  std::int64_t most_channels(const TileSize& r, const TileSize& c, const TileSize& s) const {
    const bool all = whole(r, c);
    std::int64_t most = channels_with(r, c, s, nest.weighted && all ? copies : 1);
    if (!nest.weighted && all && most == n.out_channels && copies > 1 && channels_with(r, c, s, copies) < most)
      most = below_whole();
    return most;
  }
  /// Of a product: the largest tile that leaves its products one at a time.
  std::int64_t below_whole() const {
    return sizes.split_channels ? (n.out_channels - 1) / sizes.channel_granule * sizes.channel_granule : 0;
  }
  std::int64_t channels_with(const TileSize& r, const TileSize& c, const TileSize& s, std::int64_t covered) const {
    const std::int64_t a = times(times(times(r.held * c.held, s.tile), covered), terms.a_room);
    const std::int64_t b_covered = nest.weighted ? 1 : covered;
    const std::int64_t b =
        plus(times(times(n.kernel_h * n.kernel_w, s.tile * b_covered), terms.b_room), terms.b_channel_room);
    const std::int64_t out = times(times(r.tile * c.tile, covered), s.count > 1 ? terms.sums_room : terms.out_room);
    const std::int64_t beside = times(times(r.tile * c.tile, covered), terms.beside_room);
    Room room;
    room.add(room.fixed, terms.a_memory, a);
    room.add(room.each, terms.b_memory, b);
    room.add(room.each, terms.out_memory, out);
    room.add(room.each, terms.beside_memory, beside);
    if (grouped) {
      Room groups;
      groups.add(groups.each, terms.a_memory, a);
      groups.add(groups.each, terms.b_memory, times(b, n.out_channels));
      groups.add(groups.each, terms.out_memory, times(out, n.out_channels));
      groups.add(groups.each, terms.beside_memory, times(beside, n.out_channels));
      const std::int64_t units = std::min(groups.units(terms.capacity), n.groups);
      if (units > 0) return sizes.split_channels || units == n.groups ? units * n.out_channels : 0;
    }
    const std::int64_t units = room.units(terms.capacity);
    if (units >= n.out_channels) return grouped && !sizes.split_channels ? 0 : n.out_channels;
    return sizes.split_channels ? units / sizes.channel_granule * sizes.channel_granule : 0;
  }

  /// Whether one tile of these sizes fits.
  bool fits(const TileSize& r, const TileSize& c, const TileSize& s, std::int64_t channels) const {
    return most_channels(r, c, s) >= channels;
  }

  /// The sizes of sums for which the smallest tile of channels fits, as an index into `sums`, from the largest
  /// down; -1 when none do. Room grows with the size, so that halving finds it.
  std::ptrdiff_t most_sums(const TileSize& r, const TileSize& c) const {
    const auto over = std::ranges::partition_point(
        sums.begin(), sums.end() - 1, [&](const TileSize& s) { return fits(r, c, s, least_channels); });
    if (fits(r, c, sums.back(), least_channels)) return std::ssize(sums) - 1;
    return over - sums.begin() - 1;
  }

  Mapping mapping(Order order, const TileSize& r, const TileSize& c, std::int64_t channels,
                  const TileSize& s) const {
    return {r.tile, c.tile, channels, s.tile, tiling_orders[order]};
  }

  /// Takes a mapping that pays less, after a look at whether it fits exactly.
  void consider(std::int64_t price, const Mapping& m) {
    if (best && price >= best->price) return;
    if (!accept || accept(m)) best = {m, price, 0};
  }
  bool worse(std::int64_t price) const { return best && price >= best->price; }
  std::int64_t one_less(std::int64_t channels) const {
    const std::int64_t step = channels > n.out_channels ? n.out_channels : sizes.channel_granule;
    return channels <= step ? 0 : (channels - 1) / step * step;
  }
};

/// Results stay, with these tiles: sums run innermost, in tiles as small as they can be.
void try_results(Search& search, const TileSize& r, const TileSize& c, std::int64_t base) {
  const TileSize& s = search.sums.front();
  const std::int64_t a = search.a_price(r.read, c.read);
  if (search.worse(plus(base, times(a, search.least_channel_tiles(r, c))))) return;
  std::int64_t channels = search.most_channels(r, c, s);
  for (int tries = 0; channels > 0 && tries < 4; ++tries, channels = search.one_less(channels))
    search.consider(plus(base, times(a, search.channel_tiles(channels))),
                    search.mapping(results_stay, r, c, channels, s));
}

/// Squares first: the best is mostly near one, and then bounds the rest.
void try_results_stay(Search& search) {
  if (search.sums.front().count == 1) return;
  const auto base_of = [&](const TileSize& r, const TileSize& c) {
    return plus(search.terms.out_price, times(search.terms.b_price, search.rounds(r, c)));
  };
  for (const TileSize& r : search.rows) {
    const auto c = std::ranges::lower_bound(search.columns, r.tile, {}, &TileSize::tile);
    if (c != search.columns.end()) try_results(search, r, *c, base_of(r, *c));
  }
  for (auto r = search.rows.rbegin(); r != search.rows.rend(); ++r) {
    for (auto c = search.columns.rbegin(); c != search.columns.rend(); ++c) {
      const std::int64_t base = base_of(*r, *c);
      if (search.worse(plus(base, search.least_a))) break;  // smaller columns are more rounds
      try_results(search, *r, *c, base);
    }
  }
}

/// Weights stay: rows or columns run innermost, one at a time, through a line buffer.
void try_weights_stay(Search& search, bool rows_slide) {
  const auto& outer = rows_slide ? search.columns : search.rows;
  const TileSize& slid = rows_slide ? search.rows.front() : search.columns.front();
  for (auto s = search.sums.rbegin(); s != search.sums.rend(); ++s) {
    const std::int64_t base = plus(search.out_price(*s), search.terms.b_price);
    if (search.worse(base) || (s->count > 1 && !search.terms.partials_leave)) break;
    for (auto o = outer.rbegin(); o != outer.rend(); ++o) {
      const std::int64_t a =
          rows_slide ? search.a_price(search.rows_read, o->read) : search.a_price(o->read, search.columns_read);
      if (search.worse(plus(base, a))) continue;
      const TileSize &r = rows_slide ? slid : *o, &c = rows_slide ? *o : slid;
      std::int64_t channels = search.most_channels(r, c, *s);
      for (int tries = 0; channels > 0 && tries < 4; ++tries, channels = search.one_less(channels))
        search.consider(plus(base, times(a, search.channel_tiles(channels))),
                        search.mapping(rows_slide ? weights_stay_rows : weights_stay_columns, r, c, channels, *s));
    }
  }
}

/// Inputs stay: channels run innermost, in tiles as small as they can be.
void try_inputs_stay(Search& search, bool rows_slide) {
  for (auto r = search.rows.rbegin(); r != search.rows.rend(); ++r) {
    for (auto c = search.columns.rbegin(); c != search.columns.rend(); ++c) {
      const std::int64_t base =
          plus(search.kept_inputs_price(*r, *c, rows_slide), times(search.terms.b_price, search.rounds(*r, *c)));
      if (search.worse(plus(base, search.terms.out_price))) continue;
      const std::int64_t tiles = search.least_sum_tiles(*r, *c);
      if (tiles > 1 && !search.terms.partials_leave) continue;
      if (search.worse(plus(base, search.out_price({1, tiles, 1, 1})))) continue;
      std::ptrdiff_t i = search.most_sums(*r, *c);
      for (int tries = 0; i >= 0 && tries < 4; ++tries, --i) {
        const TileSize& s = search.sums[static_cast<std::size_t>(i)];
        if (s.count > 1 && !search.terms.partials_leave) break;
        search.consider(
            plus(base, search.out_price(s)),
            search.mapping(rows_slide ? inputs_stay_rows : inputs_stay_columns, *r, *c, search.least_channels, s));
      }
    }
  }
}

void try_whole(Search& search) {
  const TileSize &r = search.rows.back(), &c = search.columns.back(), &s = search.sums.back();
  const std::int64_t channels = search.nest.channels();
  const Mapping m = search.mapping(weights_stay_rows, r, c, channels, s);
  if (search.accept ? !search.accept(m) : !search.fits(r, c, s, channels)) return;
  search.best = {m, plus(plus(search.a_price(r.read, c.read), search.terms.b_price), search.terms.out_price), 0};
}

/// Tiles of channels that decide between mappings of equal price: the smallest of each number of tiles, and
/// multiples of the reference lanes; with their folds on those.
struct ChannelSize {
  std::int64_t tile = 1, tiles = 1, folds = 1;
};
std::vector<ChannelSize> channel_sizes(const Search& search) {
  const LoopNest& n = search.n;
  const std::int64_t lanes = search.sizes.reference_lanes, whole = search.nest.channels();
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
  const auto twice = std::ranges::unique(tiles);
  tiles.erase(twice.begin(), twice.end());
  std::vector<ChannelSize> sizes;
  for (const std::int64_t t : tiles) {
    const std::int64_t in_group = std::min(t, n.out_channels);
    const std::int64_t folds =
        n.out_channels / in_group * ceil_div(in_group, lanes) + ceil_div(n.out_channels % in_group, lanes);
    sizes.push_back({t, search.channel_tiles(t), folds * (search.nest.weighted ? n.groups : 1)});
  }
  return sizes;
}

/// The second half: among mappings of the best price, the one of fewest folds, and so on.
struct Refinement {
  Search& search;
  std::vector<ChannelSize> channels = channel_sizes(search);
  std::int64_t least_folds = std::ranges::min(channels, {}, &ChannelSize::folds).folds;
  std::int64_t price = search.best->price;
  std::int64_t shortfall_of(const Mapping& m) const {
    if (search.sizes.least_results == 0) return 0;
    return std::max<std::int64_t>(0, search.sizes.least_results - tile_words(search.nest, m).out);
  }
  std::int64_t best_shortfall = 0;

  /// Folds of all places for one fold of channels: what reference_folds divides by that of the channels.
  std::int64_t place_folds(const TileSize& r, const TileSize& c) const {
    const LoopNest& n = search.n;
    const bool joined = search.nest.weighted && search.whole(r, c);  // a batch lengthens the rows
    const std::int64_t covered = joined ? search.copies : 1, lanes = search.sizes.reference_lanes;
    const std::int64_t full_rows = n.out_h / r.tile, rows = n.out_h - full_rows * r.tile;
    const std::int64_t full_columns = n.out_w / c.tile, columns = n.out_w - full_columns * c.tile;
    const auto folds = [&](std::int64_t h, std::int64_t w) {
      return h * w == 0 ? 0 : ceil_div(h * w * covered, lanes);
    };
    return (full_rows * (full_columns * folds(r.tile, c.tile) + folds(r.tile, columns)) +
            full_columns * folds(rows, c.tile) + folds(rows, columns)) *
           (joined ? 1 : search.copies);
  }

  /// Takes a better one of the mappings of these sizes whose channels make `tiles` tiles (0: any) and fit.
  void choose_channels(Order order, const TileSize& r, const TileSize& c, const TileSize& s, std::int64_t folds,
                       std::int64_t tiles) {
    const std::int64_t most = search.most_channels(r, c, s);
    for (const ChannelSize& size : channels) {
      if (size.tile > most) break;
      if (tiles != 0 && size.tiles != tiles) continue;
      Tiling& best = *search.best;
      const std::int64_t all_folds = times(folds, size.folds);
      if (all_folds > best.folds) continue;
      const Mapping m = search.mapping(order, r, c, size.tile, s);
      const std::int64_t shortfall = shortfall_of(m);
      const auto key = [](const Mapping& x) {
        return std::tuple(x.tile_rows, x.tile_columns, x.tile_channels, x.tile_sums);
      };
      if (std::tuple(all_folds, shortfall, key(m)) >= std::tuple(best.folds, best_shortfall, key(best.mapping)))
        continue;
      if (search.accept && !search.accept(m)) continue;
      best = {m, price, all_folds};
      best_shortfall = shortfall;
    }
  }

  /// `rest` is what the price leaves for loading A once for each tile of channels.
  void choose_for_a(Order order, const TileSize& r, const TileSize& c, const TileSize& s, std::int64_t folds,
                    std::int64_t rest, std::int64_t a) {
    if (a == 0 ? rest == 0 : rest >= a && rest % a == 0)
      choose_channels(order, r, c, s, folds, a == 0 ? 0 : rest / a);
  }

  /// Orders in which weights stay, for sizes whose price leaves `rest` for A at some number of sums tiles.
  void choose_weights_stay(Order order, const TileSize& r, const TileSize& c, std::int64_t folds, std::int64_t a) {
    for (auto s = search.sums.rbegin(); s != search.sums.rend(); ++s) {
      const std::int64_t rest = price - plus(search.out_price(*s), search.terms.b_price);
      if (rest < a || (s->count > 1 && !search.terms.partials_leave)) break;
      choose_for_a(order, r, c, *s, folds, rest, a);
    }
  }

  void choose_others(const TileSize& r, const TileSize& c, std::int64_t folds, std::int64_t b) {
    const TileTerms& terms = search.terms;
    const TileSize& least = search.sums.front();
    if (least.count > 1)
      choose_for_a(results_stay, r, c, least, folds, price - plus(terms.out_price, b),
                   search.a_price(r.read, c.read));
    for (const bool rows_slide : {true, false}) {
      const std::int64_t rest = price - plus(b, search.kept_inputs_price(r, c, rows_slide));
      for (auto s = search.sums.rbegin(); s != search.sums.rend(); ++s) {
        const std::int64_t out = search.out_price(*s);
        if (out > rest || (s->count > 1 && !terms.partials_leave)) break;
        if (out == rest) choose_channels(rows_slide ? inputs_stay_rows : inputs_stay_columns, r, c, *s, folds, 0);
      }
    }
  }

  /// Whether A at this price, loaded once for each of some number of channels tiles, can make up the price.
  bool can_pay(std::int64_t a) const {
    for (auto s = search.sums.rbegin(); s != search.sums.rend(); ++s) {
      const std::int64_t rest = price - plus(search.out_price(*s), search.terms.b_price);
      if (rest < a || (s->count > 1 && !search.terms.partials_leave)) return false;
      if (a == 0 ? rest == 0 : rest % a == 0) return true;
    }
    return false;
  }

  void run() {
    best_shortfall = shortfall_of(search.best->mapping);
    struct Slid {
      std::int64_t a;
      bool pays;
    };
    std::vector<Slid> by_column;
    for (const TileSize& c : search.columns) {
      const std::int64_t a = search.a_price(search.rows_read, c.read);
      by_column.push_back({a, can_pay(a)});
    }
    const std::int64_t most_b = price - plus(search.least_a, search.terms.out_price);
    for (const TileSize& r : search.rows) {
      const std::int64_t row_a = search.a_price(r.read, search.columns_read);
      const bool rows_pay = can_pay(row_a);
      for (std::size_t i = 0; i < search.columns.size(); ++i) {
        const TileSize& c = search.columns[i];
        const Tiling& best = *search.best;
        const std::int64_t b = times(search.terms.b_price, search.rounds(r, c));
        if ((!rows_pay && !by_column[i].pays && b > most_b) || times(r.count * c.count, least_folds) > best.folds)
          continue;
        const std::int64_t folds = place_folds(r, c), least = times(folds, least_folds);
        const bool later = std::pair(r.tile, c.tile) > std::pair(best.mapping.tile_rows, best.mapping.tile_columns);
        if (least > best.folds || (least == best.folds && best_shortfall == 0 && later)) continue;
        if (b <= most_b) choose_others(r, c, folds, b);
        if (by_column[i].pays) choose_weights_stay(weights_stay_rows, r, c, folds, by_column[i].a);
        if (rows_pay) choose_weights_stay(weights_stay_columns, r, c, folds, row_a);
      }
    }
  }
};

}  // namespace

std::optional<Tiling> best_tiling(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                                  const Accept& accept) {
  Search search{nest, terms, sizes, accept};
  try_whole(search);
  for (const bool rows_slide : {true, false}) try_weights_stay(search, rows_slide);
  try_results_stay(search);
  for (const bool rows_slide : {true, false}) try_inputs_stay(search, rows_slide);
  if (!search.best) return std::nullopt;
  search.best->folds = reference_folds(nest, search.best->mapping, sizes.reference_lanes);
  Refinement{search}.run();
  return search.best;
}

TileTerms one_memory_terms(const Nest& nest, std::int64_t words) {
  const Compulsory once = compulsory(nest);
  TileTerms terms;
  terms.a_price = 1, terms.b_price = once.b, terms.out_price = terms.partials_price = once.out;
  terms.capacity = {words, 0, 0};
  terms.a_room = terms.b_room = terms.out_room = terms.sums_room = 1;
  return terms;
}

std::optional<Tiling> best_tiling(const Nest& nest, std::int64_t words, const TileSizes& sizes) {
  return best_tiling(nest, one_memory_terms(nest, words), sizes, {});
}

}  // namespace sdip
