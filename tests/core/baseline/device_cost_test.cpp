// Published machines by the technology table: energy, area and price as the formulas of docs/model/devices.md say.
#include "core/baseline/device_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <sstream>

#include "core/base/error.h"
#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

DeviceFigure figure(const std::string& key, double value) { return {key, value, "", "made", "assumption"}; }

/// 1 GHz at 7 nm, a die of 400 mm2 with 32 MiB, a stack of HBM2 at 256 GB/s.
Device made_device() {
  return {
      .id = "made",
      .name = "Made",
      .archetype = Archetype::roofline,
      .peak_flops = 64e12,
      .dram_bytes_per_s = 256e9,
      .native_format = "bf16",
      .figures = {figure("node_nm", 7), figure("clock_mhz", 1000), figure("die_mm2", 400), figure("sram_mib", 32)},
      .fields = {{"peak", "64", "TFLOP/s", "made", "assumption"},
                 {"HBM2 bandwidth", "256", "GB/s", "made", "assumption"}}};
}

Device without(Device device, const std::string& key) {
  std::erase_if(device.figures, [&](const DeviceFigure& one) { return one.key == key; });
  return device;
}
Device with(Device device, const std::string& key, double value) {
  device = without(std::move(device), key);
  device.figures.push_back(figure(key, value));
  return device;
}

const DeviceEnergyPart& part_of(const DeviceEnergy& energy, std::string_view name) {
  const auto found = std::ranges::find(energy.parts, name, &DeviceEnergyPart::name);
  EXPECT_NE(found, energy.parts.end()) << name;
  return *found;
}

TEST(node_place, lies_between_the_nodes_of_the_table) {
  const NodePlace between = node_place(22);
  EXPECT_EQ(between.larger, TechnologyNode::n28);
  EXPECT_EQ(between.smaller, TechnologyNode::n16);
  EXPECT_NEAR(between.t, std::log(28.0 / 22) / std::log(28.0 / 16), 1e-12);
  EXPECT_NEAR(between.t, 0.431, 5e-4);
  EXPECT_EQ(at_place(between, [](TechnologyNode node) { return node == TechnologyNode::n28 ? 4.0 : 4.0; }), 4);
  for (const auto& [nm, node] : {std::pair(12.0, TechnologyNode::n16), std::pair(6.0, TechnologyNode::n7),
                                 std::pair(4.0, TechnologyNode::n5), std::pair(180.0, TechnologyNode::n65)}) {
    EXPECT_EQ(node_place(nm).smaller, node) << nm;
    EXPECT_EQ(node_place(nm).t, 1) << nm;
    EXPECT_FALSE(has_own_node(nm)) << nm;
  }
  EXPECT_TRUE(has_own_node(7));
  EXPECT_DOUBLE_EQ(power_law_between(2, 8, 0.5), 4);
  EXPECT_DOUBLE_EQ(power_law_between(0, 8, 0.5), 4) << "on the straight line";
}

/// The example of docs/model/devices.md, by rows of the technology table.
TEST(device_cost, of_a_made_chip_is_what_the_rows_say) {
  const Device device = made_device();
  const DeviceSilicon silicon = silicon_of(device);
  const double factor = Machine().sram_floor_plan_factor.value();
  const double macros = 32 * 0.324 * factor, phys = 1024 * 0.0094;
  EXPECT_EQ(silicon.dram, DramKind::hbm2);
  EXPECT_NEAR(silicon.dram_bits, 1024, 1e-9);
  EXPECT_NEAR(silicon.phy_mm2, phys, 1e-9);
  EXPECT_NEAR(silicon.logic_mm2, 400 - macros - phys, 1e-9);
  EXPECT_NEAR(area_of(silicon), 400, 1e-9);

  const DeviceEnergy energy =
      energy_of(silicon, {.macs = 1e12, .vector_operations = 1e9, .on_chip_bytes = 1e9, .dram_bytes = 1e8});
  const double bit = 0.004 * 0.33;
  const double logic = 400 - macros - phys;
  struct Expected {
    const char* part;
    double joules, watts;
  };
  const Expected all[] = {{"mac", (0.21 + 0.38 + (64 + 48) * bit) * 1e-12 * 1e12, 0},
                          {"vector", (0.21 + 0.16 + 48 * bit) * 1e-12 * 1e9, 0},
                          {"sram", 8.5 / 8 * 1e-12 * 1e9, 0},
                          {"clock", 0, 34e-12 * 0.33 / 0.075 * logic * 1e9},
                          {"leakage", 0, 1e-3 * (37 * logic + 8 * 32 * factor)},
                          {"dram", 8 * 5.5e-12 * 1e8, 0},
                          {"dram_phy", 8 * 4e-12 * 1e8, 0.5e-3 * 8 * 256},
                          {"dram_background", 0, 8 * 0.16}};
  ASSERT_EQ(energy.parts.size(), std::size(all));
  double sum = 0;
  for (const Expected& one : all) {
    EXPECT_NEAR(part_of(energy, one.part).joules, one.joules, 1e-9 * (one.joules + 1e-6)) << one.part;
    EXPECT_NEAR(part_of(energy, one.part).watts, one.watts, 1e-9 * (one.watts + 1e-6)) << one.part;
    sum += one.joules + one.watts * 0.05;
  }
  EXPECT_TRUE(energy.has_dram);
  EXPECT_NEAR(energy.joules(0.05), sum, 1e-9);

  std::ostringstream text;
  text << std::setprecision(3) << "\n    logic            400 - " << macros << " - " << phys << " = " << logic
       << " mm2\n";
  for (const Expected& one : all) {
    text << "    " << std::left << std::setw(17) << one.part;
    if (one.joules > 0) text << one.joules * 1e3 << " mJ" << (one.watts > 0 ? " + " : "");
    if (one.watts > 0) text << one.watts << " W x 50 ms = " << one.watts * 50 << " mJ";
    text << "\n";
  }
  text << "    a frame          " << sum << " J\n\n";
  expect_made_section("model/devices.md", "device energy", "tests/core/baseline/device_cost_test.cpp", text.str());
}

