// Does a formula mean what its text says, and is what is none refused where it goes wrong?
#include "core/explore/space/formula.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/explore/space/measure.h"
#include "core/explore/space/spec.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using nlohmann::json;

constexpr double none_of_it = std::numeric_limits<double>::quiet_NaN();

/// Its value at one point, whose inputs have these values in order of first use.
double formula_of(const std::string& text, const std::vector<double>& inputs = {}) {
  const Formula formula = parse_formula("f", "", text, "here");
  std::vector<std::span<const double>> columns;
  for (const double& input : inputs) columns.emplace_back(&input, 1);
  double value = 0;
  compute(formula, columns, {&value, 1});
  return value;
}

std::string error_of(const std::string& text) {
  try {
    parse_formula("eff", "", text, "here");
  } catch (const Error& error) {
    return error.code + ": " + error.what();
  }
  return "accepted";
}

TEST(formula, follows_precedence_from_left_to_right_and_powers_from_the_right) {
  const std::pair<const char*, double> cases[] = {{"1 + 2 * 3", 7},
                                                  {"(1 + 2) * 3", 9},
                                                  {"10 - 4 - 3", 3},
                                                  {"24 / 4 / 3", 2},
                                                  {"2 ^ 3 ^ 2", 512},
                                                  {"(2 ^ 3) ^ 2", 64},
                                                  {"-2 ^ 2", -4},
                                                  {"(-2) ^ 2", 4},
                                                  {"2 ^ -1", 0.5},
                                                  {"2 ^ -2 ^ 2", 0.0625},
                                                  {"2 * -3", -6},
                                                  {"--3", 3},
                                                  {"1 - -1", 2},
                                                  {"6 / 2 * 3", 9},
                                                  {"1 + 1 == 2", 1},
                                                  {"1 < 2", 1},
                                                  {"2 < 1", 0},
                                                  {"2 <= 2", 1},
                                                  {"2 >= 3", 0},
                                                  {"2 > 1", 1},
                                                  {"1 != 1", 0},
                                                  {"(1 < 2) + (3 < 4)", 2},
                                                  {".5 + 1e3", 1000.5},
                                                  {"2e-3*1000", 2},
                                                  {"7", 7},
                                                  {"\t( ( 7 ) ) ", 7},
                                                  {"1+2<3+4", 1}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(formula_of(text), expected) << text;
}

TEST(formula, has_each_function) {
  const std::pair<const char*, double> cases[] = {{"abs(-3)", 3},         {"ceil(1.2)", 2},
                                                  {"floor(-1.2)", -2},    {"exp(0)", 1},
                                                  {"log(exp(2))", 2},     {"log2(8)", 3},
                                                  {"sqrt(9)", 3},         {"min(3, 1, 2)", 1},
                                                  {"max(3, 1, 5, 2)", 5}, {"if(1 < 2, 10, 20)", 10},
                                                  {"if(0, 10, 20)", 20},  {"if(-0.5, 10, 20)", 10},
                                                  {"min(2,max(1,3))", 2}, {"sqrt(2 ^ 2 * 4)", 4}};
  for (const auto& [text, expected] : cases) EXPECT_DOUBLE_EQ(formula_of(text), expected) << text;
}

TEST(formula, reads_metrics_and_parameters_each_once) {
  const Formula formula =
      parse_formula("eff", "J*s2", "energy_j_per_frame * latency_s ^ 2 / energy_j_per_frame", "");
  EXPECT_EQ(formula.inputs,
            (std::vector<FormulaInput>{{nullptr, Metric::energy_j_per_frame}, {nullptr, Metric::latency_s}}));
  EXPECT_EQ(formula.depth, 3u);
  EXPECT_EQ(formula_of("energy_j_per_frame * latency_s ^ 2", {0.5, 3}), 4.5);
  EXPECT_EQ(parse_formula("f", "", "cores", "").inputs[0].parameter, find_parameter("cores"));
  EXPECT_EQ(parse_formula("f", "", "technology.dram.hbm2", "").inputs[0].parameter,
            find_setting("technology.dram.hbm2"));
}

TEST(formula, takes_parameters_in_their_unit_flags_as_0_or_1_and_choices_by_name) {
  Space space;
  space.base.dram_efficiency = Decimal{85};
  space.base.technology = {};
  space.axes = {{find_parameter("prompt_per_frame"), {0, 1}}, {find_parameter("weight_format"), {}}};
  const ParameterRow& formats = *find_parameter("weight_format");
  space.axes[1].values = {parse_value(formats, "fp16", ""), parse_value(formats, "int8", "")};
  const auto at = [&](const std::string& text, std::int64_t index) {
    return measure_of(Measure(parse_formula("f", "", text, "")), space, index, MetricValues{}, true);
  };
  for (std::int64_t i = 0; i < 4; ++i) {
    const Machine machine = point(space, i);
    EXPECT_EQ(at("dram_efficiency", i), 0.85);
    EXPECT_EQ(at("prompt_per_frame * 10", i), machine.prompt_per_frame ? 10 : 0);
    EXPECT_EQ(at("weight_format == \"int8\"", i), machine.weight_format == NumberFormat::int8);
    EXPECT_EQ(at("\"int8\" != weight_format", i), machine.weight_format != NumberFormat::int8);
    const double node = at("technology.dram.hbm2", i);
    EXPECT_EQ(node, std::bit_cast<double>(find_setting("technology.dram.hbm2")->read(machine)));
  }
}

TEST(formula, of_what_is_no_number_is_none_but_in_the_branch_not_taken) {
  for (const char* text :
       {"latency_s + 1", "latency_s < 1", "latency_s != latency_s", "min(latency_s, 1)", "max(1, latency_s)",
        "latency_s ^ 0", "1 ^ latency_s", "if(latency_s, 1, 2)", "if(1, latency_s, 2)", "abs(latency_s)"})
    EXPECT_TRUE(std::isnan(formula_of(text, {none_of_it}))) << text;
  EXPECT_EQ(formula_of("if(0, latency_s, 2)", {none_of_it}), 2);
  EXPECT_EQ(formula_of("if(cores > 0, 1 / cores, 0)", {0}), 0);
  for (const char* text : {"1 / 0", "-1 / 0", "0 / 0", "log(0)", "log(-1)", "sqrt(-1)", "exp(1e9)", "(-8) ^ 0.5"})
    EXPECT_TRUE(std::isnan(formula_of(text))) << text << ": infinite, or none";
}

TEST(formula, says_the_column_in_it_and_what_was_expected) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column 1: expected a number, a name or (, found the end"},
      {"1 +", "column 4: expected a number, a name or (, found the end"},
      {"1 2", "column 3: expected an operator or the end, found '2'"},
      {"(1", "column 3: expected an operator or ), found the end"},
      {"1)", "column 2: expected an operator or the end, found ')'"},
      {"latency_s $", "column 11: expected an operator or the end, found '$'"},
      {"latencys", "column 1: no metric and no parameter latencys; did you mean latency_s"},
      {"1 + zzzzzzzz", "column 5: no metric and no parameter zzzzzzzz; `sdip metrics`"},
      {"sine(1)", "column 1: no function sine; expected one of abs ceil"},
      {"abs()", "column 5: expected a number, a name or (, found ')'"},
      {"abs(1, 2)", "column 1: abs: expected 1 argument"},
      {"min(1)", "column 1: min: expected 2 or more arguments"},
      {"if(1, 2)", "column 1: if: expected 3 arguments"},
      {"if(1, 2, 3, 4)", "column 1: if: expected 3 arguments"},
      {"1 < 2 < 3", "column 7: expected one comparison"},
      {"weight_format + 1", "column 1: weight_format is a choice: compare it by == or !="},
      {"weight_format", "column 1: weight_format is a choice"},
      {"weight_format < \"int8\"", "column 1: weight_format is a choice"},
      {"weight_format == 3", "column 1: weight_format is a choice"},
      {"weight_format == activation_format", "column 1: weight_format is a choice"},
      {"weight_format == \"int9\"", "column 18: expected a value of weight_format: fp32"},
      {"\"int8\" == 1", "column 1: a text is compared"},
      {"cores == \"int8\"", "column 10: a text is compared"},
      {"\"int8\"", "column 1: a text is compared"},
      {"weight_format == \"int8", "column 18: expected a quote that ends this text"},
      {"1e999", "column 1: a number that 64 bits do not hold"},
      {"1.2.3", "column 4: expected an operator behind a number"},
      {"2cores", "column 2: expected an operator behind a number"},
      {"1.", "accepted"},
      {"2 ** 3", "column 4: expected a number, a name or (, found '*'"},
      {"latency_s = 1", "column 11: expected an operator or the end, found '='"},
      {"sqnr_db", "column 1: no metric and no parameter sqnr_db"}};
  for (const auto& [text, expected] : cases) {
    const std::string said = error_of(text);
    if (said == "accepted") {
      EXPECT_EQ(said, expected) << text;
      continue;
    }
    EXPECT_TRUE(said.starts_with("formula_invalid: eff, ")) << text << ": " << said;
    EXPECT_NE(said.find(expected), std::string::npos) << text << ": " << said;
  }
}

