// Do figures that a machine has of its own stand where the technology table's did, and nothing else?
#include "core/machine/own_technology.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/machine/machine.h"
#include "core/machine/technology.h"

namespace sdip {
namespace {

constexpr auto int8 = NumberFormat::int8, int32 = NumberFormat::int32;

template <class Body>
std::string refusal(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(error.code == "unknown_parameter" ? "no such" : "expected"));
    return error.code + " at " + error.where;
  }
  return "accepted";
}

/// The machine with a row's figure times `times`.
Machine with(Machine m, const std::string& row, double times) {
  const ParameterRow* found = find_setting("technology." + row);
  EXPECT_NE(found, nullptr) << row;
  found->write(m, std::bit_cast<std::int64_t>(std::bit_cast<double>(found->standard) * times));
  return m;
}

Machine at_node(TechnologyNode node) {
  Machine m;
  m.technology_node = node;
  return m;
}

TEST(own_technology, every_row_is_a_parameter_of_its_name_and_figure) {
  ASSERT_EQ(technology_parameters().size(), technology_rows().size());
  for (std::size_t i = 0; i < technology_rows().size(); ++i) {
    const TechnologyRow& row = technology_rows()[i];
    const ParameterRow& parameter = technology_parameters()[i];
    EXPECT_EQ(parameter.name, "technology." + std::string(row.name));
    EXPECT_EQ(find_setting(parameter.name), &parameter);
    EXPECT_EQ(find_parameter(parameter.name), nullptr);
    EXPECT_EQ(std::bit_cast<double>(parameter.read(Machine())), row.value) << row.name;
    EXPECT_EQ(parameter.unit, row.unit);
    EXPECT_LE(std::bit_cast<double>(parameter.least), row.least) << row.name;
    EXPECT_GE(std::bit_cast<double>(parameter.most), row.most) << row.name;
    Machine m;
    parameter.write(m, parameter.most);
    EXPECT_EQ(parameter.read(m), parameter.most) << row.name;
    EXPECT_THAT(m.technology.figures(), testing::ElementsAre(OwnFigure{i, std::bit_cast<double>(parameter.most)}));
  }
  EXPECT_EQ(find_setting("technology.n7"), nullptr);
  EXPECT_EQ(find_setting("cores"), find_parameter("cores"));
}

TEST(own_technology, is_a_value_in_the_order_of_the_rows) {
  const Machine none;
  EXPECT_TRUE(none.technology.empty());
  EXPECT_EQ(hash_of(none.technology), 0U);
  const Machine one = with(with(none, "wire.energy", 2), "n7.multiply.int8", 3);
  const Machine other = with(with(none, "n7.multiply.int8", 3), "wire.energy", 2);
  EXPECT_TRUE(one == other);
  EXPECT_EQ(hash_of(one.technology), hash_of(other.technology));
  EXPECT_FALSE(one == none);
  EXPECT_FALSE(one == with(one, "wire.energy", 4));
  EXPECT_NE(hash_of(one.technology), hash_of(with(one, "wire.energy", 4).technology));
  EXPECT_EQ(with(one, "wire.energy", 4).technology.figures().size(), 2U) << "the last one stands";
  EXPECT_EQ(compile_key(one), compile_key(none)) << "a program is the same";
}

TEST(own_technology, the_price_of_a_mac_is_that_of_its_product_and_its_sum) {
  const Machine m = at_node(TechnologyNode::n7), twice = with(m, "n7.multiply.int8", 2);
  constexpr double registers = 48 * 0.004 * 0.33;
  EXPECT_NEAR(mac_energy(process_of(twice), {int8, int8, int32}).value, (2 * 0.07 + 0.03 + registers) * 1e-12,
              1e-20);
  EXPECT_NEAR(mac_energy(process_of(m), {int8, int8, int32}).value, (0.07 + 0.03 + registers) * 1e-12, 1e-20)
      << "the table stays";
  EXPECT_EQ(mac_energy(process_of(twice), {NumberFormat::fp16, NumberFormat::fp16, int32}).value,
            mac_energy(process_of(m), {NumberFormat::fp16, NumberFormat::fp16, int32}).value);
  const Machine wide = with(m, "n45.area.multiply.int8", 3);
  EXPECT_NEAR(
      mac_area(process_of(wide), {int8, int8, int32}).value - mac_area(process_of(m), {int8, int8, int32}).value,
      2 * 282 * 0.075e-6, 1e-15);
}

