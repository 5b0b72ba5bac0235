// Are the technology constants sourced, and the laws that join them true to them?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/machine/technology.h"

namespace sdip {
namespace {

constexpr TechnologyNode all_nodes[] = {
    TechnologyNode::n65, TechnologyNode::n45, TechnologyNode::n28,           TechnologyNode::n16,
    TechnologyNode::n7,  TechnologyNode::n5,  TechnologyNode::fpga_zynq7020, TechnologyNode::fpga_vc1902};
constexpr std::span<const TechnologyNode> chip_nodes = std::span(all_nodes).first(6);

using enum NumberFormat;

/// Products of two of a kind.
MacFormats square(NumberFormat format, NumberFormat sums) { return {format, format, sums}; }
MacFormats square(NumberFormat format) { return {format, format, format}; }
const Supply as_given;

double row_value(std::string_view name) {
  const auto rows = technology_rows();
  const auto row = std::ranges::find(rows, name, &TechnologyRow::name);
  EXPECT_NE(row, rows.end()) << name;
  return row->value;
}

TEST(technology, every_constant_has_a_source_a_unit_and_lies_in_its_range) {
  std::set<std::string_view> names;
  for (const TechnologyRow& row : technology_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_GT(row.source.size(), 10U) << row.name;
    EXPECT_TRUE(!row.unit.empty() || row.name == "rom.over_sram") << row.name;
    EXPECT_GT(row.least, 0) << row.name;
    EXPECT_TRUE(row.least <= row.value && row.value <= row.most) << row.name;
  }
}

TEST(technology, an_assumption_has_a_range_and_says_that_it_is_one) {
  for (const TechnologyRow& row : technology_rows()) {
    if (row.confidence != Confidence::assumption) continue;
    EXPECT_LT(row.least, row.most) << row.name;
    EXPECT_NE(row.source.find("assumption"), std::string_view::npos) << row.name;
  }
}

TEST(technology, what_was_not_read_in_its_source_has_a_range_but_for_counts) {
  // The array that is modelled, whose rows are its definition; blocks of a part that is sold, which are right or
  // wrong, but not more or less.
  const std::set<std::string_view> counts{"fefet.array", "fpga_vc1902.bram", "fpga_vc1902.uram", "fpga_vc1902.lut"};
  std::size_t exact = 0;
  for (const TechnologyRow& row : technology_rows()) {
    if (row.confidence == Confidence::cited || row.least < row.most) continue;
    EXPECT_TRUE(counts.contains(row.name)) << row.name;
    ++exact;
  }
  EXPECT_EQ(exact, counts.size());
}

/// A figure of Table 2 that was not confirmed might have one of the factors over 45 nm that were: that is one end,
/// the other as far away by ratio.
TEST(technology, a_quoted_figure_of_7_nm_reaches_to_the_factors_that_were_confirmed) {
  double least = 1, most = 0;
  for (const char* name : {"multiply.int8", "multiply.fp16", "multiply.fp32", "add.int32"}) {
    const double factor = row_value(std::string("n7.") + name) / row_value(std::string("n45.") + name);
    least = std::min(least, factor), most = std::max(most, factor);
  }
  EXPECT_NEAR(least, 0.3, 1e-12);
  EXPECT_NEAR(most, 0.354, 5e-4);
  for (const char* name : {"multiply.int32", "add.int8", "add.fp16", "add.fp32"}) {
    const double n45 = row_value(std::string("n45.") + name);
    const auto row = std::ranges::find(technology_rows(), std::string("n7.") + name, &TechnologyRow::name);
    const bool above = row->value > n45 * most;
    EXPECT_NEAR(above ? row->least : row->most, n45 * (above ? least : most), 5e-3 * row->value) << name;
    EXPECT_NEAR(row->least * row->most, row->value * row->value, 1e-2 * row->value * row->value) << name;
  }
}

TEST(technology, interpolation_at_the_table_s_points_returns_the_points) {
  const std::pair<std::int64_t, const char*> points[] = {{8 << 10, "8KB"}, {32 << 10, "32KB"}, {1 << 20, "1MB"}};
  for (const auto& [node, prefix] : {std::pair{TechnologyNode::n7, "n7"}, std::pair{TechnologyNode::n45, "n45"}})
    for (const auto& [bytes, name] : points)
      EXPECT_NEAR(sram_energy(node, Bytes(bytes), Bits(64)).value * 1e12,
                  row_value(std::string(prefix) + ".sram." + name), 1e-9);
}

TEST(technology, an_access_of_a_larger_bank_never_costs_less_and_grows_with_its_bits) {
  for (const TechnologyNode node : all_nodes) {
    double before = 0;
    for (std::int64_t bytes = 1; bytes <= std::int64_t{1} << 40; bytes *= 2) {
      const double pj = sram_energy(node, Bytes(bytes), Bits(64)).value;
      EXPECT_GE(pj, before) << bytes;
      EXPECT_DOUBLE_EQ(sram_energy(node, Bytes(bytes), Bits(128)).value, 2 * pj);
      before = pj;
    }
  }
}

TEST(technology, every_format_has_an_energy_and_an_area_and_a_wider_integer_has_more) {
  for (const TechnologyNode node : all_nodes) {
    for (std::size_t f = 0; f < std::size(number_formats); ++f) {
      const auto format = static_cast<NumberFormat>(f);
      EXPECT_GT(mac_energy(node, square(format, int32)).value, 0);
      EXPECT_GT(mac_area(node, square(format)).value, 0);
    }
    EXPECT_LT(mac_energy(node, square(int8, int32)).value, mac_energy(node, square(int16, int32)).value);
    EXPECT_LT(mac_area(node, square(int4, int32)).value, mac_area(node, square(int8, int32)).value);
  }
}

TEST(technology, an_int8_mac_at_7_nm_is_its_product_its_32_bit_addition_and_48_bits_of_registers) {
  EXPECT_NEAR(mac_energy(TechnologyNode::n7, square(int8, int32)).value * 1e12, 0.07 + 0.03 + 48 * 0.004 * 0.33,
              1e-12);
  EXPECT_NEAR(mac_area(TechnologyNode::n7, square(int8, int32)).value, (282 + 137 + 48 * 6) * 0.075e-6, 1e-12);
}

TEST(technology, a_product_of_two_formats_is_built_of_so_many_bits_by_so_many) {
  for (const TechnologyNode node : all_nodes) {
    const auto product = [&](NumberFormat a, NumberFormat b) {
      const double registers = register_energy(node).value * static_cast<double>(lane_bits({a, b, int32}));
      return mac_energy(node, {a, b, int32}).value - registers;
    };
    const double add = 2 * product(int4, int4) - product(int4, int8);  // as the product doubles
    EXPECT_NEAR(product(int4, int8) - add, (product(int8, int8) - add) / 2, 1e-3 * product(int8, int8))
        << "32 of 64";
    EXPECT_EQ(product(int4, int8), product(int8, int4));
    const double sum = mac_energy(node, {int4, fp16, fp32}).value,
                 whole = mac_energy(node, {fp16, fp16, fp32}).value;
    EXPECT_LT(sum, whole) << "an integer of 4 bits by a significand of 11";
  }
  const auto of = [](NumberFormat a, NumberFormat b) {
    return 1e12 * (mac_energy(TechnologyNode::n45, {a, b, fp32}).value) -
           0.004 * static_cast<double>(lane_bits({a, b, fp32})) - 0.9;
  };
  EXPECT_NEAR(of(int4, fp16), 1.1 * 4 / 11, 1e-12);
  EXPECT_NEAR(of(int8, int4), 0.1, 1e-12);
  EXPECT_NEAR(of(int4, bf16), 0.7 * 4 / 8, 1e-12);
}

TEST(technology, a_stage_of_a_pipeline_keeps_the_wider_operand_and_the_sum) {
  EXPECT_EQ(stage_bits({int4, int8, int32}), 40);
  EXPECT_EQ(lane_bits({int4, int8, int32}), 44);
  EXPECT_NEAR(register_area(TechnologyNode::n45, 40).value, 240e-6, 1e-15);
}

TEST(technology, memories_and_dram_are_proportional_to_their_bytes) {
  EXPECT_NEAR(sram_area(TechnologyNode::n7, Bytes(1 << 20)).value, row_value("n7.sram.area"), 1e-12);
  EXPECT_NEAR(rom_area(TechnologyNode::n7, Bytes(1 << 20)).value,
              row_value("n7.sram.area") * row_value("rom.over_sram"), 1e-12);
  EXPECT_NEAR(dram_energy(TechnologyNode::n7, DramKind::hbm2, Bytes(1000)).value,
              8000 * row_value("dram.hbm2") * 1e-12, 1e-15);
  EXPECT_GT(dram_energy(TechnologyNode::n7, DramKind::ddr4, Bytes(1)).value,
            dram_energy(TechnologyNode::n7, DramKind::gddr6, Bytes(1)).value);
}

TEST(technology, a_node_between_45_and_7_nm_is_their_figures_joined_by_the_published_factor) {
  const double t =
      std::log(row_value("n16.logic_energy.over_n45")) / std::log(row_value("n7.logic_energy.over_n45"));
  EXPECT_NEAR(t, 0.5558, 1e-4);
  const double product = std::pow(0.2, 1 - t) * std::pow(0.07, t), sum = std::pow(0.1, 1 - t) * std::pow(0.03, t);
  EXPECT_NEAR(product, 0.112, 5e-4);
  EXPECT_NEAR(mac_energy(TechnologyNode::n16, square(int8, int32)).value * 1e12, product + sum + 48 * 0.004 * 0.54,
              1e-9);
  EXPECT_NEAR(mac_area(TechnologyNode::n28, square(int8, int32)).value * 1e6,
              (419 + 288) * row_value("n28.logic_area.over_n45"), 1e-6);
  EXPECT_NEAR(sram_energy(TechnologyNode::n16, Bytes(1 << 20), Bits(64)).value * 1e12,
              std::pow(100, 1 - t) * std::pow(14, t), 1e-9);
}

/// The range is that of the law that joins two nodes; registers have the node's factor alone.
TEST(technology, a_node_between_has_the_range_of_both_factors_that_place_it) {
  const auto at = [](std::string_view name, Bound end) {
    const auto row = std::ranges::find(technology_rows(), name, &TechnologyRow::name);
    return end == Bound::least ? row->least : row->most;
  };
  const auto pj = [](TechnologyNode node, Bound bound) {
    const Process process{node, bound};
    return (mac_energy(process, square(int8, int32)).value - 48 * register_energy(process).value) * 1e12;
  };
  const auto joined = [](double factor, double of_7nm) {
    const double t = std::log(factor) / std::log(of_7nm);
    return std::pow(0.2, 1 - t) * std::pow(0.07, t) + std::pow(0.1, 1 - t) * std::pow(0.03, t);
  };
  const char* n16 = "n16.logic_energy.over_n45";
  const char* n65 = "n65.logic_energy.over_n45";
  const char* n7 = "n7.logic_energy.over_n45";
  EXPECT_NEAR(pj(TechnologyNode::n16, Bound::most), joined(at(n16, Bound::most), at(n7, Bound::least)), 1e-9);
  EXPECT_NEAR(pj(TechnologyNode::n16, Bound::least), joined(at(n16, Bound::least), at(n7, Bound::most)), 1e-9);
  EXPECT_NEAR(pj(TechnologyNode::n65, Bound::most), joined(at(n65, Bound::most), at(n7, Bound::most)), 1e-9);
  EXPECT_NEAR(pj(TechnologyNode::n65, Bound::least), joined(at(n65, Bound::least), at(n7, Bound::least)), 1e-9);
}

TEST(technology, a_5_nm_figure_is_that_of_7_nm_times_its_factor) {
  EXPECT_NEAR(mac_energy(TechnologyNode::n5, square(fp16, fp32)).value * 1e12,
              (0.34 + 0.38 + 64 * 0.004 * 0.33) * row_value("n5.logic_energy.over_n7"), 1e-12);
  EXPECT_NEAR(mac_area(TechnologyNode::n5, square(int8, int32)).value * 1e6,
              707 * 0.075 * row_value("n5.logic_area.over_n7"), 1e-9);
  EXPECT_NEAR(sram_energy(TechnologyNode::n5, Bytes(1 << 20), Bits(64)).value * 1e12,
              14 * row_value("n5.sram_energy.over_n7"), 1e-9);
  EXPECT_NEAR(sram_area(TechnologyNode::n5, Bytes(1 << 20)).value, row_value("n5.sram.area"), 1e-12);
}

/// ../shared/reference/silicon.md, section 4: the least and greatest factor that it quotes for each step.
TEST(technology, areas_shrink_from_node_to_node_as_published) {
  struct Step {
    double logic_least, logic_most, sram_least, sram_most;
  };
  constexpr Step steps[] = {{1.5, 2.34, 1.5, 2.34},
                            {1.98, 2.73, 1.98, 2.73},
                            {1.88, 2, 1.71, 1.82},
                            {2.59, 3.34, 2.59, 3.34},
                            {1.43, 1.8, 1.28, 1.36}};
  for (std::size_t i = 1; i < chip_nodes.size(); ++i) {
    const TechnologyNode before = chip_nodes[i - 1], node = chip_nodes[i];
    const Step& step = steps[i - 1];
    const auto within = [&](auto&& area, double least, double most) {
      const double shrinks = area(before) / area(node);
      EXPECT_GE(shrinks, least) << i;
      EXPECT_LE(shrinks, most) << i;
    };
    for (const NumberFormat format : {int4, int8, fp16, fp32}) {
      within([&](Process p) { return mac_area(p, square(format)).value; }, step.logic_least, step.logic_most);
      within([&](Process p) { return mac_area(p, {format, int8, fp32}).value; }, step.logic_least, step.logic_most);
    }
    within([](Process p) { return other_fixed_area(p).value; }, step.logic_least, step.logic_most);
    within([](Process p) { return register_area(p, 8).value; }, step.logic_least, step.logic_most);
    within([](Process p) { return crossbar_area(p, 4, Bits(64)).value; }, step.logic_least, step.logic_most);
    within([](Process p) { return sram_area(p, Bytes(1 << 20)).value; }, step.sram_least, step.sram_most);
  }
}

TEST(technology, a_smaller_node_takes_less_energy_area_and_time_for_everything) {
  for (std::size_t i = 1; i < chip_nodes.size(); ++i) {
    const TechnologyNode before = chip_nodes[i - 1], node = chip_nodes[i];
    for (std::size_t f = 0; f < std::size(number_formats); ++f) {
      const auto format = static_cast<NumberFormat>(f);
      EXPECT_LT(mac_energy(node, square(format)).value, mac_energy(before, square(format)).value);
      EXPECT_LT(mac_area(node, square(format)).value, mac_area(before, square(format)).value);
      EXPECT_GT(clock_limit_mhz(node, format, 4), clock_limit_mhz(before, format, 4));
    }
    EXPECT_LT(sram_area(node, Bytes(1 << 20)).value, sram_area(before, Bytes(1 << 20)).value);
    EXPECT_LT(sram_energy(node, Bytes(1 << 20), Bits(64)).value,
              sram_energy(before, Bytes(1 << 20), Bits(64)).value);
    EXPECT_LT(register_energy(node).value, register_energy(before).value);
    EXPECT_LT(clock_tree_energy(node).value * mac_area(node, square(int8)).value,
              clock_tree_energy(before).value * mac_area(before, square(int8)).value)
        << "of the same circuit";
    EXPECT_GT(sram_clock_limit_mhz(node, Bytes(1 << 20)), sram_clock_limit_mhz(before, Bytes(1 << 20)));
  }
}

TEST(technology, the_ends_of_the_ranges_enclose_every_figure) {
  for (const TechnologyNode node : all_nodes) {
    const auto within = [&](auto&& figure) {
      EXPECT_LE(figure(Bound::least), figure(Bound::value));
      EXPECT_LE(figure(Bound::value), figure(Bound::most));
    };
    for (std::size_t f = 0; f < std::size(number_formats); ++f) {
      const auto format = static_cast<NumberFormat>(f);
      within([&](Bound b) { return mac_energy({node, b}, square(format)).value; });
      within([&](Bound b) { return mac_area({node, b}, square(format)).value; });
      within([&](Bound b) { return -clock_limit_mhz({node, b}, format, 8); });
    }
    for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 34; bytes *= 2)
      within([&](Bound b) { return sram_energy({node, b}, Bytes(bytes), Bits(64)).value; });
    within([&](Bound b) { return sram_area({node, b}, Bytes(1 << 18), 16, Bits(512)).value; });
    within([&](Bound b) { return rom_area({node, b}, Bytes(1 << 18)).value; });
    within([&](Bound b) { return leakage_watts({node, b}, SquareMm(10), 3, as_given); });
    within([&](Bound b) { return other_over_lanes({node, b}); });
    within([&](Bound b) { return other_fixed_area({node, b}).value; });
    within([&](Bound b) { return register_energy({node, b}).value; });
    within([&](Bound b) { return -sram_clock_limit_mhz({node, b}, Bytes(1 << 20)); });
  }
  EXPECT_LT(mac_energy({TechnologyNode::n7, Bound::least}, square(int4, int8)).value,
            mac_energy({TechnologyNode::n7, Bound::most}, square(int4, int8)).value);
  EXPECT_LT(dram_energy({TechnologyNode::n7, Bound::least}, DramKind::hbm2, Bytes(1)).value,
            dram_energy({TechnologyNode::n7, Bound::most}, DramKind::hbm2, Bytes(1)).value);
  EXPECT_LT(wire_energy({TechnologyNode::n7, Bound::least}).value,
            wire_energy({TechnologyNode::n7, Bound::most}).value);
  EXPECT_LT(clock_tree_energy({TechnologyNode::n7, Bound::least}).value,
            clock_tree_energy({TechnologyNode::n7, Bound::most}).value);
  EXPECT_LT(control_over_datapath({TechnologyNode::n7, Bound::least}, Sequencer::central),
            control_over_datapath({TechnologyNode::n7, Bound::most}, Sequencer::central));
  EXPECT_DOUBLE_EQ(control_over_datapath(TechnologyNode::n7, Sequencer::distributed),
                   2 * control_over_datapath(TechnologyNode::n7, Sequencer::central));
  EXPECT_DOUBLE_EQ(control_over_datapath(TechnologyNode::n7, Sequencer::host),
                   control_over_datapath(TechnologyNode::n7, Sequencer::central));
}

TEST(technology, a_port_bit_of_a_bank_takes_as_much_area_as_a_hundred_bits) {
  const double own = sram_area(TechnologyNode::n7, Bytes(1 << 20)).value;
  EXPECT_DOUBLE_EQ(sram_area(TechnologyNode::n7, Bytes(1 << 20), 16, Bits(512)).value,
                   own * (1 + 100.0 * 16 * 512 / 8 / (1 << 20)));
}

TEST(technology, leakage_is_of_logic_and_of_memories_and_of_an_fpga_its_own) {
  EXPECT_NEAR(leakage_watts(TechnologyNode::n28, SquareMm(331), 0, as_given), 331 * 0.030, 1e-9);
  EXPECT_NEAR(leakage_watts(TechnologyNode::n7, SquareMm(0), 144, as_given), 144 * 0.008, 1e-9);
  EXPECT_DOUBLE_EQ(leakage_watts(TechnologyNode::fpga_zynq7020, SquareMm(1), 1, as_given), 0.2);
  EXPECT_DOUBLE_EQ(leakage_watts({TechnologyNode::fpga_vc1902, Bound::most}, SquareMm(1000), 9, as_given), 30);
  EXPECT_NEAR(sram_mib_of(TechnologyNode::n7, SquareMm(0.648)), 2, 1e-12);
}

TEST(technology, the_fastest_clock_is_a_stage_of_logic_and_what_every_stage_adds) {
  // 28 nm, int8 in one stage: 17 ps x 1.7 x (35 + 1.8) = 1064 ps.
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::n28, int8, 1), 1e6 / (17 * 1.7 * 36.8), 1e-6);
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::n28, fp32, 4), 1e6 / (17 * 1.7 * 24.3), 1e-6);
  // Below 20 gate delays of logic a stage gains nothing more.
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::n28, int8, 2), 1e6 / (17 * 1.7 * 21.8), 1e-6);
  EXPECT_EQ(clock_limit_mhz(TechnologyNode::n28, int8, 2), clock_limit_mhz(TechnologyNode::n28, int8, 64));
  EXPECT_GT(clock_limit_mhz(TechnologyNode::n28, int8, 2), clock_limit_mhz(TechnologyNode::n28, fp16, 2));
}

