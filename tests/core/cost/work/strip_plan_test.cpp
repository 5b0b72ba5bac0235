// Are strips made of the rows, operations and parts that docs/model/fusion.md says, whatever the parts are?
#include "core/cost/work/strip_plan.h"

#include <gmock/gmock.h>

#include "core/cost/work/strips.h"

namespace sdip::cost {
namespace {

using testing::ElementsAre;

Part part_of(Family family, const LoopNest& nest) {
  Part part;
  part.work.family = family;
  part.work.nest = nest;
  part.out_elements = nest.batch * nest.groups * nest.out_channels * nest.out_h * nest.out_w;
  return part;
}

InstructionClass strips_of(std::vector<Part> parts, std::int64_t rows) {
  InstructionClass c;
  c.compound = Compound::strips;
  c.work = parts.back().work;
  c.parts = std::move(parts);
  c.mapping.tile_rows = rows;
  c.operand_a = Place::dsram;
  return c;
}

/// 3 x 3 over 16 rows, padded.
LoopNest convolution() {
  return {
      .out_channels = 10, .in_channels = 3, .out_h = 16, .in_h = 16, .kernel_h = 3, .pad_top = 1, .pad_bottom = 1};
}

TEST(strip_rows, of_two_convolutions_are_made_again_or_kept) {
  InstructionClass c =
      strips_of({part_of(Family::conv2d, convolution()), part_of(Family::conv2d, convolution())}, 4);
  EXPECT_THAT(strip_rows(c, 4).made, ElementsAre(6, 4));
  EXPECT_THAT(strip_rows(c, 4).read, ElementsAre(8, 6));
  EXPECT_EQ(strip_rows(c, 4).loaded, 8);
  c.line_buffers = true;
  EXPECT_THAT(strip_rows(c, 4).made, ElementsAre(4, 4));
  EXPECT_THAT(strip_rows(c, 4).read, ElementsAre(6, 6));
  EXPECT_EQ(strip_rows(c, 4).loaded, 4);
}

TEST(strip_rows, under_an_enlargement_are_fewer_and_under_a_padded_convolution_not) {
  const LoopNest enlarged{.out_h = 12, .in_h = 5};  // each row twice, and 2 more at the end
  EXPECT_THAT(strip_rows(strips_of({part_of(Family::vector, enlarged)}, 4), 4).read, ElementsAre(1 + 2));
  const LoopNest padded{.out_h = 12, .in_h = 5, .kernel_h = 2, .pad_top = 4, .pad_bottom = 4};
  EXPECT_THAT(strip_rows(strips_of({part_of(Family::conv2d, padded)}, 3), 3).read, ElementsAre(4));
}

TEST(strip_plan, is_one_strip_where_the_tile_is_higher_than_the_result) {
  const InstructionClass c = strips_of({part_of(Family::conv2d, convolution())}, 100);
  EXPECT_EQ(strip_plan(c).tile_rows, 16);
  EXPECT_EQ(strip_plan(c).result_tiles(), 1);
  EXPECT_TRUE(strip_plan(c).nest);
  EXPECT_EQ(strip_plan(strips_of({part_of(Family::conv2d, convolution())}, 5)).result_tiles(), 4);
}

/// The worked example of core/cost/work/strip_plan.h.
TEST(strip_operations, stream_channels_in_tiles_behind_those_that_are_held) {
  InstructionClass c = strips_of({part_of(Family::conv2d, convolution())}, 4);
  EXPECT_TRUE(strip_operations(c).empty());
  const auto operations = [&](std::int64_t streamed, std::int64_t tile) {
    c.parts[0].streamed_channels = streamed;
    c.parts[0].tile_channels = tile;
    std::vector<std::array<std::int64_t, 3>> found;
    for (const StripOperation& o : strip_operations(c)) found.push_back({o.channels, o.times, o.streamed});
    return found;
  };
  using Operation = std::array<std::int64_t, 3>;
  EXPECT_THAT(operations(7, 3), ElementsAre(Operation{3, 1, 0}, Operation{3, 2, 1}, Operation{1, 1, 1}));
  EXPECT_THAT(operations(10, 5), ElementsAre(Operation{5, 2, 1}));
  EXPECT_THAT(operations(2, 5), ElementsAre(Operation{8, 1, 0}, Operation{2, 1, 1})) << "less than a tile";
}

TEST(strip_parts, of_groups_count_all_channels) {
  const Part grouped = part_of(Family::conv2d, {.groups = 4, .out_channels = 3, .in_channels = 5});
  EXPECT_EQ(part_channels(grouped), 12);
  // Row-wise work: 2 rows of 6 positions, 5 channels in each of 4 groups.
  Part pool = part_of(Family::vector, {.groups = 4, .in_channels = 5, .out_h = 4, .in_h = 4, .in_w = 6});
  pool.work.row_length = 483;
  pool.read_elements = 7;
  const InstructionClass c = strips_of({pool}, 2);
  const InstructionClass one = part_class(c, 0, strip_rows(c, 2), 4);
  ASSERT_EQ(one.fetches.size(), 1U);
  EXPECT_EQ(one.fetches[0].elements, 2 * 6 * 5 * 4);
  EXPECT_EQ(one.work.row_length, 120 * 2);
}

TEST(strip_parts, write_on_chip_but_for_the_last_and_read_second_operands_where_they_lie) {
  InstructionClass c =
      strips_of({part_of(Family::conv2d, convolution()), part_of(Family::conv2d, convolution())}, 4);
  c.to_dsram = false, c.push = c.to_dram = true;
  for (Part& part : c.parts) part.operand_b = Place::dsram, part.pair_b = Family::softmax;
  const StripRows rows = strip_rows(c, 4);
  const InstructionClass first = part_class(c, 0, rows, 10), last = part_class(c, 1, rows, 10);
  EXPECT_TRUE(first.to_dsram && !first.push && !first.to_dram);
  EXPECT_TRUE(!last.to_dsram && last.push && last.to_dram);
  EXPECT_EQ(first.pair_b, Family::softmax);
  EXPECT_EQ(first.operand_b, Place::dsram);
  for (const InstructionClass& one : {first, last}) {
    EXPECT_EQ(one.work.nest.pad_top, 0) << "rows of a strip are all there";
    EXPECT_EQ(one.work.nest.pad_bottom, 0);
  }
}

TEST(strip_held_bytes, leave_out_what_is_streamed) {
  InstructionClass c = strips_of({part_of(Family::conv2d, convolution())}, 4);
  c.parts[0].operand_b = Place::psram;
  c.parts[0].weight_elements_per_channel = 9;
  c.parts[0].weight_elements = 5;
  const WeightForm form{.bits = 8, .vector_bits = 8};
  EXPECT_EQ(strip_held_bytes(c, form), 10 * 9 + 5);
  c.parts[0].streamed_channels = c.parts[0].tile_channels = 10;
  EXPECT_EQ(strip_held_bytes(c, form), 5);
  c.parts[0].operand_b = Place::dsram;
  c.parts[0].streamed_channels = 0;
  EXPECT_EQ(strip_held_bytes(c, form), 5);
}

TEST(strips_cost, loads_rows_of_all_groups_and_loops_over_several_strips_alone) {
  Machine m;
  m.activation_format = NumberFormat::int8;
  LoopNest grouped{.groups = 2, .out_channels = 3, .in_channels = 5, .out_h = 8, .in_h = 8, .in_w = 7};
  InstructionClass c = strips_of({part_of(Family::conv2d, grouped)}, 8);
  EXPECT_FALSE(strips_cost(c, resolve(c, m)).streams_activations);
  EXPECT_EQ(strips_cost(c, resolve(c, m)).order.loops.size(), 0U);
  c.operand_a = Place::dram;
  EXPECT_EQ(strips_cost(c, resolve(c, m)).windows[0].all, 8 * 7 * 2 * 5);
  EXPECT_TRUE(strips_cost(c, resolve(c, m)).streams_activations);
  c.mapping.tile_rows = 4;
  EXPECT_EQ(strips_cost(c, resolve(c, m)).order.loops.size(), 1U);
  c.parts[0].work.nest.batch = 2;
  EXPECT_EQ(strips_cost(c, resolve(c, m)).order.loops.size(), 2U);
}

TEST(strips_cost, loops_over_tiles_of_streamed_channels_where_there_are_several) {
  Machine m;
  InstructionClass c = strips_of({part_of(Family::conv2d, convolution())}, 16);
  c.parts[0].streamed_channels = 10;
  c.parts[0].tile_channels = 5;
  const TileLoops two = strips_cost(c, resolve(c, m)).order;
  ASSERT_EQ(two.loops.size(), 1U);
  EXPECT_TRUE(two.loops[0].b);
  EXPECT_EQ(two.runs[0].tiles, 2);
  c.parts[0].tile_channels = 10;
  EXPECT_EQ(strips_cost(c, resolve(c, m)).order.loops.size(), 0U);
}

}  // namespace
}  // namespace sdip::cost
