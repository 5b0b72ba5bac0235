// Does the timeline count what it does not run as if it ran it? Random programs, unrolled.
#include "tests/core/cost/random_costs.h"

namespace sdip::timing {
namespace {

TEST(timeline, repetitions_counted_last_what_they_last_run) {
  for (std::uint64_t seed = 1; seed <= 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_as_unrolled(random_timed(seed, 9, 3, 3));
  }
}

TEST(timeline, many_repetitions_counted_last_what_they_last_run) {
  for (std::uint64_t seed = 1; seed <= 12 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_as_unrolled(random_timed(seed, 25, 2, 4));
  }
}

TEST(timeline, repetitions_side_by_side_last_what_they_last_run) {
  for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Timed t = random_timed(seed, 6, 4, 6);
    t.rules.overlaps = true;
    t.program.instructions[3].after = {0, 1};
    t.program.instructions[5].after = {3};
    expect_as_unrolled(t);
  }
}

TEST(timeline, a_pass_that_rejoins_the_one_before_goes_on_as_that_one_did) {
  std::int64_t spared = 0;
  for (std::uint64_t seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Timed t = random_timed(seed, 2, 5, 131);
    std::vector<InstructionTime> trace;
    const TimelineResult all = t.run(6, &trace), ended = t.run(6);
    expect_same_passes(all, ended);
    EXPECT_EQ(trace.size(), 131u);
    EXPECT_EQ(trace.back().end, all.passes.back().cycles);
    EXPECT_EQ(ended.steady, ended.passes.size() - 1);
    spared += all.operations_run - ended.operations_run;
    t.rules.overlaps = true;
    expect_same_passes(t.run(6, &trace), t.run(6));
  }
  EXPECT_GT(spared, 0);
}

}  // namespace
}  // namespace sdip::timing