TEST(device_cost, is_lacking_where_the_table_can_say_nothing) {
  EXPECT_EQ(lacking_for_cost(made_device()), "");
  EXPECT_EQ(lacking_for_cost(without(made_device(), "node_nm")), "node_nm");
  EXPECT_EQ(lacking_for_cost(without(made_device(), "clock_mhz")), "clock_mhz");
  Device programmable = made_device();
  programmable.fields.push_back({"FPGA", "some part", "", "made", "assumption"});
  EXPECT_THAT(lacking_for_cost(programmable), testing::HasSubstr("programmable logic"));
  Device without_peak = made_device();
  without_peak.peak_flops = 0;
  EXPECT_EQ(lacking_for_cost(without_peak), "peak");
  EXPECT_THROW(silicon_of(without_peak), Bug);
}

TEST(device_cost, without_a_kind_of_dram_is_without_dram_and_says_so) {
  Device device = made_device();
  device.fields.pop_back();
  const DeviceSilicon silicon = silicon_of(device);
  EXPECT_FALSE(silicon.dram.has_value());
  const DeviceEnergy energy = energy_of(silicon, {.dram_bytes = 1e12});
  EXPECT_FALSE(energy.has_dram);
  EXPECT_EQ(energy.parts.size(), 5U);
  EXPECT_THAT(silicon.notes, testing::Contains(testing::HasSubstr("without DRAM")));
  device.fields.push_back({"DRAM", "some GDDR6X, 24 GB", "", "made", "assumption"});
  EXPECT_EQ(dram_kind_of(device), DramKind::gddr6x);
  device.fields.back().value = "LPDDR5 of the host";
  EXPECT_EQ(dram_kind_of(device), DramKind::lpddr5) << "and not the DDR5 in its name";
}

TEST(device_cost, of_every_device_with_a_bandwidth_knows_its_dram) {
  for (const Device& device : devices()) {
    if (device.id == "eyeriss_v1") continue;  // its DRAM is of a board that no text names
    EXPECT_EQ(device.dram_bytes_per_s > 0, device.dram_bytes_per_s > 0 && dram_kind_of(device)) << device.id;
  }
}

TEST(device_cost, drawn_anew_scales_logic_by_its_density_memories_by_theirs_and_phys_not) {
  const DeviceSilicon at_16 = silicon_of(with(made_device(), "node_nm", 16));
  const DeviceSilicon at_7 = drawn_in(at_16, TechnologyNode::n7);
  EXPECT_NEAR(at_7.logic_mm2, at_16.logic_mm2 * 0.075 / 0.21, 1e-9);
  EXPECT_EQ(at_7.phy_mm2, at_16.phy_mm2);
  EXPECT_EQ(at_7.sram_mib, at_16.sram_mib);
  const double factor = Machine().sram_floor_plan_factor.value();
  EXPECT_NEAR(area_of(at_16) - area_of(at_7), at_16.logic_mm2 - at_7.logic_mm2 + 32 * (0.845 - 0.324) * factor,
              1e-9);
  EXPECT_NEAR(area_of(drawn_in(at_16, TechnologyNode::n16)), 400, 1e-9) << "in its own it is as it was";
  const DeviceEvents events{.macs = 1e12, .vector_operations = 1e9, .on_chip_bytes = 1e9};
  EXPECT_GT(part_of(energy_of(at_16, events), "mac").joules, part_of(energy_of(at_7, events), "mac").joules);
  EXPECT_EQ(part_of(energy_of(at_16, {.dram_bytes = 1}), "dram").joules,
            part_of(energy_of(at_7, {.dram_bytes = 1}), "dram").joules);
  // Between two nodes of the table every figure is, too.
  const DeviceSilicon at_8 = silicon_of(with(made_device(), "node_nm", 8));
  const double mac_8 = part_of(energy_of(at_8, events), "mac").joules;
  EXPECT_GT(mac_8, part_of(energy_of(at_7, events), "mac").joules);
  EXPECT_LT(mac_8, part_of(energy_of(at_16, events), "mac").joules);
}