TEST(technology, a_bank_of_sram_is_slower_by_the_root_of_its_capacity) {
  // 7 nm, 1 MiB: 10 ps x (20 + 0.8 x 32) = 456 ps.
  EXPECT_NEAR(sram_clock_limit_mhz(TechnologyNode::n7, Bytes(1 << 20)), 1e6 / 456, 1e-6);
  EXPECT_NEAR(sram_clock_limit_mhz(TechnologyNode::n7, Bytes(4 << 20)), 1e6 / 712, 1e-6);
  EXPECT_TRUE(std::isinf(sram_clock_limit_mhz(TechnologyNode::fpga_vc1902, Bytes(1 << 20))));
}

/// docs/model/limits.md, worked example.
TEST(technology, a_lower_supply_is_slower_and_costs_and_leaks_less) {
  const Supply low = supply_at(TechnologyNode::n7, 600);
  EXPECT_NEAR(low.speed, 1.25 * std::pow(0.30 / 0.45, 1.3), 1e-12);
  EXPECT_NEAR(low.logic, 0.64, 1e-12);
  EXPECT_NEAR(low.sram, 1, 1e-12) << "memories stay at 0.75 V";
  EXPECT_NEAR(low.logic_leakage, 0.8 * std::exp(-0.45), 1e-12);
  EXPECT_NEAR(low.sram_leakage, 1, 1e-12);
  const Supply high = supply_at(TechnologyNode::n7, 900);
  EXPECT_NEAR(high.sram, 1.44, 1e-12);
  EXPECT_EQ(supply_at(TechnologyNode::n7, 300).speed, 0) << "at the threshold";
  const Supply part = supply_at(TechnologyNode::fpga_vc1902, 600);
  EXPECT_EQ(part.mv, 0);
  EXPECT_EQ(part.logic, 1);
}

