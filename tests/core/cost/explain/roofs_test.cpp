// The roofs of a stage: in the report and in the explanation, beside its layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/cost/explain/explain.h"
#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/random_application.h"

namespace sdip {
namespace {

/// What each family's layers reach at most, by the layers; and what the roofs of the report and of the explanation
/// say.
void expect_roofs_of_layers(const Application& application, const Machine& m) {
  const Explanation e = explain(application, m, 0);
  const Report report = estimate(application, m);
  for (std::size_t s = 0; s < e.stages.size(); ++s) {
    std::map<Family, std::int64_t> highest, said;
    const Program& program = application.stages[s].program;
    for (const LayerNeeds& layer : e.layers) {
      if (layer.stage != s || layer.lane_macs == 0) continue;
      const auto number = static_cast<std::size_t>(program.instructions[layer.index].instruction_class);
      std::int64_t& most = highest[program.classes[number].work.family];
      most = std::max(most, layer.array_macs);
    }
    for (const MacRoof& roof : e.stages[s].roofs)
      for (const Family family : roof.families) EXPECT_TRUE(said.emplace(family, roof.macs_per_cycle()).second);
    EXPECT_EQ(said, highest);
    ASSERT_EQ(report.stages[s].roofs.size(), e.stages[s].roofs.size());
    for (std::size_t r = 0; r < e.stages[s].roofs.size(); ++r)
      EXPECT_EQ(report.stages[s].roofs[r].macs_per_cycle(), e.stages[s].roofs[r].macs_per_cycle());
    EXPECT_EQ(report.stages[s].active_cores, e.stages[s].active_cores);
    EXPECT_EQ(report.stages[s].parts, application.stages[s].part.count);
    EXPECT_DOUBLE_EQ(report.stages[s].dram_share * 1000,
                     static_cast<double>(application.stages[s].dram_thousandths));
    EXPECT_EQ(report.stages[s].rate.bytes_per_cycle(), e.stages[s].rate.bytes_per_cycle());
  }
  for (const LayerNeeds& layer : e.layers)
    EXPECT_EQ(report.stages[layer.stage].instructions[layer.index].dram.value, layer.dram_bytes);
}

TEST(roofs, are_the_highest_of_a_familys_layers_and_the_reports) {
  for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Machine m = random_frame_machine(dice);
    const Application application = random_application(dice, application_roles(seed), m);
    if (evaluate(application, m).feasible) expect_roofs_of_layers(application, m);
  }
}

Bytes capacity_of(const StageReport& stage, MemoryName memory) {
  const auto found = std::ranges::find(stage.capacities, memory, &MemoryCapacity::memory);
  return found == stage.capacities.end() ? Bytes(-1) : found->bytes;
}

TEST(capacities, hold_what_the_instructions_of_a_stage_occupy) {
  std::int64_t paired = 0, unified = 0;
  for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Machine m = random_frame_machine(dice);
    const Application application = random_application(dice, application_roles(seed), m);
    const Report report = estimate(application, m);
    for (std::size_t s = 0; s < report.stages.size() && report.outcome.feasible; ++s) {
      const StageReport& stage = report.stages[s];
      const Program& program = application.stages[s].program;
      const bool one = capacity_of(stage, MemoryName::unified) >= Bytes(0);
      const bool pairs = !one && capacity_of(stage, MemoryName::dsram0) < Bytes(0);
      for (std::size_t i = 0; i < stage.instructions.size(); ++i) {
        const InstructionCost& c = stage.instructions[i];
        const Family family = program.classes[program.instructions[i].instruction_class].work.family;
        const auto side = [&](std::int64_t of) {
          return one       ? MemoryName::unified
                 : pairs   ? pair_side(family, of)
                 : of == 0 ? MemoryName::dsram0
                           : MemoryName::dsram1;
        };
        EXPECT_LE(c.dsram_read_side, capacity_of(stage, side(0)));
        EXPECT_LE(c.dsram_write_side, capacity_of(stage, side(1)));
        if (one) {
          const Bytes all = c.dsram_read_side + c.dsram_write_side + c.stackram;
          EXPECT_LE(all, capacity_of(stage, MemoryName::unified));
        } else {
          EXPECT_LE(c.stackram, capacity_of(stage, MemoryName::stackram));
        }
        EXPECT_LE(c.psram, capacity_of(stage, MemoryName::psram));
        paired += pairs;
        unified += one;
      }
    }
  }
  EXPECT_GT(paired, 0);
  EXPECT_GT(unified, 0);
}

TEST(capacities, are_of_the_core_that_runs_the_stage) {
  Machine m;
  CompiledStage stage =
      example_of("machine activation_memory=separate\ni0 vector a=dsram to=dsram\n", m).stages.at(0);
  m.text_encoder_dsram_bytes = 12345;
  EXPECT_EQ(memory_capacities(stage, m).front().bytes.value, m.dsram_bytes);
  stage.role = Role::text_encoder;
  EXPECT_EQ(memory_capacities(stage, m).front().bytes.value, 12345);
}

TEST(roofs, that_are_equal_are_one_and_a_family_without_products_on_lanes_has_none) {
  Machine m;
  const Application application = example_of(
      "machine mac_sharing=separate conv_lanes_in=2 conv_lanes_out=2 conv_lanes_pixel=2 linear_lanes_m=2 "
      "linear_lanes_n=4 linear_lanes_k=1 cores=3\n"
      "i0 linear a=dsram b=psram to=dsram\ni1 conv2d a=dsram b=psram to=dsram\n",
      m);
  const Report report = estimate(application, m);
  const std::vector<MacRoof>& roofs = report.stages[0].roofs;
  ASSERT_EQ(roofs.size(), 1U);
  EXPECT_EQ(roofs[0].families, (std::vector{Family::conv2d, Family::linear}));
  EXPECT_EQ(roofs[0].lanes, 8 * m.cores);
  for (const InstructionCost& layer : report.stages[0].instructions) EXPECT_EQ(layer.tile_operations, 1);
}

}  // namespace
}  // namespace sdip
