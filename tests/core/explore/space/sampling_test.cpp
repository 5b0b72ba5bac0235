// How evenly do the samples of a space lie in it, and how many programs do their neighbours share?
#include "core/explore/space/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "core/explore/sweep.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using testing::ElementsAre;

Axis axis_of(const char* name, std::int64_t values) {
  Axis axis{find_parameter(name), std::vector<std::int64_t>(static_cast<std::size_t>(values))};
  std::iota(axis.values.begin(), axis.values.end(), 1);
  return axis;
}

Space sample_of(Sampling sampling, std::int64_t count, std::vector<Axis> axes, std::uint64_t seed = 1) {
  return {.base = {}, .axes = std::move(axes), .sampling = sampling, .seed = seed, .count = count};
}

constexpr Sampling drawing[] = {Sampling::random, Sampling::latin_hypercube, Sampling::sobol};

TEST(sampling, is_named_in_the_order_of_its_values) {
  EXPECT_THAT(sampling_names(), ElementsAre("grid", "random", "latin_hypercube", "sobol"));
  for (const std::string_view name : sampling_names()) EXPECT_EQ(sampling_name(*sampling_named(name)), name);
  EXPECT_EQ(sampling_named("lhs"), std::nullopt);
}

TEST(sampling, is_a_pure_function_of_the_space_and_the_index) {
  for (const Sampling sampling : drawing) {
    const Space space =
        sample_of(sampling, 500, {axis_of("cores", 7), axis_of("batch", 3), axis_of("vector_lanes", 100)});
    Space other = space, reseeded = space;
    reseeded.seed = 2;
    int differing = 0;
    for (std::int64_t i = 499; i >= 0; --i) {
      EXPECT_EQ(point(space, i), point(other, i));
      differing += point(space, i) != point(reseeded, i);
      for (std::size_t a = 0; a < space.axes.size(); ++a)
        ASSERT_EQ(axis_value(space, a, i), space.axes[a].row->read(point(space, i)));
    }
    EXPECT_GT(differing, 400) << sampling_name(sampling);
  }
}

TEST(sampling, reads_back_equal_and_says_its_limits) {
  for (const Sampling sampling : drawing) {
    const Space space = sample_of(sampling, 50, {axis_of("cores", 7)}, 9);
    EXPECT_EQ(space_from_json(nlohmann::json::parse(space_json(space).dump()), space.base), space);
    const auto refused = [&](std::int64_t count) {
      return refusal([&] { check_space(sample_of(sampling, count, {axis_of("cores", 7)})); });
    };
    EXPECT_EQ(refused(most_points), "accepted");
    EXPECT_EQ(refused(most_points + 1), "value_out_of_range at /count");
    EXPECT_EQ(refused(0), "value_out_of_range at /count");
    const nlohmann::json endless = {{"sampling", sampling_name(sampling)}, {"axes", axes_json(space.axes)}};
    EXPECT_EQ(refusal([&] { space_from_json(endless, {}); }), "value_invalid at /count");
  }
}

TEST(sampling, of_more_programs_than_points_can_be_is_left_to_those_that_do_not_stratify_them) {
  std::vector<Axis> axes;
  for (const char* name : {"batch", "dsram_bytes", "stackram_bytes", "psram_bytes"})
    axes.push_back(axis_of(name, 128));
  const auto compile = std::ranges::count_if(axes, [](const Axis& axis) { return changes_program(axis); });
  ASSERT_EQ(compile, 4);
  EXPECT_EQ(refusal([&] { check_space(sample_of(Sampling::random, 10, axes)); }), "too_large at /axes");
  for (const Sampling sampling : {Sampling::latin_hypercube, Sampling::sobol}) {
    const Space space = sample_of(sampling, 128, axes);
    EXPECT_EQ(refusal([&] { check_space(space); }), "accepted");
    for (std::size_t a = 0; a < axes.size(); ++a) {
      std::set<std::int64_t> seen;
      for (std::int64_t i = 0; i < 128; ++i) seen.insert(axis_value(space, a, i));
      EXPECT_EQ(seen.size(), 128u) << a << ": of values drawn at random about 81";
    }
  }
}

TEST(shuffled, is_a_permutation_and_every_place_is_as_likely) {
  for (const std::int64_t count : {1, 2, 3, 5, 8, 100, 1000}) {
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < count; ++i) seen.insert(shuffled(i, count, 77));
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count);
    EXPECT_EQ(*seen.rbegin(), count - 1);
  }
  for (const std::int64_t count : {2, 3, 5, 7}) {
    std::vector<int> times(static_cast<std::size_t>(count * count));
    constexpr int keys = 7000;
    for (std::uint64_t key = 0; key < keys; ++key)
      for (std::int64_t i = 0; i < count; ++i)
        ++times[static_cast<std::size_t>(i * count + shuffled(i, count, mixed(key)))];
    const double expected = static_cast<double>(keys) / static_cast<double>(count);
    for (const int one : times) EXPECT_NEAR(one, expected, 5 * std::sqrt(expected)) << count;
  }
}

