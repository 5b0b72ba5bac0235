// Axes that depend on others: is each machine there once, whatever their conditions?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/explore/space/measure.h"
#include "core/explore/space/space.h"
#include "core/explore/sweep.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

nlohmann::json axis_when(const char* parameter, nlohmann::json values, const char* when = "") {
  nlohmann::json axis = {{"parameter", parameter}, {"values", std::move(values)}};
  if (*when != 0) axis["when"] = when;
  return axis;
}

Space conditional(const nlohmann::json& axes, const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json spec = {{"axes", axes}};
  spec.update(more);
  return space_from_json(spec, Machine{});
}

std::vector<std::int64_t> values_at(const Space& space, std::int64_t i) {
  std::vector<std::int64_t> values;
  for (std::size_t a = 0; a < space.axes.size(); ++a) values.push_back(axis_value(space, a, i));
  return values;
}

/// Every combination of the axes by brute force, an axis whose condition does not hold being the base's.
std::set<std::vector<std::int64_t>> by_hand(const Space& space) {
  Space all = space;
  for (Axis& axis : all.axes) axis.when.reset();
  all.blocks = {};
  std::set<std::vector<std::int64_t>> machines;
  for (std::int64_t i = 0; i < point_count(all); ++i) {
    Machine machine = space.base;
    std::vector<std::int64_t> values;
    for (std::size_t a = 0; a < space.axes.size(); ++a) {
      const Axis& axis = space.axes[a];
      bool holds = true;
      if (axis.when) {
        const std::vector<Machine> one = {machine};
        std::vector<double> inputs;
        for (const FormulaInput& input : axis.when->inputs)
          inputs.push_back(input_value(*input.parameter, input.parameter->read(machine)));
        std::vector<std::span<const double>> columns;
        for (const double& input : inputs) columns.emplace_back(&input, 1);
        double value = 0;
        compute(*axis.when, columns, {&value, 1});
        holds = value != 0 && value == value;
      }
      if (holds) axis.row->write(machine, axis_value(all, a, i));
      values.push_back(axis.row->read(machine));
    }
    machines.insert(values);
  }
  return machines;
}

void expect_each_once(const Space& space) {
  const auto wanted = by_hand(space);
  std::set<std::vector<std::int64_t>> found;
  for (std::int64_t i = 0; i < point_count(space); ++i) {
    const std::vector<std::int64_t> values = values_at(space, i);
    EXPECT_TRUE(found.insert(values).second) << "point " << i << " comes twice";
    const Machine machine = point(space, i);
    for (std::size_t a = 0; a < values.size(); ++a) EXPECT_EQ(space.axes[a].row->read(machine), values[a]);
  }
  EXPECT_EQ(found, wanted);
}

TEST(conditions, leave_an_axis_the_base_s_value_where_they_do_not_hold) {
  // The worked example of core/explore/space/space.h.
  const Space space = conditional({axis_when("weight_compression", {1, 2}),
                                   axis_when("decompressor_bytes_per_cycle", {8, 16}, "weight_compression > 1")});
  ASSERT_EQ(point_count(space), 3);
  const std::int64_t base = Machine{}.decompressor_bytes_per_cycle;
  EXPECT_THAT(values_at(space, 0), testing::ElementsAre(100, base));
  EXPECT_THAT(values_at(space, 1), testing::ElementsAre(200, 8));
  EXPECT_THAT(values_at(space, 2), testing::ElementsAre(200, 16));
}

