// Does the parameter table read, print, bound and refuse as its rows say?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/machine/dram.h"
#include "core/machine/former.h"
#include "core/machine/machine.h"
#include "core/machine/rate.h"
#include "tests/core/channel.h"

namespace sdip {
namespace {

/// Runs `body` and returns code and place of the Error it throws: "code at where".
template <class Body>
std::string refusal(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()), "");
    return error.code + " at " + error.where;
  }
  return "accepted";
}

/// Ends, default and, of few values, all.
std::vector<std::int64_t> samples(const ParameterRow& row) {
  std::vector<std::int64_t> values{row.least, row.most, row.standard, (row.least + row.most) / 2};
  if (row.type == ParameterType::choice)
    for (std::int64_t v = row.least; v <= row.most; ++v) values.push_back(v);
  return values;
}

TEST(parameters, names_are_unique_documented_in_both_languages_and_defaults_are_in_range) {
  std::set<std::string_view> names;
  for (const ParameterRow& row : parameters()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.en.empty() || row.ja.empty()) << row.name;
    EXPECT_LT(row.least, row.most) << row.name;
    EXPECT_TRUE(row.least <= row.standard && row.standard <= row.most) << row.name;
    EXPECT_EQ(row.read(Machine{}), row.standard) << row.name;
    EXPECT_EQ(find_parameter(row.name), &row);
  }
  EXPECT_EQ(find_parameter("no_such"), nullptr);
}

TEST(parameters, what_is_printed_is_read_back_as_text_and_as_json) {
  for (const ParameterRow& row : parameters()) {
    for (const std::int64_t value : samples(row)) {
      EXPECT_EQ(parse_value(row, value_text(row, value), "x"), value) << row.name;
      EXPECT_EQ(value_from_json(row, value_json(row, value), "x"), value) << row.name << " " << value;
      Machine machine;
      row.write(machine, value);
      EXPECT_EQ(row.read(machine), value) << row.name;
    }
  }
}

TEST(parameters, every_hundredth_of_a_decimal_survives_json) {
  for (const ParameterRow& row : parameters()) {
    if (row.type != ParameterType::decimal) continue;
    nlohmann::json written = nlohmann::json::array();  // as one text: beginning a million takes most of the time
    for (std::int64_t v = row.least; v <= row.most; ++v) written.push_back(value_json(row, v));
    const auto read = nlohmann::json::parse(written.dump());
    std::int64_t v = row.least;
    for (const auto& value : read) ASSERT_EQ(value_from_json(row, value, "x"), v++) << row.name;
    EXPECT_EQ(v, row.most + 1) << row.name;
  }
}

TEST(parameters, a_whole_machine_survives_json) {
  for (const Preset& preset : presets()) {
    Machine machine;
    assign_json(machine, nlohmann::json::parse(machine_json(preset.machine).dump()));
    EXPECT_TRUE(machine == preset.machine) << preset.name;
  }
}

TEST(parameters, numbers_one_beyond_either_end_are_out_of_range) {
  for (const ParameterRow& row : parameters()) {
    if (row.type != ParameterType::count && row.type != ParameterType::decimal) continue;
    for (const std::int64_t value : {row.most + 1, row.least - 1}) {
      const std::string text = row.type == ParameterType::count || value > 0 ? value_text(row, value) : "0";
      EXPECT_EQ(refusal([&] { parse_value(row, text, "here"); }), "value_out_of_range at here") << row.name << text;
    }
  }
}

TEST(parameters, what_is_no_number_of_that_kind_is_invalid) {
  const ParameterRow& count = *find_parameter("cores");
  for (const char* text : {"", " 4", "4 ", "4.0", "1e3", "+4", "0x10", "four", "4,0"})
    EXPECT_EQ(refusal([&] { parse_value(count, text, "/cores"); }), "value_invalid at /cores") << text;
  EXPECT_EQ(refusal([&] { parse_value(count, "99999999999999999999", "/cores"); }), "value_out_of_range at /cores");
  const ParameterRow& decimal = *find_parameter("dram_efficiency");
  EXPECT_EQ(parse_value(decimal, "1", "x"), 100);
  EXPECT_EQ(parse_value(decimal, "0.5", "x"), 50);
  EXPECT_EQ(parse_value(decimal, "0.05", "x"), 5);
  for (const char* text : {"", ".5", "1.", "1.234", "1.2.3", "nan", "inf", "1e1", "1,5", "1.-5", "1.+5", "- 1"})
    EXPECT_EQ(refusal([&] { parse_value(decimal, text, "/r"); }), "value_invalid at /r") << text;
  EXPECT_EQ(refusal([&] { parse_value(decimal, "99999999999999999999.5", "/r"); }), "value_out_of_range at /r");
}

