// Sizes, prices and rooms that the phases of the search for a tiling share. Internal to its room.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/program/tiling/tiling.h"

namespace sdip {

inline constexpr std::int64_t most_price = std::int64_t{1} << 61;

/// Neither is negative.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? most_price : std::min(product, most_price);
}
inline std::int64_t plus(std::int64_t a, std::int64_t b) { return std::min(a + b, most_price); }

/// An order of tiling_orders: which operand stays on chip, and the axis along which A slides.
enum Order : std::size_t {
  results_stay,
  weights_stay_rows,
  weights_stay_columns,
  inputs_stay_rows,
  inputs_stay_columns
};

/// The sides of DSRAM before PSRAM: what does not fit anyway says nothing of other capacities of PSRAM.
inline constexpr std::array<std::size_t, 3> asking_order{0, 2, 1};

/// Tiles of channels that decide between mappings of equal price: the smallest of each number of tiles, and
/// multiples of the reference lanes; with their folds on those.
struct ChannelSize {
  std::int64_t tile = 1, tiles = 1, folds = 1;
};

/// Room in each memory.
using Rooms = std::array<std::int64_t, 3>;

/// Sums the room that each operand takes, and what stands beside, by the memory in which it lies.
inline Rooms rooms_of(const TileTerms& terms, std::int64_t a, std::int64_t b, std::int64_t out,
                      std::int64_t beside) {
  Rooms rooms{};
  const auto add = [&](std::size_t memory, std::int64_t room) { rooms[memory] = plus(rooms[memory], room); };
  add(terms.a_memory, a);
  add(terms.b_memory, b);
  add(terms.out_memory, out);
  add(terms.beside_memory, beside);
  return rooms;
}

/// The room that one tile of these sizes takes; of a mapping that is not of runs of groups.
inline Rooms rooms_of(const Nest& nest, const TileTerms& terms, std::int64_t copies, const TileSize& r,
                      const TileSize& c, const TileSize& s, std::int64_t channels) {
  const LoopNest& n = nest.loops;
  const bool all = r.count == 1 && c.count == 1 && (nest.weighted || channels == n.out_channels);
  const std::int64_t covered = all ? copies : 1, b_covered = nest.weighted ? 1 : covered;
  const std::int64_t places = times(times(r.tile * c.tile, covered), channels);
  const std::int64_t b =
      plus(times(times(n.kernel_h * n.kernel_w, s.tile * b_covered), terms.b_room), terms.b_channel_room);
  const std::int64_t a = times(times(r.held * c.held, s.tile), covered);
  return rooms_of(terms, times(a, terms.a_room), times(b, channels),
                  times(places, s.count > 1 ? terms.sums_room : terms.out_room), times(places, terms.beside_room));
}

/// Whether the memories hold it, or may, as capacities are asked for.
inline bool all_hold(const TileTerms& terms, const Rooms& rooms) {
  return std::ranges::all_of(asking_order, [&](std::size_t i) { return terms.capacity[i].holds(rooms[i]); });
}

