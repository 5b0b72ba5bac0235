// Are the figures that no counter shows what pencil and paper say: occupancy, overhead, ratios to a bound of 0,
// what an instruction owns, MACs of strips?
#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/price/estimate.h"
#include "core/cost/price/stage.h"
#include "core/cost/work/micro_operations.h"
#include "core/program/tiling/strips.h"
#include "tests/core/channel.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/reports.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

Machine ten_bytes_a_cycle() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.linear_lanes_m = 1, m.linear_lanes_n = 10, m.linear_lanes_k = 10;
  set_channel(m, 8, 500), m.dram_efficiency = Decimal{100};
  m.dram_burst_bytes = 1;
  m.dispatch_cycles = 7;
  m.pipeline_stages = 2;
  m.cores = 1;
  m.steps = 1;
  return m;
}

/// A product of 4 x 10 by 10 x 30 in tiles of 10 channels: 4 cycles and 100 bytes of weights each.
InstructionClass three_tiles() {
  InstructionClass c = linear_class(4, 10, 30);
  c.mapping.tile_channels = 10;
  return c;
}

Application application_of(const List<InstructionClass>& classes) {
  Application application;
  CompiledStage& stage = application.stages.emplace_back();
  stage.role = Role::core;
  stage.name = "unet";
  stage.program.classes = classes;
  for (std::size_t c = 0; c < classes.size(); ++c)
    stage.program.instructions.emplace_back().instruction_class = static_cast<std::int32_t>(c);
  return application;
}

TEST(by_hand, psram_holds_two_of_three_tiles_and_what_is_pinned_beside_them) {
  Machine m = ten_bytes_a_cycle();
  m.psram_bytes = 250;
  Application application = application_of({three_tiles()});
  EXPECT_EQ(estimate(application, m).stages[0].instructions[0].psram, Bytes(200));
  EXPECT_EQ(estimate(application, m).stages[0].psram_peak, Bytes(200));
  m.psram_bytes += 33;
  m.psram_pinned_bytes = 33;
  application.stages[0].program.pinned_bytes = Bytes(33);
  EXPECT_EQ(estimate(application, m).stages[0].instructions[0].psram, Bytes(233));
}

TEST(by_hand, overhead_is_dispatch_pipeline_and_what_goes_over_links) {
  Machine m = ten_bytes_a_cycle();
  m.psram_bytes = 1 << 20;
  const auto overhead = [&](const InstructionClass& c) {
    const Report report = estimate(application_of({c}), m);
    return report.stages[0].instructions[0].busy[static_cast<std::size_t>(Resource::overhead)];
  };
  EXPECT_EQ(overhead(three_tiles()), Cycles(7 + 2));
  InstructionClass spread = three_tiles();
  spread.work.family = Family::matmul;
  spread.operand_b = Place::dsram;
  spread.mapping = {4, 1, 30, 10};
  spread.spread_cores = 3;
  m.link_bits = 10;
  // In: 2 parts of 40 and 300 bytes over 10 bits; out: 2 of 120.
  EXPECT_EQ(overhead(spread), Cycles(7 + 2 + 544 + 192));
}

TEST(by_hand, a_bound_of_nothing_is_met_by_moving_nothing_and_else_given_no_ratio) {
  Machine m = ten_bytes_a_cycle();
  m.psram_bytes = 250;
  InstructionClass still = three_tiles();
  still.operand_b = Place::stackram;
  EXPECT_EQ(value(estimate(application_of({still}), m), Metric::dram_bytes_over_bound), 1.0);
  EXPECT_TRUE(std::isnan(value(estimate(application_of({three_tiles()}), m), Metric::dram_bytes_over_bound)));
  Application application = application_of({three_tiles()});
  application.stages[0].program.distinct_weight_bytes = Bytes(250 + 100);
  EXPECT_EQ(value(estimate(application, m), Metric::dram_bytes_over_bound), 3.0);
}

