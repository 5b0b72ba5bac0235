// Tile loops, addresses, views and formats: the worked examples of their headers.
#include <gtest/gtest.h>

#include "core/exec/clock/addresses.h"
#include "core/exec/numbers/formats.h"
#include "core/exec/walk/tile_loops.h"
#include "core/exec/walk/views.h"
#include "tests/core/exec/random_graph.h"

namespace sdip::exec {
namespace {

std::vector<TileOperation> tiles_of(const LoopNest& nest, bool weighted, const Mapping& mapping) {
  std::vector<TileOperation> tiles;
  for_each_tile(tile_loops(nest, weighted, mapping, {{0, nest.out_h}}),
                [&](const TileOperation& t) { tiles.push_back(t); });
  return tiles;
}

TEST(tile_loops, rows_outside_channels_go_as_the_worked_example_says) {
  LoopNest nest;
  nest.out_h = 3;
  nest.out_channels = 4;
  const auto tiles = tiles_of(nest, true, {2, 1, 2, 1, rows_outermost});
  ASSERT_EQ(tiles.size(), 4U);
  const Extent rows[] = {{0, 2}, {0, 2}, {2, 3}, {2, 3}}, channels[] = {{0, 2}, {2, 4}, {0, 2}, {2, 4}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(tiles[i].rows, rows[i]);
    EXPECT_EQ(tiles[i].channels, channels[i]);
  }
}

TEST(tile_loops, sums_outside_leave_partial_sums_and_come_back) {
  LoopNest nest;
  nest.out_h = 2;
  nest.in_channels = 3;
  const auto tiles = tiles_of(nest, true, {1, 1, 1, 2, {Loop::sums, Loop::rows, Loop::columns, Loop::channels}});
  ASSERT_EQ(tiles.size(), 4U);
  EXPECT_TRUE(tiles[0].first_sums && !tiles[0].last_sums);
  EXPECT_EQ(tiles[1].rows, (Extent{1, 2}));
  EXPECT_EQ(tiles[2].sums, (Extent{2, 3}));
  EXPECT_TRUE(!tiles[3].first_sums && tiles[3].last_sums);
}

TEST(tile_loops, a_tile_of_all_rows_has_all_frames_and_one_of_some_has_one) {
  LoopNest nest;
  nest.out_h = 2;
  nest.batch = 3;
  EXPECT_EQ(tiles_of(nest, true, {2, 1, 1, 1}).size(), 1U);
  EXPECT_EQ(tiles_of(nest, true, {1, 1, 1, 1}).size(), 6U);
}

TEST(views, a_reshaped_transpose_stands_as_the_worked_example_says) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId x = make.input({2, 3});
  const ValueId t = make.node("Transpose", {x});
  const ValueId r = make.node("Reshape", {t, make.ints({6})});
  const MadeNetwork network = make.finish({r}, false);
  CompiledStage stage;
  stage.graph = std::make_shared<const Graph>(network.graph);
  const Views views = views_of(stage);
  const ValueId out = network.graph.outputs[0];
  EXPECT_EQ(views.root[static_cast<std::size_t>(out)], network.graph.inputs[0]);
  EXPECT_EQ(views.map[static_cast<std::size_t>(out)], (std::vector<std::int64_t>{0, 3, 1, 4, 2, 5}));
  const std::vector<std::int64_t> first_row{0, 1, 2};
  EXPECT_EQ(elements_in_view(views, out, first_row), (std::vector<std::int64_t>{0, 2, 4}));
}

TEST(views, a_transpose_behind_another_operator_says_where_each_element_goes) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId y = make.node("Relu", {make.input({2, 3})});
  const MadeNetwork network = make.finish({make.node("Transpose", {y})}, false);
  CompiledStage stage;
  stage.graph = std::make_shared<const Graph>(network.graph);
  stage.program.instructions.resize(1);
  stage.program.instructions[0].nodes = {0, 1};
  const Views views = views_of(stage);
  const ValueId out = network.graph.outputs[0];
  ASSERT_TRUE(views.turned.contains(out));
  EXPECT_EQ(views.turned.at(out), (std::vector<std::int64_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(views.root[static_cast<std::size_t>(out)], out) << "it has bytes of its own";
}

TEST(addresses, a_unified_memory_holds_a_value_once) {
  Machine machine;
  InstructionClass c;
  c.to_dsram = c.push = true;
  Instruction instruction;
  instruction.dsram_address = instruction.stackram_address = Bytes(8);
  EXPECT_EQ(destinations_of(instruction, c, machine).size(), 2U);
  EXPECT_EQ(slot_of(machine, 3, Place::stackram), (Slot{3, Place::stackram}));
  machine.activation_memory = ActivationMemory::unified;
  EXPECT_EQ(destinations_of(instruction, c, machine).size(), 1U);
  EXPECT_EQ(slot_of(machine, 3, Place::stackram), (Slot{3, Place::dsram}));
}

TEST(formats, hold_what_they_can_and_round_the_rest) {
  EXPECT_TRUE(holds(NumberFormat::fp16, ElementType::float16));
  EXPECT_FALSE(holds(NumberFormat::fp16, ElementType::float32));
  EXPECT_TRUE(holds(NumberFormat::int4, ElementType::int64));
  EXPECT_EQ(rounded_to_format(NumberFormat::fp16, 1 + 0x1p-11 + 0x1p-20, 1), 1 + 0x1p-10);
  EXPECT_EQ(rounded_to_format(NumberFormat::int8, 3.3, 0.5F), 3.5);
  EXPECT_EQ(rounded_to_format(NumberFormat::int8, 1000, 0.5F), 63.5);
  EXPECT_EQ(accumulated(NumberFormat::fp16, 2049), 2048);
  EXPECT_EQ(accumulated(NumberFormat::int32, 0.1), 0.1);
}

}  // namespace
}  // namespace sdip::exec
