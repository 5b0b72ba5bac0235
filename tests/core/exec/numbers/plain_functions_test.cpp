// Exponentials and the plain elementwise operators.
#include "core/exec/numbers/plain_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace sdip::exec {
namespace {

TEST(exponentials, are_within_two_units_in_the_last_place) {
  std::mt19937_64 engine(3);
  std::vector<double> x;
  for (int i = 0; i < 200000; ++i) x.push_back(static_cast<double>(engine() >> 11) * 0x1p-53 * 1460 - 750);
  for (int i = 0; i < 200000; ++i) x.push_back(static_cast<double>(engine() >> 11) * 0x1p-53 * 4 - 2);
  std::vector<double> y = x;
  exponentials(y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = std::exp(x[i]);
    if (std::isinf(want)) continue;
    ASSERT_LE(std::fabs(y[i] - want), 2 * (std::nextafter(want, HUGE_VAL) - want)) << x[i];
  }
}

TEST(exponentials, of_what_is_no_number_and_of_infinities) {
  std::vector<double> x{NAN, -INFINITY, INFINITY, 0.0, -0.0, 1000, -1000, 709.7, -744.5};
  exponentials(x);
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_EQ(x[1], 0);
  EXPECT_EQ(x[2], INFINITY);
  EXPECT_EQ(x[3], 1);
  EXPECT_EQ(x[4], 1);
  EXPECT_EQ(x[5], INFINITY);
  EXPECT_EQ(x[6], 0);
  EXPECT_NEAR(x[7] / std::exp(709.7), 1, 1e-15);
  EXPECT_EQ(x[8], std::exp(-744.5));
}

TEST(exponentials, are_summed_in_eight_sums_side_by_side) {
  std::vector<double> x{0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10};
  std::vector<double> lanes(8, 0.0), e = x;
  exponentials(e);
  for (std::size_t i = 0; i < e.size(); ++i) lanes[i % 8] += e[i];
  EXPECT_EQ(exponentials_less(0, x),
            ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])));
  EXPECT_EQ(x, e);
}

TEST(greatest, is_the_greatest_of_any_count) {
  std::vector<double> x;
  EXPECT_EQ(greatest(x), -INFINITY);
  for (int i = 0; i < 30; ++i) {
    x.push_back(i % 7 - 20 + i);
    EXPECT_EQ(greatest(x), *std::max_element(x.begin(), x.end()));
  }
}

}  // namespace
}  // namespace sdip::exec
