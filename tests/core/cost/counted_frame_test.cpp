// Are a report's metrics, stages, energies and areas those that follow from what the executor counts?
#include "tests/core/cost/counted_frame.h"

#include <gtest/gtest.h>

#include "tests/core/cost/frame_difference.h"
#include "tests/core/cost/price/counted_dies.h"
#include "tests/core/cost/random_application.h"

namespace sdip {
namespace {

TEST(counted_frame, of_pipelines_networks_and_parts_in_series_is_what_the_report_says) {
  std::uint64_t settled = 0;
  for (std::uint64_t seed = 1; seed <= 30 * application_kinds; ++seed) {
    Dice dice(seed);
    Machine machine = random_frame_machine(dice);
    const Application application = random_application(dice, application_roles(seed), machine);
    set_hierarchy(seed / application_kinds, machine);
    set_circuits(seed / application_kinds / 3, machine);
    const bool in_series = application.stages.front().part.count > 1;
    set_dies(in_series ? 0 : seed, machine);
    const CountedFrame frame = counted_frame(application, machine);
    ASSERT_EQ(frame.metrics.size(), metric_count) << "tests/core/cost/counted_frame.cpp counts every metric";
    if (!frame.settled) continue;
    ++settled;
    double sum = 0;
    for (const double mm2 : counted_die_mm2(application, machine)) sum += mm2;
    ASSERT_NEAR(sum, frame.metrics.at(Metric::area_mm2), 1e-9 * sum) << "seed " << seed;
    ASSERT_EQ(frame_difference(estimate(application, machine), frame, machine), "") << "seed " << seed;
    if (machine.in_memory_weights == InMemoryWeights::off) {
      EXPECT_LE(frame.metrics.at(Metric::tops), frame.metrics.at(Metric::tops_peak)) << "seed " << seed;
    }
  }
  EXPECT_GT(settled, 20 * application_kinds);
}

TEST(counted_frame, one_cycle_more_is_a_difference) {
  Dice dice(1);
  Machine machine = random_frame_machine(dice);
  const Application application = random_application(dice, {Role::core}, machine);
  CountedFrame frame = counted_frame(application, machine);
  frame.stages[0].cold_cycles += 1;
  EXPECT_NE(frame_difference(estimate(application, machine), frame, machine).find("cold_cycles"),
            std::string::npos);
}

}  // namespace
}  // namespace sdip
