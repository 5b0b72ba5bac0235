// Do the loops over tiles say which shapes they have, in which order, and what each loads?
#include "core/cost/work/expansion.h"

#include <gmock/gmock.h>

#include "tests/core/cost/random_program.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

using cost::Axis;
using testing::ElementsAre;

/// What one operation is and loads.
struct Loaded {
  std::int32_t shape;
  std::int64_t a;  // elements of operand A
  bool b;
  bool operator==(const Loaded&) const = default;
};

struct Step {
  bool a, b, fresh;
};

void walk(const Expansion& e, std::size_t level, std::size_t run, std::int32_t shape, std::int32_t window,
          Step step, std::vector<Loaded>& found) {
  if (level == e.order.loops.size()) {
    const InputWindow& w = e.windows[static_cast<std::size_t>(window)];
    found.push_back({shape, step.a ? (step.fresh ? w.fresh : w.all) : 0, step.b});
    return;
  }
  const TileLoop& loop = e.order.loops[level];
  Step later{false, false, loop.slides};
  for (std::size_t l = level; l < e.order.loops.size(); ++l) {
    later.a |= e.order.loops[l].a;
    later.b |= e.order.loops[l].b;
  }
  const std::size_t inner = run + static_cast<std::size_t>(loop.runs);
  for (; run < inner; ++run)
    for (std::int64_t tile = 0; tile < e.order.runs[run].tiles; ++tile) {
      walk(e, level + 1, inner, shape + e.order.runs[run].shape, window + e.order.runs[run].window, step, found);
      step = later;
    }
}

std::vector<Loaded> walk(const Expansion& e) {
  std::vector<Loaded> found;
  walk(e, 0, 0, 0, 0, {true, true, false}, found);
  return found;
}

Expansion expanded(const InstructionClass& c) { return expand(c, cost::tile_plan(c)); }

/// Rows of a kernel of one column, `tile` results a time.
Expansion rows_alone(const Axis& a, std::int64_t tile) {
  return expanded(weighted_nest({.out_h = a.results,
                                 .in_h = a.inputs,
                                 .kernel_h = a.kernel,
                                 .stride_h = a.stride,
                                 .dilation_h = a.dilation,
                                 .pad_top = a.pad},
                                {tile, 1, 1, 1}));
}

TEST(expansion, of_five_rows_inside_two_channel_tiles_loads_weights_twice) {
  const auto found = walk(expanded(weighted_nest({.out_channels = 2, .out_h = 5, .in_h = 5}, {2, 1, 1, 1})));
  EXPECT_THAT(found, ElementsAre(Loaded{0, 2, true}, Loaded{0, 2, false}, Loaded{1, 1, false}, Loaded{0, 2, true},
                                 Loaded{0, 2, false}, Loaded{1, 1, false}));
}

/// The worked example of core/cost/work/expansion.cpp.
TEST(expansion, of_a_padded_convolution_loads_rows_once) {
  std::vector<std::int64_t> loaded;
  for (const Loaded& l : walk(rows_alone({6, 6, 3, 1, 1, 1}, 2))) loaded.push_back(l.a);
  EXPECT_THAT(loaded, ElementsAre(3, 2, 1));
}

/// Positions that results [first, first + count) read, those between the kernel's included.
std::vector<std::int64_t> positions(const Axis& a, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> read;
  for (std::int64_t p = 0; p < a.inputs; ++p)
    for (std::int64_t r = first; r < first + count; ++r)
      if (p >= r * a.stride - a.pad && p < r * a.stride - a.pad + a.reach()) {
        read.push_back(p);
        break;
      }
  return read;
}

TEST(expansion, loads_of_each_window_what_the_one_before_had_not) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    const Axis a{.results = dice.between(1, 14),
                 .inputs = dice.between(1, 24),
                 .kernel = dice.between(1, 4),
                 .stride = dice.between(1, 6),
                 .dilation = dice.between(1, 2),
                 .pad = dice.between(-5, 16)};
    const std::int64_t tile = dice.between(1, a.results);
    const std::vector<Loaded> found = walk(rows_alone(a, tile));
    std::vector<std::int64_t> before;
    std::int64_t first = 0;
    for (const Loaded& operation : found) {
      const std::int64_t count = std::min(tile, a.results - first);
      const std::vector<std::int64_t> now = positions(a, first, count);
      std::vector<std::int64_t> fresh;
      std::ranges::set_difference(now, before, std::back_inserter(fresh));
      EXPECT_EQ(operation.a, std::ssize(fresh)) << "seed " << seed << ", from result " << first;
      EXPECT_EQ(operation.shape, count < tile ? 1 : 0);
      before = now;
      first += count;
    }
    EXPECT_EQ(first, a.results);
  }
}

/// Whether windows of so many tiles of one row are cut at the input's edges.
bool clips(const Axis& a) { return rows_alone(a, 1).windows.size() > 1; }

TEST(expansion, clips_256_tiles_of_an_axis_and_no_more) {
  // No padding before: of an input that holds the first window alone all others are clipped.
  EXPECT_TRUE(clips({257, 3, 3, 2, 1, 0}));
  EXPECT_FALSE(clips({258, 3, 3, 2, 1, 0}));
  // One position less: the first, too.
  EXPECT_TRUE(clips({256, 2, 3, 2, 1, 0}));
  EXPECT_FALSE(clips({257, 2, 3, 2, 1, 0}));
  EXPECT_FALSE(clips({257, 1, 3, 2, 1, 0}));
  // All before the input.
  EXPECT_TRUE(clips({256, 9, 1, 1, 1, 256}));
  EXPECT_FALSE(clips({257, 9, 1, 1, 1, 257}));
  // 3 before, 5 inside, the others behind.
  EXPECT_TRUE(clips({8 + 253, 5, 1, 1, 1, 3}));
  EXPECT_FALSE(clips({8 + 254, 5, 1, 1, 1, 3}));
}