TEST(by_hand, the_limiter_is_the_resource_needed_longest) {
  Machine m = ten_bytes_a_cycle();
  m.psram_bytes = 250;
  // Weights: three tiles of 100 bytes at the core's 8.5 a cycle, 12 cycles each; 12 cycles of work.
  const Report streamed = estimate(application_of({three_tiles()}), m);
  EXPECT_EQ(streamed.stages[0].instructions[0].limiter, Resource::weight_stream);
  const auto& busy = streamed.stages[0].instructions[0].busy;
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::weight_stream)], Cycles(36));
  EXPECT_EQ(busy[static_cast<std::size_t>(Resource::activation_stream)], Cycles(0));
  InstructionClass still = three_tiles();
  still.operand_b = Place::stackram;
  EXPECT_EQ(estimate(application_of({still}), m).stages[0].instructions[0].limiter, Resource::compute);
  m.stackram_port_bits = 8;  // 100 beats a tile and row
  EXPECT_EQ(estimate(application_of({still}), m).stages[0].instructions[0].limiter, Resource::stackram_read);
}

TEST(by_hand, an_attention_owns_its_two_circuits_and_the_ports_it_uses) {
  Machine m = ten_bytes_a_cycle();
  m.operator_dsram = OperatorDsram::per_operator;
  InstructionClass c;
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  c.work.nest.out_h = c.work.nest.in_h = 2;
  c.work.nest.out_channels = 6;
  c.work.nest.in_channels = 4;
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].work.nest.in_channels = 6;
  c.parts[2].work.nest.out_channels = 4;
  c.operand_a = Place::dsram;
  c.operand_b = c.parts[2].operand_b = Place::stackram;
  c.mapping = {2, 1, 3, 4, rows_outermost};
  c.out_elements = 8;
  const Owned owned = class_cost(c, m).owned;
  // matmul's circuit and softmax's; the pair of matmul read and written; STACKRAM read.
  EXPECT_EQ(owned.count(), 5U);
  EXPECT_TRUE(owned.test(static_cast<std::size_t>(Circuit::matmul)));
  EXPECT_TRUE(owned.test(static_cast<std::size_t>(Circuit::softmax)));
  c.push = true;
  EXPECT_EQ(class_cost(c, m).owned.count(), 6U);
  c.spread_cores = 2;
  EXPECT_EQ(class_cost(c, m).owned.count(), 7U);
  c.to_dsram = c.push = false;
  c.to_dram = true;
  c.fused_operators = c.fused_passes = 1;
  c.fetches = {{Place::psram, 12, 1, true}};
  EXPECT_EQ(class_cost(c, m).owned.count(), 8U) << "the vector circuit and PSRAM, no push";
}

TEST(by_hand, of_two_longest_instructions_the_first_is_named) {
  Machine m = ten_bytes_a_cycle();
  Application application = application_of({three_tiles(), three_tiles(), three_tiles()});
  auto& instructions = application.stages[0].program.instructions;
  instructions[1].words = instructions[2].words = 5;
  const ProgramSize size = program_size(application.stages[0], m);
  EXPECT_EQ(size.longest, 1U);
  EXPECT_EQ(size.longest_bytes, 5 * 32);
  EXPECT_EQ(size.bytes, (2 + 5 + 5) * 32);
  m.granularity = Granularity::per_tile;
  EXPECT_EQ(program_size(application.stages[0], m).bytes, 3 * (2 + 5 + 5) * 32);
}

TEST(by_hand, programs_beyond_2_to_the_56_bytes_are_as_long) {
  Machine m = ten_bytes_a_cycle();
  Application application = application_of({three_tiles(), three_tiles()});
  for (Instruction& i : application.stages[0].program.instructions) i.words = std::int64_t{1} << 60;
  const ProgramSize size = program_size(application.stages[0], m);
  EXPECT_EQ(size.bytes, std::int64_t{1} << 56);
  EXPECT_EQ(size.longest_bytes, std::int64_t{1} << 56);
}

TEST(by_hand, strips_multiply_what_the_compiler_says_that_they_do) {
  std::int64_t seen = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    m.sparsity = Sparsity::dense;
    m.sparsity_group = 0;
    for (const InstructionClass& c : random_program(dice, m).classes) {
      if (c.compound != Compound::strips) continue;
      ++seen;
      EXPECT_EQ(class_cost(c, m).macs, strip_macs(c)) << "seed " << seed;
      const bool in_memory = weight_place(m, Role::network) == WeightPlace::fefet;  // then no lane makes them
      EXPECT_EQ(class_cost(c, m).spent_macs, in_memory ? 0 : strip_macs(c)) << "seed " << seed;
    }
  }
  EXPECT_GT(seen, 50);
}

TEST(by_hand, metrics_are_found_by_name) {
  EXPECT_EQ(find_metric("edp_js")->unit, "J*s");
  EXPECT_EQ(find_metric("edp"), nullptr);
}

}  // namespace
}  // namespace sdip
