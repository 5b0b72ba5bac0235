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
      EXPECT_GT(mac_energy(node, format, NumberFormat::int32).value, 0);
      EXPECT_GT(mac_area(node, format).value, 0);
    }
    EXPECT_LT(mac_energy(node, NumberFormat::int8, NumberFormat::int32).value,
              mac_energy(node, NumberFormat::int16, NumberFormat::int32).value);
    EXPECT_LT(mac_area(node, NumberFormat::int4).value, mac_area(node, NumberFormat::int8).value);
  }
}

TEST(technology, an_int8_mac_at_7_nm_is_its_product_and_its_32_bit_addition) {
  EXPECT_NEAR(mac_energy(TechnologyNode::n7, NumberFormat::int8, NumberFormat::int32).value * 1e12, 0.07 + 0.03,
              1e-12);
  EXPECT_NEAR(mac_area(TechnologyNode::n7, NumberFormat::int8).value, 27e-6, 1e-12);
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
  EXPECT_NEAR(t, 0.6037, 1e-4);
  const double product = std::pow(0.2, 1 - t) * std::pow(0.07, t), sum = std::pow(0.1, 1 - t) * std::pow(0.03, t);
  EXPECT_NEAR(product, 0.106, 5e-4);
  EXPECT_NEAR(mac_energy(TechnologyNode::n16, NumberFormat::int8, NumberFormat::int32).value * 1e12, product + sum,
              1e-9);
  const double a = std::log(row_value("n28.logic_area.over_n45")) / std::log(row_value("n7.logic_area.over_n45"));
  EXPECT_NEAR(mac_area(TechnologyNode::n28, NumberFormat::int8).value * 1e6, std::pow(419, 1 - a) * std::pow(27, a),
              1e-6);
  EXPECT_NEAR(sram_energy(TechnologyNode::n16, Bytes(1 << 20), Bits(64)).value * 1e12,
              std::pow(100, 1 - t) * std::pow(14, t), 1e-9);
}