TEST(formula, has_limits) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '(') + "1" + std::string(depth, ')'); };
  EXPECT_EQ(error_of(nested(32)), "accepted");
  EXPECT_EQ(error_of(nested(33)).substr(0, 15), "limit_exceeded:") << "each is three levels, and one is the number";
  EXPECT_EQ(error_of(nested(400)).substr(0, 15), "limit_exceeded:");
  EXPECT_EQ(error_of(std::string(900, '-') + "1").substr(0, 15), "limit_exceeded:");
  std::string tower = "1", wide = "1";
  while (tower.size() < 900) tower += "^1";
  while (wide.size() < 990) wide += "+1";
  EXPECT_EQ(error_of(tower).substr(0, 15), "limit_exceeded:");
  EXPECT_EQ(error_of(wide), "accepted");
  EXPECT_EQ(formula_of(wide), 496);
  EXPECT_EQ(error_of(std::string(longest_formula, ' ') + "1").substr(0, 15), "limit_exceeded:");
  EXPECT_EQ(error_of(std::string(longest_formula - 1, ' ') + "1"), "accepted");
  json many = json::object();
  for (std::size_t i = 0; i <= most_formulas; ++i) many["f" + std::to_string(i)] = "1";
  EXPECT_EQ(refusal([&] { formulas_from_json(many, "/metrics"); }), "limit_exceeded at /metrics");
  many.erase("f0");
  EXPECT_EQ(formulas_from_json(many, "/metrics").size(), most_formulas);
}

