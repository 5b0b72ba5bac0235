// Does a frame's energy split by layer without a rest that has no name?
#include <gtest/gtest.h>

#include <functional>

#include "core/cost/price/area.h"
#include "core/cost/price/dram_price.h"
#include "core/machine/technology.h"
#include "tests/core/cost/random_application.h"
#include "tests/core/cost/work/split_difference.h"

namespace sdip {
namespace {

TEST(energy_split, of_random_applications_sums_to_the_frame_by_layer_and_by_block) {
  std::int64_t feasible = 0, several_cores = 0, on_fpga = 0;
  for (std::uint64_t seed = 1; seed <= 60 * application_kinds; ++seed) {
    Dice dice(seed);
    Machine machine = random_frame_machine(dice);
    const std::vector<Role> parts = application_roles(seed);
    const Application application = random_application(dice, parts, machine);
    set_hierarchy(seed / application_kinds, machine);
    machine.cores = std::max(machine.cores, std::ssize(parts));  // a core for each part
    if (seed % 4 == 0) machine.technology_node = TechnologyNode::fpga_vc1902;
    const Report report = estimate(application, machine);
    if (!report.outcome.counted()) continue;
    ++feasible;
    several_cores += value(report, Metric::active_cores) > 1;
    on_fpga += machine.technology_node == TechnologyNode::fpga_vc1902;
    ASSERT_EQ(split_difference(report), "") << "seed " << seed;
  }
  EXPECT_GT(feasible, 40 * static_cast<std::int64_t>(application_kinds));
  EXPECT_GT(several_cores, 100);
  EXPECT_GT(on_fpga, 15);
}

TEST(energy_split, of_a_small_diffusion_sums_to_the_frame_with_each_option) {
  const std::function<void(Machine&)> changes[] = {
      [](Machine& m) { m.cores = 8; },  // three steps on seven of them, and one has but two
      [](Machine& m) { m.guidance = Guidance::two_passes; },
      [](Machine& m) { m.prompt_per_frame = true; },
      [](Machine& m) { m.vae_stage = VaeStage::off_chip; },
      [](Machine& m) { m.mode = Mode::image_to_image; },
      [](Machine& m) { m.batch = 2; },
      [](Machine& m) { m.memory_hierarchy = MemoryHierarchy::crossbar; },
      [](Machine& m) { m.memory_hierarchy = MemoryHierarchy::writable_psram; },
      [](Machine& m) { m.weight_storage = WeightStorage::hard_coded; },
      [](Machine& m) { m.program_storage = ProgramStorage::streamed; },
      [](Machine& m) { m.operator_dsram = OperatorDsram::per_operator; },
      [](Machine& m) { m.in_memory_weights = InMemoryWeights::fefet; },
      [](Machine& m) { m.host_operators = HostOperators::softmax_and_norm; },
  };
  for (std::size_t i = 0; i < std::size(changes); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      Machine m;
      m.steps = 20;
      changes[i](m);
      changes[j](m);
      const Application application = compile(tiny_sd(m), m);
      if (!application.feasible) continue;
      EXPECT_EQ(split_difference(estimate(application, m)), "") << i << " and " << j;
    }
}

TEST(energy_split, of_networks_on_every_core_in_series_and_side_by_side_sums_to_the_frame) {
  for (const auto& change : std::initializer_list<std::function<void(Machine&)>>{
           [](Machine&) {}, [](Machine& m) { m.core_weights = CoreWeights::per_core; },
           [](Machine& m) { m.branches = Branches::parallel; }}) {
    Machine m;
    change(m);
    Workload workload;
    workload.stages.push_back(built_in_stage(Role::network, "tiny-sd-unet", m));
    const Report report = estimate(compile(workload, m), m);
    ASSERT_TRUE(report.outcome.counted()) << report.outcome.reason;
    EXPECT_EQ(split_difference(report), "");
  }
}

/// A stage of products of `rows` rows, one after the other.
CompiledStage stage_of(Role role, std::initializer_list<std::int64_t> rows) {
  CompiledStage stage;
  stage.role = role;
  for (const std::int64_t count : rows) {
    InstructionClass& c = stage.program.classes.emplace_back();
    c.work.family = Family::linear;
    c.work.nest.out_h = c.work.nest.in_h = count;
    c.operand_a = c.operand_b = Place::dsram;
    c.mapping = {count, 1, 1, 1};
    Instruction& instruction = stage.program.instructions.emplace_back();
    instruction.name = "product";
    instruction.instruction_class = static_cast<std::int32_t>(stage.program.classes.size()) - 1;
  }
  return stage;
}

double leaking_of(const InstructionCost& i) {
  return i.frame_energy.value[static_cast<std::size_t>(EnergyPart::leakage)];
}

/// What a cycle of the whole chip takes, its clock tree included.
double standing_j(const Report& report, const Machine& m) {
  double logic_mm2 = 0;
  for (const auto& [block, mm2] : report.area_mm2) logic_mm2 += standing_of(block, mm2, m, Bound::value).logic_mm2;
  const Supply supply = supply_at(m.technology_node, report.clock_limit.supply_mv);
  const BuiltDram dram = built_dram(m);
  return sum_of_parts(report.leakage_w) / (static_cast<double>(m.core_clock_mhz) * 1e6) +
         logic_mm2 * clock_tree_energy(m.technology_node).value * supply.logic +
         (dram.phy_w + dram.background_w) / (static_cast<double>(m.core_clock_mhz) * 1e6);
}

/// What stands of a report's cores while nothing runs, in cycles of one core.
double waiting_cycles(const Report& report, std::string_view what, double cycle_j) {
  for (const auto& [name, joules] : report.waiting_energy_j)
    if (name == what) return joules / cycle_j;
  return -1;
}

double cycles_of(const InstructionCost& i) { return static_cast<double>((i.end - i.start).value); }

/// Three of five cores share the first instruction, and all but one wait during the second.
TEST(energy_split, what_several_cores_share_leaks_on_each_of_them) {
  Application application;
  application.stages = {stage_of(Role::network, {160, 480})};
  application.stages[0].program.classes[0].spread_cores = 3;
  Machine m;
  m.cores = 5;
  m.branches = Branches::parallel;
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.counted()) << report.outcome.reason;
  EXPECT_EQ(split_difference(report), "");
  const std::vector<InstructionCost>& run = report.stages[0].instructions;
  const double first = cycles_of(run[0]), second = cycles_of(run[1]);
  const double cycle_j = sum_of_parts(report.leakage_w) / 5 / (static_cast<double>(m.core_clock_mhz) * 1e6);
  EXPECT_NEAR(leaking_of(run[0]) / cycle_j, 3 * first, 1e-6);
  EXPECT_NEAR(leaking_of(run[1]) / cycle_j, second, 1e-6);
  EXPECT_NEAR(waiting_cycles(report, "cores", standing_j(report, m) / 5), 2 * first + 4 * second, 1e-6);
  EXPECT_EQ(waiting_cycles(report, "link", cycle_j), 0);
}

/// Three cores, of which two have a network each and hand 100 bytes on.
TEST(energy_split, links_of_networks_in_series_leak_on_each_core_that_has_one) {
  Application application;
  application.stages = {stage_of(Role::network, {160}), stage_of(Role::network, {480})};
  for (std::int32_t i = 0; i < 2; ++i) {
    application.stages[static_cast<std::size_t>(i)].part = {i, 2};
    application.stages[static_cast<std::size_t>(i)].program.latent_bytes = Bytes(100);
  }
  Machine m;
  m.cores = 3;
  m.link_bits = 64;
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.counted()) << report.outcome.reason;
  EXPECT_EQ(split_difference(report), "");
  const double first = cycles_of(report.stages[0].instructions[0]),
               second = cycles_of(report.stages[1].instructions[0]);
  const double link = 13;  // ceil(800 / 64)
  const double cycle_j = standing_j(report, m) / 3;
  EXPECT_NEAR(waiting_cycles(report, "link", cycle_j), 2 * link, 1e-6);
  EXPECT_NEAR(waiting_cycles(report, "cores", cycle_j), 3 * (second + link) - first - second - 2 * link, 1e-6);
}