TEST(parameters, a_choice_is_one_of_its_names) {
  for (const ParameterRow& row : parameters()) {
    if (row.type != ParameterType::choice) continue;
    for (std::size_t i = 0; i < row.choices.size(); ++i)
      EXPECT_EQ(parse_value(row, row.choices[i], "w"), static_cast<std::int64_t>(i)) << row.name;
    EXPECT_EQ(refusal([&] { parse_value(row, "no such value", "w"); }), "value_invalid at w");
  }
}

TEST(parameters, json_errors_point_at_the_field) {
  Machine machine;
  const auto assign = [&](const char* text) {
    return refusal([&] { assign_json(machine, nlohmann::json::parse(text), "/machine"); });
  };
  EXPECT_EQ(assign(R"({"cores": 8, "dataflow": "weight", "weight_compression": 1.5})"), "accepted");
  EXPECT_EQ(machine.cores, 8);
  EXPECT_EQ(machine.weight_compression, Decimal{150});
  EXPECT_EQ(assign(R"({"coers": 8})"), "unknown_parameter at /machine/coers");
  EXPECT_EQ(assign(R"({"cores": 0})"), "value_out_of_range at /machine/cores");
  EXPECT_EQ(assign(R"({"cores": "8"})"), "value_invalid at /machine/cores");
  EXPECT_EQ(assign(R"({"cores": 8.0})"), "value_invalid at /machine/cores");
  EXPECT_EQ(assign(R"({"cores": null})"), "value_invalid at /machine/cores");
  EXPECT_EQ(assign(R"({"dataflow": 1})"), "value_invalid at /machine/dataflow");
  EXPECT_EQ(assign(R"({"prompt_per_frame": "true"})"), "value_invalid at /machine/prompt_per_frame");
  EXPECT_EQ(assign(R"({"memory_hierarchy": "mesh"})"), "value_invalid at /machine/memory_hierarchy");
  EXPECT_EQ(assign("[1]"), "value_invalid at /machine");
}

TEST(parameters, the_compile_key_changes_with_a_compile_row_and_with_no_other) {
  for (const ParameterRow& row : parameters()) {
    Machine machine;
    row.write(machine, row.standard == row.least ? row.most : row.least);
    if (row.name == "dram_kind") machine.dram_kind = DramKind::ddr4;  // whose accesses are longer
    EXPECT_EQ(compile_key(machine) != compile_key(Machine{}), changes_program(row)) << row.name;
  }
}

TEST(parameters, have_columns_that_agree) {
  std::size_t deciding = 0;
  for (const ParameterRow& row : parameters()) {
    deciding += row.effect == ParameterEffect::results;
    if (row.change == ChangeKind::results) {
      EXPECT_EQ(row.effect, ParameterEffect::results) << row.name;
    }
    EXPECT_TRUE(row.gives == Gives::nothing || row.type == ParameterType::count) << row.name;
    EXPECT_TRUE(row.gives == Gives::nothing || row.change == ChangeKind::design ||
                row.change == ChangeKind::unpriced)
        << row.name << ": an assumption or a task is never offered as a gain";
  }
  EXPECT_EQ(deciding, 25U) << "by which an accuracy is kept";
}

TEST(presets, pass_every_rule_and_are_found_by_name) {
  EXPECT_EQ(presets().size(), 5U);
  for (const Preset& preset : presets()) {
    EXPECT_NO_THROW(check_machine(preset.machine)) << preset.name;
    for (const ParameterRow& row : parameters()) {
      const std::int64_t value = row.read(preset.machine);
      EXPECT_TRUE(row.least <= value && value <= row.most) << preset.name << " " << row.name;
    }
    EXPECT_EQ(find_preset(preset.name), &preset);
  }
  EXPECT_EQ(find_preset("none"), nullptr);
}