TEST(device_cost, of_a_die_that_is_not_published_is_of_its_lanes) {
  const DeviceSilicon silicon = silicon_of(without(made_device(), "die_mm2"));
  EXPECT_FALSE(silicon.published_die);
  EXPECT_THAT(silicon.notes, testing::Contains(testing::HasSubstr("not published")));
  // 32,000 lanes of 16 by 16 bits and 32 of sum, two stages deep; 3 times that beside them; 3 % control; 18 mm2.
  const double lanes = 32000 * (867 + 4184 + (64 + 48) * 6) * 0.075e-6 * Machine().mac_floor_plan_factor.value();
  const double macros = 32 * 0.324 * Machine().sram_floor_plan_factor.value();
  EXPECT_NEAR(silicon.logic_mm2, 4 * lanes + 0.03 * (lanes + macros) + 18 + 256 * 0.013, 1e-6);
  EXPECT_EQ(price_of(silicon, 8), std::nullopt) << "what no die is published of has no price";
}

TEST(device_cost, of_devices_keeps_their_dies_and_is_below_what_bounds_their_power) {
  int dies = 0;
  for (const Device& device : devices()) {
    if (!lacking_for_cost(device).empty()) continue;
    const DeviceSilicon silicon = silicon_of(device);
    EXPECT_GE(silicon.logic_mm2, 0) << device.id;
    if (!silicon.published_die) continue;
    ++dies;
    EXPECT_NEAR(area_of(silicon), *figure_of(device, "die_mm2"), 1e-6) << device.id;
  }
  EXPECT_GE(dies, 15);
}

TEST(device_cost, counts_what_a_frame_moves_on_the_chip_at_least) {
  Layer product, sum;
  product.a_elements = 100;
  product.weight_elements = 60;
  product.output_elements = 40;
  product.work.family = Family::linear;
  product.work.nest.out_h = 10;
  product.work.nest.in_channels = 10;
  product.work.nest.out_channels = 4;
  product.weighted = true;
  product.times = 2;
  sum.joint = Joint::fused;
  sum.a_elements = sum.other_elements = sum.output_elements = 40;
  sum.work.family = Family::vector;
  sum.work.rows = 4;
  sum.work.row_length = 10;
  sum.work.passes = 1;
  const std::vector<LayeredStage> stages = {{"s", Role::network, {product, sum}, 3}};
  DeviceRun run;
  run.dram_bytes_per_frame = 7;
  const DeviceEvents one = events_of(stages, 1, run, 2), four = events_of(stages, 4, run, 2);
  EXPECT_EQ(one.macs, 3 * 2 * 400);
  EXPECT_EQ(one.vector_operations, 3 * 40);
  EXPECT_EQ(one.on_chip_bytes, 2 * 3 * (2 * (100 + 60 + 40) + 40)) << "the sum's own operand stays in registers";
  EXPECT_EQ(four.on_chip_bytes, 2 * 3 * (2 * (100 + 15 + 40) + 40)) << "four frames share the weights";
  EXPECT_EQ(one.dram_bytes, 7);
  run.batches = 4;  // one after the other
  EXPECT_EQ(events_of(stages, 4, run, 2).on_chip_bytes, one.on_chip_bytes);
  EXPECT_THROW(events_of(stages, 0, run, 2), Bug);
}

TEST(device_cost, prices_dies_package_and_dram_as_sdip_s) {
  // docs/model/dies.md: a die of 400 mm2 at 7 nm is 91.6 USD.
  const auto price = price_of(silicon_of(made_device()), 8);
  ASSERT_TRUE(price.has_value());
  EXPECT_NEAR(price->silicon, 91.6, 0.05);
  EXPECT_NEAR(price->dram, 8 * 7, 1e-9);
  EXPECT_NEAR(price->package, (price->silicon * 1.335 + 400 * (0.02 + 0.0274 * 1.7)) / 0.99 - price->silicon, 1e-6);
  EXPECT_EQ(price_of(silicon_of(with(made_device(), "die_mm2", 900)), 8), std::nullopt) << "no scanner exposes it";
  const auto halves = price_of(silicon_of(with(with(made_device(), "die_mm2", 900), "dies", 2)), 8);
  ASSERT_TRUE(halves.has_value());
  EXPECT_GT(halves->silicon, 2 * price->silicon);
  ASSERT_TRUE(price_of(silicon_of(*find_device("mn_core_1")), 32).has_value()) << "four dies of 757 mm2";
}

}  // namespace
}  // namespace sdip
