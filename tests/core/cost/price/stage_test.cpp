// A stage by itself: how frames meet the cores, how many passes are simulated, what its own formats cost.
#include "core/cost/price/stage.h"
#include "tests/core/channel.h"

#include <gtest/gtest.h>

#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

/// `rows` x 1 x 1 in one tile, a row a cycle.
CompiledStage rows_stage(Role role, std::int64_t rows, const Machine& m) {
  CompiledStage stage;
  stage.role = role;
  stage.needs = needs_of(m);
  stage.program.classes = {linear_class(rows, 1, 1, Place::stackram)};
  stage.program.instructions.resize(1);
  return stage;
}

Machine single_lane() {
  Machine m;
  m.dma_port = DmaPort::own;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 1;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.weight_compression = Decimal{100};
  m.dsram_port_bits = m.stackram_port_bits = m.psram_port_bits = 64;
  m.dispatch_cycles = 0;
  m.pipeline_stages = 1;
  return m;
}

std::pair<std::int64_t, std::int64_t> schedule(Role role, const Machine& m, SeriesPart part = {}) {
  CompiledStage stage = rows_stage(role, 4, m);
  stage.part = part;
  const std::optional<StageRun> run = run_stage(stage, m, nullptr);
  return {run->schedule.steps_per_core, run->schedule.active_cores};
}

TEST(stage, steps_are_dealt_out_to_cores_and_all_else_is_done_by_one) {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  Machine m = single_lane();
  m.steps = 20;
  m.cores = 8;
  EXPECT_EQ(schedule(Role::core, m), Pair(3, 7));
  EXPECT_EQ(schedule(Role::core, m, {0, 2}), Pair(1, 1));
  EXPECT_EQ(schedule(Role::encoder, m), Pair(1, 1));
  EXPECT_EQ(schedule(Role::decoder, m), Pair(1, 1));
  m.branches = Branches::serial;
  EXPECT_EQ(schedule(Role::network, m), Pair(1, 8));
  EXPECT_EQ(schedule(Role::network, m, {0, 2}), Pair(1, 1));
  m.memory_hierarchy = MemoryHierarchy::crossbar;  // each frame does all its steps on one core
  EXPECT_EQ(schedule(Role::core, m), Pair(20, 8));
  EXPECT_EQ(frame_schedule(Role::core, {}, m).frames(), 8);
  m.steps = 3;
  EXPECT_EQ(schedule(Role::core, m), Pair(3, 8));
  EXPECT_EQ(schedule(Role::decoder, m), Pair(1, 1));
  EXPECT_EQ(schedule(Role::network, m, {0, 2}), Pair(1, 1));
  m.memory_hierarchy = MemoryHierarchy::private_memories;
  EXPECT_EQ(frame_schedule(Role::core, {}, m).frames(), 1);
  EXPECT_EQ(frame_schedule(Role::core, {}, m).cores_of_frame, 3);
  const FrameSchedule none;
  EXPECT_EQ(Pair(none.steps_per_core, none.active_cores), Pair(1, 1));
}

TEST(stage, no_longer_an_instruction_than_none_was_seen) {
  const ProgramSize none;
  EXPECT_EQ(none.bytes + none.longest_bytes, 0);
  EXPECT_EQ(none.longest, 0u);
  EXPECT_EQ(StageCost{}.macs + StageCost{}.mac_cycles + StageCost{}.bound_cycles + StageRun{}.link_cycles, 0);
}

/// In a pass the channel, a byte a cycle, has some cycles less to do than the cores: by so many it runs further
/// ahead in each, with weights that PSRAM keeps.
TEST(stage, a_stage_that_never_repeats_is_simulated_for_64_passes_alone_and_not) {
  Machine m = single_lane();
  m.cores = 2;
  m.steps = 2;
  m.psram_bytes = 1 << 20;
  m.dram_burst_bytes = 1;
  set_channel(m, 8, 50), m.dram_efficiency = Decimal{100};
  m.vae_stage = VaeStage::off_chip;
  m.dispatch_cycles = 1003;
  CompiledStage stage = rows_stage(Role::core, 1, m);
  InstructionClass& c = stage.program.classes[0];
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = 1000;
  EXPECT_EQ(run_stage(stage, m, nullptr)->stream.passes.size(), 64u);
  c.operand_a = Place::dram;  // it is another run that one core makes alone
  const StageRun run = *run_stage(stage, m, nullptr);
  EXPECT_EQ(run.schedule.active_cores, 2);
  EXPECT_EQ(run.stream.passes[1].activation_in_bytes, 2);
  EXPECT_EQ(run.alone.passes[1].activation_in_bytes, 1);
  EXPECT_EQ(run.stream.passes.size(), 64u);
  EXPECT_EQ(run.alone.passes.size(), 64u);
}

