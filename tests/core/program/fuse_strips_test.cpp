// Chains carried in strips: the rule, the choice of cuts and of heights, and what the pass makes of graphs.
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "core/program/strips.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

InstructionClass two_convolutions(bool line_buffers) {
  InstructionClass c;
  c.compound = Compound::strips;
  c.line_buffers = line_buffers;
  Part part;
  part.work.family = Family::conv2d;
  part.operand_b = Place::psram;
  LoopNest& n = part.work.nest;
  n.out_h = n.in_h = n.out_w = n.in_w = 16;
  n.kernel_h = n.kernel_w = 3;
  c.parts = {part, part};
  c.mapping.tile_rows = 4;
  c.out_elements = 256;
  return c;
}

TEST(strips, rows_that_two_strips_need_are_made_again_or_kept) {
  const StripRows again = strip_rows(two_convolutions(false), 4);
  EXPECT_THAT(again.made, ElementsAre(6, 4));
  EXPECT_THAT(again.window, ElementsAre(8, 6));
  EXPECT_EQ(again.loaded, 8);
  EXPECT_EQ(strip_macs(two_convolutions(false)), 4 * (6 + 4) * 16 * 9);
  const StripRows kept = strip_rows(two_convolutions(true), 4);
  EXPECT_THAT(kept.made, ElementsAre(4, 4));
  EXPECT_THAT(kept.window, ElementsAre(6, 6));
  EXPECT_EQ(kept.loaded, 4);
  EXPECT_EQ(strip_macs(two_convolutions(true)), 2 * 16 * 16 * 9);
}

TEST(strips, the_height_is_the_tallest_that_fits_and_one_byte_less_makes_it_lower) {
  InstructionClass c = two_convolutions(false);
  c.operand_a = Place::dram;
  c.to_dram = true;
  c.to_dsram = false;
  TileRoom room;
  room.activation_bits = 8;
  room.weight_bytes = 0;
  room.read_bytes = 2 * 8 * 16;            // two windows of 8 rows
  room.write_bytes = 6 * 16 + 2 * 4 * 16;  // 6 rows between, two tiles of 4
  EXPECT_EQ(choose_strip_rows(c, room)->tile_rows, 4);
  --room.write_bytes;
  EXPECT_EQ(choose_strip_rows(c, room)->tile_rows, 3);
  room.read_bytes = 2 * 5 * 16;
  EXPECT_EQ(choose_strip_rows(c, room)->tile_rows, 1);
  --room.read_bytes;
  EXPECT_FALSE(choose_strip_rows(c, room));
}

TEST(strips, no_other_height_that_fits_moves_fewer_bytes) {
  std::mt19937 dice(2);
  for (int round = 0; round < 300; ++round) {
    InstructionClass c = two_convolutions(dice() % 2 == 0);
    for (Part& part : c.parts) part.work.nest.kernel_h = 1 + 2 * static_cast<std::int64_t>(dice() % 3);
    if (dice() % 2 == 0) c.parts.push_back(c.parts.back());
    c.operand_a = Place::dram;
    c.to_dram = true;
    c.to_dsram = false;
    TileRoom room;
    room.activation_bits = 8;
    room.weight_bytes = 0;
    room.read_bytes = static_cast<std::int64_t>(dice() % 700);
    room.write_bytes = static_cast<std::int64_t>(dice() % 700);
    const auto chosen = choose_strip_rows(c, room);
    std::optional<std::int64_t> least;
    for (std::int64_t rows = 1; rows <= 16; ++rows) {
      c.mapping.tile_rows = rows;
      const TileBuffers buffers = strip_buffers(c, room);
      if (buffers.read_bytes > room.read_bytes || buffers.write_bytes > room.write_bytes) continue;
      least = std::min(least.value_or(1 << 30), strip_dram_bytes(c, room));
    }
    ASSERT_EQ(chosen.has_value(), least.has_value()) << "round " << round;
    if (!chosen) continue;
    c.mapping = *chosen;
    EXPECT_EQ(strip_dram_bytes(c, room), *least) << "round " << round;
  }
}

/// The least cost over all 2^(count - 1) ways to cut.
ChainCost least(std::size_t count, const std::map<std::pair<std::size_t, std::size_t>, ChainCost>& costs) {
  std::optional<ChainCost> best;
  for (std::size_t cuts = 0; cuts < (std::size_t{1} << (count - 1)); ++cuts) {
    ChainCost sum;
    bool possible = true;
    for (std::size_t first = 0; first < count && possible;) {
      std::size_t last = first;
      while (last + 1 < count && (cuts >> last & 1) == 0) ++last;
      const auto part = costs.find({first, last});
      possible = part != costs.end();
      if (possible) sum.dram_bytes += part->second.dram_bytes, sum.macs += part->second.macs;
      first = last + 1;
    }
    if (possible && (!best || sum < *best)) best = sum;
  }
  return *best;
}