TEST(energy_split, of_a_class_in_formats_of_its_own_is_at_the_prices_of_these) {
  Application application;
  application.stages = {stage_of(Role::network, {160, 160})};
  Machine m;
  m.cores = 1;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  application.stages[0].program.classes[1].formats = Formats{NumberFormat::fp32, NumberFormat::fp32};
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.counted()) << report.outcome.reason;
  EXPECT_EQ(split_difference(report), "");
  const auto macs_j = [&](std::size_t i) {
    return report.stages[0].instructions[i].frame_energy.value[static_cast<std::size_t>(EnergyPart::mac)];
  };
  EXPECT_GT(macs_j(1), 2 * macs_j(0));
}

// The worked example of energy_split.h, its times scaled: products of 16 x 80 and 16 x 200 rows, a link, a decoder.
TEST(energy_split, leaks_while_instructions_run_and_while_cores_wait) {
  Application application;
  application.stages = {stage_of(Role::core, {1280, 3200}), stage_of(Role::decoder, {1600})};
  application.stages[0].name = "unet";
  application.stages[1].name = "decoder";
  application.stages[0].program.latent_bytes = Bytes(100);
  Machine m;
  m.cores = m.steps = 2;
  m.link_bits = 64;
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.counted()) << report.outcome.reason;
  EXPECT_EQ(split_difference(report), "");
  constexpr auto leakage = static_cast<std::size_t>(EnergyPart::leakage);
  const std::vector<InstructionCost>& steps = report.stages[0].instructions;
  const auto cycles = [](const InstructionCost& i) { return static_cast<double>((i.end - i.start).value); };
  const double link = 13;  // ceil(800 / 64)
  const double period = cycles(steps[0]) + cycles(steps[1]) + link,
               decoding = cycles(report.stages[1].instructions[0]);
  const double cycle_j = report.energy_j[leakage].second / (3 * period);
  EXPECT_NEAR(steps[0].frame_energy.value[leakage], 2 * cycles(steps[0]) * cycle_j, 1e-9 * period * cycle_j);
  EXPECT_NEAR(steps[1].frame_energy.value[leakage], 2 * cycles(steps[1]) * cycle_j, 1e-9 * period * cycle_j);
  ASSERT_EQ(report.waiting_energy_j.size(), 3U);
  const std::pair<const char*, double> waiting[] = {
      {"link", 2 * link}, {"cores", 0}, {"decoder", period - decoding}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.waiting_energy_j[i].first, waiting[i].first);
    EXPECT_NEAR(report.waiting_energy_j[i].second, waiting[i].second * standing_j(report, m) / 3,
                1e-9 * period * cycle_j);
  }
}

}  // namespace
}  // namespace sdip
