// Does a sweep give every point once, the same on any number of threads?
#include "core/explore/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "core/base/error.h"

namespace sdip {
namespace {

Space small_space() {
  Space space;
  space.axes = {{find_parameter("batch"), {1, 2, 3}}, {find_parameter("cores"), {}}};
  for (std::int64_t cores = 1; cores <= 100; ++cores) space.axes[1].values.push_back(cores);
  return space;
}

std::shared_ptr<const Application> compile_test(const Machine& machine) {
  if (machine.batch == 3) throw Error("no_fit", "/batch", "three do not fit");
  auto application = std::make_shared<Application>();
  application->name = std::to_string(machine.batch);
  return application;
}

Outcome evaluate_test(const Application& application, const Machine& machine) {
  Outcome outcome;
  if (machine.cores % 10 == 0) {
    outcome.reason = "tens are out";
    return outcome;
  }
  outcome.feasible = true;
  for (std::size_t m = 0; m < metric_count; ++m)
    outcome.values[m] =
        std::stod(application.name) * 1000 + static_cast<double>(machine.cores) + static_cast<double>(m) / 3;
  return outcome;
}

/// Every point as text.
std::map<std::int64_t, std::string> points_of(const PointBatch& batch) {
  std::map<std::int64_t, std::string> points;
  for (std::size_t i = 0; i < batch.feasible.size(); ++i) {
    std::string text = std::to_string(batch.feasible[i]) + " " + batch.reasons[batch.reason[i]];
    for (const auto& column : batch.values) text += " " + std::to_string(column[i]);
    points[batch.first + static_cast<std::int64_t>(i)] = text;
  }
  return points;
}

struct Collected {
  std::map<std::int64_t, std::string> points;
  std::vector<IndexRange> batches;
  SweepEnd end;
};

Collected collect(const Space& space, const std::vector<IndexRange>& ranges, const SweepOptions& options,
                  const CompileFunction& compile_machine = compile_test,
                  const EvaluateFunction& evaluate_point = evaluate_test) {
  Collected collected;
  collected.end =
      sweep(space, ranges, compile_machine, one_by_one(evaluate_point), options, [&](PointBatch&& batch) {
        collected.batches.push_back(batch.range());
        for (auto& [index, text] : points_of(batch))
          EXPECT_TRUE(collected.points.emplace(index, text).second) << index;
      });
  return collected;
}

TEST(sweep, gives_every_point_once_whatever_the_threads_and_batches) {
  const Space space = small_space();
  const Collected one = collect(space, {{0, 300}}, {.threads = 1, .batch_points = 300});
  ASSERT_EQ(one.points.size(), 300u);
  EXPECT_EQ(one.end.done, 300);
  EXPECT_EQ(one.end.feasible, 180);
  EXPECT_FALSE(one.end.cancelled);
  for (const int threads : {1, 2, 5})
    for (const std::int64_t batch : {1, 7, 64})
      EXPECT_EQ(collect(space, {{0, 300}}, {.threads = threads, .batch_points = batch}).points, one.points);
}

TEST(sweep, evaluates_only_the_ranges_and_aligns_batches) {
  const Collected collected = collect(small_space(), {{5, 12}, {40, 41}}, {.threads = 1, .batch_points = 10});
  EXPECT_THAT(collected.batches, testing::ElementsAre(IndexRange{5, 10}, IndexRange{10, 12}, IndexRange{40, 41}));
}

TEST(sweep, compiles_each_key_once) {
  std::mutex mutex;
  std::map<std::int64_t, int> calls;
  const auto counted = [&](const Machine& machine) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::scoped_lock lock(mutex);
    ++calls[machine.batch];
    return compile_test(machine);
  };
  const Collected collected = collect(small_space(), {{0, 300}}, {.threads = 4, .batch_points = 3}, counted);
  EXPECT_EQ(collected.end.compiled, 3);
  EXPECT_EQ(calls, (std::map<std::int64_t, int>{{1, 1}, {2, 1}, {3, 1}}));
}

TEST(sweep, compiles_once_for_all_capacities_that_an_application_is_for) {
  Space space;
  space.axes = {{find_parameter("psram_bytes"), {}}, {find_parameter("cores"), {1, 2, 3}}};
  for (std::int64_t bytes = 2000; bytes <= 2100; ++bytes) space.axes[0].values.push_back(bytes);
  const auto every_fifty = [](bool said) {
    return [said](const Machine& machine) {
      auto application = std::make_shared<Application>();
      const std::int64_t step = machine.psram_bytes / 50;
      application->name = std::to_string(step);
      if (said) application->psram_bytes = {50 * step, 50 * step + 49};
      return application;
    };
  };
  const std::vector<IndexRange> all = {{0, 303}};
  const Collected each = collect(space, all, {.batch_points = 7}, every_fifty(false));
  const Collected shared = collect(space, all, {.batch_points = 7}, every_fifty(true));
  EXPECT_EQ(each.end.compiled, 101);
  EXPECT_EQ(shared.end.compiled, 3);
  EXPECT_EQ(shared.points, each.points);
  EXPECT_EQ(collect(space, all, {.threads = 4, .batch_points = 7, .programs = 1}, every_fifty(true)).points,
            each.points);
}

TEST(sweep, forgets_the_least_recent_program_at_capacity_and_stays_right) {
  Space space = small_space();
  space.axes[0].values = {1, 2, 4, 5, 6, 7, 8};
  const Collected wide = collect(space, {{0, 700}}, {.threads = 3, .batch_points = 50, .programs = 64});
  const Collected narrow = collect(space, {{0, 700}}, {.threads = 3, .batch_points = 50, .programs = 1});
  EXPECT_EQ(wide.points, narrow.points);
  EXPECT_EQ(wide.end.compiled, 7);
}

TEST(sweep, turns_refused_machines_and_programs_into_infeasible_points) {
  const Collected collected = collect(small_space(), {{0, 300}}, {});
  EXPECT_THAT(collected.points.at(9), testing::StartsWith("0 tens are out nan"));
  EXPECT_THAT(collected.points.at(200), testing::StartsWith("0 /batch: three do not fit nan"));

  Space conflicting;
  conflicting.base.decoder_dram_share = Decimal{90};
  conflicting.axes = {{find_parameter("encoder_dram_share"), {90}}};
  const Collected refused = collect(conflicting, {{0, 1}}, {});
  EXPECT_THAT(refused.points.at(0), testing::MatchesRegex("0 .*share.*nan.*"));
}

TEST(sweep, stops_when_cancelled_and_delivers_what_is_finished) {
  std::atomic<bool> cancel{false};
  std::int64_t delivered = 0;
  const auto cancelled_at_30 = [&](const Application& application, const Machine& machine) {
    if (machine.cores == 30) cancel = true;
    return evaluate_test(application, machine);
  };
  const std::vector<IndexRange> all = {{0, 300}};
  const SweepEnd end = sweep(small_space(), all, compile_test, one_by_one(cancelled_at_30),
                             {.threads = 2, .batch_points = 100, .cancel = &cancel},
                             [&](PointBatch&& batch) { delivered += batch.count(); });
  EXPECT_TRUE(end.cancelled);
  EXPECT_EQ(end.done, delivered);
  EXPECT_GT(delivered, 0) << "the first batch was not thrown away";
  EXPECT_LT(delivered, 300);
}

TEST(sweep, delivers_a_batch_that_takes_long_as_far_as_it_is) {
  std::atomic<int> compiled{0};  // each takes a second
  Space space;
  space.axes = {{find_parameter("batch"), {}}};
  for (std::int64_t batch = 1; batch <= 20; ++batch) space.axes[0].values.push_back(batch);
  const auto slow = [&](const Machine& machine) {
    ++compiled;
    return compile_test(machine);
  };
  const std::vector<IndexRange> all = {{0, 20}};
  SweepOptions options{.batch_points = 8, .seconds = [&] { return compiled.load(); }, .most_seconds = 3};
  const Collected parts = collect(space, all, options, slow);
  EXPECT_THAT(parts.batches,
              testing::ElementsAre(IndexRange{0, 3}, IndexRange{3, 6}, IndexRange{6, 8}, IndexRange{8, 11},
                                   IndexRange{11, 14}, IndexRange{14, 16}, IndexRange{16, 19}, IndexRange{19, 20}));
  EXPECT_EQ(parts.points, collect(space, all, {}).points);
  options.most_seconds = 0.5;
  EXPECT_EQ(collect(space, all, options, slow).batches.size(), 20u) << "each point by itself";
}

TEST(sweep, rethrows_what_the_sink_throws_and_calls_it_no_more) {
  int calls = 0;
  const std::vector<IndexRange> all = {{0, 300}};
  EXPECT_THROW(sweep(small_space(), all, compile_test, one_by_one(evaluate_test), {.threads = 3, .batch_points = 5},
                     [&](PointBatch&&) {
                       ++calls;
                       throw Error("disk_full", "file", "full");
                     }),
               Error);
  EXPECT_EQ(calls, 1);
}

TEST(sweep, rethrows_a_bug_instead_of_calling_the_point_infeasible) {
  const auto broken = [](const Machine&) -> std::shared_ptr<const Application> { throw Bug("ours"); };
  EXPECT_THROW(collect(small_space(), {{0, 300}}, {.threads = 3}, broken), Bug);
}

}  // namespace
}  // namespace sdip