// Counts that nothing divides, with fewer and with more combinations of the compile axes than points.
TEST(latin_hypercube, has_one_point_in_each_stratum_of_each_axis) {
  for (const std::int64_t count : {1, 2, 7, 97, 360, 1009}) {
    // A value is a stratum of an axis that has as many values as there are points.
    const Space space = sample_of(Sampling::latin_hypercube, count,
                                  {axis_of("cores", count), axis_of("psram_bytes", count), axis_of("batch", count),
                                   axis_of("vector_lanes", count)});
    for (std::size_t a = 0; a < space.axes.size(); ++a) {
      std::set<std::int64_t> seen;
      for (std::int64_t i = 0; i < count; ++i) seen.insert(axis_value(space, a, i));
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), count) << a;
    }
  }
  for (const std::int64_t count : {50, 1000, 1009}) {
    const Space space =
        sample_of(Sampling::latin_hypercube, count,
                  {axis_of("batch", 3), axis_of("psram_bytes", 5), axis_of("dsram_bytes", 2), axis_of("cores", 7)});
    for (std::size_t a = 0; a < space.axes.size(); ++a) {
      std::vector<int> times(space.axes[a].values.size());
      for (std::int64_t i = 0; i < count; ++i) ++times[static_cast<std::size_t>(axis_value(space, a, i) - 1)];
      const double even = static_cast<double>(count) / static_cast<double>(times.size());
      for (const int one : times) EXPECT_NEAR(one, even, 1.0) << "axis " << a << " of " << count;
    }
  }
}

/// The first points that Joe and Kuo's program prints for their direction numbers, in the plain order of bits.
TEST(sobol, is_the_published_sequence_but_for_its_scrambling) {
  // Owen's scrambling permutes intervals: points that share k bits still do, and no others.
  const std::uint32_t published[8][3] = {{0, 0, 0}, {4, 4, 4}, {6, 2, 2}, {2, 6, 6},
                                         {3, 3, 5}, {7, 7, 1}, {5, 1, 7}, {1, 5, 3}};  // in eighths, Gray's order
  const Space space = sample_of(Sampling::sobol, 8,
                                {axis_of("cores", 8), axis_of("vector_lanes", 8), axis_of("core_clock_mhz", 8)});
  const auto shared_bits = [](std::uint32_t a, std::uint32_t b) { return std::countl_zero(a ^ b); };
  for (std::uint32_t i = 0; i < 8; ++i)
    for (std::uint32_t j = 0; j < 8; ++j)
      for (std::size_t a = 0; a < 3; ++a) {
        const auto at = [&](std::uint32_t gray) {
          return static_cast<std::uint32_t>(axis_value(space, a, gray ^ gray >> 1) - 1);
        };
        EXPECT_EQ(shared_bits(at(i), at(j)), shared_bits(published[i][a], published[j][a])) << i << j << a;
      }
}

TEST(sobol, gives_each_program_a_net_of_its_own) {
  const Space space =
      sample_of(Sampling::sobol, 256, {axis_of("batch", 4), axis_of("cores", 16), axis_of("vector_lanes", 16)});
  for (std::int64_t program = 0; program < 4; ++program) {
    std::set<std::pair<std::int64_t, std::int64_t>> cells;  // of 8 by 8: one point each
    for (std::int64_t i = 64 * program; i < 64 * (program + 1); ++i) {
      EXPECT_EQ(axis_value(space, 0, i), program + 1);
      cells.emplace((axis_value(space, 1, i) - 1) / 2, (axis_value(space, 2, i) - 1) / 2);
    }
    EXPECT_EQ(cells.size(), 64u);
  }
}

/// The centred L2 discrepancy (Hickernell, Math. Comp. 67, 1998) of points in the unit cube.
double discrepancy(const Space& space) {
  const auto count = static_cast<std::size_t>(space.count), axes = space.axes.size();
  std::vector<double> x(count * axes);  // from the middle
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t a = 0; a < axes; ++a)
      x[i * axes + a] = (static_cast<double>(axis_value(space, a, static_cast<std::int64_t>(i))) - 0.5) /
                            static_cast<double>(space.axes[a].values.size()) -
                        0.5;
  double singles = 0, pairs = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double product = 1;
    for (std::size_t a = 0; a < axes; ++a) {
      const double z = std::fabs(x[i * axes + a]);
      product *= 1 + z / 2 - z * z / 2;
    }
    singles += product;
    for (std::size_t j = 0; j < count; ++j) {
      double both = 1;
      for (std::size_t a = 0; a < axes; ++a)
        both *= 1 + (std::fabs(x[i * axes + a]) + std::fabs(x[j * axes + a]) -
                     std::fabs(x[i * axes + a] - x[j * axes + a])) /
                        2;
      pairs += both;
    }
  }
  const auto n = static_cast<double>(count);
  return std::sqrt(std::pow(13.0 / 12, static_cast<double>(axes)) - 2 / n * singles + pairs / n / n);
}

