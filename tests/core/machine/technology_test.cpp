// Are the technology constants sourced, and the laws that join them true to them?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/machine/technology.h"

namespace sdip {
namespace {

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

TEST(technology, interpolation_at_the_table_s_points_returns_the_points) {
  const std::pair<std::int64_t, const char*> points[] = {{8 << 10, "8KB"}, {32 << 10, "32KB"}, {1 << 20, "1MB"}};
  for (const auto& [node, prefix] : {std::pair{TechnologyNode::n7, "n7"}, std::pair{TechnologyNode::n45, "n45"}})
    for (const auto& [bytes, name] : points)
      EXPECT_NEAR(sram_energy(node, Bytes(bytes), Bits(64)).value * 1e12,
                  row_value(std::string(prefix) + ".sram." + name), 1e-9);
}

TEST(technology, an_access_of_a_larger_bank_never_costs_less_and_grows_with_its_bits) {
  for (const TechnologyNode node : {TechnologyNode::n7, TechnologyNode::n45}) {
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
  for (const TechnologyNode node : {TechnologyNode::n7, TechnologyNode::n45}) {
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
  EXPECT_NEAR(dram_energy(DramKind::hbm2, Bytes(1000)).value, 8000 * row_value("dram.hbm2") * 1e-12, 1e-15);
  EXPECT_GT(dram_energy(DramKind::ddr4, Bytes(1)).value, dram_energy(DramKind::gddr6, Bytes(1)).value);
}

}  // namespace
}  // namespace sdip
