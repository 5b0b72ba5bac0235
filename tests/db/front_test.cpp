// The front of stored points: kept, and brought up to date by what came since.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "core/explore/front.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

constexpr std::int64_t point_total = 6000;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Asked {
  std::vector<Objective> objectives;
  std::vector<Formula> constraints;
};
Asked area_and_throughput(bool constrained) {
  Asked asked;
  for (const char* text : {"area_mm2", "throughput_fps"})
    asked.objectives.push_back(objective_from_text(text, {}, ""));
  if (constrained) asked.constraints = {parse_constraint("energy_j_per_frame <= 500", "")};
  return asked;
}

/// From all columns.
std::vector<std::int64_t> front_anew(const Store& store, std::int64_t id, const Space& space, const Asked& asked) {
  std::vector<Measure> measures = measures_of(asked.objectives);
  for (const Formula& constraint : asked.constraints) measures.emplace_back(constraint);
  Columns all = store.columns(id, space, measures);
  for (std::size_t i = 0; i < all.index.size(); ++i)
    for (std::size_t k = 2; k < all.values.size(); ++k)
      if (!(std::fabs(all.values[k][i]) > 0)) all.values[0][i] = not_a_number;
  all.values.resize(2);
  const auto better = directions(asked.objectives);
  std::vector<std::int64_t> indices;
  for (const std::int64_t place :
       pareto_front(std::vector<std::span<const double>>(all.values.begin(), all.values.end()), better))
    indices.push_back(all.index[static_cast<std::size_t>(place)]);
  return indices;
}

TEST(front, grows_with_its_points_in_whatever_order_they_come) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = line_of_points(point_total);
  const std::int64_t id = add_sample_sweep(store, space), other = add_sample_sweep(store, space);
  std::vector<std::int64_t> firsts;
  for (std::int64_t first = 0; first < point_total; first += 100) firsts.push_back(first);
  std::ranges::shuffle(firsts, std::mt19937(4));
  std::size_t longest = 0, changes = 0;
  std::vector<std::int64_t> before;
  for (const std::int64_t first : firsts) {
    store.append(id, drawn_batch(first, 100));
    store.append(other, drawn_batch(point_total - 100 - first, 100));
    for (const bool constrained : {false, true}) {
      const Asked asked = area_and_throughput(constrained);
      const auto kept = store.front(id, space, asked.objectives, asked.constraints);
      ASSERT_EQ(kept, front_anew(store, id, space, asked)) << first;
      if (constrained) continue;
      longest = std::max(longest, kept.size());
      changes += kept != before;
      before = kept;
    }
  }
  EXPECT_GT(longest, 3U);
  EXPECT_GT(changes, 5U);
  const Asked asked = area_and_throughput(false);
  EXPECT_EQ(store.front(other, space, asked.objectives, {}), front_anew(store, other, space, asked));
}

/// Equal points are all on the front: of so many nothing is remembered, and nothing folded again for each chunk.
TEST(front, of_very_many_equal_points_is_found_in_one_pass) {
  const TemporaryFolder folder;
  Store store(folder.store());
  Space space;
  space.axes = {{find_parameter("dram_channel_mib"), {}}, {find_parameter("cores"), {}}};
  for (std::int64_t n = 1; n <= 4000; ++n) space.axes[0].values.push_back(n);
  for (std::int64_t n = 1; n <= 300; ++n) space.axes[1].values.push_back(n);
  const std::int64_t id = add_sample_sweep(store, space), total = point_count(space);
  Outcome same;
  same.feasible = true;
  constexpr std::int64_t chunk = 4096;  // fewer and larger ones than a sweep's
  for (std::int64_t first = 0; first < total; first += chunk) {
    PointBatch batch;
    batch.first = first;
    for (std::int64_t i = first; i < std::min(total, first + chunk); ++i) append(batch, same);
    store.append(id, batch);
  }
  const Asked asked = area_and_throughput(false);
  for (int again = 0; again < 2; ++again)
    EXPECT_EQ(std::ssize(store.front(id, space, asked.objectives, {})), total);
}

TEST(front, of_a_sweep_that_was_removed_is_forgotten) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = line_of_points(point_total);
  const Asked asked = area_and_throughput(false);
  const std::int64_t id = add_sample_sweep(store, space);
  store.append(id, drawn_batch(0, 100));
  EXPECT_FALSE(store.front(id, space, asked.objectives, {}).empty());
  store.remove_sweep(id);
  EXPECT_THROW(store.front(id, space, asked.objectives, {}), Error);
  const std::int64_t next = add_sample_sweep(store, space);
  EXPECT_TRUE(store.front(next, space, asked.objectives, {}).empty());
  store.append(next, drawn_batch(100, 50));
  EXPECT_EQ(store.front(next, space, asked.objectives, {}), front_anew(store, next, space, asked));
}

TEST(front, is_asked_for_by_several_while_points_are_stored) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = line_of_points(point_total);
  const Asked asked = area_and_throughput(true);
  const std::int64_t id = add_sample_sweep(store, space);
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 3; ++reader)
    readers.emplace_back([&](const std::stop_token& ended) {
      while (!ended.stop_requested()) store.front(id, space, asked.objectives, asked.constraints);
    });
  for (std::int64_t first = 0; first < point_total; first += 100) store.append(id, drawn_batch(first, 100));
  readers.clear();
  EXPECT_EQ(store.front(id, space, asked.objectives, asked.constraints), front_anew(store, id, space, asked));
}

}  // namespace
}  // namespace sdip