TEST(check_machine, names_the_row_that_another_contradicts) {
  const auto with = [](auto&& change) {
    Machine m;
    change(m);
    return refusal([&] { check_machine(m); });
  };
  EXPECT_EQ(with([](Machine&) {}), "accepted");
  EXPECT_EQ(with([](Machine& m) { m.decoder_dram_share = Decimal{90}, m.encoder_dram_share = Decimal{10}; }),
            "value_conflict at decoder_dram_share");
  EXPECT_EQ(with([](Machine& m) { m.decoder_dram_share = Decimal{90}, m.encoder_dram_share = Decimal{9}; }),
            "accepted");
  EXPECT_EQ(with([](Machine& m) { m.accumulator_format = NumberFormat::fp8_e4m3; }),
            "value_conflict at accumulator_format");
  EXPECT_EQ(with([](Machine& m) { m.dram_channel_bits = 12; }), "value_conflict at dram_channel_bits");
  EXPECT_EQ(with([](Machine& m) { m.stackram_port_bits = 12; }), "value_conflict at psram_port_bits");
  EXPECT_EQ(with([](Machine& m) { m.psram_pinned_bytes = m.psram_bytes; }), "value_conflict at psram_pinned_bytes");
  EXPECT_EQ(with([](Machine& m) { m.psram_pinned_bytes = m.psram_bytes - 1; }), "accepted");
  EXPECT_EQ(with([](Machine& m) { m.image_height_px = 64; }), "value_conflict at image_width_px");
  EXPECT_EQ(with([](Machine& m) { m.weight_density = Decimal{50}; }), "value_conflict at weight_density");
  EXPECT_EQ(with([](Machine& m) { m.activation_density = Decimal{99}; }), "value_conflict at activation_density");
  EXPECT_EQ(with([](Machine& m) { m.sparsity_group = 4; }), "value_conflict at sparsity_group");
  for (const Sparsity sparsity : {Sparsity::gating, Sparsity::skipping}) {
    EXPECT_EQ(with([&](Machine& m) { m.sparsity = sparsity, m.sparsity_group = 1; }),
              "value_conflict at sparsity_group");
    EXPECT_EQ(with([&](Machine& m) { m.sparsity = sparsity, m.sparsity_group = 2; }), "accepted");
    EXPECT_EQ(with([&](Machine& m) { m.sparsity = sparsity, m.activation_density = Decimal{1}; }), "accepted");
  }
  const auto both = [](Machine& m) {
    m.branches = Branches::parallel;
    m.core_weights = CoreWeights::per_core;
  };
  EXPECT_EQ(with(both), "value_conflict at branches");
  const auto paired = [](Machine& m) { m.operator_dsram = OperatorDsram::per_operator; };
  EXPECT_EQ(with(paired), "accepted");
  const auto unified = [&](Machine& m) { paired(m), m.activation_memory = ActivationMemory::unified; };
  EXPECT_EQ(with(unified), "value_conflict at operator_dsram");
  const auto by_tile = [&](Machine& m) { paired(m), m.granularity = Granularity::per_tile; };
  EXPECT_EQ(with(by_tile), "value_conflict at operator_dsram");
  const auto stair = [](Machine& m) {
    m.memory_stair = true;
    m.psram_bytes = m.dsram_bytes = m.stackram_bytes = std::int64_t{32} << 20;
  };
  EXPECT_EQ(with(stair), "accepted");
  EXPECT_EQ(with([&](Machine& m) { stair(m), m.dsram_bytes *= 16; }), "value_conflict at memory_stair");
  EXPECT_EQ(with([&](Machine& m) { stair(m), m.text_encoder_dsram_bytes = std::int64_t{1} << 40; }),
            "value_conflict at text_encoder_dsram_bytes");
}

TEST(rate, is_that_of_dram_whatever_the_core_s_clock) {
  Machine m;
  m.dram_channels = 8, m.dram_channel_bits = 128, m.dram_rate_mtps = 2000;
  m.dram_efficiency = Decimal{80};
  const DramRate slow = dram_rate(m, Decimal{90});  // the worked example: 184.32 bytes a cycle
  EXPECT_EQ(slow.p, 4608);
  EXPECT_EQ(slow.q, 25);
  EXPECT_EQ(slow.latency_cycles, 100);
  EXPECT_EQ(slow.turn_cycles, 16);
  m.core_clock_mhz = 4000;
  const DramRate fast = dram_rate(m, Decimal{90});
  EXPECT_EQ(fast.p, 1152);
  EXPECT_EQ(fast.q, 25);
  EXPECT_EQ(fast.latency_cycles, 400);
  EXPECT_EQ(fast.turn_cycles, 64);
  m.dram_latency_ns = 1, m.dram_turn_ns = 3;
  m.core_clock_mhz = 333;
  EXPECT_EQ(dram_rate(m, Decimal{90}).latency_cycles, 1);
  EXPECT_EQ(dram_rate(m, Decimal{90}).turn_cycles, 1);
}

