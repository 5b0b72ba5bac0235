// Do independent operations come to stand next to each other, within the peak of live bytes?
#include "core/program/compile/order.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <ctime>
#include <numeric>

#include "tests/core/program/built_in.h"
#include "tests/core/program/random_graph.h"
#include "tests/sanitized.h"

namespace sdip {
namespace {

using testing::ElementsAre;

/// The example of core/program/pack.cpp: values x a b c d y, operations a b c d y.
ScheduleProblem two_chains(std::int64_t a_bytes, std::int64_t d_bytes) {
  ScheduleProblem problem;
  for (const std::int64_t bytes :
       {std::int64_t{1}, a_bytes, std::int64_t{1}, std::int64_t{1}, d_bytes, std::int64_t{1}})
    problem.values.push_back({bytes, false});
  problem.values.back().kept = true;
  problem.operations = {{{0}, 1, {}}, {{1}, 2, {}}, {{0}, 3, {}}, {{3}, 4, {}}, {{2, 4}, 5, {}}};
  return problem;
}
const std::vector<CircuitUse> circuits{{0, 10}, {5, 8}, {1, 6}, {4, 9}, {3, 1}};
const OperationOrder as_written{0, 1, 2, 3, 4};

TEST(pack, a_chain_that_waits_for_nothing_runs_beside_the_other) {
  const ScheduleProblem problem = two_chains(1, 1);
  EXPECT_EQ(packed_cycles(problem, circuits, as_written), 26);
  const OperationOrder order = packed_order(problem, circuits, 32);
  EXPECT_THAT(order, ElementsAre(0, 2, 3, 1, 4));
  EXPECT_EQ(packed_cycles(problem, circuits, order), 19);
}

TEST(pack, nothing_comes_early_by_which_more_bytes_would_be_alive) {
  const ScheduleProblem problem = two_chains(4, 2);
  EXPECT_EQ(peak_live_bytes(problem, as_written), 6);
  const OperationOrder order = packed_order(problem, circuits, 32);
  EXPECT_THAT(order, ElementsAre(0, 2, 1, 3, 4));
  EXPECT_EQ(packed_cycles(problem, circuits, order), 20);
  EXPECT_EQ(peak_live_bytes(problem, order), 6);
}

TEST(pack, a_window_of_one_keeps_the_given_order) {
  EXPECT_EQ(packed_order(two_chains(1, 1), circuits, 1), as_written);
}

/// Whether each operation comes behind those that make what it reads.
bool is_order_of(const ScheduleProblem& problem, const OperationOrder& order) {
  std::vector<char> made(problem.values.size(), 1);
  for (const ScheduledOperation& one : problem.operations) made[static_cast<std::size_t>(one.result)] = 0;
  for (const std::int32_t n : order) {
    for (const std::int32_t v : problem.operations[static_cast<std::size_t>(n)].reads)
      if (made[static_cast<std::size_t>(v)] == 0) return false;
    made[static_cast<std::size_t>(problem.operations[static_cast<std::size_t>(n)].result)] = 1;
  }
  return order.size() == problem.operations.size();
}

TEST(pack, random_orders_stay_valid_within_their_peak_and_end_no_later) {
  int shorter = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    GraphDice dice(seed);
    ScheduleProblem problem;
    std::vector<CircuitUse> uses;
    OperationOrder in_order;
    problem.values.push_back({dice.between(1, 9), false});
    const std::int64_t count = dice.between(1, 40);
    for (std::int64_t n = 0; n < count; ++n) {
      ScheduledOperation one;
      for (std::int64_t reads = dice.between(1, 2); reads > 0; --reads) {
        const auto v = static_cast<std::int32_t>(dice.between(std::max<std::int64_t>(0, n - 6), n));
        if (std::ranges::find(one.reads, v) == one.reads.end()) one.reads.push_back(v);
      }
      one.result = static_cast<std::int32_t>(n + 1);
      problem.values.push_back({dice.between(0, 9), dice.one_in(10)});
      problem.operations.push_back(std::move(one));
      uses.push_back({static_cast<std::size_t>(dice.between(0, 6)), dice.between(0, 20)});
      in_order.push_back(static_cast<std::int32_t>(n));
    }
    const OperationOrder order = packed_order(problem, uses, static_cast<std::size_t>(dice.between(1, 40)));
    ASSERT_TRUE(is_order_of(problem, order));
    EXPECT_LE(peak_live_bytes(problem, order), peak_live_bytes(problem, in_order));
    EXPECT_LE(packed_cycles(problem, uses, order), packed_cycles(problem, uses, in_order));
    shorter += packed_cycles(problem, uses, order) < packed_cycles(problem, uses, in_order);
  }
  EXPECT_GT(shorter, 100);
}

/// About how long the drafts take in their order, and the most bytes then alive.
struct Packing {
  std::int64_t cycles = 0, peak_bytes = 0;
};
Packing packing_of(Compilation& c) {
  live(c);
  const ScheduleProblem problem = problem_of(c);
  OperationOrder order(c.drafts.size());
  std::iota(order.begin(), order.end(), 0);
  return {packed_cycles(problem, circuits_of(c.drafts), order), peak_live_bytes(problem, order)};
}

TEST(pack, takes_less_than_10_ms_for_sd_15s_u_net_and_stays_within_the_peak_on_every_built_in_model) {
  std::printf("%-22s %8s %14s %14s %8s\n", "model", "drafts", "cycles given", "packed", "ms");
  for (const Workload& workload : built_in_workloads()) {
    Machine machine = presets().front().machine;
    machine.operator_dsram = OperatorDsram::per_operator;
    const Stage& stage = workload.stages[0];
    Compilation c{machine, stage.role, stage.part, stage.graph, {}, {}, {}, {}, {}, {}};
    lower(c);
    fuse_attention(c);
    fuse_pointwise(c);
    schedule(c);
    const Packing before = packing_of(c);
    double least = 1e9;
    Compilation packed = c;
    for (int again = 0; again < 3; ++again) {
      Compilation fresh = c;
      const std::clock_t start = std::clock();  // of the processor: a loaded machine is no fault
      pack(fresh);
      least = std::min(least, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
      packed.drafts = std::move(fresh.drafts);
    }
    const Packing after = packing_of(packed);
    std::printf("%-22s %8zu %14ld %14ld %8.2f\n", workload.name.c_str(), c.drafts.size(),
                static_cast<long>(before.cycles), static_cast<long>(after.cycles), least);
    EXPECT_LE(after.cycles, before.cycles) << workload.name;
    EXPECT_LE(after.peak_bytes, before.peak_bytes) << workload.name;
    if (workload.name.starts_with("sd15")) {
      EXPECT_LT(least, sanitized ? 200 : 10) << workload.name;
    }
  }
}

}  // namespace
}  // namespace sdip
