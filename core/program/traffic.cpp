// The words that the tile loops of a nest move between memory and chip.
#include "core/program/traffic.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {
namespace {

std::int64_t bounded(Int128 count) { return static_cast<std::int64_t>(std::min<Int128>(count, most_words)); }

/// Product of counts, most_words at most. Worked example: 2^40, 2^40, 0 is 0, though the first two are too many.
template <class... Counts>
std::int64_t product(Counts... counts) {
  if (((counts == 0) || ...)) return 0;
  Int128 result = 1;
  ((result = bounded(result * counts)), ...);
  return static_cast<std::int64_t>(result);
}

/// The sum over i in [0, count) of start + i step, each clamped to [0, limit]. Requires step > 0.
/// Worked example: -3, -1, 1, 3, 5 clamped to [0, 4] is 0 + 0 + 1 + 3 + 4.
Int128 clamped_sum(std::int64_t start, std::int64_t step, std::int64_t count, std::int64_t limit) {
  const std::int64_t low = start > 0 ? 0 : std::min(count, -start / step + 1);
  const std::int64_t high = start >= limit ? 0 : std::min(count, ceil_div(limit - start, step));
  Int128 sum = static_cast<Int128>(count - std::max(low, high)) * limit;
  if (high > low) {
    const Int128 between = high - low;
    sum += between * start + between * (low + high - 1) / 2 * step;
  }
  return sum;
}

struct Trip {
  enum Of { repeats, rows, columns, groups, channels, sums } of;
  std::int64_t count;
};

/// The six loops, outermost first.
std::array<Trip, 6> trips_of(const Nest& nest, const Mapping& mapping, const TileCounts& counts) {
  std::array<Trip, 6> trips{};
  std::size_t size = 0;
  bool repeated = false;
  const auto repeat = [&] {
    if (!repeated) trips[size++] = {Trip::repeats, counts.repeats};
    repeated = true;
  };
  if (!nest.weighted) repeat();
  for (const Loop loop : mapping.order) {
    if (loop == Loop::sums) {
      trips[size++] = {Trip::sums, counts.sums};
    } else if (loop == Loop::channels) {
      trips[size++] = {Trip::groups, counts.groups};
      trips[size++] = {Trip::channels, counts.channels};
    } else {
      repeat();
      trips[size++] = loop == Loop::rows ? Trip{Trip::rows, counts.rows} : Trip{Trip::columns, counts.columns};
    }
  }
  return trips;
}

/// How an operand that is indexed by the loops that `indexes` accepts is met: the innermost such loop of more than
/// one tile, and how often its tiles come round again because of loops outside of that one.
struct Meeting {
  Trip::Of innermost = Trip::repeats;
  bool any = false;
  std::int64_t times = 1;
};
template <class Indexes>
Meeting meeting_of(const std::array<Trip, 6>& trips, const Indexes& indexes) {
  Meeting meeting;
  std::int64_t others = 1;
  for (const Trip& trip : trips) {
    if (trip.count == 1) continue;
    if (!indexes(trip.of)) {
      others = product(others, trip.count);
      continue;
    }
    meeting = {trip.of, true, others};
  }
  return meeting;
}

}  // namespace

NestAxis row_axis(const LoopNest& n) { return {n.out_h, n.in_h, n.kernel_h, n.stride_h, n.dilation_h, n.pad_top}; }
NestAxis column_axis(const LoopNest& n) {
  return {n.out_w, n.in_w, n.kernel_w, n.stride_w, n.dilation_w, n.pad_left};
}

std::int64_t window(const NestAxis& axis, std::int64_t first, std::int64_t count) {
  const std::int64_t reach = axis.reach(), start = first * axis.stride - axis.pad;
  if (axis.stride > reach)
    return bounded(clamped_sum(start + reach, axis.stride, count, axis.in) -
                   clamped_sum(start, axis.stride, count, axis.in));
  const std::int64_t end = start + (count - 1) * axis.stride + reach;
  return std::clamp<std::int64_t>(end, 0, axis.in) - std::clamp<std::int64_t>(start, 0, axis.in);
}

std::int64_t window_sum(const NestAxis& axis, std::int64_t tile) {
  const std::int64_t reach = axis.reach();
  if (axis.stride > reach || tile >= axis.out) return window(axis, 0, axis.out);
  const std::int64_t full = axis.out / tile, step = tile * axis.stride;
  const std::int64_t length = step - axis.stride + reach;
  const std::int64_t sum =
      bounded(clamped_sum(length - axis.pad, step, full, axis.in) - clamped_sum(-axis.pad, step, full, axis.in));
  return axis.out % tile == 0 ? sum : sum + window(axis, full * tile, axis.out % tile);
}

std::int64_t held_window(const NestAxis& axis, std::int64_t tile) {
  const std::int64_t reach = axis.reach();
  return std::min(window(axis, 0, axis.out), product(tile - 1, std::min(axis.stride, reach)) + reach);
}