TEST(rate, of_the_least_share_is_never_nothing) {
  Machine m;
  m.dram_efficiency = Decimal{1};
  EXPECT_GT(dram_rate(m, Decimal{1}, 1).p, 0);
}

TEST(rate, of_each_kind_is_its_usual_one_until_one_is_said) {
  for (const DramKindRow& kind : dram_kinds()) {
    Machine m;
    m.dram_kind = kind.kind;
    const DramChannels usual = dram_channels(m);
    EXPECT_EQ(usual.rate_mtps, kind.usual_mtps);
    EXPECT_EQ(usual.channel_bits, kind.channel_bits);
    EXPECT_EQ(usual.access_bytes, kind.access_bytes);
    EXPECT_LE(kind.usual_mtps, kind.greatest_mtps);
    EXPECT_EQ(dram_misfit(m), "");
    m.dram_rate_mtps = kind.greatest_mtps;
    EXPECT_EQ(dram_misfit(m), "");
    ++m.dram_rate_mtps;
    EXPECT_NE(dram_misfit(m), "");
    m.host_memory = true;
    EXPECT_EQ(dram_misfit(m), "");
  }
}

TEST(former, names_are_read_with_a_warning_and_rest_on_what_is_said_beside_them) {
  Machine m;
  m.dram_kind = DramKind::hbm2;
  const auto said =
      nlohmann::json::parse(R"({"dram_clock_ratio": 2, "dram_bus_bits": 256, "core_clock_mhz": 500})");
  const auto warnings = assign_json(m, said);
  EXPECT_EQ(m.dram_rate_mtps, 2000);
  EXPECT_EQ(m.dram_channels, 2);
  EXPECT_EQ(m.dram_channel_bits, 0);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings, testing::Each(testing::HasSubstr("name of the version before")));
  EXPECT_TRUE(assign_json(m, nlohmann::json::parse(R"({"cores": 2})")).empty());
  assign_json(m, nlohmann::json::parse(R"({"dram_bus_bits": 24})"));  // no whole channels of the kind
  EXPECT_EQ(m.dram_channels, 1);
  EXPECT_EQ(m.dram_channel_bits, 24);
  EXPECT_EQ(find_parameter("dram_bus_bits"), nullptr);
  EXPECT_NE(find_setting("dram_bus_bits"), nullptr);
  EXPECT_EQ(machine_json(m).count("dram_bus_bits"), 0U);
  for (const FormerRow& former : former_parameters()) {
    Machine other;
    former.row.write(other, former.row.most);
    EXPECT_EQ(former.row.read(other), former.row.most) << former.row.name;
    EXPECT_EQ(find_parameter(former.row.name), nullptr) << former.row.name;
  }
}

TEST(rate, a_128_bit_bus_at_twice_the_core_clock_and_80_percent_moves_51_and_a_fifth_bytes_a_cycle) {
  Machine m;
  set_channel(m, 128, 200);
  m.dram_efficiency = Decimal{80};
  const DramRate rate = dram_rate(m, Decimal{100});
  EXPECT_EQ(rate.p, 256);
  EXPECT_EQ(rate.q, 5);
  EXPECT_EQ(rate.time_for(Bytes(0)), Cycles(0));
  EXPECT_EQ(rate.time_for(Bytes(51)), Cycles(1));
  EXPECT_EQ(rate.time_for(Bytes(52)), Cycles(2));
  EXPECT_EQ(rate.time_for(Bytes(256)), Cycles(5));
}

TEST(rate, the_cores_have_what_stages_on_chip_leave) {
  Machine m;
  EXPECT_EQ(core_dram_share(m), Decimal{90});
  m.mode = Mode::image_to_image;
  EXPECT_EQ(core_dram_share(m), Decimal{85});
  m.vae_stage = VaeStage::off_chip;
  EXPECT_EQ(core_dram_share(m), Decimal{100});
}

}  // namespace
}  // namespace sdip