TEST(conditions, give_each_machine_of_a_grid_once) {
  expect_each_once(conditional({axis_when("cores", {1, 2, 4}), axis_when("weight_compression", {1, 2, 3}),
                                axis_when("decompressor_bytes_per_cycle", {8, 16}, "weight_compression > 1"),
                                axis_when("dsram_bytes", {65536, 131072}), axis_when("dram_channels", {2, 4})}));
  // A condition on an axis that has one itself; one on two axes; one on the base alone, which never holds.
  expect_each_once(
      conditional({axis_when("dies", {1, 2, 4}), axis_when("die_link_bits", {512, 1024}, "dies > 1"),
                   axis_when("pipeline_stages", {2, 3, 5}, "die_link_bits == 1024"), axis_when("cores", {2, 4, 8}),
                   axis_when("vector_lanes", {16, 32}, "cores > 2 * dies"),
                   axis_when("norm_lanes", {16, 32}, "steps > 1000000")}));
}

TEST(conditions, keep_points_of_one_program_together_within_a_block) {
  const Space space =
      conditional({axis_when("core_clock_mhz", {500, 1000}), axis_when("psram_bytes", {1 << 20, 2 << 20}),
                   axis_when("dram_channels", {2, 4}, "core_clock_mhz > 500")});
  ASSERT_EQ(point_count(space), 2 + 4);
  EXPECT_EQ(values_at(space, 2)[1], values_at(space, 3)[1]);
  EXPECT_NE(values_at(space, 3)[1], values_at(space, 4)[1]);
}

TEST(conditions, that_read_no_row_are_refused) {
  EXPECT_EQ(refusal([] {
              conditional(nlohmann::json::array({axis_when("cores", {1, 2}, "1 > 0")}));
            }),
            "value_invalid at /axes/0/when");
}

TEST(conditions, hold_of_drawn_points_and_of_links_behind_them) {
  for (const char* sampling : {"random", "latin_hypercube", "sobol"}) {
    const Space space =
        conditional({axis_when("dies", {1, 2}), axis_when("die_link_bits", {512, 1024}, "dies > 1")},
                    {{"sampling", sampling},
                     {"count", 64},
                     {"seed", 3},
                     {"links", {{{"parameter", "cores"}, {"formula", "2 * dies"}}}}});
    std::set<std::vector<std::int64_t>> met;
    for (std::int64_t i = 0; i < 64; ++i) {
      const Machine machine = point(space, i);
      EXPECT_EQ(machine.cores, 2 * machine.dies);
      EXPECT_EQ(values_at(space, i)[1], machine.die_link_bits);
      if (machine.dies == 1) {
        EXPECT_EQ(machine.die_link_bits, Machine{}.die_link_bits);
      }
      met.insert(values_at(space, i));
    }
    EXPECT_EQ(met.size(), 3u) << sampling;
  }
}

TEST(conditions, of_one_axis_settle_those_that_it_follows_from) {
  // Each reads the one before, the last but one reads the first, and the last one none.
  for (const char* sampling : {"random", "latin_hypercube", "sobol"}) {
    const Space space =
        conditional({axis_when("dies", {1, 2}), axis_when("die_link_bits", {512, 1024}, "dies > 1"),
                     axis_when("pipeline_stages", {2, 3, 5}, "die_link_bits == 1024"),
                     axis_when("cores", {2, 4, 8}), axis_when("vector_lanes", {16, 32}, "pipeline_stages == 3"),
                     axis_when("norm_lanes", {16, 32}, "dies == 2"), axis_when("softmax_lanes", {16, 32})},
                    {{"sampling", sampling}, {"count", 200}, {"seed", 5}});
    for (std::int64_t i = 0; i < 200; ++i) EXPECT_EQ(values_at(space, i), axis_values(space, i)) << sampling << i;
  }
}

TEST(conditions, are_told_again_and_read_the_same) {
  const Space space = conditional({axis_when("dies", {1, 2}), axis_when("die_link_bits", {512, 1024}, "dies > 1")});
  const nlohmann::json told = space_json(space);
  EXPECT_EQ(told["axes"][1]["when"], "dies > 1");
  const Space again = space_from_json(told, space.base);
  EXPECT_EQ(again, space);
  EXPECT_EQ(point_count(again), point_count(space));
}