double mean_discrepancy(Sampling sampling, const std::vector<Axis>& axes) {
  constexpr int seeds = 5;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) sum += discrepancy(sample_of(sampling, 512, axes, seed));
  return sum / seeds;
}

TEST(sampling, of_latin_hypercubes_and_sobol_is_more_even_than_random) {
  const std::vector<Axis> costs = {axis_of("cores", 1000), axis_of("vector_lanes", 1000),
                                   axis_of("core_clock_mhz", 1000), axis_of("dram_latency_ns", 1000)};
  std::vector<Axis> mixed_axes = costs;
  mixed_axes[1] = axis_of("psram_bytes", 16);
  mixed_axes[3] = axis_of("batch", 32);
  const auto means = [](const std::vector<Axis>& axes) {
    std::array<double, 3> of{};
    for (std::size_t s = 0; s < of.size(); ++s) of[s] = mean_discrepancy(drawing[s], axes);
    RecordProperty("of " + std::string(axes[1].row->name),
                   std::to_string(of[0]) + " " + std::to_string(of[1]) + " " + std::to_string(of[2]));
    return of;
  };
  const auto cost = means(costs);  // 0.047, 0.021, 0.0054
  EXPECT_LT(cost[1], 0.6 * cost[0]);
  EXPECT_LT(cost[2], 0.2 * cost[0]);
  const auto both = means(mixed_axes);  // 0.038, 0.030, 0.028: most of it is that 16 values are all there is
  EXPECT_LT(both[1], 0.85 * both[0]);
  EXPECT_LT(both[2], both[1]);
}

std::int64_t program_changes(const Space& space) {
  std::int64_t changes = 0;
  for (std::int64_t i = 1; i < space.count; ++i)
    changes += compile_key(point(space, i)) != compile_key(point(space, i - 1));
  return changes;
}

// 30 programs: random and Sobol change 29 times; a Latin hypercube is within a point of that at each edge of a run.
TEST(sampling, lets_neighbours_share_programs) {
  const std::vector<Axis> axes = {axis_of("batch", 2), axis_of("psram_bytes", 3), axis_of("cores", 50),
                                  axis_of("dsram_bytes", 5)};
  EXPECT_EQ(program_changes(sample_of(Sampling::random, 3000, axes)), 29);
  EXPECT_EQ(program_changes(sample_of(Sampling::sobol, 3000, axes)), 29);
  EXPECT_LE(program_changes(sample_of(Sampling::latin_hypercube, 3000, axes)), 40);
}

Outcome told_by_index(const Application&, const Machine& machine) {
  Outcome outcome;
  outcome.feasible = true;
  outcome.values[0] = static_cast<double>(machine.cores * 1000 + machine.vector_lanes);
  return outcome;
}

TEST(sampling, gives_the_same_points_however_a_sweep_is_cut) {
  const CompileFunction nothing = [](const Machine&) { return std::make_shared<const Application>(); };
  for (const Sampling sampling : drawing) {
    const Space space =
        sample_of(sampling, 1000, {axis_of("batch", 3), axis_of("cores", 20), axis_of("vector_lanes", 30)});
    const auto values = [&](const std::vector<IndexRange>& ranges, std::int64_t batch, int threads) {
      std::vector<double> all(1000, -1);
      SweepOptions options{.threads = threads, .batch_points = batch};
      for (const IndexRange& range : ranges)
        sweep(space, std::span(&range, 1), nothing, one_by_one(told_by_index), options, [&](PointBatch&& points) {
          for (std::size_t i = 0; i < points.feasible.size(); ++i)
            all[static_cast<std::size_t>(points.first) + i] = points.values[0][i];
        });
      return all;
    };
    const auto whole = values({{0, 1000}}, 256, 1);
    EXPECT_EQ(values({{0, 333}, {333, 334}, {334, 1000}}, 7, 2), whole) << sampling_name(sampling);
    EXPECT_EQ(values({{500, 1000}, {0, 500}}, 1000, 2), whole);
  }
}

}  // namespace
}  // namespace sdip