TEST(strips, no_other_cuts_of_a_small_chain_cost_less) {
  std::mt19937 dice(1);
  for (int round = 0; round < 500; ++round) {
    const std::size_t count = 1 + dice() % 9;
    std::map<std::pair<std::size_t, std::size_t>, ChainCost> costs;
    for (std::size_t first = 0; first < count; ++first)
      for (std::size_t last = first; last < count; ++last)
        if (first == last || dice() % 3 != 0)
          costs[{first, last}] = {static_cast<std::int64_t>(dice() % 20 * (1 + (last - first) / 2)),
                                  static_cast<std::int64_t>(dice() % 5)};
    const auto cost = [&](std::size_t first, std::size_t last) -> std::optional<ChainCost> {
      const auto found = costs.find({first, last});
      return found == costs.end() ? std::nullopt : std::optional(found->second);
    };
    const std::vector<std::size_t> cuts = best_cuts(count, cost);
    ChainCost sum;
    for (std::size_t k = 0; k < cuts.size(); ++k) {
      const ChainCost part = costs.at({cuts[k], (k + 1 < cuts.size() ? cuts[k + 1] : count) - 1});
      sum.dram_bytes += part.dram_bytes, sum.macs += part.macs;
    }
    EXPECT_EQ(cuts.at(0), 0U);
    ASSERT_TRUE(sum == least(count, costs)) << "round " << round;
  }
}

Machine small(Strips strips) {
  Machine m;
  m.activation_format = m.weight_format = NumberFormat::int8;
  m.dsram_bytes = 512 * 1024;
  m.stackram_bytes = 0;
  m.psram_bytes = 1024 * 1024;
  m.fusion = Fusion::pointwise;
  m.strips = strips;
  return m;
}

void add_conv(onnx::ModelProto& model, const char* x, const char* w, const char* y) {
  set_ints(add_node(model, "Conv", {x, w}, y), "pads", {1, 1, 1, 1});
}

TEST(fuse_strips, a_chain_with_activations_and_pooling_is_one_instruction_while_its_weights_fit) {
  onnx::ModelProto model = model_of_x({1, 64, 256, 256});
  add_weight(model, "w", {64, 64, 3, 3});
  add_conv(model, "x", "w", "a");
  add_node(model, "Relu", {"a"}, "b");
  add_conv(model, "b", "w", "c");
  auto& pool = add_node(model, "MaxPool", {"c"}, "d");
  set_ints(pool, "kernel_shape", {2, 2});
  set_ints(pool, "strides", {2, 2});
  add_conv(model, "d", "w", "y");
  add_output(model, "y");
  Machine m = small(Strips::line_buffers);
  const Application one = compiled(model, m);
  EXPECT_THAT(mnemonics(one), ElementsAre("strips:conv2d+relu>conv2d>max_pool>conv2d"));
  EXPECT_EQ(class_at(one, 0).parts.size(), 4U);
  EXPECT_EQ(one.stages[0].program.instructions[0].nodes.size(), 5U);
  m.psram_bytes = 3 * 64 * 64 * 9 - 1;
  EXPECT_EQ(mnemonics(compiled(model, m)).size(), 2U) << "three convolutions' weights are a byte too many";
}

TEST(fuse_strips, leaves_a_chain_alone_whose_tensors_fit_on_chip) {
  onnx::ModelProto model = model_of_x({1, 8, 16, 16});
  add_weight(model, "w", {8, 8, 3, 3});
  add_conv(model, "x", "w", "a");
  add_conv(model, "a", "w", "y");
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, small(Strips::line_buffers))), ElementsAre("conv2d", "conv2d"));
}

TEST(fuse_strips, a_norm_ends_a_chain_unless_its_operand_is_made_twice) {
  onnx::ModelProto model = model_of_x({1, 64, 128, 128});
  model.mutable_opset_import(0)->set_version(21);
  add_weight(model, "w", {64, 64, 3, 3});
  for (const char* name : {"gamma", "beta"}) add_weight(model, name, {64});
  add_conv(model, "x", "w", "a");
  set_int(add_node(model, "GroupNormalization", {"a", "gamma", "beta"}, "b"), "num_groups", 8);
  add_conv(model, "b", "w", "c");
  add_conv(model, "c", "w", "y");
  add_output(model, "y");
  Machine m = small(Strips::line_buffers);
  m.fusion = Fusion::norm;
  m.norm_statistics = NormStatistics::producer;
  EXPECT_THAT(mnemonics(compiled(model, m)), ElementsAre("conv2d", "strips:groupnorm+conv2d>conv2d"));
  m.norm_statistics = NormStatistics::recompute;
  const Application twice = compiled(model, m);
  EXPECT_THAT(mnemonics(twice), ElementsAre("strips:conv2d_sums", "strips:conv2d>groupnorm+conv2d>conv2d"));
  EXPECT_FALSE(class_at(twice, 0).to_dram) << "sums alone";
  EXPECT_EQ(class_at(twice, 0).parts[0].statistics_passes, 1);
}

}  // namespace
}  // namespace sdip
