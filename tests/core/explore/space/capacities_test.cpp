// Does a sweep over many capacities of PSRAM, which share programs, say of each machine what it is worth alone?
#include <gtest/gtest.h>

#include <cstring>

#include "core/cost/price/estimate.h"
#include "core/explore/sweep.h"
#include "core/program/tiling/mapping_cache.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// 60 capacities, of which the least have no room, by cores and formats.
Space many_capacity_space() {
  Space space;
  const auto format = [](NumberFormat f) { return static_cast<std::int64_t>(f); };
  space.axes = {{find_parameter("weight_format"), {format(NumberFormat::fp16), format(NumberFormat::int8)}},
                {find_parameter("psram_bytes"), {}},
                {find_parameter("cores"), {1, 3}},
                {find_parameter("conv_lanes_in"), {7, 16}}};
  for (std::int64_t bytes = 1024; std::ssize(space.axes[1].values) < 60; bytes += bytes / 11 + 1)
    space.axes[1].values.push_back(bytes);
  return space;
}

TEST(capacities, of_machines_that_share_a_program_give_each_what_it_is_worth_alone) {
  const Space space = many_capacity_space();
  const IndexRange all{0, point_count(space)};
  CompileOptions quickly;
  quickly.say_needed_bytes = false;
  const auto alone = [&](const Machine& m) { return compile(tiny_sd(m), m, quickly); };
  CompileOptions shared = quickly;
  shared.mappings = std::make_shared<MappingCache>();
  const auto compiled = [&](const Machine& m) {
    return std::make_shared<const Application>(compile(tiny_sd(m), m, shared));
  };
  std::int64_t differing = 0, feasible = 0;
  const auto compare = [&](PointBatch&& batch) {
    Application application;
    std::vector<std::int64_t> key;
    for (std::int64_t i = 0; i < batch.count(); ++i) {
      const Machine m = point(space, batch.first + i);
      if (compile_key(m) != key) application = alone(m), key = compile_key(m);
      const Outcome its = evaluate(application, m);
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(its.feasible, batch.feasible[at] == 1) << batch.first + i;
      ASSERT_EQ(its.reason, batch.reasons[batch.reason[at]]) << batch.first + i;
      feasible += its.feasible;
      for (std::size_t metric = 0; its.feasible && metric < metric_count; ++metric)
        differing += std::memcmp(&its.values[metric], &batch.values[metric][at], sizeof(double)) != 0;
    }
  };
  const SweepEnd end = sweep(space, std::span(&all, 1), compiled, side_by_side, {}, compare);
  EXPECT_EQ(differing, 0);
  EXPECT_GT(feasible, all.end / 2);
  EXPECT_LT(feasible, all.end);
  EXPECT_LT(end.compiled, 100) << "of 120 keys";
}

}  // namespace
}  // namespace sdip
