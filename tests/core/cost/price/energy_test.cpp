// What an event costs, and how far its bits travel.
#include "core/cost/price/energy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/cost/price/area.h"
#include "core/cost/price/stage.h"

namespace sdip {
namespace {

/// A beat of 64 bits from each memory, of fp16 at 7 nm.
Machine narrow() {
  Machine m;
  m.psram_port_bits = m.dsram_port_bits = m.stackram_port_bits = 64;
  return m;
}
constexpr double pico = 1e-12, wire = 0.08e-12;

TEST(floor_plan, weights_travel_one_side_of_a_core_for_each_core_they_reach) {
  Machine m = narrow();
  const CoreArea core = core_area(m, widest_formats(m));
  const double built = core.total() * (1 + 0.03) + core.lanes() * 3;
  EXPECT_NEAR(floor_plan(m, 1, m.psram_bytes).broadcast_mm, std::sqrt(built), 1e-9);
  EXPECT_NEAR(floor_plan(m, 4, m.psram_bytes).broadcast_mm, 4 * std::sqrt(built), 1e-9);
  m.sequencer = Sequencer::distributed;
  EXPECT_NEAR(floor_plan(m, 1, m.psram_bytes).broadcast_mm, std::sqrt(built + 0.03 * core.total()), 1e-9);
}

TEST(floor_plan, a_beat_crosses_three_quarters_of_its_memory_less_its_bank) {
  Machine m = narrow();
  m.sram_banks = 16;
  const auto expected = [](double area) { return 0.75 * (std::sqrt(area) - std::sqrt(area / 16)); };
  const FloorPlan plan = floor_plan(m, 1, m.psram_bytes);
  EXPECT_NEAR(plan.psram_port_mm, expected(memory_area(m, m.psram_bytes, 64)), 1e-12);
  EXPECT_NEAR(plan.dsram_port_mm, expected(memory_area(m, m.dsram_bytes, 64)), 1e-12);
  EXPECT_NEAR(plan.stackram_port_mm, expected(memory_area(m, m.stackram_bytes, 64)), 1e-12);
  m.activation_memory = ActivationMemory::unified;
  EXPECT_NEAR(floor_plan(m, 1, m.psram_bytes).dsram_port_mm,
              expected(2 * memory_area(m, m.dsram_bytes, 64) + memory_area(m, m.stackram_bytes, 64)), 1e-12);
  m.sram_banks = 1;
  EXPECT_EQ(floor_plan(m, 1, m.psram_bytes).psram_port_mm, 0);
}

TEST(floor_plan, common_weights_reach_all_cores_and_a_stage_s_own_reach_one) {
  Machine m;
  m.cores = 5;
  CompiledStage stage;
  for (const Role role : {Role::core, Role::network}) {
    stage.role = role;
    EXPECT_EQ(cores_fed(stage, m), 5);
  }
  for (const Role role : {Role::text_encoder, Role::encoder, Role::decoder}) {
    stage.role = role;
    EXPECT_EQ(cores_fed(stage, m), 1);
  }
  stage.role = Role::network;
  stage.part.count = 2;
  EXPECT_EQ(cores_fed(stage, m), 1);
}

TEST(area, of_a_memory_counts_its_port_and_nothing_where_it_holds_nothing) {
  const Machine m = narrow();
  EXPECT_NEAR(memory_area(m, 1 << 20, 64), 0.324 * 2.5 * (1 + 100.0 * 16 * 64 / 8 / (1 << 20)), 1e-9);
  EXPECT_EQ(memory_area(m, 0, 64), 0);
}

TEST(area, control_is_a_share_of_lanes_and_memories_and_other_a_fixed_part_and_a_share_of_lanes) {
  Application application;
  application.stages.emplace_back().role = Role::core;
  Machine m;
  m.vae_stage = VaeStage::off_chip;
  double datapath = 0, lanes = 0, control = 0, other = 0;
  constexpr std::string_view of_lanes[] = {"conv2d", "linear", "matmul", "vector", "softmax", "norm"};
  for (const auto& [block, mm2] : area_of(application, m)) {
    if (block == "control")
      control = mm2;
    else if (block == "other")
      other = mm2;
    else if (block != "dram")
      datapath += mm2;
    if (std::ranges::find(of_lanes, block) != std::end(of_lanes)) lanes += mm2;
  }
  EXPECT_NEAR(control, 0.03 * datapath, 1e-9);
  EXPECT_NEAR(other, 18 + 3 * lanes, 1e-9);
}

/// Only wires are on, each of another length.
FloorPlan lengths() {
  FloorPlan plan;
  plan.broadcast_mm = 10;
  plan.psram_port_mm = 1;
  plan.dsram_port_mm = 2;
  plan.stackram_port_mm = 3;
  return plan;
}

TEST(energy, of_a_core_is_its_arithmetic_its_beats_their_wires_and_the_clock) {
  const Machine m = narrow();
  const EnergyPrices prices = energy_prices(m, Role::core, lengths());
  ClassCost cost;
  cost.weighted = true;
  cost.macs = 1000;
  cost.plan.nest = true;
  cost.busy[Resource::compute] = 7;
  InstructionClass product;
  product.work.family = Family::linear;
  cost.lane_operations = 10;
  cost.busy[Resource::dsram_read] = 3;
  cost.busy[Resource::dsram_write] = 2;
  cost.busy[Resource::stackram_read] = 4;
  cost.busy[Resource::stackram_write] = 1;
  const Energy energy = core_energy(core_events(product, cost, m), prices);
  EXPECT_NEAR(energy[EnergyPart::mac], 1000 * (0.72 + 64 * 0.004 * 0.33) * pico, 1e-18);
  EXPECT_NEAR(energy[EnergyPart::vector], 10 * (0.5 + 48 * 0.004 * 0.33) * pico, 1e-18);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::dsram], 5 * prices.dsram_beat);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::stackram], 5 * prices.stackram_beat);
  EXPECT_NEAR(energy[EnergyPart::ports], 5 * 64 * 2 * wire + 5 * 64 * 3 * wire, 1e-20);
  // Seven stages of 48 bits on each of 16 x 32 x 16 lanes, seven cycles.
  EXPECT_NEAR(energy[EnergyPart::clock], 7 * 8192 * 7 * 48 * 0.004 * 0.33 * pico, 1e-15);
}

