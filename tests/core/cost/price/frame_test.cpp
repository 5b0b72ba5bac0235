// Do stages in any number and order add up to a frame, and to what its report says?
#include <gmock/gmock.h>

#include <cmath>

#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"
#include "core/cost/price/estimate.h"
#include "core/cost/price/frame.h"
#include "core/machine/technology.h"
#include "tests/core/cost/reports.h"

namespace sdip {
namespace {

/// A stage of one product of so many rows, on chip.
CompiledStage stage_of(Role role, std::int64_t rows, std::int64_t sums = 1) {
  CompiledStage stage;
  stage.role = role;
  stage.name = "stage of " + std::to_string(rows);
  InstructionClass& c = stage.program.classes.emplace_back();
  c.work.family = Family::linear;
  c.work.nest.out_h = c.work.nest.in_h = rows;
  c.work.nest.in_channels = sums;
  c.operand_a = Place::stackram;
  c.operand_b = Place::stackram;
  c.mapping = {rows, 1, 1, sums};
  c.to_dsram = false, c.push = true;
  c.out_elements = rows;
  stage.program.instructions.emplace_back().name = "product";
  return stage;
}

Report report_of_stages(const std::vector<CompiledStage>& stages, const Machine& m = {}) {
  Application application;
  application.stages = stages;
  Report report = estimate(application, m);
  EXPECT_TRUE(report.outcome.counted()) << report.outcome.reason;
  return report;
}

TEST(frame, of_several_stages_side_by_side_takes_the_longest_one_s_time) {
  for (const Role role : {Role::core, Role::network}) {
    const CompiledStage longer = stage_of(role, 5000), shorter = stage_of(role, 100);
    const double alone = value(report_of_stages({longer}), Metric::throughput_fps);
    EXPECT_NE(alone, value(report_of_stages({shorter}), Metric::throughput_fps));
    if (role == Role::network) continue;
    EXPECT_EQ(alone, value(report_of_stages({longer, shorter}), Metric::throughput_fps));
    EXPECT_EQ(alone, value(report_of_stages({shorter, longer}), Metric::throughput_fps));
  }
  const CompiledStage longer = stage_of(Role::decoder, 5000), shorter = stage_of(Role::encoder, 100);
  EXPECT_EQ(value(report_of_stages({longer}), Metric::throughput_fps),
            value(report_of_stages({shorter, longer}), Metric::throughput_fps));
}

TEST(frame, of_equally_long_parts_in_series_is_told_by_the_first) {
  CompiledStage first = stage_of(Role::network, 50, 3), second = stage_of(Role::network, 50, 2);
  first.part = {0, 2}, second.part = {1, 2};
  Machine m;
  m.stackram_port_bits = 1 << 20;
  m.core_clock_mhz = 10;  // so wide a port is hot
  m.linear_lanes_m = 1, m.linear_lanes_k = 16;
  EXPECT_EQ(value(report_of_stages({first}, m), Metric::step_cycles),
            value(report_of_stages({second}, m), Metric::step_cycles));
  const double utilization = value(report_of_stages({first}, m), Metric::utilization);
  EXPECT_EQ(value(report_of_stages({first, second}, m), Metric::utilization), utilization);
  EXPECT_LT(value(report_of_stages({second, first}, m), Metric::utilization), utilization);
}

TEST(frame, of_a_program_that_uses_no_dsram_and_no_psram_has_peaks_of_0) {
  CompiledStage stage = stage_of(Role::network, 4);
  stage.program.instructions[0].stackram = Bytes(77);
  Report report = report_of_stages({stage});
  EXPECT_EQ(value(report, Metric::dsram_peak_bytes), 0);
  EXPECT_EQ(value(report, Metric::stackram_peak_bytes), 77);
  EXPECT_EQ(value(report, Metric::psram_peak_bytes), 0);
  stage.program.instructions[0].dsram_write_side = Bytes(5);
  EXPECT_EQ(value(report_of_stages({stage}), Metric::dsram_peak_bytes), 5);
  stage.program.instructions.clear();
  report = report_of_stages({stage});
  EXPECT_EQ(value(report, Metric::dsram_peak_bytes), 0);
  EXPECT_EQ(value(report, Metric::stackram_peak_bytes), 0);
}

TEST(frame, over_no_area_and_no_energy_is_no_number) {
  const CompiledStage stage = stage_of(Role::core, 4);
  StageTotals totals;
  totals.stage = &stage;
  totals.schedule.steps_per_core = 2;
  totals.cycles = 50, totals.made_macs = 1000, totals.products_in_mac = 3;
  Machine m;
  m.core_clock_mhz = 100, m.steps = 2, m.cores = 1, m.batch = 1;
  m.host_memory = true;  // no DRAM that stands
  ChipTotals chip;
  chip.mac_lanes = 8;
  const auto values = [&] {
    chip.slowest.mhz = 200;
    const Supply supply = chip_supply(chip.slowest, m);
    return outcome_of(price_frame({totals}, chip, supply, m, Bound::value), {}, chip, supply, "", m).values;
  };
  const auto value = [](const MetricValues& all, Metric metric) { return all[static_cast<std::size_t>(metric)]; };
  const MetricValues of_nothing = values();
  for (const Metric metric :
       {Metric::fps_per_mm2, Metric::frames_per_j, Metric::power_w_per_mm2, Metric::tops_per_w,
        Metric::tops_per_mm2, Metric::tops_peak_per_mm2, Metric::ops_per_dram_byte})
    EXPECT_TRUE(std::isnan(value(of_nothing, metric))) << metrics()[static_cast<std::size_t>(metric)].name;
  // A frame every 2 x 50 cycles of 10 ns: 1e6 a second, 2 passes of 1,000 MACs each.
  EXPECT_DOUBLE_EQ(value(of_nothing, Metric::tops), 2 * 2000 * 1e6 / 1e12);
  EXPECT_DOUBLE_EQ(value(of_nothing, Metric::tops_peak), 2 * 8 * 3 * 100e6 / 1e12);
  chip.area_mm2 = 4;
  totals.energy.core[EnergyPart::mac] = 0.25e-6;  // of a pass: 0.5 uJ a frame, 0.5 W
  totals.weight_bytes = 70, totals.activation_bytes = 20, totals.program_bytes = 10;
  const MetricValues some = values();
  EXPECT_DOUBLE_EQ(value(some, Metric::fps_per_mm2), 250e3);
  EXPECT_DOUBLE_EQ(value(some, Metric::frames_per_j), 2e6);
  EXPECT_DOUBLE_EQ(value(some, Metric::power_w_per_mm2), 0.125);
  EXPECT_DOUBLE_EQ(value(some, Metric::tops_per_w), 0.008);
  EXPECT_DOUBLE_EQ(value(some, Metric::tops_per_mm2), 0.001);
  EXPECT_DOUBLE_EQ(value(some, Metric::tops_peak_per_mm2), 0.0012);
  EXPECT_DOUBLE_EQ(value(some, Metric::ops_per_dram_byte), 2 * 1000.0 / 100);  // of each pass
}

TEST(latency, tells_links_where_a_frame_passes_over_them) {
  const auto names = [](const Report& report) {
    std::vector<std::string> found;
    for (const auto& [name, seconds] : report.latency_s) found.push_back(name);
    return found;
  };
  EXPECT_THAT(names(report_of_stages({stage_of(Role::network, 4)})), testing::ElementsAre("stage of 4"));
  EXPECT_THAT(names(report_of_stages({stage_of(Role::core, 4)})), testing::ElementsAre("stage of 4", "link"));
}

TEST(formats, of_a_layer_wider_than_the_machine_s_widen_its_circuits) {
  CompiledStage stage = stage_of(Role::network, 4);
  Machine m, wide;
  m.weight_format = m.activation_format = NumberFormat::int8;
  wide.weight_format = wide.activation_format = NumberFormat::fp32;
  const auto area = [&](const Machine& machine) {
    Application application;
    application.stages = {stage};
    Breakdown found = area_of(application, machine);
    EXPECT_EQ(found[0].first, "conv2d");
    EXPECT_EQ(found[2].first, "matmul");
    return std::pair(found[0].second, found[2].second);
  };
  const auto narrowest = area(m), widest = area(wide);
  EXPECT_LT(narrowest.first, widest.first);
  stage.program.classes[0].formats = {NumberFormat::fp32, NumberFormat::int8, NumberFormat::int8};
  const auto mixed = area(m);
  EXPECT_GT(mixed.first, narrowest.first);
  EXPECT_LT(mixed.first, widest.first) << "a product of 24 by 8 bits";
  EXPECT_EQ(mixed.second, narrowest.second) << "weights are multiplied, and go through no lanes";
  stage.program.classes[0].formats = {NumberFormat::int8, NumberFormat::fp32, NumberFormat::int8};
  const auto acts = area(m);
  EXPECT_LT(acts.first, widest.first);
  EXPECT_EQ(acts.second, widest.second);
}

TEST(formats, of_a_layer_price_what_its_instruction_spends) {
  CompiledStage stage = stage_of(Role::network, 4);
  Machine m;
  // But for what goes with the area of the whole machine, and with words that say formats.
  const auto energy = [&](const Machine& machine) {
    const EnergyParts parts = report_of_stages({stage}, machine).stages[0].instructions[0].energy_parts;
    return std::vector<double>(parts.begin(), parts.begin() + static_cast<std::size_t>(EnergyPart::broadcast));
  };
  Machine narrow = m;
  narrow.weight_format = narrow.activation_format = NumberFormat::int8;
  const std::vector<double> wide = energy(m), whole = energy(narrow);
  stage.program.classes[0].formats = {NumberFormat::int8, NumberFormat::int8, NumberFormat::int8};
  EXPECT_EQ(energy(m), whole);
  const auto mac = static_cast<std::size_t>(EnergyPart::mac);
  EXPECT_LT(whole[mac], wide[mac]);
}

TEST(energy, of_products_with_a_zero_is_spared) {
  Machine m;
  const auto shares = [&](Bound bound) {
    const EnergyPrices prices = energy_prices(m, Role::core, FloorPlan{}, bound);
    return std::pair(prices.mac_share, prices.other_mac_share);
  };
  using enum Bound;
  m.sparsity = Sparsity::gating;
  m.weight_density = Decimal{30};
  for (const Bound bound : {least, value, most}) EXPECT_EQ(shares(bound), std::pair(0.3, 1.0));
  m.sparsity_group = 4;  // 2 of 4
  for (const Bound bound : {least, value, most}) EXPECT_EQ(shares(bound), std::pair(0.5, 1.0));
  m.activation_density = Decimal{75};
  EXPECT_EQ(shares(least), std::pair(0.25, 0.5));  // zeros of the two never meet
  EXPECT_EQ(shares(value), std::pair(0.375, 0.5625));
  EXPECT_EQ(shares(most), std::pair(0.5, 1.0));  // no activation is zero
  m.activation_density = Decimal{25};
  EXPECT_EQ(shares(least), std::pair(0.0, 0.0));
}

TEST(energy, of_weights_in_rom_has_no_price) {
  Machine m;
  EXPECT_GT(energy_prices(m, Role::core, FloorPlan{}).psram_beat, 0);
  EXPECT_GT(energy_prices(m, Role::core, FloorPlan{}).psram_byte, 0);
  EXPECT_EQ(energy_prices(m, Role::core, FloorPlan{}).mac_share, 1);
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = HardCodedPart::all;
  EXPECT_EQ(energy_prices(m, Role::core, FloorPlan{}).psram_beat, 0);
  EXPECT_EQ(energy_prices(m, Role::core, FloorPlan{}).psram_byte, 0);
}

TEST(energy, of_an_access_is_that_of_a_bank) {
  Machine m;
  m.sram_banks = 3;
  m.dsram_bytes = 30000, m.stackram_bytes = 60001, m.psram_bytes = 90002;
  const auto price = [&](std::int64_t bytes, std::int64_t bits) {
    return sram_energy(m.technology_node, Bytes(bytes), Bits(bits)).value;
  };
  const EnergyPrices prices = energy_prices(m, Role::core, FloorPlan{});
  EXPECT_EQ(prices.dsram_beat, price(10000, m.dsram_port_bits));
  EXPECT_EQ(prices.dsram_byte, price(10000, 8));
  EXPECT_EQ(prices.stackram_beat, price(20001, m.stackram_port_bits));
  EXPECT_EQ(prices.psram_beat, price(30001, m.psram_port_bits));
  EXPECT_EQ(prices.psram_byte, price(30001, 8));
  m.sram_banks = 1;
  EXPECT_EQ(energy_prices(m, Role::core, FloorPlan{}).psram_beat, price(90002, m.psram_port_bits));
  EXPECT_EQ(energy_prices(m, Role::core, FloorPlan{}).psram_byte, price(90002, 8));
}

}  // namespace
}  // namespace sdip
