// Which machine is point i?
#include "core/explore/space/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using nlohmann::json;
using testing::ElementsAre;

Axis axis(const char* name, std::vector<std::int64_t> values) { return {find_parameter(name), std::move(values)}; }

Space space_of(const char* text) { return space_from_json(json::parse(text), Machine{}); }

std::string refusal_of(const char* text) {
  return refusal([&] { space_of(text); });
}

TEST(grid, visits_every_combination_once_with_compile_axes_slowest) {
  Space space;
  space.axes = {axis("cores", {1, 2, 4}), axis("psram_bytes", {1 << 20, 1 << 21})};
  ASSERT_EQ(point_count(space), 6);
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t i = 0; i < 6; ++i) seen.emplace_back(point(space, i).psram_bytes, point(space, i).cores);
  const std::int64_t m = 1 << 20;
  EXPECT_THAT(seen, ElementsAre(std::pair(m, 1), std::pair(m, 2), std::pair(m, 4), std::pair(2 * m, 1),
                                std::pair(2 * m, 2), std::pair(2 * m, 4)));
}

TEST(grid, last_listed_axis_of_a_kind_varies_fastest) {
  Space space;
  space.axes = {axis("cores", {1, 2}), axis("core_clock_mhz", {500, 1000})};
  EXPECT_EQ(point(space, 1).cores, 1);
  EXPECT_EQ(point(space, 1).core_clock_mhz, 1000);
  EXPECT_EQ(point(space, 2).cores, 2);
}

TEST(grid, leaves_the_base_alone_elsewhere) {
  Space space;
  space.base.vector_lanes = 77;
  space.axes = {axis("cores", {9})};
  Machine expected = space.base;
  expected.cores = 9;
  EXPECT_EQ(point(space, 0), expected);
}

TEST(space, axis_value_agrees_with_point) {
  Space space;
  space.axes = {axis("cores", {1, 2, 3}), axis("batch", {1, 2}), axis("dram_efficiency", {50, 75})};
  for (const Sampling sampling : {Sampling::grid, Sampling::random}) {
    space.sampling = sampling;
    space.count = 12;
    for (std::int64_t i = 0; i < point_count(space); ++i)
      for (std::size_t a = 0; a < space.axes.size(); ++a)
        ASSERT_EQ(axis_value(space, a, i), space.axes[a].row->read(point(space, i)));
  }
}

TEST(random_sampling, is_a_pure_function_of_seed_and_index) {
  Space space;
  space.sampling = Sampling::random;
  space.count = 1000;
  space.axes = {axis("cores", {1, 2, 3, 4, 5, 6, 7}), axis("vector_lanes", {1, 2, 3, 4, 5})};
  Space other = space;
  EXPECT_EQ(point(space, 999), point(other, 999));
  other.seed = 2;
  int differing = 0;
  for (std::int64_t i = 0; i < 1000; ++i) differing += point(space, i) != point(other, i);
  EXPECT_GT(differing, 900);
}

TEST(random_sampling, draws_every_value_about_equally) {
  Space space;
  space.sampling = Sampling::random;
  space.count = 7000;
  space.axes = {axis("cores", {1, 2, 3, 4, 5, 6, 7}), axis("batch", {1, 2, 4, 8})};
  std::map<std::int64_t, int> cores, batches;
  std::set<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < space.count; ++i) {
    const Machine machine = point(space, i);
    ++cores[machine.cores];
    ++batches[machine.batch];
    pairs.emplace(machine.cores, machine.batch);
  }
  for (const auto& [value, times] : cores) EXPECT_NEAR(times, 1000, 150) << value;
  for (const auto& [value, times] : batches) EXPECT_NEAR(times, 1750, 2) << value << ": stratified";
  EXPECT_EQ(pairs.size(), 28u);
}

TEST(random_sampling, lets_neighbours_share_a_program) {
  Space space;
  space.sampling = Sampling::random;
  space.count = 1000;
  space.axes = {axis("batch", {1, 2, 3, 4}), axis("cores", {1, 2, 3})};
  int changes = 0;
  for (std::int64_t i = 1; i < space.count; ++i)
    changes += compile_key(point(space, i)) != compile_key(point(space, i - 1));
  EXPECT_LE(changes, 8);
}

TEST(random_sampling, covers_more_combinations_than_points_without_leaving_the_space) {
  Space space;
  space.sampling = Sampling::random;
  space.count = 3;
  space.axes = {axis("batch", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < 3; ++i) seen.insert(point(space, i).batch);
  EXPECT_EQ(seen.size(), 3u) << "one of each third";
}

TEST(space_json, expands_steps_and_factors) {
  const Space space = space_of(R"({"axes": [
      {"parameter": "cores", "min": 1, "max": 10, "step": 4},
      {"parameter": "vector_lanes", "min": 1, "max": 10, "factor": 2},
      {"parameter": "dram_efficiency", "min": 0.5, "max": 0.75, "step": 0.1},
      {"parameter": "weight_format", "values": ["int8", "fp16"]}]})");
  EXPECT_THAT(space.axes[0].values, ElementsAre(1, 5, 9));
  EXPECT_THAT(space.axes[1].values, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(space.axes[2].values, ElementsAre(50, 60, 70));
  EXPECT_EQ(point_count(space), 3 * 4 * 3 * 2);
}