TEST(formula, has_a_name_and_unit_of_its_own) {
  const auto named = [](const std::string& name, const std::string& unit = "") {
    return refusal([&] { parse_formula(name, unit, "1", "here"); });
  };
  EXPECT_EQ(named("eff_2"), "accepted");
  for (const char* name : {"", "2eff", "Eff", "e f", "e-f", "_e", "\xc3\xa9", "a.b"})
    EXPECT_EQ(named(name), "value_invalid at here") << name;
  for (const char* name : {"latency_s", "cores", "min", "if", "index", "feasible", "reason", "sqnr_db", "density"})
    EXPECT_EQ(named(name), "value_conflict at here") << name;
  EXPECT_EQ(named(std::string(65, 'a')), "limit_exceeded at here");
  EXPECT_EQ(named("eff", "frame/J"), "accepted");
  EXPECT_EQ(named("eff", std::string(33, 'u')), "limit_exceeded at here");
  for (const char* unit : {"a,b", "\"", "\n", "[s]", "<b>", "\xc2\xb5s"})
    EXPECT_EQ(named("eff", unit), "value_invalid at here") << unit;

  const Formula said = formula_from_text(" eff [frame/J] = throughput_fps/power_w", "--metric");
  EXPECT_EQ(said.name, "eff");
  EXPECT_EQ(said.unit, "frame/J");
  EXPECT_EQ(said.text, " throughput_fps/power_w");
  EXPECT_EQ(formula_from_text("e=cores==1", "").text, "cores==1");
  EXPECT_EQ(refusal([] { formula_from_text("eff", "--metric"); }), "value_invalid at --metric");
  EXPECT_EQ(refusal([] { formula_from_text("[s]=1", "--metric"); }), "value_invalid at --metric");
}

TEST(formula, is_read_from_json_and_back) {
  const json object = json::parse(R"({"b": "cores * 2", "a": {"formula": "1 / latency_s", "unit": "1/s"}})");
  const std::vector<Formula> formulas = formulas_from_json(object, "/metrics");
  ASSERT_EQ(formulas.size(), 2u);
  EXPECT_EQ(formulas[0].name, "a");
  EXPECT_EQ(formulas[0].unit, "1/s");
  EXPECT_EQ(formulas[1].unit, "");
  EXPECT_EQ(formulas_from_json(json::parse(formulas_json(formulas).dump()), ""), formulas);
  const auto refused = [](const char* text) {
    return refusal([&] { formulas_from_json(json::parse(text), "/metrics"); });
  };
  EXPECT_EQ(refused("[]"), "value_invalid at /metrics");
  EXPECT_EQ(refused(R"({"a": 1})"), "value_invalid at /metrics/a");
  EXPECT_EQ(refused(R"({"a": {}})"), "value_invalid at /metrics/a");
  EXPECT_EQ(refused(R"({"a": {"formula": 1}})"), "value_invalid at /metrics/a");
  EXPECT_EQ(refused(R"({"a": {"formula": "1", "unit": 2}})"), "value_invalid at /metrics/a");
  EXPECT_EQ(refused(R"({"a": {"formula": "1", "better": "lower"}})"), "unknown_key at /metrics/a/better");
  EXPECT_EQ(refused(R"({"a": "cores +"})"), "formula_invalid at /metrics/a");
}