TEST(conditions, are_measured_as_the_values_that_points_have) {
  const Space space = conditional({axis_when("dies", {1, 2}), axis_when("die_link_bits", {512, 1024}, "dies > 1")});
  const Measure bits(parse_formula("bits", "", "die_link_bits + 0 * dies", ""));
  const std::vector<std::uint8_t> feasible(3, 1);
  std::vector<double> values;
  append_measure(
      bits, space, 0, feasible, [](Metric, std::vector<double>&) {}, values);
  EXPECT_THAT(values, testing::ElementsAre(static_cast<double>(Machine{}.die_link_bits), 512, 1024));
}

TEST(conditions, are_refused_where_they_read_what_is_not_known_yet) {
  const auto refused = [](const nlohmann::json& axes, const nlohmann::json& more = nlohmann::json::object()) {
    return refusal([&] { conditional(axes, more); });
  };
  EXPECT_EQ(refused({axis_when("dies", {1, 2}, "cores > 1"), axis_when("cores", {1, 2})}),
            "value_conflict at /axes/0/when");
  EXPECT_EQ(refused(nlohmann::json::array({axis_when("dies", {1, 2}, "dies > 1")})),
            "value_conflict at /axes/0/when");
  try {
    conditional(nlohmann::json::array({axis_when("dies", {1, 2}, "dies > 1")}));
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "dies cannot depend on itself");
  }
  EXPECT_EQ(refused(nlohmann::json::array({axis_when("dies", {1, 2}, "area_mm2 > 1")})),
            "value_invalid at /axes/0/when");
  EXPECT_EQ(refused(nlohmann::json::array({axis_when("dies", {1, 2}, "dies >")})),
            "formula_invalid at /axes/0/when");
  EXPECT_EQ(refused({axis_when("dies", {1, 2}), axis_when("die_link_bits", {512, 1024}, "cores > 1")},
                    {{"links", {{{"parameter", "cores"}, {"formula", "2 * dies"}}}}}),
            "value_conflict at /axes/1/when");
  nlohmann::json many = nlohmann::json::array();
  for (int value = 1; value <= 65536; ++value) many.push_back(value);
  EXPECT_EQ(refused({axis_when("vector_lanes", many), axis_when("softmax_lanes", many, "vector_lanes > 1")}),
            "too_large at /axes");
}

nlohmann::json counted_to(std::int64_t count) {
  nlohmann::json values = nlohmann::json::array();
  for (std::int64_t value = 1; value <= count; ++value) values.push_back(value);
  return values;
}

TEST(conditions, read_a_bounded_number_of_combinations_also_where_few_of_them_count) {
  // Where no core's number holds the others have one place: three points, of 4.1 thousand million combinations.
  EXPECT_EQ(refusal([] {
              conditional({axis_when("vector_lanes", counted_to(64'000), "cores > 100"),
                           axis_when("softmax_lanes", counted_to(64'000), "vector_lanes > 100000"),
                           axis_when("dram_channels", {2, 4}, "softmax_lanes > 100000")});
            }),
            "limit_exceeded at /axes");
}

TEST(conditions, are_bounded_by_the_axes_that_each_combination_settles) {
  auto axes = nlohmann::json::array({axis_when("vector_lanes", counted_to(65'000))});
  for (const ParameterRow& row : parameters()) {
    if (axes.size() == 30) break;
    if (row.name != "vector_lanes" && row.type == ParameterType::count)
      axes.push_back(axis_when(std::string(row.name).c_str(), {row.read(Machine{})}, "vector_lanes > 1"));
  }
  ASSERT_EQ(axes.size(), 30u);
  EXPECT_EQ(point_count(conditional(axes)), 65'000);
  axes.push_back(axis_when("die_link_bits", {512}, "vector_lanes > 2"));
  EXPECT_EQ(refusal([&] { conditional(axes); }), "limit_exceeded at /axes");
}

}  // namespace
}  // namespace sdip