TEST(technology, supplies_are_multiples_of_10_mv_from_the_least_to_the_most_and_rise_in_all) {
  for (const TechnologyNode node : chip_nodes) {
    const std::span<const Supply> all = supplies(node);
    ASSERT_GT(all.size(), 20U);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i].mv, all[0].mv + 10 * static_cast<std::int64_t>(i));
      const Supply same = supply_at(node, all[i].mv);
      EXPECT_EQ(same.speed, all[i].speed);
      if (i == 0) continue;
      EXPECT_GT(all[i].speed, all[i - 1].speed);
      EXPECT_GT(all[i].logic, all[i - 1].logic);
      EXPECT_GT(all[i].logic_leakage, all[i - 1].logic_leakage);
      EXPECT_GE(all[i].sram, all[i - 1].sram);
    }
    const Supply nominal = supply_at(node, nominal_supply_mv(node));
    EXPECT_NEAR(nominal.speed, 1, 1e-12);
    EXPECT_NEAR(nominal.logic, 1, 1e-12);
    EXPECT_NEAR(nominal.logic_leakage, 1, 1e-12);
  }
  EXPECT_EQ(supplies(TechnologyNode::n7).front().mv, 600);
  EXPECT_EQ(supplies(TechnologyNode::n7).back().mv, 950);
  EXPECT_EQ(supplies(TechnologyNode::fpga_zynq7020).size(), 1U);
}