TEST(objectives, take_formulas_and_metrics_with_a_direction) {
  const std::vector<Formula> formulas = {parse_formula("eff", "", "cores", "")};
  const auto read = [&](const std::string& text) { return objective_from_text(text, formulas, "here"); };
  const auto refused = [&](const std::string& text) { return refusal([&] { read(text); }); };
  EXPECT_EQ(read("area_mm2").better, Better::lower);
  EXPECT_EQ(read("max:area_mm2").better, Better::higher);
  EXPECT_EQ(read("max:eff").better, Better::higher);
  EXPECT_EQ(read("min:active_cores").better, Better::lower);
  for (const char* text : {"area_mm2", "max:area_mm2", "max:eff", "min:eff", "min:active_cores"})
    EXPECT_EQ(objective_text(read(text)), text);
  EXPECT_EQ(objective_text(read("min:area_mm2")), "area_mm2");
  EXPECT_EQ(refused("eff"), "value_invalid at here");
  EXPECT_EQ(refused("active_cores"), "value_invalid at here");
  EXPECT_EQ(refused("max:speed"), "unknown_metric at here");
  EXPECT_EQ(refusal([&] {
              check_objectives(std::vector{read("max:eff"), read("min:eff")}, "m");
            }),
            "value_invalid at m");
  EXPECT_EQ(refusal([&] { check_objectives({}, "m"); }), "value_invalid at m");
}

TEST(constraints, are_conditions_without_a_name) {
  EXPECT_EQ(parse_constraint("area_mm2 <= 100", "c").inputs.size(), 1u);
  EXPECT_EQ(refusal([] { parse_constraint("area_mm2 <=", "c"); }), "formula_invalid at c");
  EXPECT_EQ(refusal([] { parse_constraint(std::string(longest_constraint + 1, '1'), "c"); }),
            "limit_exceeded at c");
  const auto refused = [](const json& list) { return refusal([&] { constraints_from_json(list, "/c"); }); };
  EXPECT_EQ(refused("1"), "value_invalid at /c");
  EXPECT_EQ(refused(json::array({"1", 2})), "value_invalid at /c/1");
  EXPECT_EQ(refused(json::array({"1", "x"})), "formula_invalid at /c/1");
  EXPECT_EQ(refused(json(std::vector<std::string>(most_formulas + 1, "1"))), "limit_exceeded at /c");
}

TEST(sweep_spec, with_formulas_reads_back_equal) {
  const SweepSpec spec = spec_from_json(json::parse(
      R"({"model": "sd15", "axes": [{"parameter": "steps", "values": [10, 20]}], "objectives": ["max:eff", "area_mm2"],
          "metrics": {"eff": {"formula": "throughput_fps / power_w", "unit": "frame/J"}, "two": "cores * 2"},
          "constraints": ["area_mm2 <= 100", "weight_format == \"int8\""]})"));
  EXPECT_EQ(spec.formulas.size(), 2u);
  EXPECT_EQ(spec.objectives[0].better, Better::higher);
  const SweepSpec again = spec_from_json(json::parse(spec_json(spec).dump()));
  EXPECT_EQ(again.formulas, spec.formulas);
  EXPECT_EQ(again.objectives, spec.objectives);
  EXPECT_EQ(spec.constraints.size(), 2u);
  EXPECT_EQ(again.constraints, spec.constraints);
}

TEST(formula, of_a_table_has_its_numbers_and_none_elsewhere) {
  const ParameterRow* rows[] = {find_parameter("weight_format"), find_parameter("cores")};
  const auto int8 = static_cast<std::int64_t>(NumberFormat::int8),
             int4 = static_cast<std::int64_t>(NumberFormat::int4);
  const std::vector<TabledValue> table = {{{int8, 2}, 20}, {{int4, 2}, 9}, {{int4, 4}, 0}};
  const Formula formula = tabled_formula("sqnr_db", "dB", rows, table);
  const auto value = [&](const Formula& of, NumberFormat weights, double cores) {
    const double first = input_value(*rows[0], static_cast<std::int64_t>(weights));
    const std::vector<std::span<const double>> columns = {{&first, 1}, {&cores, 1}};
    double result = 0;
    compute(of, columns, {&result, 1});
    return result;
  };
  EXPECT_EQ(value(formula, NumberFormat::int8, 2), 20);
  EXPECT_EQ(value(formula, NumberFormat::int4, 2), 9);
  EXPECT_EQ(value(formula, NumberFormat::int4, 4), 0);
  EXPECT_TRUE(std::isnan(value(formula, NumberFormat::int8, 4)));
  EXPECT_TRUE(std::isnan(value(formula, NumberFormat::fp16, 2)));
  const Formula condition = at_least(formula, 12.5);
  EXPECT_EQ(condition.text, "sqnr_db >= 12.5");
  EXPECT_EQ(value(condition, NumberFormat::int8, 2), 1);
  EXPECT_EQ(value(condition, NumberFormat::int4, 2), 0);
  EXPECT_TRUE(std::isnan(value(condition, NumberFormat::fp16, 2)));
}

}  // namespace
}  // namespace sdip