TEST(own_technology, memories_wires_leakage_and_clock_follow_their_rows) {
  const Machine m = at_node(TechnologyNode::n28);
  const auto ratio = [&](const char* row, auto&& figure) {
    return figure(process_of(with(m, row, 2))) / figure(process_of(m));
  };
  EXPECT_DOUBLE_EQ(ratio("dram.lpddr4", [](Process p) { return dram_energy(p, DramKind::lpddr4, Bytes(9)).value; }),
                   2);
  EXPECT_EQ(ratio("dram.lpddr4", [](Process p) { return dram_energy(p, DramKind::hbm2, Bytes(9)).value; }), 1);
  EXPECT_DOUBLE_EQ(ratio("n28.sram.area", [](Process p) { return sram_area(p, Bytes(999)).value; }), 2);
  EXPECT_DOUBLE_EQ(ratio("rom.over_sram", [](Process p) { return rom_area(p, Bytes(999)).value; }), 2);
  EXPECT_DOUBLE_EQ(ratio("n28.leakage", [](Process p) { return leakage_watts(p, SquareMm(7), 0, Supply{}); }), 2);
  EXPECT_DOUBLE_EQ(ratio("n28.sram.leakage", [](Process p) { return leakage_watts(p, SquareMm(0), 7, Supply{}); }),
                   2);
  EXPECT_DOUBLE_EQ(ratio("wire.energy", [](Process p) { return wire_energy(p).value; }), 2);
  EXPECT_DOUBLE_EQ(ratio("clock.tree", [](Process p) { return clock_tree_energy(p).value; }), 2);
  EXPECT_DOUBLE_EQ(ratio("n28.fo4", [](Process p) { return 1 / clock_limit_mhz(p, int8, 1); }), 2);
  EXPECT_DOUBLE_EQ(ratio("n28.crossbar.pitch", [](Process p) { return crossbar_area(p, 4, Bits(64)).value; }), 4);
}

TEST(own_technology, a_node_between_two_follows_both_and_a_part_its_node) {
  // For int8 products at 16 nm t = ln 0.54 / ln 0.33 (docs/model/energy.md): twice as much at 7 nm is 2^t.
  const double t = std::log(0.54) / std::log(0.33);
  const auto product = [](const Machine& m) {
    return mac_energy(process_of(m), {int8, int8, int32}).value -
           mac_energy(process_of(m), {int8, int8, int8}).value;
  };
  const Machine n16 = at_node(TechnologyNode::n16), sum = with(with(n16, "n45.add.int8", 1.5), "n7.add.int8", 1.5);
  EXPECT_LT(product(sum), product(n16));
  const auto area = [](const Machine& m) { return register_area(process_of(m), 8).value; };
  EXPECT_NEAR(area(with(n16, "n16.logic_area.over_n45", 2)) / area(n16), 2, 1e-9);
  EXPECT_NEAR(area(with(n16, "n45.register.area", 2)) / area(n16), 2, 1e-9);
  const auto beat = [](const Machine& m) { return sram_energy(process_of(m), Bytes(1 << 20), Bits(64)).value; };
  EXPECT_NEAR(beat(with(n16, "n7.sram.1MB", 2)) / beat(n16), std::pow(2, t), 1e-9);
  const Machine versal = at_node(TechnologyNode::fpga_vc1902);
  EXPECT_NEAR(area(with(versal, "n7.logic_area.over_n45", 2)) / area(versal), 2, 1e-12);
  EXPECT_EQ(fpga_part(process_of(with(versal, "fpga_vc1902.uram", 2))).uram, 926);
}

TEST(own_technology, a_figure_of_one_s_own_has_no_range) {
  const Machine m = with(at_node(TechnologyNode::n7), "dram.hbm2", 1.5);
  for (const Bound bound : {Bound::least, Bound::value, Bound::most}) {
    EXPECT_DOUBLE_EQ(dram_energy(process_of(m, bound), DramKind::hbm2, Bytes(1)).value, 8 * 1.5 * 5.5e-12);
    EXPECT_EQ(dram_energy(process_of(m, bound), DramKind::ddr3, Bytes(1)).value,
              dram_energy({TechnologyNode::n7, bound}, DramKind::ddr3, Bytes(1)).value);
  }
}

