// The search for the tiling of a nest.
//
// Worked example: a product of 6 x 6 by 6 x 6 in 27 words. Whole, 36 words of each, does not fit. Results stay:
// tiles of 3 rows by 6 channels, one sum at a time, 3 + 6 + 18 words: A once, B for each of 2 row tiles: 36 + 72 +
// 36 = 144. Weights stay, 6 sums by 3 channels: 18 + 6 + 3 words, also 144, but rows one at a time are 12 folds and
// not 2. The best in 26 words is 180.
#include "core/program/tiling/tiling.h"

#include "core/program/tiling/tiling_search.h"

namespace sdip {
namespace {

/// The largest tile of channels, at most `most`, that fits exactly; 0 when none does. Where rooms are rounded the
/// first or the one below it is; room grows with the tile, so that halving finds it in any case.
std::int64_t accepted_channels(const Search& search, Mapping m, std::int64_t most) {
  const auto fits = [&](std::int64_t channels) {
    m.tile_channels = channels;
    return search.accepted(m);
  };
  if (most == 0 || fits(most)) return most;
  if (!search.sizes.split_channels) return 0;
  std::int64_t above = most;
  for (const std::int64_t step : {search.n.out_channels, search.sizes.channel_granule}) {
    if (above <= step) continue;
    std::int64_t low = 0, high = (above - 1) / step;
    if (fits(high * step)) return high * step;
    while (low + 1 < high) {
      const std::int64_t middle = low == 0 ? 1 : low + (high - low) / 2;  // the least first: often none fits
      if (fits(middle * step))
        low = middle;
      else if (middle == 1)
        break;
      else
        high = middle;
    }
    if (low > 0) return low * step;
    above = step;
  }
  return 0;
}

/// Takes these tiles with the most channels that fit, when that pays less; A is loaded once for each tile of them.
void consider_channels(Search& search, Order order, const TileSize& r, const TileSize& c, const TileSize& s,
                       std::int64_t base, std::int64_t a) {
  const auto price = [&](std::int64_t channels) { return plus(base, times(a, search.channel_tiles(channels))); };
  const std::int64_t most = search.most_channels(r, c, s);
  if (most == 0 || search.worse(price(most))) return;
  const std::int64_t channels = accepted_channels(search, search.mapping(order, r, c, most, s), most);
  if (channels == 0 || search.worse(price(channels))) return;
  search.best = {search.mapping(order, r, c, channels, s), price(channels), 0};
}

/// Results stay, with these tiles: sums run innermost, in tiles as small as they can be.
void try_results(Search& search, const TileSize& r, const TileSize& c, std::int64_t base) {
  const std::int64_t a = search.a_price(r.read, c.read);
  if (search.worse(plus(base, times(a, search.least_channel_tiles(r, c))))) return;
  consider_channels(search, results_stay, r, c, search.sums.front(), base, a);
}

/// Calls attempt(rows, columns, price of B) for all sizes that may fit and pay less, the largest first. Sizes that
/// find no room are a start of the columns that shrinks with the rows; those with too many rounds of B are an end
/// of either.
template <class Attempt>
void each_pair(Search& search, Attempt attempt) {
  const auto& columns = search.columns;
  const std::int64_t others = plus(search.least_a, search.terms.out_price);
  const auto b_price = [&](const TileSize& r, const TileSize& c) {
    return times(search.terms.b_price, search.rounds(r, c));
  };
  std::size_t end = 0;
  for (auto r = search.rows.rbegin(); r != search.rows.rend(); ++r) {
    if (search.worse(plus(others, b_price(*r, columns.back())))) return;
    while (end < columns.size() && search.may_fit(*r, columns[end])) ++end;
    for (std::size_t c = end; c-- > 0;) {
      const std::int64_t b = b_price(*r, columns[c]);
      if (search.worse(plus(others, b))) break;
      attempt(*r, columns[c], b);
    }
  }
}

/// Squares first: the best is mostly near one, and then bounds the rest.
void try_results_stay(Search& search) {
  if (search.sums.front().count == 1) return;
  for (const TileSize& r : search.rows) {
    const auto c = std::ranges::lower_bound(search.columns, r.tile, {}, &TileSize::tile);
    if (c == search.columns.end() || !search.may_fit(r, *c)) break;
    try_results(search, r, *c, plus(search.terms.out_price, times(search.terms.b_price, search.rounds(r, *c))));
  }
  each_pair(search, [&](const TileSize& r, const TileSize& c, std::int64_t b) {
    try_results(search, r, c, plus(search.terms.out_price, b));
  });
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
      consider_channels(search, rows_slide ? weights_stay_rows : weights_stay_columns, r, c, *s, base, a);
    }
  }
}

