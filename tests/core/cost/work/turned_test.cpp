// What it costs to write results in another order than they are made.
#include <gtest/gtest.h>

#include "core/cost/price/estimate.h"
#include "core/cost/time/timeline.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

/// 4096 x 320 by 320 x 320 in one tile, as in docs/model/fusion.md.
InstructionClass linear(std::int64_t run) {
  InstructionClass c = linear_class(4096, 320, 320);
  c.turned_run = run;
  return c;
}

TEST(turned, the_worked_example_writes_32768_runs_of_40_in_a_beat_each) {
  Machine m;  // ports of 4096 bit, fp16
  m.dma_port = DmaPort::own;
  EXPECT_EQ(class_cost(linear(0), m).busy[Resource::dsram_write], 5'120);
  EXPECT_EQ(class_cost(linear(40), m).busy[Resource::dsram_write], 32'768);
  EXPECT_EQ(class_cost(linear(40), m).cycles, 51'200) << "the array needs longer";
  EXPECT_EQ(class_cost(linear(1), m).cycles, 1'310'720) << "one element a beat";
  EXPECT_EQ(class_cost(linear(1000), m).busy[Resource::dsram_write], 1'310 * 4 + 3) << "the last run is of 720";
}

TEST(turned, long_runs_are_no_faster_than_results_are_made) {
  EXPECT_EQ(class_cost(linear(4096 * 320), Machine()).busy[Resource::dsram_write], 5'120);
}

TEST(turned, each_memory_that_results_go_to_takes_the_runs_and_dram_the_same_bytes) {
  InstructionClass c = linear(40);
  c.push = c.to_dram = true;
  Machine m;
  m.stackram_port_bits = 512;
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.busy[Resource::dsram_write], 32'768);
  EXPECT_EQ(cost.busy[Resource::stackram_write], 2 * 32'768);
  EXPECT_EQ(cost.shapes[0].out_bytes, 2 * 4096 * 320);
  m.activation_memory = ActivationMemory::unified;
  EXPECT_EQ(class_cost(c, m).busy[Resource::dsram_write], 2 * 32'768);
}

TEST(turned, tiny_sd_takes_fewer_instructions_and_no_more_dram_bytes_than_with_explicit_transposes) {
  for (const Preset& preset : diffusion_presets()) {
    SCOPED_TRACE(preset.name);
    const auto report_of = [&](Transposition transposition) {
      Machine m = preset.machine;
      m.transposition = transposition;
      return estimate(compile(tiny_sd(m), m), m);
    };
    const Report with = report_of(Transposition::static_transposition);
    const Report without = report_of(Transposition::explicit_instruction);
    ASSERT_TRUE(with.outcome.feasible && without.outcome.feasible);
    std::size_t fewer = 0;
    for (std::size_t i = 0; i < with.stages.size(); ++i)
      fewer += without.stages[i].instructions.size() - with.stages[i].instructions.size();
    EXPECT_GT(fewer, 0U);
    const auto bytes = static_cast<std::size_t>(Metric::dram_bytes_per_frame);
    EXPECT_LE(with.outcome.values[bytes], without.outcome.values[bytes]);
  }
}

}  // namespace
}  // namespace sdip