TEST(technology, a_die_is_so_many_degrees_above_the_air_for_each_watt_of_a_square_millimetre) {
  const DieLimits limits = die_limits(TechnologyNode::n7);
  EXPECT_EQ(limits.watts_per_mm2, 1);
  EXPECT_DOUBLE_EQ(limits.celsius_at(0.48), 45 + 24);
}

TEST(technology, an_fpga_s_clock_is_its_blocks_from_three_stages_on) {
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::fpga_zynq7020, NumberFormat::int8, 1), 388.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(clock_limit_mhz(TechnologyNode::fpga_zynq7020, NumberFormat::int8, 3), 388);
  EXPECT_DOUBLE_EQ(clock_limit_mhz(TechnologyNode::fpga_zynq7020, NumberFormat::fp32, 9), 388);
  EXPECT_DOUBLE_EQ(clock_limit_mhz({TechnologyNode::fpga_vc1902, Bound::most}, NumberFormat::fp32, 9), 400);
  EXPECT_DOUBLE_EQ(clock_limit_mhz({TechnologyNode::fpga_vc1902, Bound::least}, NumberFormat::fp32, 9), 800);
}

TEST(technology, an_fpga_part_costs_its_node_times_what_programmable_logic_adds) {
  EXPECT_NEAR(mac_energy(TechnologyNode::fpga_zynq7020, square(int8)).value,
              7.1 * mac_energy(TechnologyNode::n28, square(int8)).value, 1e-18);
  EXPECT_NEAR(mac_area(TechnologyNode::fpga_vc1902, square(int8)).value,
              18 * mac_area(TechnologyNode::n7, square(int8)).value, 1e-12);
  EXPECT_EQ(sram_area(TechnologyNode::fpga_vc1902, Bytes(1024)), sram_area(TechnologyNode::n7, Bytes(1024)));
  EXPECT_EQ(other_over_lanes(TechnologyNode::fpga_zynq7020), 0);
  EXPECT_EQ(other_fixed_area(TechnologyNode::fpga_zynq7020).value, 0);
}