TEST(energy, of_a_pipeline_is_of_each_cycle_that_its_circuit_works) {
  Machine m = narrow();
  ClassCost cost;
  cost.busy[Resource::compute] = 11;
  InstructionClass rows;
  rows.work.family = Family::softmax;
  const auto clock = [&] {
    return core_energy(core_events(rows, cost, m), energy_prices(m, Role::core, lengths()))[EnergyPart::clock];
  };
  const double before = clock();
  EXPECT_NEAR(before, 11 * 256 * 7 * 32 * 0.004 * 0.33 * pico, 1e-17);
  m.pipeline_stages = 15;
  EXPECT_NEAR(clock(), 2 * before, 1e-17);
  m.pipeline_stages = 1;
  EXPECT_EQ(clock(), 0);
  m.pipeline_stages = 8;
  rows.work.family = Family::transpose;
  EXPECT_EQ(clock(), 0) << "it has no arithmetic";
  rows.work.family = Family::norm;
  cost.on_host = true;
  EXPECT_EQ(clock(), 0);
}

TEST(energy, at_a_supply_is_that_of_logic_wires_and_memories_and_no_dram) {
  Energy all;
  for (double& joules : all.joules) joules = 1;
  const Energy low = at_supply(all, {600, 0.5, 0.25, 0.75, 0, 0});
  for (const EnergyPart part :
       {EnergyPart::mac, EnergyPart::vector, EnergyPart::broadcast, EnergyPart::ports, EnergyPart::clock})
    EXPECT_EQ(low[part], 0.25);
  for (const EnergyPart part : {EnergyPart::dsram, EnergyPart::stackram, EnergyPart::psram, EnergyPart::control})
    EXPECT_EQ(low[part], 0.75);
  for (const EnergyPart part : {EnergyPart::dram_weights, EnergyPart::dram_activations, EnergyPart::dram_program})
    EXPECT_EQ(low[part], 1);
}