bool is_valid(const Nest& nest, const Mapping& m) {
  const LoopNest& n = nest.loops;
  const auto within = [](std::int64_t tile, std::int64_t size) { return tile >= 1 && tile <= size; };
  if (!within(m.tile_rows, n.out_h) || !within(m.tile_columns, n.out_w) ||
      !within(m.tile_channels, nest.channels()) || !within(m.tile_sums, n.in_channels))
    return false;
  auto loops = m.order;
  std::ranges::sort(loops);
  if (loops != LoopOrder{Loop::rows, Loop::columns, Loop::channels, Loop::sums}) return false;
  return m.tile_channels <= n.out_channels || m.tile_channels % n.out_channels == 0;
}

TileCounts tile_counts(const Nest& nest, const Mapping& m) {
  const LoopNest& n = nest.loops;
  TileCounts counts;
  counts.rows = ceil_div(n.out_h, m.tile_rows);
  counts.columns = ceil_div(n.out_w, m.tile_columns);
  counts.sums = ceil_div(n.in_channels, m.tile_sums);
  counts.channels = ceil_div(n.out_channels, std::min(n.out_channels, m.tile_channels));
  if (nest.weighted)
    counts.groups = ceil_div(n.groups, std::max<std::int64_t>(1, m.tile_channels / n.out_channels));
  const std::int64_t copies = nest.weighted ? n.batch : product(n.batch, n.groups);
  const bool whole = counts.rows == 1 && counts.columns == 1 && (nest.weighted || counts.channels == 1);
  (whole ? counts.multiplicity : counts.repeats) = copies;
  return counts;
}

TileWords tile_words(const Nest& nest, const Mapping& m) {
  const LoopNest& n = nest.loops;
  const std::int64_t copies = tile_counts(nest, m).multiplicity;
  const std::int64_t groups = nest.weighted ? std::max<std::int64_t>(1, m.tile_channels / n.out_channels) : 1;
  TileWords words;
  words.a = product(held_window(row_axis(n), m.tile_rows), held_window(column_axis(n), m.tile_columns), m.tile_sums,
                    groups, copies);
  words.b = product(n.kernel_h, n.kernel_w, m.tile_sums, m.tile_channels, nest.weighted ? 1 : copies);
  words.out = product(m.tile_rows, m.tile_columns, m.tile_channels, copies);
  return words;
}

Compulsory compulsory(const Nest& nest) {
  const LoopNest& n = nest.loops;
  Compulsory words;
  words.a = product(window(row_axis(n), 0, n.out_h), window(column_axis(n), 0, n.out_w), n.in_channels, n.groups,
                    n.batch);
  words.b = product(n.kernel_h, n.kernel_w, n.in_channels, n.out_channels, n.groups, nest.weighted ? 1 : n.batch);
  words.out = product(n.out_h, n.out_w, n.out_channels, n.groups, n.batch);
  return words;
}

TileRounds tile_rounds(const Nest& nest, const Mapping& mapping, const TileCounts& counts) {
  const auto trips = trips_of(nest, mapping, counts);
  const bool weighted = nest.weighted;
  const Meeting a = meeting_of(trips, [](Trip::Of loop) { return loop != Trip::channels; });
  const Meeting b = meeting_of(trips, [=](Trip::Of loop) {
    return loop == Trip::groups || loop == Trip::channels || loop == Trip::sums ||
           (loop == Trip::repeats && !weighted);
  });
  const Meeting out = meeting_of(trips, [](Trip::Of loop) { return loop != Trip::sums; });
  return {a.times, b.times, out.times, a.any && a.innermost == Trip::rows, a.any && a.innermost == Trip::columns};
}

Traffic traffic(const Nest& nest, const Mapping& mapping) {
  check(is_valid(nest, mapping), "a mapping keeps to its nest");
  const LoopNest& n = nest.loops;
  const TileRounds rounds = tile_rounds(nest, mapping, tile_counts(nest, mapping));
  const Compulsory once = compulsory(nest);
  const NestAxis rows = row_axis(n), columns = column_axis(n);
  const std::int64_t row_words = rounds.rows_slide ? window(rows, 0, n.out_h) : window_sum(rows, mapping.tile_rows);
  const std::int64_t column_words =
      rounds.columns_slide ? window(columns, 0, n.out_w) : window_sum(columns, mapping.tile_columns);
  Traffic moved;
  moved.a = product(row_words, column_words, n.in_channels, n.groups, n.batch, rounds.a);
  moved.b = product(once.b, rounds.b);
  moved.out = once.out;
  moved.partials_written = moved.partials_read = product(once.out, rounds.out - 1);
  moved.footprint = tile_words(nest, mapping);
  return moved;
}

}  // namespace sdip
