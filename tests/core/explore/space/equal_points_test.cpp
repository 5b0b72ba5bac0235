// Points that are one machine: found again in another space, and evaluated once within one.
#include "core/explore/space/equal_points.h"

#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "core/explore/sweep.h"

namespace sdip {
namespace {

Space equal_space(const std::string& axes, const std::string& more = "") {
  return space_from_json(nlohmann::json::parse(R"({"axes": [)" + axes + "]" + more + "}"), Machine());
}

/// Each point of `to` that is found is the same machine, and each that is not is none of `from`.
std::int64_t found_of(const Space& from, const Space& to) {
  const std::vector<IndexRange> all = {{0, point_count(from)}};
  const PointIndex index(from, all, to);
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < point_count(to); ++i) {
    const auto place = index.find(i);
    bool there = false;
    for (std::int64_t k = 0; k < point_count(from); ++k) there = there || point(from, k) == point(to, i);
    EXPECT_EQ(place.has_value(), there) << i;
    if (!place) continue;
    EXPECT_EQ(point(from, *place), point(to, i)) << i;
    ++found;
  }
  return found;
}

TEST(point_index, finds_machines_of_another_space) {
  const std::string two =
      R"({"parameter": "cores", "values": [1, 2, 4]}, {"parameter": "batch", "values": [1, 2]})";
  const Space from = equal_space(two);
  EXPECT_EQ(found_of(from, from), 6);
  EXPECT_EQ(found_of(from, equal_space(R"({"parameter": "cores", "values": [4, 8, 1]})")), 2);
  EXPECT_EQ(found_of(equal_space(R"({"parameter": "cores", "values": [4, 8, 1]})"), from), 2);
  EXPECT_EQ(found_of(from, equal_space(two, R"(, "sampling": "random", "count": 20)")), 20);
}

TEST(point_index, knows_where_a_condition_leaves_the_base) {
  const std::string when =
      R"({"parameter": "cores", "values": [1, 2]}, {"parameter": "batch", "values": [1, 2], "when": "cores > 1"})";
  const std::string plain = R"({"parameter": "cores", "values": [1, 2]}, {"parameter": "batch", "values": [1, 2]})";
  EXPECT_EQ(found_of(equal_space(when), equal_space(plain)), 3);
  EXPECT_EQ(found_of(equal_space(plain), equal_space(when)), 3);
}

TEST(point_index, finds_only_what_it_was_told_of) {
  const Space space = equal_space(R"({"parameter": "cores", "values": [1, 2, 4, 8]})");
  const std::vector<IndexRange> some = {{1, 2}, {3, 4}};
  const PointIndex index(space, some, space);
  EXPECT_EQ(index.find(0), std::nullopt);
  EXPECT_EQ(index.find(1), 1);
  EXPECT_EQ(index.find(2), std::nullopt);
  EXPECT_EQ(index.find(3), 3);
}

/// Sweeps with outcomes that follow from the machine, and counts what is evaluated.
std::pair<std::vector<double>, std::int64_t> rates_of(const Space& space, SweepOptions options = {}) {
  std::atomic<std::int64_t> evaluated = 0;
  const auto evaluate = [&](const Application&, const Machine& machine) {
    ++evaluated;
    Outcome outcome;
    outcome.feasible = true;
    outcome.values.fill(static_cast<double>(machine.cores * 1000 + machine.batch));
    return outcome;
  };
  std::vector<double> rates(static_cast<std::size_t>(point_count(space)));
  const std::vector<IndexRange> all = {{0, point_count(space)}};
  sweep(
      space, all, [](const Machine&) { return std::make_shared<Application>(); }, one_by_one(evaluate), options,
      [&](PointBatch&& batch) {
        for (std::int64_t i = 0; i < batch.count(); ++i)
          rates[static_cast<std::size_t>(batch.first + i)] = batch.values[0][static_cast<std::size_t>(i)];
      });
  return {rates, evaluated};
}

TEST(equal_points, that_are_drawn_again_are_evaluated_once) {
  const std::string axes =
      R"({"parameter": "cores", "values": [1, 2, 4, 8]}, {"parameter": "batch", "values": [1, 2, 3]})";
  for (const char* sampling : {"random", "latin_hypercube", "sobol"}) {
    const Space space = equal_space(axes, R"(, "sampling": ")" + std::string(sampling) + R"(", "count": 2000)");
    const auto [rates, evaluated] = rates_of(space);
    EXPECT_EQ(evaluated, 12) << sampling;
    for (std::int64_t i = 0; i < point_count(space); ++i) {
      const Machine machine = point(space, i);
      ASSERT_EQ(rates[static_cast<std::size_t>(i)], static_cast<double>(machine.cores * 1000 + machine.batch));
    }
  }
}

TEST(equal_points, are_not_looked_for_where_nearly_all_differ) {
  const Space space = equal_space(R"({"parameter": "core_clock_mhz", "min": 100, "max": 9000, "step": 1},
                                     {"parameter": "cores", "min": 1, "max": 100, "step": 1})",
                                  R"(, "sampling": "random", "count": 1000)");
  EXPECT_FALSE(SeenPoints::pays(space));
  EXPECT_EQ(rates_of(space).second, 1000);
}

TEST(known_points, are_delivered_and_not_evaluated) {
  const Space space = equal_space(R"({"parameter": "cores", "min": 1, "max": 600, "step": 1})");
  SweepOptions options;
  options.threads = 2;
  options.known = [](const IndexRange& range) {
    std::vector<std::optional<Outcome>> known(static_cast<std::size_t>(range.end - range.first));
    for (std::int64_t i = range.first; i < range.end; ++i) {
      if (i % 3 == 0) continue;
      Outcome outcome;
      outcome.feasible = true;
      outcome.values.fill(static_cast<double>(-i));
      known[static_cast<std::size_t>(i - range.first)] = outcome;
    }
    return known;
  };
  const auto [rates, evaluated] = rates_of(space, options);
  EXPECT_EQ(evaluated, 200);
  EXPECT_EQ(rates[1], -1);
  EXPECT_EQ(rates[300], 301'001);
}

}  // namespace
}  // namespace sdip