/// A search: what it is asked, what follows from that, and the best so far.
struct Search {
  const Nest& nest;
  const TileTerms& terms;
  const TileSizes& sizes;
  const Accept& accept;
  std::int64_t below;  // only mappings of a smaller price are looked for
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
    const std::int64_t most = terms.capacity[terms.out_memory].most_units(0, room, n.out_channels, 1);
    return most == 0 ? most_price : channel_tiles(most);
  }
  /// At least so many tiles of sums, since A of a tile takes room.
  std::int64_t least_sum_tiles(const TileSize& r, const TileSize& c) const {
    const std::int64_t room = times(r.held * c.held, terms.a_room);
    if (room == 0) return 1;
    const std::int64_t most = terms.capacity[terms.a_memory].most_units(0, room, n.in_channels, 1);
    return most == 0 ? most_price : ceil_div(n.in_channels, most);
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

  /// The price of these tiles in an order, with so many tiles of channels.
  std::int64_t price(Order order, const TileSize& r, const TileSize& c, const TileSize& s,
                     std::int64_t channel_tiles) const {
    const std::int64_t b = times(terms.b_price, rounds(r, c));
    switch (order) {
      case results_stay:
        return plus(plus(terms.out_price, b), times(a_price(r.read, c.read), channel_tiles));
      case weights_stay_rows:
        return plus(plus(out_price(s), terms.b_price), times(a_price(rows_read, c.read), channel_tiles));
      case weights_stay_columns:
        return plus(plus(out_price(s), terms.b_price), times(a_price(r.read, columns_read), channel_tiles));
      default:
        return plus(plus(out_price(s), b), kept_inputs_price(r, c, order == inputs_stay_rows));
    }
  }

  /// The room that a tile takes in each memory: a part that is there anyway and one for each unit of the free size.
  struct Room {
    Rooms fixed{}, each{};
    /// As AskedCapacity::most_units, of all memories.
    std::int64_t units(const std::array<AskedCapacity, 3>& capacity, std::int64_t enough,
                       std::int64_t granule) const {
      for (const std::size_t i : asking_order) enough = capacity[i].most_units(fixed[i], each[i], enough, granule);
      return enough;
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
  /// The largest tile of channels that keeps the copies of a product apart, one at a time.
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
    Room room{{}, rooms_of(terms, 0, b, out, beside)};
    room.fixed[terms.a_memory] = a;
    if (grouped) {
      const std::int64_t all = n.out_channels;
      const Room groups{{}, rooms_of(terms, a, times(b, all), times(out, all), times(beside, all))};
      const std::int64_t units = groups.units(terms.capacity, n.groups, sizes.split_channels ? 1 : n.groups);
      if (units > 0 || !sizes.split_channels) return units * n.out_channels;
    }
    return room.units(terms.capacity, n.out_channels,
                      sizes.split_channels ? sizes.channel_granule : n.out_channels);
  }

  /// Whether one tile of these sizes fits: most_channels is not less.
  bool fits(const TileSize& r, const TileSize& c, const TileSize& s, std::int64_t channels) const {
    if (grouped) return most_channels(r, c, s) >= channels;
    return all_hold(terms, rooms_of(nest, terms, copies, r, c, s, channels));
  }

  /// False when no tiles of these rows and columns fit, nor of more: those of fewest sums and channels do not.
  bool may_fit(const TileSize& r, const TileSize& c) const {
    const std::int64_t places = times(r.tile * c.tile, least_channels), s = sums.front().tile;
    const std::int64_t a = times(r.held * c.held, s), b = times(n.kernel_h * n.kernel_w * s, least_channels);
    return all_hold(terms, rooms_of(terms, times(a, terms.a_room), times(b, terms.b_room),
                                    times(places, std::min(terms.out_room, terms.sums_room)),
                                    times(places, terms.beside_room)));
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

  /// Folds of all places for one fold of channels: what reference_folds divides by that of the channels.
  std::int64_t place_folds(const TileSize& r, const TileSize& c) const {
    const bool joined = nest.weighted && whole(r, c);  // a batch lengthens the rows
    const std::int64_t covered = joined ? copies : 1, lanes = sizes.reference_lanes.rows;
    const std::int64_t full_rows = n.out_h / r.tile, edge_rows = n.out_h - full_rows * r.tile;
    const std::int64_t full_columns = n.out_w / c.tile, edge_columns = n.out_w - full_columns * c.tile;
    const auto folds = [&](std::int64_t h, std::int64_t w) {
      return h * w == 0 ? 0 : ceil_div(h * w * covered, lanes);
    };
    return (full_rows * (full_columns * folds(r.tile, c.tile) + folds(r.tile, edge_columns)) +
            full_columns * folds(edge_rows, c.tile) + folds(edge_rows, edge_columns)) *
           (joined ? 1 : copies);
  }

  bool accepted(const Mapping& m) const { return !accept || accept(m); }
  bool worse(std::int64_t price) const { return price >= (best ? best->price : below); }

  /// Takes a mapping that pays less, after a look at whether it fits exactly.
  bool consider(std::int64_t price, const Mapping& m) {
    if (worse(price) || !accepted(m)) return false;
    best = {m, price, 0};
    return true;
  }
};

/// False where no tiles, but for a whole mapping, fit that pay less than `below`: by what the smallest of those
/// that come again so seldom take, each operand on its own.
bool may_pay_less(const Nest& nest, const TileTerms& terms, const TileSizes& sizes, std::int64_t below);

/// Whether anything fits that pays less than search.below.
bool has_tiling(Search& search);

/// Ascending. Where nothing asks for large tiles, those are left out that take more folds than a smaller one of as
/// many tiles.
std::vector<ChannelSize> channel_sizes(const Search& search);

/// The second half: among mappings of the best price, the one of fewest folds, and so on. Requires search.best.
void break_ties(Search& search);

}  // namespace sdip