TEST(energy, that_cores_share_is_of_weights_on_their_way_and_of_instruction_words) {
  Machine m = narrow();
  const EnergyPrices prices = energy_prices(m, Role::core, lengths());
  const Energy energy = shared_energy(5, 7, 11, prices);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::psram], 5 * prices.psram_beat + 11 * prices.psram_byte);
  EXPECT_NEAR(energy[EnergyPart::ports], (5 * 64 + 11 * 8) * 1 * wire, 1e-22);
  EXPECT_NEAR(energy[EnergyPart::broadcast], 5 * 64 * 10 * wire, 1e-22);
  EXPECT_NEAR(energy[EnergyPart::dram_weights], 7 * 8 * 8 * pico, 1e-18);
  EXPECT_EQ(energy[EnergyPart::clock], 0);
  const Energy words = program_energy(64, 3, prices);
  EXPECT_NEAR(words[EnergyPart::control], sram_energy(TechnologyNode::n7, Bytes(m.imem_bytes), Bits(512)).value,
              1e-20);
  EXPECT_NEAR(words[EnergyPart::dram_program], 3 * 64 * pico, 1e-18);
  EXPECT_EQ(words[EnergyPart::clock], 0);
  const Energy spilled = spill_energy(6, prices);
  EXPECT_DOUBLE_EQ(spilled[EnergyPart::dsram], 6 * prices.dsram_byte);
  EXPECT_NEAR(spilled[EnergyPart::ports], 6 * 8 * 2 * wire, 1e-22);
  EXPECT_NEAR(spilled[EnergyPart::dram_activations], 6 * 64 * pico, 1e-18);
  EXPECT_EQ(spilled[EnergyPart::clock], 0);
  m.weight_storage = WeightStorage::hard_coded;
  EXPECT_EQ(shared_energy(5, 0, 11, energy_prices(m, Role::core, lengths())).total(), 0);
}

TEST(energy, at_the_ends_of_the_ranges_encloses_that_of_the_values_part_by_part) {
  Application application;
  CompiledStage& stage = application.stages.emplace_back();
  stage.role = Role::core;
  stage.name = "unet";
  InstructionClass& c = stage.program.classes.emplace_back();
  c.work.family = Family::linear;
  c.work.nest.out_h = c.work.nest.in_h = 4;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.mapping = {4, 1, 1, 1};
  c.out_elements = 4;
  stage.program.instructions.emplace_back().name = "product";
  const Machine m;
  const Report report = estimate(application, m);
  ASSERT_EQ(report.energy_j.size(), energy_part_count);
  double least = 0, value = 0, most = 0, leaks = 0;
  for (std::size_t i = 0; i < energy_part_count; ++i) {
    EXPECT_EQ(report.energy_ranges_j.least[i].first, report.energy_j[i].first);
    EXPECT_LE(report.energy_ranges_j.least[i].second, report.energy_j[i].second) << report.energy_j[i].first;
    EXPECT_LE(report.energy_j[i].second, report.energy_ranges_j.most[i].second) << report.energy_j[i].first;
    least += report.energy_ranges_j.least[i].second;
    value += report.energy_j[i].second;
    most += report.energy_ranges_j.most[i].second;
  }
  EXPECT_LT(least, value);
  EXPECT_LT(value, most);
  double area = 0;
  for (std::size_t i = 0; i < report.area_mm2.size(); ++i) {
    EXPECT_EQ(report.leakage_w[i].first, report.area_mm2[i].first);
    if (report.area_mm2[i].first != "dram") area += report.area_mm2[i].second;
    leaks += report.leakage_w[i].second;
    EXPECT_LE(report.area_ranges_mm2.least[i].second, report.area_mm2[i].second);
    EXPECT_LE(report.area_mm2[i].second, report.area_ranges_mm2.most[i].second);
  }
  const StandingArea standing = [&] {
    StandingArea sum;
    for (const auto& [block, mm2] : report.area_mm2) {
      const StandingArea its = standing_of(block, mm2, m, Bound::value);
      sum.logic_mm2 += its.logic_mm2;
      sum.sram_mib += its.sram_mib;
    }
    return sum;
  }();
  const Supply supply = supply_at(m.technology_node, report.clock_limit.supply_mv);
  EXPECT_NEAR(leaks,
              0.037 * standing.logic_mm2 * supply.logic_leakage + 0.008 * standing.sram_mib * supply.sram_leakage,
              1e-9);
  EXPECT_NEAR(area, standing.logic_mm2 + standing.sram_mib * 0.324 * 2.5, 1e-9);
  // What leaks in a frame is the whole chip's while the saturated stream takes a frame out.
  const double fps = report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
  EXPECT_NEAR(report.energy_j.back().second, leaks / fps, 1e-9 * leaks / fps);
  // A pass leaks one core's share of it, and an instruction its time's.
  const StageReport& one = report.stages[0];
  const double seconds = static_cast<double>(one.steady_cycles.value) / 1e9;
  const auto leakage = static_cast<std::size_t>(EnergyPart::leakage);
  EXPECT_NEAR(one.energy_parts[leakage], leaks / static_cast<double>(m.cores) * seconds, 1e-15);
  EXPECT_NEAR(one.instructions[0].energy_parts[leakage], one.energy_parts[leakage], 1e-15);
  double parts = 0;
  for (const double joules : one.energy_parts) parts += joules;
  EXPECT_NEAR(parts, one.energy_j, 1e-15);
}

}  // namespace
}  // namespace sdip
