// Paces of sweeps, and what they say is left.
#include "server/jobs/pace.h"

#include <gtest/gtest.h>

namespace sdip {
namespace {

TEST(pace, of_a_steady_sweep_says_what_is_left) {
  PaceMeter meter(0, 200, 100);
  Pace pace;
  for (int k = 1; k <= 10; ++k) pace = meter.after(10, 100 + k);
  EXPECT_EQ(pace.done, 100);
  EXPECT_DOUBLE_EQ(pace.points_per_second, 10);
  EXPECT_DOUBLE_EQ(pace.eta_s.value(), 10);
}

TEST(pace, says_nothing_before_five_batches_and_three_seconds) {
  PaceMeter few(0, 1000, 0), soon(0, 1000, 0);
  for (int k = 1; k <= 4; ++k) EXPECT_FALSE(few.after(10, 10 * k).eta_s) << k;
  EXPECT_TRUE(few.after(10, 50).eta_s);
  for (int k = 1; k <= 29; ++k) EXPECT_FALSE(soon.after(10, 0.1 * k).eta_s) << k;
  EXPECT_TRUE(soon.after(10, 3.05).eta_s);
}

TEST(pace, goes_by_the_slower_half_and_says_nothing_where_the_rate_varies) {
  PaceMeter slower(0, 1000, 0), stopped(0, 1000, 0);
  Pace pace;
  for (int k = 1; k <= 8; ++k) pace = slower.after(k <= 4 ? 15 : 10, k);
  EXPECT_DOUBLE_EQ(pace.points_per_second, 12.5);
  EXPECT_DOUBLE_EQ(pace.eta_s.value(), 900 / 10.0);
  for (int k = 1; k <= 20; ++k) pace = stopped.after(k <= 10 ? 90 : 1, k);
  EXPECT_FALSE(pace.eta_s);
}

TEST(pace, of_a_resumed_sweep_counts_what_is_new_alone) {
  PaceMeter meter(500, 1000, 0);
  Pace pace;
  for (int k = 1; k <= 5; ++k) pace = meter.after(50, k);
  EXPECT_EQ(pace.done, 750);
  EXPECT_DOUBLE_EQ(pace.points_per_second, 50);
  EXPECT_DOUBLE_EQ(pace.eta_s.value(), 5);
}

TEST(pace, of_many_batches_is_that_of_few) {
  PaceMeter meter(0, 2'000'000, 0);
  Pace pace;
  for (int k = 1; k <= 100'000; ++k) pace = meter.after(10, k * 0.01);
  EXPECT_NEAR(pace.points_per_second, 1000, 1e-6);
  EXPECT_NEAR(pace.eta_s.value(), 1000, 1e-6);
}

TEST(pace, sees_a_stop_late_in_a_long_sweep) {
  PaceMeter meter(0, 2'000'000, 0);
  Pace pace;
  double at = 0;
  for (int k = 1; k <= 10'000; ++k) pace = meter.after(100, at += 0.01);
  for (int k = 1; k <= 10; ++k) pace = meter.after(1, at += 15);
  EXPECT_FALSE(pace.eta_s);
}

}  // namespace
}  // namespace sdip