/// Inputs stay, with these tiles: the largest tile of sums that fits, `i` of search.sums at most.
void consider_sums(Search& search, Mapping m, std::int64_t base, std::ptrdiff_t i) {
  const auto consider = [&](std::ptrdiff_t at) {
    const TileSize& s = search.sums[as_size(at)];
    if (s.count > 1 && !search.terms.partials_leave) return true;  // nor may smaller ones
    m.tile_sums = s.tile;
    const std::int64_t price = plus(base, search.out_price(s));
    return search.worse(price) || search.consider(price, m);
  };
  if (i < 0 || consider(i)) return;
  std::ptrdiff_t low = -1, high = i;  // of those that fit the largest is above `low`, below `high`
  while (low + 1 < high) {
    const std::ptrdiff_t middle = high == i ? i - 1 : low + (high - low) / 2;
    m.tile_sums = search.sums[at(middle)].tile;
    (search.accepted(m) ? low : high) = middle;
  }
  if (low >= 0) consider(low);
}

/// Inputs stay: channels run innermost, in tiles as small as they can be.
void try_inputs_stay(Search& search, bool rows_slide) {
  const Order order = rows_slide ? inputs_stay_rows : inputs_stay_columns;
  each_pair(search, [&](const TileSize& r, const TileSize& c, std::int64_t b) {
    const std::int64_t base = plus(search.kept_inputs_price(r, c, rows_slide), b);
    if (search.worse(plus(base, search.terms.out_price))) return;
    const std::int64_t tiles = search.least_sum_tiles(r, c);
    if (tiles > 1 && !search.terms.partials_leave) return;
    if (search.worse(plus(base, search.out_price({1, tiles, 1, 1})))) return;
    const Mapping m = search.mapping(order, r, c, search.least_channels, search.sums.front());
    consider_sums(search, m, base, search.most_sums(r, c));
  });
}

void try_whole(Search& search) {
  const TileSize &r = search.rows.back(), &c = search.columns.back(), &s = search.sums.back();
  const std::int64_t channels = search.nest.channels();
  const Mapping m = search.mapping(weights_stay_rows, r, c, channels, s);
  const std::int64_t price =
      plus(plus(search.a_price(r.read, c.read), search.terms.b_price), search.terms.out_price);
  if (search.accept ? search.accept(m) : search.fits(r, c, s, channels)) search.consider(price, m);
}

/// The smallest tile of a loop of `size` that makes no more than so many.
std::int64_t least_tile(std::int64_t size, std::int64_t most_tiles, bool split) {
  return split ? ceil_div(size, std::min(size, most_tiles)) : size;
}

/// How often what pays `price` may come when `slack` is left once it came.
std::int64_t most_times(std::int64_t slack, std::int64_t price) {
  return price == 0 ? most_price : 1 + slack / price;
}

}  // namespace