TEST(own_technology, figures_at_the_ends_of_what_is_accepted_give_numbers) {
  const ParameterRow& nodes = *find_parameter("technology_node");
  for (const ParameterRow& row : technology_parameters())
    for (const std::int64_t end : {row.least, row.most}) {
      Machine m;
      row.write(m, end);
      for (const char* steep : {"n7.sram.8KB", "n45.sram.8KB"}) m = with(m, steep, 0.002);
      for (std::int64_t node = nodes.least; node <= nodes.most; ++node) {
        nodes.write(m, node);
        const Process p = process_of(m);
        const double product = mac_energy(p, {int8, int8, int32}).value * mac_area(p, {int8, int8, int32}).value;
        for (const Supply& supply : supplies(p))
          EXPECT_TRUE(std::isfinite(supply.speed * supply.logic_leakage)) << row.name;
        const double memory = sram_energy(p, Bytes(std::int64_t{1} << 40), Bits(1 << 20)).value;
        EXPECT_TRUE(std::isnormal(product) && std::isnormal(memory)) << row.name << " " << node;
        EXPECT_TRUE(std::isnormal(clock_limit_mhz(p, int8, 4))) << row.name << " " << node;
      }
    }
}

TEST(own_technology, survives_json_and_is_not_said_where_there_is_none) {
  Machine m = with(at_node(TechnologyNode::n16), "dram.ddr3", 1.0 / 3);
  m = with(m, "fpga_zynq7020.lut", 1.5);
  const nlohmann::ordered_json said = machine_json(m);
  EXPECT_EQ(said["technology"].size(), 2U);
  EXPECT_EQ(said["technology"]["fpga_zynq7020.lut"], 79800.0);
  Machine back;
  assign_json(back, nlohmann::json::parse(said.dump()));
  EXPECT_TRUE(back == m);
  EXPECT_FALSE(machine_json(Machine()).contains("technology"));
  assign_json(back, nlohmann::json::parse(R"({"technology": {"dram.ddr3": 70}})"));
  EXPECT_EQ(back.technology.figures().size(), 2U) << "over what the machine had";
}

TEST(own_technology, errors_name_the_row_and_what_was_expected) {
  Machine m;
  const auto assign = [&](const char* text) {
    return refusal([&] { assign_json(m, nlohmann::json::parse(text), "/machine"); });
  };
  EXPECT_EQ(assign(R"({"technology": {"n7.multiply.int8": 0.14}})"), "accepted");
  EXPECT_EQ(assign(R"({"technology": {"dram.ddr4": 20}})"), "accepted") << "a whole number is one";
  EXPECT_EQ(assign(R"({"technology": {"n7.multiply.int9": 1}})"),
            "unknown_parameter at /machine/technology/n7.multiply.int9");
  EXPECT_EQ(assign(R"({"technology.n7.multiply.int8": 1})"),
            "unknown_parameter at /machine/technology.n7.multiply.int8");
  EXPECT_EQ(assign(R"({"technology": 1})"), "value_invalid at /machine/technology");
  for (const char* value : {R"("1")", "true", "null", "[1]"}) {
    const std::string text = R"({"technology": {"dram.ddr4": )" + std::string(value) + "}}";
    EXPECT_EQ(assign(text.c_str()), "value_invalid at /machine/technology/dram.ddr4") << value;
  }
  for (const char* value : {"0", "-20", "-0.0", "1e300", "1e-300", "19999999"}) {
    const std::string text = R"({"technology": {"dram.ddr4": )" + std::string(value) + "}}";
    EXPECT_EQ(assign(text.c_str()), "value_out_of_range at /machine/technology/dram.ddr4") << value;
  }
  const ParameterRow& row = *find_setting("technology.dram.ddr4");
  for (const char* text : {"", "nan", "inf", "-inf", "four", "1,5", " 1", "+1", "0x10", "1e", "1 "})
    EXPECT_EQ(refusal([&] { parse_value(row, text, "w"); }), "value_invalid at w") << text;
  for (const char* text : {"1e999", "1e-999", "0", "-1"})
    EXPECT_EQ(refusal([&] { parse_value(row, text, "w"); }), "value_out_of_range at w") << text;
  EXPECT_EQ(value_text(row, parse_value(row, "1.25e1", "w")), "12.5");
}

TEST(own_technology, what_a_formula_cannot_do_without_is_out_of_range) {
  const auto accepts = [](const char* name, const char* text) {
    return refusal([&] { parse_value(*find_setting(name), text, "w"); }) == "accepted";
  };
  EXPECT_FALSE(accepts("technology.fefet.array", "64")) << "counts and converters are made for 128";
  EXPECT_TRUE(accepts("technology.fefet.array", "128"));
  EXPECT_FALSE(accepts("technology.fpga.lut.inputs_switched", "1"));
  EXPECT_TRUE(accepts("technology.fpga.lut.inputs_switched", "2"));
  EXPECT_FALSE(accepts("technology.n7.logic_energy.over_n45", "1"));
  EXPECT_TRUE(accepts("technology.n7.logic_area.over_n45", "0.5"));
}

}  // namespace
}  // namespace sdip
