// Is an instruction cut into the tiles, windows and bytes of weights that docs/model/tiling.md says?
#include "core/cost/work/tile_plan.h"

#include <gmock/gmock.h>

#include "tests/core/cost/random_program.h"
#include "tests/core/program/nest_class.h"

namespace sdip::cost {
namespace {

TEST(tile_plan, of_two_frames_of_five_rows_and_three_groups_of_six_channels_is_twelve_operations) {
  const TilePlan plan =
      cost::tile_plan(weighted_nest({.groups = 3, .batch = 2, .out_channels = 6, .out_h = 5}, {2, 1, 12, 1}));
  EXPECT_EQ(plan.rows.full, 2);
  EXPECT_EQ(plan.rows.edge, 1);
  EXPECT_EQ(plan.groups.full, 1);
  EXPECT_EQ(plan.groups.edge, 1);
  EXPECT_EQ(plan.repeats, 2);
  EXPECT_EQ(plan.result_tiles(), 12);
  EXPECT_EQ(plan.channels.full, 1);
  EXPECT_EQ(plan.channels.edge, 0);
}

TEST(tile_plan, takes_tiles_larger_than_the_work_as_all_of_it) {
  const LoopNest n{.groups = 3, .out_channels = 6, .in_channels = 5, .out_h = 7, .out_w = 9};
  const TilePlan plan = cost::tile_plan(weighted_nest(n, {100, 100, 100, 100}));
  EXPECT_EQ(plan.result_tiles(), 1);
  EXPECT_EQ(plan.tile_rows, 7);
  EXPECT_EQ(plan.tile_columns, 9);
  EXPECT_EQ(plan.tile_channels, 18);
  EXPECT_EQ(plan.tile_sums, 5);
  EXPECT_EQ(cost::tile_plan(weighted_nest(n, one_tile)).result_tiles(), 1);
  InstructionClass rows;
  rows.work.family = Family::softmax;
  rows.work.rows = 3, rows.work.row_length = 10, rows.work.passes = 3;
  rows.mapping = {100, 1, 10, 1};
  EXPECT_EQ(cost::tile_plan(rows).result_tiles(), 1);
  EXPECT_EQ(cost::tile_plan(rows).tile_rows, 3);
  rows.mapping = {1, 1, 4, 1};  // each row in chunks of 4, 4, 2, gone through three times; the last time writes
  EXPECT_EQ(cost::tile_plan(rows).result_tiles(), 3 * 3);
  EXPECT_EQ(cost::tile_plan(rows).passes_apart, 3);
}

TEST(partial_sums, leave_when_a_loop_of_several_tiles_runs_inside_several_of_sums) {
  const LoopNest n{.groups = 2, .out_channels = 4, .in_channels = 4, .out_h = 4, .out_w = 4};
  using enum Loop;
  const auto leave = [&](std::int64_t r, std::int64_t k, std::int64_t c, std::int64_t s, LoopOrder order) {
    const InstructionClass one = weighted_nest(n, {r, k, c, s, order});
    return partials_leave(one, cost::tile_plan(one));
  };
  const LoopOrder innermost{rows, columns, channels, sums}, outermost{sums, rows, columns, channels};
  EXPECT_FALSE(leave(2, 2, 2, 2, innermost));
  EXPECT_FALSE(leave(4, 4, 8, 2, outermost)) << "nothing runs inside";
  EXPECT_FALSE(leave(2, 2, 2, 4, outermost)) << "one tile of sums";
  EXPECT_TRUE(leave(2, 4, 8, 2, outermost));
  EXPECT_TRUE(leave(4, 2, 8, 2, outermost));
  EXPECT_TRUE(leave(4, 4, 2, 2, outermost));
  EXPECT_TRUE(leave(4, 4, 4, 2, outermost)) << "groups, too, are of the loop over channels";
  EXPECT_FALSE(leave(2, 2, 8, 2, {rows, columns, sums, channels}));
  EXPECT_TRUE(leave(4, 4, 2, 2, {rows, columns, sums, channels}));
}

/// What results [first, first + count) read, position by position, those between the kernel's included.
std::vector<bool> read_by(const Axis& a, std::int64_t first, std::int64_t count) {
  std::vector<bool> read(static_cast<std::size_t>(a.inputs));
  for (std::int64_t r = first; r < first + count; ++r) {
    const std::int64_t begin = r * a.stride - a.pad;
    for (std::int64_t p = std::max<std::int64_t>(0, begin); p < std::min(a.inputs, begin + a.reach()); ++p)
      read[static_cast<std::size_t>(p)] = true;
  }
  return read;
}

TEST(windows, are_the_positions_that_results_read_wherever_padding_lies) {
  for (std::int64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(static_cast<std::uint64_t>(seed));
    const Axis a{.results = dice.between(1, 12),
                 .inputs = dice.between(1, 20),
                 .kernel = dice.between(1, 4),
                 .stride = dice.between(1, 9),
                 .dilation = dice.between(1, 3),
                 .pad = dice.between(-6, 25)};
    for (std::int64_t first = 0; first < a.results; ++first)
      for (std::int64_t count = 1; first + count <= a.results; ++count)
        EXPECT_EQ(window(a, first, count), std::ranges::count(read_by(a, first, count), true)) << "seed " << seed;
    std::int64_t inside = a.reach();
    for (std::int64_t count = 1; count <= a.results; ++count, inside += std::min(a.stride, a.reach()))
      EXPECT_EQ(held_window(a, count), std::min(inside, window(a, 0, a.results))) << "seed " << seed;
  }
}

TEST(windows, of_results_behind_the_last_input_are_empty) {
  EXPECT_EQ(window({.results = 9, .inputs = 4, .kernel = 2, .stride = 1, .dilation = 1, .pad = 1}, 6, 2), 0);
}

TEST(weight_bytes, come_with_biases_and_scales_in_the_first_tile_of_sums) {
  WeightForm form{.bits = 4, .scale_bits_per_channel = 32, .vector_bits = 4};
  EXPECT_EQ(weight_bytes({0, 0, 0, true}, form), 0);
  EXPECT_EQ(weight_bytes({7, 1, 0, false}, form), 4);              // 28 bits
  EXPECT_EQ(weight_bytes({8, 1, 0, false}, form), 4);              // 32
  EXPECT_EQ(weight_bytes({9, 1, 0, false}, form), 5);              // 36
  EXPECT_EQ(weight_bytes({7, 3, 2, true}, form), 3 + 3 + 12 + 1);  // 28 + 3 x (2 x 4 + 32) = 148 bits
  form.skipping = true;
  form.density_hundredths = 50;
  EXPECT_EQ(weight_bytes({7, 3, 2, false}, form), 3);       // 4 kept of 4 bit, a mask of 7
  form.group = 5;                                           // 3 of 5
  EXPECT_EQ(weight_bytes({21, 3, 2, false, 7}, form), 14);  // 3 x (3 + 2) of 4 bit at places of 3: 105 bits
  EXPECT_EQ(weight_bytes({21, 3, 2, true, 7}, form), 29);   // 120 bits more
}

TEST(weight_bytes, of_groups_follow_from_whole_ones_and_what_is_left) {
  for (std::int64_t group = 2; group <= 9; ++group)
    for (std::int64_t density = 1; density <= 100; ++density)
      for (std::int64_t sums = 1; sums <= 30; ++sums) {
        std::int64_t kept = 0;
        for (std::int64_t i = 0; i < sums; ++i) kept += i % group * 100 < group * density ? 1 : 0;
        EXPECT_EQ(kept_in_groups(sums, group, density), kept) << sums << " by " << group << " at " << density;
        EXPECT_EQ(group_pattern(group, density).kept_of(sums), kept);
      }
  EXPECT_EQ(group_pattern(2, 50).index_bits(), 1);
  EXPECT_EQ(group_pattern(4, 50).index_bits(), 2);
  EXPECT_EQ(group_pattern(5, 50).index_bits(), 3);
  EXPECT_EQ(group_pattern(64, 50).index_bits(), 6);
}

TEST(weight_bytes, of_some_of_the_sums_round_a_channel_s_share_up) {
  InstructionClass c = weighted_nest({.in_channels = 3}, {});
  c.weight_elements_per_channel = 7;  // no multiple of the sums: a share is 3 of 7
  const WeightForm form{.bits = 8};
  EXPECT_EQ(cost::weight_tile_bytes(c, 2, 3, true, form), 2 * 7);
  EXPECT_EQ(cost::weight_tile_bytes(c, 2, 1, true, form), 2 * 3);
  EXPECT_EQ(cost::weight_tile_bytes(c, 2, 2, true, form), 2 * 6);
}

TEST(weight_bytes, are_compressed_from_1024_on_and_rounded_up) {
  WeightForm form;
  form.compression_hundredths = 200;
  EXPECT_EQ(cost::stored_bytes(1023, form), 1023);
  EXPECT_EQ(cost::stored_bytes(1024, form), 512);
  EXPECT_EQ(cost::stored_bytes(1025, form), 513);
  form.compression_hundredths = 101;
  EXPECT_EQ(cost::stored_bytes(1110, form), 1100);  // 1110 / 1.01 = 1099.0099...
}

}  // namespace
}  // namespace sdip::cost
