// Does the closed form of a nest's traffic say what walking its tiles and counting sets of elements says?
#include "core/program/traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace sdip {
namespace {

using Set = std::set<std::int64_t>;
using Point = std::array<std::int64_t, 6>;  // repeat, row, column, group, channel, sum tile

/// Positions that results [first, first + count) read along an axis: of each the run from its first kernel position
/// to its last, and what lies between two runs that overlap or touch.
Set positions(const NestAxis& axis, std::int64_t first, std::int64_t count) {
  Set read;
  for (std::int64_t p = first; p < first + count; ++p)
    for (std::int64_t x = p * axis.stride - axis.pad;
         x <= p * axis.stride - axis.pad + (axis.kernel - 1) * axis.dilation; ++x)
      if (x >= 0 && x < axis.in) read.insert(x);
  return read;
}

struct Range {
  std::int64_t first, count;
};
std::vector<Range> tiles_of(std::int64_t size, std::int64_t tile) {
  std::vector<Range> tiles;
  for (std::int64_t at = 0; at < size; at += tile) tiles.push_back({at, std::min(tile, size - at)});
  return tiles;
}

struct Walk {
  const Nest& nest;
  const Mapping& mapping;
  const LoopNest& n = nest.loops;
  std::vector<Range> rows = tiles_of(n.out_h, mapping.tile_rows), columns = tiles_of(n.out_w, mapping.tile_columns);
  std::vector<Range> sums = tiles_of(n.in_channels, mapping.tile_sums);
  bool split_group = mapping.tile_channels < n.out_channels;
  std::vector<Range> channels = tiles_of(n.out_channels, std::min(n.out_channels, mapping.tile_channels));
  std::vector<Range> groups = nest.weighted
                                  ? tiles_of(n.groups, split_group ? 1 : mapping.tile_channels / n.out_channels)
                                  : std::vector<Range>{{0, 1}};
  bool whole = rows.size() == 1 && columns.size() == 1 && (nest.weighted || channels.size() == 1);
  std::int64_t copies = nest.weighted ? n.batch : n.batch * n.groups;
  std::int64_t repeats = whole ? 1 : copies, covered = whole ? copies : 1;

  std::vector<Point> operations{};
  void nested(std::vector<std::pair<int, std::int64_t>> loops, Point at) {
    if (loops.empty()) return operations.push_back(at);
    const auto [index, count] = loops.front();
    loops.erase(loops.begin());
    for (std::int64_t i = 0; i < count; ++i) {
      at[static_cast<std::size_t>(index)] = i;
      nested(loops, at);
    }
  }
  void expand() {
    std::vector<std::pair<int, std::int64_t>> loops;
    bool repeated = false;
    if (!nest.weighted) loops.push_back({0, repeats}), repeated = true;
    for (const Loop loop : mapping.order) {
      if ((loop == Loop::rows || loop == Loop::columns) && !repeated)
        loops.push_back({0, repeats}), repeated = true;
      if (loop == Loop::rows) loops.push_back({1, std::ssize(rows)});
      if (loop == Loop::columns) loops.push_back({2, std::ssize(columns)});
      if (loop == Loop::channels)
        loops.push_back({3, std::ssize(groups)}), loops.push_back({4, std::ssize(channels)});
      if (loop == Loop::sums) loops.push_back({5, std::ssize(sums)});
    }
    nested(loops, {});
  }
  const Range& at(const std::vector<Range>& tiles, const Point& p, std::size_t i) const {
    return tiles[static_cast<std::size_t>(p[i])];
  }
  std::int64_t a_size(const Point& p, const Set& r, const Set& c) const {
    return std::ssize(r) * std::ssize(c) * at(sums, p, 5).count * at(groups, p, 3).count * covered;
  }
  std::int64_t out_size(const Point& p) const {
    return at(rows, p, 1).count * at(columns, p, 2).count * at(groups, p, 3).count * at(channels, p, 4).count *
           covered;
  }

