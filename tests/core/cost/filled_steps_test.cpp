// Are the formulas of tile operations and of their transfers those of the examples in their headers?
#include "core/cost/filled_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cost/channel_moves.h"
#include "core/cost/explain.h"
#include "tests/core/cost/evaluate_filled.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// rows x sum by sum x channels, weights from PSRAM.
InstructionClass product_class(std::int64_t rows, std::int64_t sum, std::int64_t channels) {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest.out_h = c.work.nest.in_h = rows;
  c.work.nest.in_channels = sum;
  c.work.nest.out_channels = channels;
  c.out_elements = rows * channels;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = sum;
  c.mapping = cost::one_tile;
  return c;
}

/// The worked example of filled_busy.h, and of section 4.
TEST(filled_busy, a_linear_reads_as_section_4_has_it) {
  const Machine m;
  const InstructionClass c = product_class(4096, 320, 320);
  const auto shapes = filled_steps(c, m, Role::network, class_cost(c, m), 8);
  ASSERT_EQ(shapes.size(), 1U);
  ASSERT_EQ(shapes[0].size(), 1U);
  const FilledBusy& busy = shapes[0][0];
  EXPECT_EQ(busy.compute.text(), "ceil(4096/16) x ceil(320/32) x ceil(320/16)");
  EXPECT_EQ(busy.compute.value(), 51'200);
  EXPECT_EQ(busy.dsram_read.text(), "10 x 5120 x ceil(16 x 16 x 16/4096)");
  EXPECT_EQ(busy.dsram_read.value(), 51'200);
  EXPECT_EQ(busy.dsram_write.text(), "2560 x ceil(16 x 32 x 16/4096)");
  EXPECT_EQ(duration_of(shapes[0]).text(), "max(51200, 51200, 5120, 51200)");
}

/// The worked example of attention in docs/model.md.
TEST(filled_steps, an_attentions_steps_stand_one_after_the_other) {
  InstructionClass c;
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  c.work.nest = {.groups = 1, .batch = 1, .out_channels = 6, .in_channels = 4, .out_h = 2};
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].work.nest.out_channels = 4;
  c.parts[2].work.nest.in_channels = 6;
  c.operand_a = Place::dsram;
  c.operand_b = c.parts[2].operand_b = Place::stackram;
  c.mapping = {2, 1, 3, 4, rows_outermost};
  Machine m;
  m.matmul_lanes_m = m.matmul_lanes_n = m.matmul_lanes_k = 2;
  m.softmax_lanes = 4;
  m.dsram_port_bits = m.stackram_port_bits = 8192;
  const auto shapes = filled_steps(c, m, Role::network, class_cost(c, m), 8);
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].size(), 3U);
  EXPECT_EQ(shapes[1].size(), 4U);
  EXPECT_EQ(duration_of(shapes[0]).value(), 4 + 7 + 6);
  EXPECT_EQ(evaluate_filled(duration_of(shapes[1]).text()), 4 + 7 + 6 + 3);
}

TEST(filled_steps, what_the_host_computes_and_too_many_shapes_are_left_out) {
  const Machine m;
  const InstructionClass c = product_class(40, 8, 8);
  EXPECT_THAT(filled_steps(c, m, Role::network, class_cost(c, m), 0), testing::IsEmpty());
}

TEST(filled_steps, strips_are_written_out) {
  for (const Strips strips : {Strips::halo_recompute, Strips::line_buffers}) {
    Machine m;
    m.cores = 1;
    m.psram_bytes = 256 * 1024;
    m.dsram_bytes = 16 * 1024;
    m.stackram_bytes = 24 * 1024;
    m.fusion = Fusion::norm;
    m.strips = strips;
    const Application application = compile(tiny_sd(m), m);
    const Explanation e = explain(application, m, SIZE_MAX);
    ASSERT_TRUE(e.feasible) << e.reason;
    std::size_t compounds = 0;
    for (const LayerExplanation& layer : e.worst) {
      const Program& program = application.stages[layer.layer.stage].program;
      const auto number = program.instructions[layer.layer.index].instruction_class;
      compounds += program.classes[static_cast<std::size_t>(number)].compound == Compound::strips;
      EXPECT_TRUE(layer.written_out) << program.instructions[layer.layer.index].mnemonic;
    }
    EXPECT_GT(compounds, 0U);
  }
}

/// The worked example of channel_moves.h.
TEST(channel_moves, tiles_of_a_and_weights_are_counted_over_the_loops) {
  InstructionClass c = product_class(5, 4, 4);
  c.operand_a = Place::dram;
  c.mapping = {2, 1, 2, 4, channels_outermost};
  const Machine m;
  TimelineRules rules;
  rules.psram_bytes = 1 << 20;
  const ChannelMoves moves = channel_moves(class_cost(c, m), false, rules);
  std::int64_t windows = 0, weights = 0, elements = 0;
  for (const Move& move : moves.moves) {
    (move.weights ? weights : windows) += move.times;
    if (!move.weights) elements += move.times * move.bytes / 2;
  }
  EXPECT_EQ(windows, 6);
  EXPECT_EQ(weights, 2);
  EXPECT_EQ(elements, 2 * 5 * 4);
}

}  // namespace
}  // namespace sdip
