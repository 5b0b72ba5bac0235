// Chains carried in strips: the rule, the choice of cuts and of heights, and what the pass makes of graphs.
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "core/program/tiling/strips.h"
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
  EXPECT_EQ(choose_strip_rows(c, room, room.weight_bytes)->tile_rows, 4);
  --room.write_bytes;
  EXPECT_EQ(choose_strip_rows(c, room, room.weight_bytes)->tile_rows, 3);
  room.read_bytes = 2 * 5 * 16;
  EXPECT_EQ(choose_strip_rows(c, room, room.weight_bytes)->tile_rows, 1);
  --room.read_bytes;
  EXPECT_FALSE(choose_strip_rows(c, room, room.weight_bytes));
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
    const auto chosen = choose_strip_rows(c, room, room.weight_bytes);
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

/// Parts of so many channels, a byte an element, `bytes` a channel.
InstructionClass weighted_chain(const std::vector<std::int64_t>& channels, const std::vector<std::int64_t>& bytes) {
  InstructionClass c = two_convolutions(true);
  c.parts.resize(channels.size(), c.parts[0]);
  for (std::size_t p = 0; p < channels.size(); ++p) {
    c.parts[p].work.nest.out_channels = channels[p];
    c.parts[p].weight_elements_per_channel = bytes[p];
  }
  return c;
}

TileRoom weight_room(std::int64_t bytes, std::int64_t buffers) {
  TileRoom room;
  room.form.bits = room.form.vector_bits = 8;
  room.weight_bytes = bytes;
  room.weight_buffers = buffers;
  return room;
}

TEST(strips, weights_that_do_not_fit_are_streamed_as_the_worked_example_says) {
  InstructionClass c = weighted_chain({4, 8}, {20, 10});
  ASSERT_TRUE(stream_weights(c, weight_room(160, 2), 160));
  EXPECT_EQ(c.parts[0].streamed_channels + c.parts[1].streamed_channels, 0);
  EXPECT_TRUE(strip_operations(c).empty());
  ASSERT_TRUE(stream_weights(c, weight_room(100, 2), 100));
  EXPECT_EQ(c.parts[0].streamed_channels, 0);
  EXPECT_EQ(c.parts[1].streamed_channels, 8);
  EXPECT_EQ(c.parts[1].tile_channels, 1);
  EXPECT_EQ(strip_held_bytes(c, weight_room(0, 2).form), 80);
  EXPECT_EQ(strip_operations(c).size(), 2U);
  ASSERT_TRUE(stream_weights(c, weight_room(20, 2), 20)) << "one tile of the larger at a time";
  EXPECT_FALSE(stream_weights(c, weight_room(19, 2), 19));
}

/// Bytes streamed in a strip by any numbers of channels in tiles of at most `granule`; none when nothing fits.
std::optional<std::int64_t> least_streamed(const std::vector<std::int64_t>& channels,
                                           const std::vector<std::int64_t>& bytes, std::int64_t room,
                                           std::int64_t granule, std::int64_t buffers) {
  std::optional<std::int64_t> least;
  for (std::int64_t first = 0; first <= channels[0]; ++first)
    for (std::int64_t second = 0; second <= channels[1]; ++second) {
      const std::int64_t tile = std::max(std::min(first, granule) * bytes[0], std::min(second, granule) * bytes[1]);
      const std::int64_t held = (channels[0] - first) * bytes[0] + (channels[1] - second) * bytes[1];
      if (held + buffers * tile > room) continue;
      const std::int64_t streamed = first * bytes[0] + second * bytes[1];
      least = std::min(least.value_or(streamed), streamed);
    }
  return least;
}

TEST(strips, no_other_weights_streamed_are_fewer_by_a_channel) {
  std::mt19937 dice(4);
  const auto draw = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(dice()) % most; };
  int wide = 0, streaming = 0;
  for (int round = 0; round < 400; ++round) {
    const std::vector<std::int64_t> channels{draw(100), draw(100)}, bytes{draw(9), draw(9)};
    const std::int64_t all = channels[0] * bytes[0] + channels[1] * bytes[1];
    const TileRoom room = weight_room(draw(all), draw(2));
    InstructionClass c = weighted_chain(channels, bytes);
    const bool fits = stream_weights(c, room, room.weight_bytes);
    std::optional<std::int64_t> least;
    for (std::int64_t buffers = room.weight_buffers; buffers > 0; --buffers)
      for (const std::int64_t granule : {32, 1})
        if (!least) least = least_streamed(channels, bytes, room.weight_bytes, granule, buffers);
    ASSERT_EQ(fits, least.has_value()) << "round " << round;
    if (!fits) continue;
    const std::int64_t streamed = c.parts[0].streamed_channels * bytes[0] + c.parts[1].streamed_channels * bytes[1];
    EXPECT_GE(streamed, *least) << "round " << round;
    EXPECT_LT(streamed, *least + std::max(bytes[0], bytes[1])) << "round " << round;
    wide += std::max(c.parts[0].tile_channels, c.parts[1].tile_channels) == 32;
    streaming += streamed > 0;
  }
  EXPECT_GT(wide, 50);
  EXPECT_GT(streaming, 200);
}

TEST(strips, a_strip_of_streamed_weights_is_one_operation_for_each_tile) {
  InstructionClass c = two_convolutions(false);
  c.parts[1].work.nest.out_channels = 10;
  c.parts[1].streamed_channels = 7;
  c.parts[1].tile_channels = 3;
  const auto operations = strip_operations(c);
  ASSERT_EQ(operations.size(), 4U);
  EXPECT_EQ(operations[0].channels, 1) << "all of the first part";
  EXPECT_EQ(operations[1].channels, 3) << "those of the second that are held";
  EXPECT_TRUE(operations[2].streamed);
  EXPECT_EQ(operations[2].channels * operations[2].times + operations[3].channels, 7);
  EXPECT_EQ(strip_operation_count(c), 4 * 5);
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

TEST(fuse_strips, a_chain_with_activations_and_pooling_is_one_instruction_that_streams_weights_that_do_not_fit) {
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
  const std::int64_t a_channel = 64 * 9, all = 3 * 64 * a_channel;
  const auto streamed = [&](std::int64_t psram_bytes) {
    m.psram_bytes = psram_bytes;
    std::vector<std::int64_t> channels;
    const Application application = compiled(model, m);
    EXPECT_EQ(mnemonics(application).size(), 1U);
    for (const Part& part : class_at(application, 0).parts) channels.push_back(part.streamed_channels);
    return channels;
  };
  EXPECT_THAT(streamed(all), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(streamed(all - 1), ElementsAre(1, 1, 0, 1)) << "one channel leaves, and two tiles of one take place";
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