TEST(technology, fpga_parts_hold_what_their_data_sheets_say) {
  const FpgaPart zynq = fpga_part(TechnologyNode::fpga_zynq7020), versal = fpga_part(TechnologyNode::fpga_vc1902);
  EXPECT_EQ(zynq.dsp, 220);
  EXPECT_EQ(zynq.bram, 140);
  EXPECT_EQ(zynq.uram, 0);
  EXPECT_EQ(zynq.lut, 53200);
  EXPECT_EQ(versal.dsp, 1968);
  EXPECT_EQ(versal.bram, 967);
  EXPECT_EQ(versal.uram, 463);
  EXPECT_EQ(versal.lut, 899840);
  EXPECT_EQ(fpga_dsp_blocks(TechnologyNode::fpga_zynq7020, NumberFormat::q7_8), 1);
  EXPECT_EQ(fpga_dsp_blocks(TechnologyNode::fpga_zynq7020, NumberFormat::fp32), 5);
  EXPECT_NEAR(fpga_dsp_blocks(TechnologyNode::fpga_vc1902, NumberFormat::uint8), 1.0 / 3, 1e-12);
  EXPECT_EQ(fpga_lane_luts(TechnologyNode::fpga_zynq7020, NumberFormat::int8), 50);
  EXPECT_EQ(fpga_lane_luts(TechnologyNode::fpga_zynq7020, NumberFormat::bf16), 400);
  EXPECT_EQ(fpga_control_luts(TechnologyNode::fpga_zynq7020), 3000);
}

}  // namespace
}  // namespace sdip
