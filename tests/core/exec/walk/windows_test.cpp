// Windows of tiles at the edges of an input: does the clock load what the estimate says?
#include <gtest/gtest.h>

#include "core/cost/price/stage.h"
#include "core/exec/clock/step.h"
#include "core/exec/walk/windows.h"

namespace sdip {
namespace {

/// A convolution of one channel over columns of `in`, from and to DRAM.
Program padded_column(std::int64_t in, std::int64_t pad, std::int64_t stride, std::int64_t tile) {
  Program program;
  InstructionClass& c = program.classes.emplace_back();
  c.work.family = Family::conv2d;
  LoopNest& n = c.work.nest;
  n.in_h = in;
  n.kernel_h = 3;
  n.stride_h = stride;
  n.pad_top = n.pad_bottom = pad;
  n.out_h = (in + 2 * pad - 3) / stride + 1;
  c.operand_a = Place::dram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = 3;
  c.mapping = {tile, 1, 1, 1, rows_outermost};
  c.out_elements = n.out_h;
  program.instructions.emplace_back();
  return program;
}

Machine byte_machine() {
  Machine machine;
  machine.activation_format = machine.weight_format = NumberFormat::int8;
  machine.dram_burst_bytes = 1;
  return machine;
}

/// Bytes loaded of operand A, by the clock; the estimate's are the same.
std::int64_t loaded(const Program& program) {
  const Machine machine = byte_machine();
  const List<ClassCost> costs{class_cost(program.classes[0], machine)};
  const TimelineRules rules = timeline_rules(machine, Decimal{100}, 1, Bytes(0));
  const PassCost estimate = run_timeline(program, costs, rules, 1).passes[0];
  const PassCounts stepped = step(program, machine, Decimal{100}, 1, 1).streams[0];
  EXPECT_EQ(estimate.activation_in_bytes, stepped.activation_in_bytes);
  EXPECT_EQ(estimate.cycles, stepped.cycles);
  return stepped.activation_in_bytes;
}

TEST(windows, are_clipped_to_the_input) {
  const exec::InputAxis padded{4, 4, 1, 3, 1, 1}, apart{3, 9, 3, 1, 1, 0};
  EXPECT_EQ(exec::positions_read(padded, {0, 2}), (exec::Runs{{0, 3}}));
  EXPECT_EQ(exec::positions_read(apart, {1, 3}), (exec::Runs{{3, 4}, {6, 7}}));
  EXPECT_EQ(exec::fresh_positions(exec::positions_read(padded, {2, 4}), exec::positions_read(padded, {0, 2})),
            (exec::Runs{{3, 4}}));
  EXPECT_EQ(loaded(padded_column(4, 1, 1, 2)), 4);
  EXPECT_EQ(loaded(padded_column(100, 40, 1, 1)), 100);
  EXPECT_EQ(loaded(padded_column(100, 90, 4, 3)), 75);
}

TEST(windows, of_more_clipped_tiles_than_the_model_counts_are_those_of_an_input_without_edges) {
  // 128 results lie wholly in the padding before the input, as many behind, and two at each edge partly.
  const std::int64_t exact = loaded(padded_column(100, 126, 1, 1));
  EXPECT_EQ(exact, 100);
  const std::int64_t unclipped = loaded(padded_column(100, 130, 1, 1));
  EXPECT_GT(unclipped, 300);
  for (const std::int64_t stride : {1, 2, 5})
    for (const std::int64_t tile : {1, 2, 3}) loaded(padded_column(50, 2000, stride, tile));
}

}  // namespace
}  // namespace sdip