/// The figures of int8 at 45 and 7 nm have no range, so that what is left is that of the two factors.
TEST(technology, a_node_between_has_the_range_of_both_factors_that_place_it) {
  const auto at = [](std::string_view name, Bound end) {
    const auto row = std::ranges::find(technology_rows(), name, &TechnologyRow::name);
    return end == Bound::least ? row->least : row->most;
  };
  const auto pj = [](TechnologyNode node, Bound bound) {
    return mac_energy({node, bound}, NumberFormat::int8, NumberFormat::int32).value * 1e12;
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
  EXPECT_NEAR(mac_energy(TechnologyNode::n5, NumberFormat::fp16, NumberFormat::fp32).value * 1e12,
              (0.34 + 0.38) * row_value("n5.logic_energy.over_n7"), 1e-12);
  EXPECT_NEAR(mac_area(TechnologyNode::n5, NumberFormat::int8).value * 1e6, 27 * row_value("n5.logic_area.over_n7"),
              1e-9);
  EXPECT_NEAR(sram_energy(TechnologyNode::n5, Bytes(1 << 20), Bits(64)).value * 1e12,
              14 * row_value("n5.sram_energy.over_n7"), 1e-9);
  EXPECT_NEAR(sram_area(TechnologyNode::n5, Bytes(1 << 20)).value, row_value("n5.sram.area"), 1e-12);
}

TEST(technology, a_smaller_node_takes_less_energy_area_and_time_for_everything) {
  for (std::size_t i = 1; i < chip_nodes.size(); ++i) {
    const TechnologyNode before = chip_nodes[i - 1], node = chip_nodes[i];
    for (std::size_t f = 0; f < std::size(number_formats); ++f) {
      const auto format = static_cast<NumberFormat>(f);
      EXPECT_LT(mac_energy(node, format, format).value, mac_energy(before, format, format).value);
      EXPECT_LT(mac_area(node, format).value, mac_area(before, format).value);
      EXPECT_GT(clock_limit_mhz(node, format, 4), clock_limit_mhz(before, format, 4));
    }
    EXPECT_LT(sram_area(node, Bytes(1 << 20)).value, sram_area(before, Bytes(1 << 20)).value);
    EXPECT_LT(sram_energy(node, Bytes(1 << 20), Bits(64)).value,
              sram_energy(before, Bytes(1 << 20), Bits(64)).value);
    EXPECT_GT(other_over_datapath(node), other_over_datapath(before));
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
      within([&](Bound b) { return mac_energy({node, b}, format, format).value; });
      within([&](Bound b) { return mac_area({node, b}, format).value; });
      within([&](Bound b) { return -clock_limit_mhz({node, b}, format, 8); });
    }
    for (std::int64_t bytes = 1 << 10; bytes <= std::int64_t{1} << 34; bytes *= 2)
      within([&](Bound b) { return sram_energy({node, b}, Bytes(bytes), Bits(64)).value; });
    within([&](Bound b) { return sram_area({node, b}, Bytes(1 << 18), 16, Bits(512)).value; });
    within([&](Bound b) { return rom_area({node, b}, Bytes(1 << 18)).value; });
    within([&](Bound b) { return leakage_watts({node, b}, SquareMm(10)); });
    within([&](Bound b) { return other_over_datapath({node, b}); });
  }
  EXPECT_LT(mac_energy({TechnologyNode::n7, Bound::least}, NumberFormat::int4, NumberFormat::int8).value,
            mac_energy({TechnologyNode::n7, Bound::most}, NumberFormat::int4, NumberFormat::int8).value);
  EXPECT_LT(dram_energy({TechnologyNode::n7, Bound::least}, DramKind::hbm2, Bytes(1)).value,
            dram_energy({TechnologyNode::n7, Bound::most}, DramKind::hbm2, Bytes(1)).value);
  EXPECT_LT(wire_energy({TechnologyNode::n7, Bound::least}).value,
            wire_energy({TechnologyNode::n7, Bound::most}).value);
  EXPECT_LT(clock_over_dynamic({TechnologyNode::n7, Bound::least}),
            clock_over_dynamic({TechnologyNode::n7, Bound::most}));
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

TEST(technology, leakage_is_of_area_and_of_an_fpga_its_own_whatever_the_area) {
  EXPECT_NEAR(leakage_watts(TechnologyNode::n28, SquareMm(331)), 331 * 0.020, 1e-9);
  EXPECT_DOUBLE_EQ(leakage_watts(TechnologyNode::fpga_zynq7020, SquareMm(1)), 0.2);
  EXPECT_DOUBLE_EQ(leakage_watts({TechnologyNode::fpga_vc1902, Bound::most}, SquareMm(1000)), 30);
}

TEST(technology, the_fastest_clock_is_a_stage_of_logic_and_what_every_stage_adds) {
  // 28 nm, int8 in one stage: 8.7 ps x 2.5 x (35 + 1.8) = 800 ps.
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::n28, NumberFormat::int8, 1), 1e6 / (8.7 * 2.5 * 36.8), 1e-6);
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::n28, NumberFormat::fp32, 4), 1e6 / (8.7 * 2.5 * 24.3), 1e-6);
  // Below 20 gate delays of logic a stage gains nothing more.
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::n28, NumberFormat::int8, 2), 1e6 / (8.7 * 2.5 * 21.8), 1e-6);
  EXPECT_EQ(clock_limit_mhz(TechnologyNode::n28, NumberFormat::int8, 2),
            clock_limit_mhz(TechnologyNode::n28, NumberFormat::int8, 64));
  EXPECT_GT(clock_limit_mhz(TechnologyNode::n28, NumberFormat::int8, 2),
            clock_limit_mhz(TechnologyNode::n28, NumberFormat::fp16, 2));
}

TEST(technology, an_fpga_s_clock_is_its_blocks_from_three_stages_on) {
  EXPECT_NEAR(clock_limit_mhz(TechnologyNode::fpga_zynq7020, NumberFormat::int8, 1), 388.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(clock_limit_mhz(TechnologyNode::fpga_zynq7020, NumberFormat::int8, 3), 388);
  EXPECT_DOUBLE_EQ(clock_limit_mhz(TechnologyNode::fpga_zynq7020, NumberFormat::fp32, 9), 388);
  EXPECT_DOUBLE_EQ(clock_limit_mhz({TechnologyNode::fpga_vc1902, Bound::most}, NumberFormat::fp32, 9), 400);
  EXPECT_DOUBLE_EQ(clock_limit_mhz({TechnologyNode::fpga_vc1902, Bound::least}, NumberFormat::fp32, 9), 800);
}

TEST(technology, an_fpga_part_costs_its_node_times_what_programmable_logic_adds) {
  const auto int8 = NumberFormat::int8;
  EXPECT_NEAR(mac_energy(TechnologyNode::fpga_zynq7020, int8, int8).value,
              7.1 * mac_energy(TechnologyNode::n28, int8, int8).value, 1e-18);
  EXPECT_NEAR(mac_area(TechnologyNode::fpga_vc1902, int8).value, 18 * mac_area(TechnologyNode::n7, int8).value,
              1e-12);
  EXPECT_EQ(sram_area(TechnologyNode::fpga_vc1902, Bytes(1024)), sram_area(TechnologyNode::n7, Bytes(1024)));
  EXPECT_EQ(other_over_datapath(TechnologyNode::fpga_zynq7020), 0);
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
