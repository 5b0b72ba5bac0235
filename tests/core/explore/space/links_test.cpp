// Parameters that follow others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/explore/space/measure.h"
#include "core/explore/space/space.h"
#include "core/explore/sweep.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using nlohmann::json;

Space space_of(const json& links, const json& axes = {{{"parameter", "conv_lanes_out"}, {"values", {8, 16, 64}}},
                                                      {{"parameter", "cores"}, {"values", {1, 2}}}}) {
  return space_from_json({{"axes", axes}, {"links", links}}, Machine{});
}
json link(const char* parameter, const char* formula) { return {{"parameter", parameter}, {"formula", formula}}; }
std::string refusal_of(const json& links) {
  return refusal([&] { space_of(links); });
}

TEST(links, follow_the_axes_and_each_other_in_turn) {
  const Space space = space_of(
      json::array({link("psram_port_bits", "conv_lanes_out * 128"),
                   link("dsram_port_bits", "max(1024, psram_port_bits / 2) + 0.75"),
                   link("hoisted_context", "cores > 1"), link("weight_density", "if(cores == 2, 0.505, 1)")}));
  ASSERT_EQ(point_count(space), 6);
  for (std::int64_t i = 0; i < 6; ++i) {
    const Machine machine = point(space, i), alone = unlinked_point(space, i);
    EXPECT_EQ(machine.conv_lanes_out, alone.conv_lanes_out);
    EXPECT_EQ(machine.psram_port_bits, 128 * machine.conv_lanes_out);
    EXPECT_EQ(machine.dsram_port_bits, std::max<std::int64_t>(1024, machine.psram_port_bits / 2));
    EXPECT_EQ(machine.hoisted_context, machine.cores > 1);
    EXPECT_EQ(machine.weight_density.hundredths, machine.cores == 2 ? 50 : 100) << "rounded down to hundredths";
    EXPECT_EQ(alone.psram_port_bits, Machine{}.psram_port_bits);
  }
}

TEST(links, that_cannot_be_make_their_points_infeasible_with_the_reason) {
  const Space space = space_of(json::array({link("psram_port_bits", "if(cores == 2, conv_lanes_out - 8, 1024)")}));
  const std::vector<IndexRange> all = {{0, point_count(space)}};
  std::vector<std::string> reasons;
  const auto compiled = [](const Machine&) {
    auto application = std::make_shared<Application>();
    application->feasible = true;
    return std::shared_ptr<const Application>(std::move(application));
  };
  const auto evaluated = [](const Application&, const Machine&) {
    Outcome outcome;
    outcome.feasible = true;
    return outcome;
  };
  sweep(space, all, compiled, one_by_one(evaluated), {}, [&](PointBatch&& batch) {
    for (std::size_t i = 0; i < batch.feasible.size(); ++i) reasons.push_back(batch.reasons[batch.reason[i]]);
  });
  int refused = 0;
  for (std::int64_t i = 0; i < point_count(space); ++i) {
    const bool none = unlinked_point(space, i).cores == 2 && unlinked_point(space, i).conv_lanes_out == 8;
    const std::string& reason = reasons.at(static_cast<std::size_t>(i));
    EXPECT_EQ(reason.empty(), !none) << reason;
    if (none) {
      EXPECT_THAT(reason, testing::HasSubstr("psram_port_bits"));
    }
    refused += none;
  }
  EXPECT_EQ(refused, 1);
}

TEST(links, are_what_formulas_of_points_see) {
  const Space space = space_of(json::array({link("psram_port_bits", "if(cores == 2, conv_lanes_out - 8, 1024)")}));
  const Measure bits(parse_formula("bits", "bit", "psram_port_bits + 0 * area_mm2", ""));
  MetricValues metrics{};
  for (std::int64_t i = 0; i < point_count(space); ++i) {
    const Machine machine = unlinked_point(space, i);
    const double seen = measure_of(bits, space, i, metrics, true);
    const bool none = machine.cores == 2 && machine.conv_lanes_out == 8;
    EXPECT_EQ(std::isnan(seen), none);
    if (none) continue;
    EXPECT_EQ(seen, machine.cores == 1 ? 1024 : static_cast<double>(machine.conv_lanes_out - 8));
  }
}

TEST(links, set_figures_of_technology_by_their_values) {
  const Space space = space_of(json::array({link("technology.n7.multiply.int8", "cores * 0.1")}));
  const ParameterRow* row = find_setting("technology.n7.multiply.int8");
  for (std::int64_t i = 0; i < point_count(space); ++i) {
    const Machine machine = point(space, i);
    EXPECT_EQ(input_value(*row, row->read(machine)), static_cast<double>(machine.cores) * 0.1);
  }
  for (const char* none : {"-1", "0", "4.6e18", "1 / 0"})
    EXPECT_THROW(point(space_of(json::array({link("technology.n7.multiply.int8", none)})), 0), Error) << none;
}

TEST(links, read_back_equal) {
  const Space space = space_of(json::array({link("psram_port_bits", "conv_lanes_out * 128")}));
  EXPECT_EQ(space_from_json(space_json(space), space.base), space);
  EXPECT_FALSE(space_json(space_of(json::array())).contains("links"));
}

TEST(links, are_refused_with_the_place) {
  EXPECT_EQ(refusal_of("psram"), "value_invalid at /links");
  EXPECT_EQ(refusal_of(json::array({link("psram_bits", "1")})), "unknown_parameter at /links/0/parameter");
  EXPECT_EQ(refusal_of(json::array({link("dram_bus_bits", "128")})), "unknown_parameter at /links/0/parameter")
      << "a former name for several rows";
  EXPECT_EQ(refusal_of(json::array({link("cores", "2")})), "value_conflict at /links/0/parameter") << "an axis";
  EXPECT_EQ(refusal_of(json::array({link("fusion", "2")})), "value_invalid at /links/0/parameter") << "a choice";
  EXPECT_EQ(refusal_of(json::array({link("psram_port_bits", "area_mm2")})), "value_invalid at /links/0/formula");
  EXPECT_EQ(refusal_of(json::array({link("psram_port_bits", "psram_port_bits")})),
            "value_conflict at /links/0/formula");
  EXPECT_EQ(refusal_of(json::array({link("psram_port_bits", "cores *")})), "formula_invalid at /links/0/formula");
  EXPECT_EQ(refusal_of(json::array({link("psram_port_bits", "dsram_port_bits"), link("dsram_port_bits", "cores")})),
            "value_conflict at /links/0/formula")
      << "linked later";
  EXPECT_EQ(refusal_of(json::array({link("psram_port_bits", "1024"), link("psram_port_bits", "2048")})),
            "value_conflict at /links/0/parameter");
  EXPECT_EQ(refusal_of(json::array({json{{"parameter", "psram_port_bits"}, {"formula", "1"}, {"value", 1}}})),
            "unknown_key at /links/0/value");
}

}  // namespace
}  // namespace sdip