bool may_pay_less(const Nest& nest, const TileTerms& terms, const TileSizes& sizes, std::int64_t below) {
  const LoopNest& n = nest.loops;
  const std::int64_t a_once = times(compulsory(nest).a, terms.a_price);
  const std::int64_t slack = below - 1 - plus(plus(a_once, terms.b_price), terms.out_price);
  if (slack < 0) return false;
  if (nest.weighted && n.groups > 1) return true;
  const std::int64_t all_places = n.out_h * n.out_w, copies = nest.weighted ? n.batch : 1;
  const std::int64_t rounds = most_times(slack, terms.b_price);
  std::int64_t places = ceil_div(all_places, std::max<std::int64_t>(1, std::min(all_places, rounds / copies)));
  if (!sizes.split_rows) places = std::max(places, n.out_h);
  if (!sizes.split_columns) places = std::max(places, n.out_w);
  const std::int64_t channels = least_tile(n.out_channels, most_times(slack, a_once), sizes.split_channels);
  const std::int64_t partials = terms.partials_leave ? most_times(slack, times(terms.partials_price, 2)) : 1;
  const std::int64_t sums = least_tile(n.in_channels, partials, sizes.split_sums);
  const std::int64_t least_sums = least_tile(n.in_channels, n.in_channels, sizes.split_sums);
  const std::int64_t least_channels = least_tile(n.out_channels, n.out_channels, sizes.split_channels);
  const auto holds_all = [](const NestAxis& axis) { return window(axis, 0, axis.out) >= axis.out; };
  const bool places_read = holds_all(row_axis(n)) && holds_all(column_axis(n));
  const auto fit = [&](std::int64_t p, std::int64_t k, std::int64_t s) {
    const std::int64_t a = times(places_read ? p : 1, s), b = times(n.kernel_h * n.kernel_w * s, k);
    return all_hold(terms, rooms_of(terms, times(a, terms.a_room), times(b, terms.b_room),
                                    times(times(p, k), std::min(terms.out_room, terms.sums_room)),
                                    times(times(p, k), terms.beside_room)));
  };
  return fit(places, channels, least_sums) || fit(1, channels, sums) || fit(places, least_channels, sums);
}

bool has_tiling(Search& search) {
  try_whole(search);
  if (!search.best) try_weights_stay(search, true);
  if (!search.best) try_weights_stay(search, false);
  if (!search.best) try_results_stay(search);
  if (!search.best) try_inputs_stay(search, true);
  if (!search.best) try_inputs_stay(search, false);
  return search.best.has_value();
}

std::optional<Tiling> best_tiling(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                                  const Accept& accept, std::int64_t below) {
  Search search{nest, terms, sizes, accept, below};
  try_whole(search);
  for (const bool rows_slide : {true, false}) try_weights_stay(search, rows_slide);
  try_results_stay(search);
  for (const bool rows_slide : {true, false}) try_inputs_stay(search, rows_slide);
  if (!search.best) return std::nullopt;
  search.best->folds = reference_folds(nest, search.best->mapping, sizes.reference_lanes);
  const Mapping first = search.best->mapping;
  break_ties(search);
  search.best->first = first;
  return search.best;
}

std::optional<std::array<std::int64_t, 3>> rounded_rooms(const Nest& nest, const TileTerms& terms,
                                                         const Mapping& mapping) {
  const LoopNest& n = nest.loops;
  if (nest.weighted && n.groups > 1) return std::nullopt;
  const auto size = [](std::int64_t all, std::int64_t tile, std::int64_t held) {
    return TileSize{tile, ceil_div(all, tile), 0, held};
  };
  const TileSize rows = size(n.out_h, mapping.tile_rows, held_window(row_axis(n), mapping.tile_rows));
  const TileSize columns = size(n.out_w, mapping.tile_columns, held_window(column_axis(n), mapping.tile_columns));
  const TileSize sums = size(n.in_channels, mapping.tile_sums, mapping.tile_sums);
  const std::int64_t copies = nest.weighted ? n.batch : n.batch * n.groups;
  return rooms_of(nest, terms, copies, rows, columns, sums, mapping.tile_channels);
}

std::int64_t least_price(const Nest& nest, const TileTerms& terms) {
  return plus(plus(times(compulsory(nest).a, terms.a_price), terms.b_price), terms.out_price);
}

std::int64_t price_of(const Nest& nest, const TileTerms& terms, const Mapping& mapping) {
  const Traffic moved = traffic(nest, mapping);
  const Compulsory once = compulsory(nest);
  const std::int64_t partials = 2 * (moved.partials_written / once.out);
  return plus(plus(times(moved.a, terms.a_price), times(moved.b / once.b, terms.b_price)),
              plus(terms.out_price, times(partials, terms.partials_price)));
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