TEST(space_json, reads_back_equal) {
  const Space space = space_of(R"({"sampling": "random", "seed": 7, "count": 50, "axes": [
      {"parameter": "dram_efficiency", "min": 0.1, "max": 1, "factor": 1.5},
      {"parameter": "hoisted_context", "values": [false, true]}]})");
  EXPECT_EQ(space_from_json(json::parse(space_json(space).dump()), space.base), space);
}

TEST(space_json, refuses_with_the_place) {
  EXPECT_EQ(refusal_of(R"({})"), "value_invalid at /axes");
  EXPECT_EQ(refusal_of(R"({"axes": []})"), "value_invalid at /axes");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "core", "values": [1]}]})"),
            "unknown_parameter at /axes/0/parameter");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "values": []}]})"), "value_invalid at /axes/0/values");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "values": [1, 0]}]})"),
            "value_out_of_range at /axes/0/values/1");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "values": [1, "2"]}]})"),
            "value_invalid at /axes/0/values/1");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "values": [1, 2, 1]}]})"),
            "value_invalid at /axes/0/values");
  EXPECT_EQ(
      refusal_of(R"({"axes": [{"parameter": "cores", "values": [1]}, {"parameter": "cores", "values": [2]}]})"),
      "value_invalid at /axes/1/parameter");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "values": [1], "min": 1}]})"),
            "value_invalid at /axes/0");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "min": 1, "max": 2}]})"), "value_invalid at /axes/0");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "min": 3, "max": 2, "step": 1}]})"),
            "value_invalid at /axes/0/max");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "min": 1, "max": 2, "step": 0}]})"),
            "value_out_of_range at /axes/0/step");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "min": 1, "max": 2, "factor": 1}]})"),
            "value_out_of_range at /axes/0/factor");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "min": 1, "max": 9, "factor": 1.5}]})"),
            "value_invalid at /axes/0/factor");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "sampler", "min": 1, "max": 2, "step": 1}]})"),
            "value_invalid at /axes/0");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "technology.n7", "values": [1]}]})"),
            "unknown_parameter at /axes/0/parameter");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "technology.dram.ddr4", "values": [20, 0]}]})"),
            "value_out_of_range at /axes/0/values/1");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "technology.dram.ddr4", "values": [20, 20.0]}]})"),
            "value_invalid at /axes/0/values");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "technology.dram.ddr4", "min": 1, "max": 2, "step": 1}]})"),
            "value_invalid at /axes/0");
  EXPECT_EQ(refusal_of(R"({"axes": [{"parameter": "cores", "values": [1], "unit": "x"}]})"),
            "unknown_key at /axes/0/unit");
  EXPECT_EQ(refusal_of(R"({"count": 5, "axes": [{"parameter": "cores", "values": [1]}]})"),
            "value_invalid at /count");
  EXPECT_EQ(refusal_of(R"({"sampling": "halton", "axes": []})"), "value_invalid at /sampling");
  EXPECT_EQ(refusal_of(R"({"sampling": "random", "axes": []})"), "value_invalid at /count");
  EXPECT_EQ(refusal_of(R"({"sampling": "random", "count": 10000001, "axes": []})"), "value_out_of_range at /count");
  EXPECT_EQ(refusal_of(R"({"seed": -1, "axes": [{"parameter": "cores", "values": [1]}]})"),
            "value_out_of_range at /seed");
}

TEST(space_json, holds_ten_million_points_and_not_one_row_more) {
  const auto grid = [](int cores) {
    return refusal([&] {
      space_of(
          (R"({"axes": [{"parameter": "vector_lanes", "min": 1, "max": 10000, "step": 1}, {"parameter": "cores",
              "min": 1, "step": 1, "max": )" +
           std::to_string(cores) + "}]}")
              .c_str());
    });
  };
  EXPECT_EQ(grid(1000), "accepted");
  EXPECT_EQ(grid(1001), "too_large at /axes");
}

TEST(space, keeps_an_axis_for_the_runs_that_it_says) {
  Space space;
  space.axes = {{find_parameter("cores"), {1, 2, 4}},
                {find_parameter("psram_bytes"), {1 << 20, 1 << 21}},
                {find_parameter("dram_channels"), {2, 4, 8, 16, 32}}};
  EXPECT_EQ(axis_run(space, 0), 5);  // psram_bytes changes the program, and is slowest
  EXPECT_EQ(axis_run(space, 1), 15);
  EXPECT_EQ(axis_run(space, 2), 1);
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::int64_t i = 0; i < point_count(space); ++i) {
      const std::int64_t begin = i / axis_run(space, axis) * axis_run(space, axis);
      EXPECT_EQ(axis_value(space, axis, i), axis_value(space, axis, begin));
      EXPECT_EQ(axis_values(space, i)[axis], axis_value(space, axis, i));
    }
  space.sampling = Sampling::random;
  space.count = 9;
  EXPECT_EQ(axis_run(space, 1), 1);
}

}  // namespace
}  // namespace sdip