  Traffic count() {
    expand();
    Traffic t;
    const NestAxis row = row_axis(n), column = column_axis(n);
    const auto rows_of = [&](const Point& p) { return positions(row, at(rows, p, 1).first, at(rows, p, 1).count); };
    const auto columns_of = [&](const Point& p) {
      return positions(column, at(columns, p, 2).first, at(columns, p, 2).count);
    };
    const auto missing = [](const Set& needed, const Set& there) {
      Set more;
      std::ranges::set_difference(needed, there, std::inserter(more, more.end()));
      return more;
    };
    std::set<Point> begun;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Point p = operations[i], before = i ? operations[i - 1] : Point{-9, -9, -9, -9, -9, -9};
      Point a = p, a_before = before, stepped = before;
      a[4] = a_before[4] = 0;
      if (a != a_before) {
        Set r = rows_of(p), c = columns_of(p);
        stepped = a_before, ++stepped[1];
        if (i && stepped == a) r = missing(r, rows_of(before));
        stepped = a_before, ++stepped[2];
        if (i && stepped == a) c = missing(c, columns_of(before));
        t.a += a_size(p, r, c);
      }
      Point b = p, b_before = before;
      for (const std::size_t k : {1U, 2U}) b[k] = b_before[k] = 0;
      if (nest.weighted) b[0] = b_before[0] = 0;
      if (b != b_before || i == 0)
        t.b += n.kernel_h * n.kernel_w * at(sums, p, 5).count * at(groups, p, 3).count * at(channels, p, 4).count *
               (nest.weighted ? 1 : covered);
      Point out = p, out_before = before;
      out[5] = out_before[5] = 0;
      if (out != out_before && !begun.insert(out).second) t.partials_read += out_size(p);
      Point after = i + 1 < operations.size() ? operations[i + 1] : Point{-9, -9, -9, -9, -9, -9};
      const bool done = p[5] + 1 == std::ssize(sums);
      after[5] = 0;
      if (after != out) (done ? t.out : t.partials_written) += out_size(p);
    }
    return t;
  }
};

Nest random_nest(std::mt19937& rng) {
  const auto to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(rng() % static_cast<std::uint32_t>(most)) + 1;
  };
  Nest nest;
  LoopNest& n = nest.loops;
  nest.weighted = rng() % 4 != 0;
  n.groups = rng() % 3 ? 1 : to(3), n.batch = rng() % 3 ? 1 : to(2);
  n.out_channels = to(4), n.in_channels = to(4);
  n.kernel_h = to(4), n.kernel_w = to(3), n.stride_h = to(3), n.stride_w = to(3);
  n.dilation_h = to(2), n.dilation_w = to(2), n.in_h = to(7), n.in_w = to(6);
  n.pad_top = to(4) - 1, n.pad_left = to(3) - 1;
  n.out_h = to(6), n.out_w = to(5);
  if (!nest.weighted) n.kernel_h = n.kernel_w = 1;
  return nest;
}

Mapping random_mapping(const Nest& nest, std::mt19937& rng) {
  const auto to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(rng() % static_cast<std::uint32_t>(most)) + 1;
  };
  Mapping m;
  const LoopNest& n = nest.loops;
  m.tile_rows = to(n.out_h), m.tile_columns = to(n.out_w), m.tile_sums = to(n.in_channels);
  m.tile_channels = to(nest.channels());
  if (m.tile_channels > n.out_channels) m.tile_channels -= m.tile_channels % n.out_channels;
  std::ranges::shuffle(m.order, rng);
  return m;
}

TEST(traffic, equals_a_walk_over_all_tiles_that_counts_sets_of_elements) {
  std::mt19937 rng(4);
  for (int i = 0; i < 8000; ++i) {
    const Nest nest = random_nest(rng);
    const Mapping mapping = random_mapping(nest, rng);
    ASSERT_TRUE(is_valid(nest, mapping));
    const Traffic fast = traffic(nest, mapping);
    Walk walk{nest, mapping};
    const Traffic slow = walk.count();
    ASSERT_EQ(fast.a, slow.a) << i;
    ASSERT_EQ(fast.b, slow.b) << i;
    ASSERT_EQ(fast.out, slow.out) << i;
    ASSERT_EQ(fast.partials_written, slow.partials_written) << i;
    ASSERT_EQ(fast.partials_read, slow.partials_read) << i;
    ASSERT_EQ(tile_counts(nest, mapping).operations(), std::ssize(walk.operations)) << i;
  }
}

TEST(traffic, is_never_below_what_any_mapping_moves) {
  std::mt19937 rng(5);
  for (int i = 0; i < 2000; ++i) {
    const Nest nest = random_nest(rng);
    const Traffic t = traffic(nest, random_mapping(nest, rng));
    EXPECT_GE(t.a, compulsory(nest).a);
    EXPECT_GE(t.b, compulsory(nest).b);
    EXPECT_EQ(t.out, compulsory(nest).out);
  }
}

