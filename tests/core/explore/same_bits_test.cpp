// Does a point depend on what is evaluated with it, on threads or on the processor's instructions?
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <map>
#include <mutex>

#include "core/cost/price/batch.h"
#include "core/explore/sweep.h"
#include "tests/core/base/full_run.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// sd15 on 1,048,576 machines, along the axes that `sdip bench` sweeps.
Space whole_space() {
  Space space;
  const auto axis = [&](const char* name, std::vector<std::int64_t> values) {
    space.axes.push_back({find_parameter(name), std::move(values)});
  };
  axis("cores", {1, 2, 4, 5, 7, 10, 15, 20});
  std::vector<std::int64_t> rates;
  for (std::int64_t i = 1; i <= 256; ++i) rates.push_back(9 * i);
  axis("dram_rate_mtps", rates);
  axis("conv_lanes_in", {8, 16, 32, 64});
  axis("vector_lanes", {64, 128, 256, 512});
  axis("weight_format",
       {static_cast<std::int64_t>(NumberFormat::fp16), static_cast<std::int64_t>(NumberFormat::int8)});
  axis("psram_bytes", {4 << 20, 8 << 20});
  axis("dsram_port_bits", {1024, 2048, 4096, 8192});
  axis("mac_sharing",
       {static_cast<std::int64_t>(MacSharing::separate), static_cast<std::int64_t>(MacSharing::shared)});
  return space;
}

/// All of it in the long run of the tests, else 8 machines of every 1,024.
std::vector<IndexRange> looked_at(const Space& space) {
  if (full_run()) return {{0, point_count(space)}};
  std::vector<IndexRange> ranges;
  for (std::int64_t first = 0; first < point_count(space); first += 1024) ranges.push_back({first, first + 8});
  return ranges;
}

std::uint64_t digest(std::uint64_t before, double value) {
  return (before ^ std::bit_cast<std::uint64_t>(value)) * 1'099'511'628'211u;
}

using Digests = std::map<std::int64_t, std::uint64_t>;  // of points

const Application& compiled_for(const Machine& machine) {
  static std::mutex mutex;
  static std::map<std::vector<std::int64_t>, Application> programs;
  const std::scoped_lock lock(mutex);
  const auto [entry, fresh] = programs.try_emplace(compile_key(machine));
  if (fresh) entry->second = compile(built_in_pipeline("sd15", machine), machine);
  return entry->second;
}

Digests digests(const Space& space, const MakeEvaluator& make_evaluator, const SweepOptions& options) {
  Digests found;
  const auto compile_machine = [](const Machine& m) {
    return std::shared_ptr<const Application>(std::shared_ptr<void>(), &compiled_for(m));
  };
  sweep(space, looked_at(space), compile_machine, make_evaluator, options, [&](PointBatch&& batch) {
    for (std::size_t i = 0; i < batch.feasible.size(); ++i) {
      std::uint64_t of_point = batch.feasible[i];
      for (const auto& column : batch.values) of_point = digest(of_point, column[i]);
      found[batch.first + static_cast<std::int64_t>(i)] = of_point;
    }
  });
  return found;
}

MakeEvaluator with(Vectors vectors) {
  return [vectors](const Application& application) -> Evaluator {
    const auto batch = std::make_shared<BatchEvaluator>(application, vectors);
    return [batch](std::span<const Machine> machines, std::span<Outcome> outcomes) {
      batch->evaluate(machines, outcomes);
    };
  };
}

TEST(same_bits, of_points_alone_in_batches_on_threads_on_all_instructions_and_of_all_compilers) {
  const Space space = whole_space();
  const Digests usual = digests(space, side_by_side, {});
  SweepOptions at_once;
  at_once.batch_points = point_count(space);
  EXPECT_TRUE(digests(space, side_by_side, at_once) == usual) << "in one batch";
  SweepOptions on_two;
  on_two.threads = 2;
  on_two.batch_points = 48;
  EXPECT_TRUE(digests(space, side_by_side, on_two) == usual) << "on two threads";
  for (const Vectors vectors : {Vectors::portable, Vectors::avx2, Vectors::avx512})
    if (vectors <= widest_vectors()) {
      EXPECT_TRUE(digests(space, with(vectors), {}) == usual) << static_cast<int>(vectors);
    }
  for (auto point_of = usual.begin(); point_of != usual.end(); point_of = std::next(point_of, 64)) {
    const Machine machine = point(space, point_of->first);
    const Outcome alone = evaluate(compiled_for(machine), machine);
    std::uint64_t of_point = alone.feasible;
    for (const double value : alone.values)  // a point that breaks a limit has no metrics in a sweep
      of_point = digest(of_point, alone.feasible ? value : std::numeric_limits<double>::quiet_NaN());
    ASSERT_EQ(of_point, point_of->second) << "point " << point_of->first << " alone";
  }
  std::uint64_t some = 0;  // as g++ and clang++ had them
  for (const IndexRange& range : looked_at(space))
    for (std::int64_t i = range.first; i < range.end; ++i)
      if (i % 1024 < 8) some = (some ^ usual.at(i)) * 1'099'511'628'211u;
  EXPECT_EQ(some, 14412533669399529585u) << "of every metric: it moves when tests/golden/signature.txt does";
}

}  // namespace
}  // namespace sdip
