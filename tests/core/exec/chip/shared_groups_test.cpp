// Groups and output channels of products on several cores compute what they compute on one.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/chip/execute.h"
#include "core/exec/clock/step.h"
#include "tests/core/exec/clock/moved.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/program/shared_products.h"

namespace sdip {
namespace {

/// Depthwise and grouped convolutions between full ones, with what is fused to them.
MadeNetwork grouped_network(Draw& draw) {
  NetworkMaker make(draw);
  const std::int64_t channels = 2 * draw.between(1, 6);
  ValueId x = make.input({draw.between(1, 2), channels, draw.between(4, 12), draw.between(3, 8)});
  for (std::int64_t i = draw.between(2, 5); i > 0; --i) {
    const std::int64_t in = make.shape(x)[1], groups = draw.one_in(3) ? 2 : in;
    const std::int64_t out = groups * draw.between(1, 2), stride = draw.one_in(4) ? 2 : 1;
    std::vector<ValueId> inputs{x, make.weight({out, in / groups, 3, 3}, 9 * in / groups)};
    if (draw.one_in(2)) inputs.push_back(make.weight({out}));
    const ValueId before = x;
    x = make.node("Conv", inputs,
                  {{"pads", std::vector<std::int64_t>(4, 1)},
                   {"strides", std::vector<std::int64_t>(2, stride)},
                   {"group", groups}});
    if (draw.one_in(2)) x = make.node("Relu", {x});
    if (draw.one_in(3)) x = make.node("Mul", {x, make.weight({out, 1, 1})});
    if (out == in && stride == 1 && draw.one_in(2)) x = make.node("Add", {x, before});
    if (draw.one_in(3)) {
      const ValueId squeezed = make.node("GlobalAveragePool", {x});
      x = make.node("Mul", {x, make.node("Sigmoid", {squeezed})});  // an activation by channel
    }
    if (draw.one_in(3)) {  // a matrix a channel
      const Shape shape = make.shape(x);
      x = make.node("MatMul", {x, make.weight({shape[1], shape[3], draw.between(3, 6)}, shape[3])});
    }
    if (draw.one_in(2)) x = make.node("Conv", {x, make.weight({draw.one_in(2) ? channels : out, out, 1, 1}, out)});
    if (draw.one_in(3)) {  // one matrix for all
      const std::int64_t from = make.shape(x)[3], to = draw.between(2, 8);
      x = make.node("MatMul", {x, make.weight({from, to}, from)});
      if (draw.one_in(2)) x = make.node("Add", {x, make.weight({to})});
      if (draw.one_in(3))
        x = make.node("Mul", {x, make.weight({make.shape(x)[2], 1})});  // the same for all channels
    }
  }
  return make.finish({x}, false);
}

std::int64_t sharing(const CompiledStage& stage) {
  return std::ranges::count_if(stage.program.classes,
                               [](const InstructionClass& c) { return weight_parts(c) > 1; });
}

TEST(shared_groups, compute_bit_for_bit_what_they_compute_on_one_core) {
  std::int64_t run = 0, shared = 0, by_channels = 0, matrices = 0;
  for (std::uint64_t seed = 0; seed < pair_count(400); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 40'000);
    const MadeNetwork network = grouped_network(draw);
    Machine machine = random_machine(draw);
    machine.accumulator_format = NumberFormat::int32;  // exact sums, whatever the tiles
    machine.cores = draw.between(2, 9);
    machine.fused_attention = FusedAttention::off;
    std::vector<Tensor> outputs[3];
    const auto stored = [&](const Value& v) { return network.stored(v); };
    bool feasible = true;
    for (const Branches branches : {Branches::serial, Branches::parallel, Branches::channels}) {
      machine.branches = branches;
      const Application application = compiled_on(machine, network, Role::network);
      feasible = feasible && application.feasible;
      if (!feasible) break;
      const CompiledStage& stage = application.stages[0];
      if (branches != Branches::serial) {
        (branches == Branches::parallel ? shared : by_channels) += sharing(stage);
        matrices += std::ranges::count_if(stage.program.classes, [](const InstructionClass& c) {
          return weight_parts(c) > 1 && c.work.family != Family::conv2d;
        });
        const auto moved = transfers_of(stage, machine, network);
        for (std::size_t i = 0; i < moved.size(); ++i)
          EXPECT_EQ(difference_of(stage, machine, i, moved[i]), "") << graph_text(stage);
      }
      outputs[static_cast<std::size_t>(branches)] = execute(stage, machine, network.inputs, stored).outputs;
    }
    if (!feasible) continue;
    ++run;
    for (const std::size_t other : {1UL, 2UL}) {
      ASSERT_EQ(outputs[0].size(), outputs[other].size());
      for (std::size_t i = 0; i < outputs[0].size(); ++i) EXPECT_EQ(outputs[0][i].floats, outputs[other][i].floats);
    }
  }
  EXPECT_GT(run, static_cast<std::int64_t>(pair_count(400)) / 2);
  EXPECT_GT(shared, run / 2);
  EXPECT_GT(by_channels, run);
  EXPECT_GT(matrices, run / 20);
}

/// The second worked example of core/cost/work/branches.cpp, stepped.
TEST(shared_groups, wait_for_the_weights_of_every_core_and_read_them_through_one_port) {
  Program program;
  program.classes.push_back(shared_depthwise());
  program.instructions.emplace_back();
  Machine m = of_shared_depthwise();
  m.dram_burst_bytes = 64;
  const InstructionCounts counts = step(program, m, Decimal{100}, 1, 1).passes[0].at(0);
  EXPECT_EQ(counts.tile_operations, 1);
  EXPECT_EQ(counts.compute_cycles, 18);
  EXPECT_EQ(counts.psram_read_beats, 72);
  EXPECT_EQ(counts.weight_bytes, 4 * 64);
  EXPECT_EQ(counts.end - counts.start - counts.stall_weights, m.dispatch_cycles + 12 + 72 + 12 + m.pipeline_stages);
}

/// The third.
TEST(shared_groups, pass_on_what_cores_that_share_channels_all_read) {
  Program program;
  program.classes.push_back(shared_linear());
  program.instructions.emplace_back();
  const Machine m = of_shared_depthwise();
  const auto lasts = [&] {
    const InstructionCounts counts = step(program, m, Decimal{100}, 1, 1).passes[0].at(0);
    return counts.end - counts.start - counts.stall_weights - m.dispatch_cycles - m.pipeline_stages;
  };
  const std::int64_t by_channels = lasts();
  program.classes[0].shares_channels = false;
  EXPECT_EQ(lasts() - by_channels, 2 * 4) << "three times 4 cycles for the same rows, not once";
}

}  // namespace
}  // namespace sdip
