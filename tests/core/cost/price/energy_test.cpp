// What an event costs, and how far its bits travel.
#include "core/cost/price/energy.h"

#include <gtest/gtest.h>

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
  const double built = core_area(m, widest_formats(m)).total() * (1 + 0.03 + 1.32);
  EXPECT_NEAR(floor_plan(m, 1, m.psram_bytes).broadcast_mm, std::sqrt(built), 1e-9);
  EXPECT_NEAR(floor_plan(m, 4, m.psram_bytes).broadcast_mm, 4 * std::sqrt(built), 1e-9);
  m.sequencer = Sequencer::distributed;
  EXPECT_NEAR(floor_plan(m, 1, m.psram_bytes).broadcast_mm,
              std::sqrt(built * (1 + 0.06 + 1.32) / (1 + 0.03 + 1.32)), 1e-9);
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
  EXPECT_NEAR(memory_area(m, 1 << 20, 64), 0.32 * 2.5 * (1 + 100.0 * 16 * 64 / 8 / (1 << 20)), 1e-9);
  EXPECT_EQ(memory_area(m, 0, 64), 0);
}

TEST(area, control_and_other_are_shares_of_lanes_and_memories_and_sum_with_them) {
  Application application;
  application.stages.emplace_back().role = Role::core;
  Machine m;
  m.vae_stage = VaeStage::off_chip;
  double datapath = 0, control = 0, other = 0;
  for (const auto& [block, mm2] : area_of(application, m)) {
    if (block == "control")
      control = mm2;
    else if (block == "other")
      other = mm2;
    else
      datapath += mm2;
  }
  EXPECT_NEAR(control, 0.03 * datapath, 1e-9);
  EXPECT_NEAR(other, 1.32 * datapath, 1e-9);
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
  cost.macs = 1000;
  cost.lane_operations = 10;
  cost.busy.dsram_read = 3;
  cost.busy.dsram_write = 2;
  cost.busy.stackram_read = 4;
  cost.busy.stackram_write = 1;
  const Energy energy = core_energy(core_events(cost), prices);
  EXPECT_NEAR(energy[EnergyPart::mac], 1000 * 0.72 * pico, 1e-18);
  EXPECT_NEAR(energy[EnergyPart::vector], 10 * 0.5 * pico, 1e-18);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::dsram], 5 * prices.dsram_beat);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::stackram], 5 * prices.stackram_beat);
  EXPECT_NEAR(energy[EnergyPart::ports], 5 * 64 * 2 * wire + 5 * 64 * 3 * wire, 1e-20);
  const double clocked = energy[EnergyPart::mac] + energy[EnergyPart::vector] + energy[EnergyPart::dsram] +
                         energy[EnergyPart::stackram];
  EXPECT_NEAR(energy[EnergyPart::clock], 0.5 * clocked, 1e-18);
  EXPECT_NEAR(energy.total(), 1.5 * clocked + energy[EnergyPart::ports], 1e-18);
}

TEST(energy, that_cores_share_is_of_weights_on_their_way_and_of_instruction_words) {
  Machine m = narrow();
  const EnergyPrices prices = energy_prices(m, Role::core, lengths());
  const Energy energy = shared_energy(5, 7, 11, prices);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::psram], 5 * prices.psram_beat + 11 * prices.psram_byte);
  EXPECT_NEAR(energy[EnergyPart::ports], (5 * 64 + 11 * 8) * 1 * wire, 1e-22);
  EXPECT_NEAR(energy[EnergyPart::broadcast], 5 * 64 * 10 * wire, 1e-22);
  EXPECT_NEAR(energy[EnergyPart::dram_weights], 7 * 8 * 8 * pico, 1e-18);
  EXPECT_NEAR(energy[EnergyPart::clock], 0.5 * energy[EnergyPart::psram], 1e-20);
  const Energy words = program_energy(64, 3, prices);
  EXPECT_NEAR(words[EnergyPart::control], sram_energy(TechnologyNode::n7, Bytes(m.imem_bytes), Bits(512)).value,
              1e-20);
  EXPECT_NEAR(words[EnergyPart::dram_program], 3 * 64 * pico, 1e-18);
  EXPECT_EQ(words[EnergyPart::clock], 0);
  const Energy spilled = spill_energy(6, prices);
  EXPECT_DOUBLE_EQ(spilled[EnergyPart::dsram], 6 * prices.dsram_byte);
  EXPECT_NEAR(spilled[EnergyPart::ports], 6 * 8 * 2 * wire, 1e-22);
  EXPECT_NEAR(spilled[EnergyPart::dram_activations], 6 * 64 * pico, 1e-18);
  EXPECT_NEAR(spilled[EnergyPart::clock], 0.5 * spilled[EnergyPart::dsram], 1e-20);
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
    area += report.area_mm2[i].second;
    leaks += report.leakage_w[i].second;
    EXPECT_LE(report.area_ranges_mm2.least[i].second, report.area_mm2[i].second);
    EXPECT_LE(report.area_mm2[i].second, report.area_ranges_mm2.most[i].second);
  }
  EXPECT_NEAR(leaks, 0.033 * area, 1e-9);
  // What leaks in a frame is the whole chip's while the saturated stream takes a frame out.
  const double fps = report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
  EXPECT_NEAR(report.energy_j.back().second, leaks / fps, 1e-9 * leaks / fps);
  // Of a pass one core's share of it, and an instruction's its time's.
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