/// Linear layers, each on so many cores with so many products in a MAC; a cycle of one core makes as many.
TEST(stage, a_familys_roof_is_the_first_of_its_highest_layers) {
  const Machine m = single_lane();
  CompiledStage stage = rows_stage(Role::network, 4, m);
  stage.program.classes.resize(4, stage.program.classes[0]);
  StageRun run;
  run.stage = &stage;
  run.machine = m;
  run.costs.resize(4);
  const auto layer = [&](std::size_t c, std::int64_t spent_macs, std::int64_t cores, std::int64_t products) {
    run.costs[c].spent_macs = spent_macs;
    run.costs[c].cores = cores;
    run.costs[c].products_in_mac = products;
  };
  layer(0, 4, 1, 2);
  layer(1, 4, 2, 1);  // as high
  layer(2, 0, 8, 1);  // its products are made elsewhere
  layer(3, 4, 8, 1);  // of no instruction
  run.uses.of = {1, 1, 1, 0};
  const std::vector<MacRoof> roofs = mac_roofs(run);
  ASSERT_EQ(roofs.size(), 1u);
  EXPECT_EQ(roofs[0].families, std::vector{Family::linear});
  EXPECT_EQ(roofs[0].lanes, 1);
  EXPECT_EQ(roofs[0].products_in_mac, 2);
  EXPECT_EQ(roofs[0].macs_per_cycle(), 2);
}

TEST(stage, energy_of_an_instruction_of_other_formats_is_that_of_these) {
  const Machine m = single_lane();
  CompiledStage stage = rows_stage(Role::core, 4, m);
  const auto joules = [](const CompiledStage& s, const Machine& machine) {
    StageRun run = *run_stage(s, machine, nullptr);
    price_pass(run, machine, Bound::value, Supply{});
    return run.energy.core.joules[static_cast<std::size_t>(EnergyPart::mac)];
  };
  Machine wide = m;
  wide.weight_format = wide.activation_format = NumberFormat::fp16;
  const double expected = joules(stage, wide);
  EXPECT_GT(expected, joules(stage, m));
  stage.program.classes[0].formats = formats_of(wide);
  EXPECT_EQ(joules(stage, m), expected);
  // The formats are the second class's, where the first is in the machine's own.
  stage.program.classes.insert(stage.program.classes.begin(), InstructionClass{stage.program.classes[0]});
  stage.program.classes[0].formats.reset();
  for (Instruction& instruction : stage.program.instructions) instruction.instruction_class = 1;
  EXPECT_EQ(joules(stage, m), expected);
}

/// Twice the passes of which times are summed: 64, or as many as there are steps or cores.
TEST(stage, what_is_summed_over_as_many_passes_as_cores_is_counted_or_refused) {
  Machine m = single_lane();
  m.steps = 1;
  for (const std::int64_t cores : {100, 64, 1}) {
    m.cores = cores;
    const std::int64_t passes = 2 * std::max<std::int64_t>(64, cores);
    const std::int64_t most = (std::int64_t{1} << 58) / passes;
    // Doubles count to 2^53 exactly; what is left out is less than a thousandth.
    EXPECT_TRUE(run_stage(rows_stage(Role::core, most - most / 1000, m), m, nullptr).has_value());
    EXPECT_FALSE(run_stage(rows_stage(Role::core, most + most / 1000, m), m, nullptr).has_value());
  }
}

/// 33 bytes handed on from one core to the next.
TEST(stage, a_hand_over_between_dies_takes_the_narrower_link_and_its_latency) {
  Machine m = single_lane();
  CompiledStage stage = rows_stage(Role::core, 4, m);
  const auto cycles = [&](std::int64_t bytes, std::int64_t bits) {
    stage.program.latent_bytes = Bytes(bytes);
    m.die_link_bits = bits;
    return link_cycles(stage, m);
  };
  m.cores = 4;
  m.link_bits = 64;
  EXPECT_EQ(cycles(33, 8), 5) << "all on one die";
  m.dies = 2;
  m.die_link_cycles = 3;
  EXPECT_EQ(cycles(33, 33), 8 + 3);
  EXPECT_EQ(cycles(1, 7), 2 + 3);
  EXPECT_EQ(cycles(33, 128), 5 + 3);
  stage.role = Role::decoder;
  EXPECT_EQ(cycles(33, 7), 5) << "no core";
}

TEST(stage, families_share_a_roof_where_lanes_and_products_of_a_mac_are_the_same) {
  const Machine m = single_lane();
  CompiledStage stage = rows_stage(Role::network, 4, m);
  stage.program.classes.resize(3, stage.program.classes[0]);
  stage.program.classes[0].work.family = Family::conv2d;
  stage.program.classes[2].work.family = Family::matmul;
  Machine one = m;
  one.conv_lanes_in = one.conv_lanes_out = one.conv_lanes_pixel = 1;
  one.matmul_lanes_m = one.matmul_lanes_n = one.matmul_lanes_k = 1;
  StageRun run;
  run.stage = &stage;
  run.machine = one;
  run.costs.resize(3);
  for (ClassCost& cost : run.costs) cost.spent_macs = cost.cores = cost.products_in_mac = 1;
  run.costs[1].products_in_mac = 2;
  run.uses.of = {1, 1, 1};
  const std::vector<MacRoof> roofs = mac_roofs(run);
  ASSERT_EQ(roofs.size(), 2u);
  EXPECT_EQ(roofs[0].families, (std::vector{Family::conv2d, Family::matmul}));
  EXPECT_EQ(roofs[1].families, std::vector{Family::linear});
}

}  // namespace
}  // namespace sdip