TEST(window, of_an_axis_is_the_positions_read) {
  std::mt19937 rng(6);
  for (int i = 0; i < 3000; ++i) {
    const LoopNest n = random_nest(rng).loops;
    const NestAxis axis = row_axis(n);
    std::int64_t sum = 0;
    const std::int64_t tile = 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint32_t>(axis.out));
    for (const Range& r : tiles_of(axis.out, tile)) {
      const auto read = std::ssize(positions(axis, r.first, r.count));
      ASSERT_EQ(window(axis, r.first, r.count), read);
      ASSERT_LE(read, held_window(axis, tile));
      sum += read;
    }
    ASSERT_EQ(window_sum(axis, tile), sum);
    NestAxis endless = axis;  // as a tile inside an input without edges
    endless.in = 1000, endless.pad = -100;
    ASSERT_EQ(held_window(axis, tile),
              std::min(std::ssize(positions(axis, 0, axis.out)), std::ssize(positions(endless, 0, tile))));
  }
}

/// The worked example of traffic.h.
Nest four_by_four() {
  Nest nest;
  LoopNest& n = nest.loops;
  n.out_h = n.out_w = n.in_h = n.in_w = 4;
  n.kernel_h = n.kernel_w = 3;
  n.pad_top = n.pad_left = n.pad_bottom = n.pad_right = 1;
  return nest;
}

TEST(line_buffer, loads_only_the_new_rows) {
  const Nest nest = four_by_four();
  Mapping m{2, 4, 1, 1, {Loop::channels, Loop::rows, Loop::columns, Loop::sums}};
  EXPECT_EQ(traffic(nest, m).a, 16);
  EXPECT_EQ(traffic(nest, m).footprint.a, 16);
  m.tile_columns = 2;
  EXPECT_EQ(traffic(nest, m).a, 24);
  m.order = {Loop::channels, Loop::columns, Loop::rows, Loop::sums};
  EXPECT_EQ(traffic(nest, m).a, 24);
}

TEST(traffic, of_partial_sums_is_out_and_back_between_sums_tiles) {
  Nest nest;
  nest.loops.out_h = nest.loops.in_h = 4, nest.loops.out_channels = 2, nest.loops.in_channels = 6;
  Mapping m{1, 1, 2, 2, {Loop::sums, Loop::columns, Loop::channels, Loop::rows}};
  const Traffic t = traffic(nest, m);
  EXPECT_EQ(t.out, 8);
  EXPECT_EQ(t.partials_written, 16);
  EXPECT_EQ(t.partials_read, 16);
  EXPECT_EQ(t.b, 12);
  m.order = {Loop::channels, Loop::rows, Loop::columns, Loop::sums};
  EXPECT_EQ(traffic(nest, m).partials_written, 0);
  EXPECT_EQ(traffic(nest, m).b, 48);
}

TEST(traffic, of_hostile_sizes_is_bounded) {
  Nest nest;
  LoopNest& n = nest.loops;
  n.out_h = n.in_h = n.out_w = n.in_w = n.out_channels = n.in_channels = std::int64_t{1} << 40;
  const Mapping m{1, 1, 1, 1, {Loop::channels, Loop::rows, Loop::columns, Loop::sums}};
  EXPECT_EQ(traffic(nest, m).a, most_words);
  EXPECT_EQ(traffic(nest, m).footprint.all(), 3);
}

TEST(mapping, is_valid_within_its_loops_and_groups) {
  Nest nest;
  nest.loops.groups = 3, nest.loops.out_channels = 4;
  Mapping m;
  for (const std::int64_t channels : {1, 2, 3, 4, 8, 12}) {
    m.tile_channels = channels;
    EXPECT_TRUE(is_valid(nest, m)) << channels;
  }
  for (const std::int64_t channels : {0, 5, 6, 9, 16}) {
    m.tile_channels = channels;
    EXPECT_FALSE(is_valid(nest, m)) << channels;
  }
  m.tile_channels = 4;
  m.order = {Loop::rows, Loop::rows, Loop::channels, Loop::sums};
  EXPECT_FALSE(is_valid(nest, m));
}

}  // namespace
}  // namespace sdip
