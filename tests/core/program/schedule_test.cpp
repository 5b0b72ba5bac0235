// Is the order found one of least peak, and never worse than the given one?
#include "core/program/schedule.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace sdip {
namespace {

using testing::ElementsAre;

OperationOrder given_order(const ScheduleProblem& problem) {
  OperationOrder order(problem.operations.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// x of 1 B makes a and b of 8 B, a makes c and b makes d of 1 B, c and d make y of 1 B.
ScheduleProblem two_branches() {
  ScheduleProblem p;
  p.values = {{1}, {8}, {8}, {1}, {1}, {1, true}};
  p.operations = {{{0}, 1, {}}, {{0}, 2, {}}, {{1}, 3, {}}, {{2}, 4, {}}, {{3, 4}, 5, {}}};
  return p;
}

TEST(schedule, finishes_one_branch_before_it_begins_the_other) {
  const ScheduleProblem p = two_branches();
  EXPECT_EQ(peak_live_bytes(p, {0, 1, 2, 3, 4}), 17);
  const Schedule found = least_live_schedule(p, 100, usual_schedule_effort);
  EXPECT_EQ(found.peak_bytes, 10);
  EXPECT_TRUE(found.proven);
  EXPECT_EQ(peak_live_bytes(p, found.order), 10);
  EXPECT_THAT(found.order, ElementsAre(0, 2, 1, 3, 4));
}

TEST(schedule, a_result_that_takes_a_dying_operand_s_place_needs_no_room_of_its_own) {
  ScheduleProblem p = two_branches();
  p.values[3].bytes = 8;  // c is as large as a
  EXPECT_EQ(peak_live_bytes(p, {0, 2, 1, 3, 4}), 17);
  p.operations[2].replaceable = {1};
  EXPECT_EQ(peak_live_bytes(p, {0, 2}), 9);
}

TEST(moved_bytes, are_those_of_what_is_needed_latest) {
  const ScheduleProblem p = two_branches();
  const OperationOrder order = given_order(p);
  EXPECT_EQ(moved_bytes(p, order, 17), 0);
  EXPECT_EQ(moved_bytes(p, order, 16), 0);   // a result is streamed out: it needs room when it waits
  EXPECT_EQ(moved_bytes(p, order, 15), 16);  // b leaves and comes back
}

/// in -> p -> (a, b) -> q -> (c, d) -> out
TEST(cuts, are_operations_after_all_before_and_before_all_after) {
  ScheduleProblem p;
  p.values.assign(8, {1});
  p.operations = {{{7}, 0, {}}, {{0}, 1, {}}, {{0}, 2, {}},   {{1, 2}, 3, {}},
                  {{3}, 4, {}}, {{3}, 5, {}}, {{4, 5}, 6, {}}};
  EXPECT_THAT(cut_positions(p, given_order(p)), ElementsAre(0, 3, 6));
  p.operations[3].reads = {1};  // b is then needed by nobody
  EXPECT_THAT(cut_positions(p, given_order(p)), ElementsAre(0));
}

ScheduleProblem random_problem(std::mt19937& random, int operations, bool in_place) {
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  ScheduleProblem p;
  for (int i = pick(1, 2); i > 0; --i) p.values.push_back({pick(1, 9), pick(0, 4) == 0});
  for (int n = 0; n < operations; ++n) {
    ScheduledOperation one;
    const int values = static_cast<int>(p.values.size());
    for (int k = pick(1, 3); k > 0; --k) {
      const int v = std::max(0, values - pick(1, 5));
      if (std::ranges::find(one.reads, v) == one.reads.end()) one.reads.push_back(v);
    }
    if (in_place && pick(0, 1) == 0) one.replaceable = {one.reads[0]};
    one.result = values;
    p.values.push_back({pick(1, 9), pick(0, 5) == 0});
    if (!one.replaceable.empty() && pick(0, 1) == 0)
      p.values.back().bytes = p.values[static_cast<std::size_t>(one.replaceable[0])].bytes;
    p.operations.push_back(std::move(one));
  }
  return p;
}

bool is_valid(const ScheduleProblem& p, const OperationOrder& order) {
  std::vector<char> made(p.values.size(), 1), ran(p.operations.size(), 0);
  for (const auto& one : p.operations) made[static_cast<std::size_t>(one.result)] = 0;
  for (const std::int32_t n : order) {
    const auto& one = p.operations[static_cast<std::size_t>(n)];
    for (const std::int32_t v : one.reads)
      if (made[static_cast<std::size_t>(v)] == 0) return false;
    made[static_cast<std::size_t>(one.result)] = 1;
    if (ran[static_cast<std::size_t>(n)]++ != 0) return false;
  }
  return order.size() == p.operations.size();
}

/// The least peak of all valid orders, by trying each.
std::int64_t least_of_all(const ScheduleProblem& p, OperationOrder& order, std::vector<char>& used) {
  if (order.size() == p.operations.size()) return peak_live_bytes(p, order);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t n = 0; n < used.size(); ++n) {
    if (used[n] != 0) continue;
    const bool ready = std::ranges::all_of(p.operations[n].reads, [&](std::int32_t v) {
      for (std::size_t m = 0; m < used.size(); ++m)
        if (p.operations[m].result == v) return used[m] != 0;
      return true;
    });
    if (!ready) continue;
    used[n] = 1;
    order.push_back(static_cast<std::int32_t>(n));
    least = std::min(least, least_of_all(p, order, used));
    order.pop_back();
    used[n] = 0;
  }
  return least;
}

TEST(schedule, of_a_small_graph_has_the_least_peak_of_all_valid_orders) {
  std::mt19937 random(7);
  int better = 0;
  for (int round = 0; round < 400; ++round) {
    const ScheduleProblem p = random_problem(random, 3 + round % 6, round % 2 == 0);
    OperationOrder order;
    std::vector<char> used(p.operations.size(), 0);
    const std::int64_t least = least_of_all(p, order, used);
    const Schedule found = least_live_schedule(p, 20, usual_schedule_effort);
    ASSERT_TRUE(is_valid(p, found.order));
    ASSERT_EQ(found.peak_bytes, least) << "round " << round;
    EXPECT_EQ(found.peak_bytes, peak_live_bytes(p, found.order));
    EXPECT_TRUE(found.proven);
    better += least < peak_live_bytes(p, given_order(p));
  }
  EXPECT_GT(better, 40);
}

TEST(schedule, of_a_long_program_is_valid_and_never_worse_than_the_given_order) {
  std::mt19937 random(8);
  for (int round = 0; round < 12; ++round) {
    const ScheduleProblem p = random_problem(random, 150, true);
    const OperationOrder given = given_order(p);
    for (const ScheduleEffort& effort : {ScheduleEffort{1, 4, 1}, usual_schedule_effort}) {
      const Schedule found = least_live_schedule(p, 30, effort);
      ASSERT_TRUE(is_valid(p, found.order));
      const std::pair now{found.peak_bytes, found.moved_bytes};
      EXPECT_LE(now, std::pair(peak_live_bytes(p, given), moved_bytes(p, given, 30)));
    }
  }
}

/// Programs whose second half changes: their first one's windows are known.
TEST(schedule, with_windows_of_other_programs_is_the_same_as_without) {
  std::mt19937 random(10);
  KnownWindows known;
  for (int round = 0; round < 6; ++round) {
    ScheduleProblem p = random_problem(random, 120, true);
    for (int change = 0; change < 4; ++change) {
      for (const ScheduleEffort& effort : {ScheduleEffort{16, 8, 2}, usual_schedule_effort}) {
        const Schedule with = least_live_schedule(p, 30, effort, known),
                       without = least_live_schedule(p, 30, effort);
        ASSERT_EQ(with.order, without.order);
        ASSERT_EQ(with.proven, without.proven);
      }
      p.values[p.values.size() - 1 - random() % (p.values.size() / 2)].bytes += 1;
    }
  }
}

TEST(schedule, the_same_problem_gives_the_same_order) {
  std::mt19937 random(9);
  const ScheduleProblem p = random_problem(random, 60, true);
  EXPECT_EQ(least_live_schedule(p, 30, usual_schedule_effort).order,
            least_live_schedule(p, 30, usual_schedule_effort).order);
}

}  // namespace
}  // namespace sdip