TEST(expansion, takes_windows_beyond_256_clipped_ones_as_those_of_an_input_without_edges) {
  struct Case {
    Axis axis;
    std::int64_t all, fresh, edge_all, edge_fresh;
  };
  // 301 tiles of 2 results and one of 1; most of them read padding alone.
  for (const Case& c : {Case{{603, 900, 3, 1, 1, 560}, 4, 2, 3, 1},
                        Case{{603, 900, 3, 5, 1, 2800}, 6, 6, 3, 3},  // gaps of 2 between the results' windows
                        Case{{603, 900, 3, 3, 1, 1680}, 6, 6, 3, 3},  // no gaps, nothing shared
                        Case{{603, 900, 4, 2, 1, 1200}, 6, 4, 4, 2},
                        Case{{603, 3, 4, 2, 1, 1200}, 3, 3, 3, 2},      // 3 positions are read in all
                        Case{{603, 900, 1, 1, 1, 602}, 1, 1, 1, 1}}) {  // and 1
    SCOPED_TRACE(c.axis.pad);
    const Expansion e = rows_alone(c.axis, 2);
    ASSERT_EQ(e.windows.size(), 2U);
    ASSERT_EQ(e.order.runs.size(), 2U);
    EXPECT_EQ(e.order.runs[0].tiles, 301);
    EXPECT_EQ(e.order.runs[1].tiles, 1);
    EXPECT_EQ(e.order.runs[1].shape, 1);
    EXPECT_EQ(e.order.runs[1].window, 1);
    EXPECT_EQ(e.windows[0].all, c.all);
    EXPECT_EQ(e.windows[0].fresh, c.fresh);
    EXPECT_EQ(e.windows[1].all, c.edge_all);
    EXPECT_EQ(e.windows[1].fresh, c.edge_fresh);
  }
}

TEST(expansion, has_a_loop_for_each_dimension_of_several_tiles_and_no_other) {
  const LoopNest n{.out_channels = 4, .in_channels = 4, .out_h = 4, .out_w = 4, .in_h = 4, .in_w = 4};
  EXPECT_EQ(expanded(weighted_nest(n, {4, 4, 4, 4})).order.loops.size(), 0U);
  EXPECT_EQ(expanded(weighted_nest(n, {4, 2, 4, 4})).order.loops.size(), 1U);
  EXPECT_EQ(expanded(weighted_nest(n, {2, 4, 2, 4})).order.loops.size(), 2U);
  EXPECT_EQ(expanded(weighted_nest(n, {2, 2, 2, 2})).order.loops.size(), 4U);
}

/// Row-wise work of that many rows of 10 elements, three passes.
Expansion expanded_softmax(std::int64_t rows, const Mapping& mapping) {
  InstructionClass c;
  c.work.family = Family::softmax;
  c.work.rows = rows, c.work.row_length = 10, c.work.passes = 3;
  c.mapping = mapping;
  return expanded(c);
}

std::vector<std::int32_t> shapes_in_order(const Expansion& e) {
  std::vector<std::int32_t> shapes;
  for (const Loaded& l : walk(e)) shapes.push_back(l.shape);
  return shapes;
}

void expect_shape(const TileShape& shape, std::int64_t rows, std::int64_t length, bool first, bool last,
                  std::int64_t times) {
  EXPECT_EQ(shape.size.rows, rows);
  EXPECT_EQ(shape.size.columns, 1);
  EXPECT_EQ(shape.size.channels, length);
  EXPECT_EQ(shape.size.sums, 1);
  EXPECT_EQ(shape.first, first);
  EXPECT_EQ(shape.last, last);
  EXPECT_EQ(shape.times, times);
}

TEST(expansion, of_whole_rows_makes_all_passes_in_one_operation) {
  const Expansion one = expanded_softmax(5, {5, 1, 10, 1});
  EXPECT_EQ(one.order.loops.size(), 0U);
  ASSERT_EQ(one.shapes.size(), 1U);
  expect_shape(one.shapes[0], 5, 10, true, true, 1);
  const Expansion tiled = expanded_softmax(5, {2, 1, 10, 1});
  ASSERT_EQ(tiled.order.loops.size(), 1U);
  ASSERT_EQ(tiled.shapes.size(), 2U);
  expect_shape(tiled.shapes[0], 2, 10, true, true, 2);
  expect_shape(tiled.shapes[1], 1, 10, true, true, 1);
  EXPECT_THAT(shapes_in_order(tiled), ElementsAre(0, 0, 1));
}

TEST(expansion, of_rows_in_chunks_goes_through_each_row_pass_by_pass) {
  const Expansion e = expanded_softmax(2, {1, 1, 4, 1});  // chunks of 4, 4, 2
  ASSERT_EQ(e.shapes.size(), 4U);
  expect_shape(e.shapes[0], 1, 4, true, false, 2 * 2 * 2);
  expect_shape(e.shapes[1], 1, 4, false, true, 2 * 2);
  expect_shape(e.shapes[2], 1, 2, true, false, 2 * 2);
  expect_shape(e.shapes[3], 1, 2, false, true, 2);
  EXPECT_THAT(shapes_in_order(e), ElementsAre(0, 0, 2, 0, 0, 2, 1, 1, 3, 0, 0, 2, 0, 0, 2, 1, 1, 3));
  EXPECT_EQ(expanded_softmax(1, {1, 1, 5, 1}).order.loops.size(), 2U) << "no loop over one row";
}

}  // namespace
}  // namespace sdip
