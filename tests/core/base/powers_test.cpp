// Are logarithm and exponential near the true ones, and the same on every processor?
#include "core/base/powers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"

namespace sdip {
namespace {

/// Units of the last place between x and what a longer format says.
double units_off(double x, long double truth) {
  const double unit = std::nextafter(std::abs(x), INFINITY) - std::abs(x);
  return static_cast<double>(std::abs(static_cast<long double>(x) - truth)) / unit;
}

std::uint64_t bits_of_double(double x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

TEST(powers, logarithms_are_within_2_units_of_the_last_place) {
  double most = 0;
  for (int i = 1; i < 60'000; ++i)
    for (const double x :
         {i * 0.37, 1 + i * 1e-9, 1 - i * 1e-9, 1.0 / i, std::ldexp(1 + i * 5e-6, i % 2000 - 1000)})
      most = std::max(most, units_off(logarithm(x), std::log(static_cast<long double>(x))));
  EXPECT_LT(most, 2);
  EXPECT_EQ(logarithm(1), 0);
}

TEST(powers, exponentials_are_within_2_units_of_the_last_place) {
  double most = 0;
  for (int i = -60'000; i <= 60'000; ++i)
    for (const double x : {i * 3.5e-3, i * 1e-9, i * 1e-5})
      most = std::max(most, units_off(exponential(x), std::exp(static_cast<long double>(x))));
  EXPECT_LT(most, 2);
  EXPECT_EQ(exponential(0), 1);
}

TEST(powers, refuse_what_they_do_not_hold) {
  for (const double x : {0.0, -1.0, 0x1p-1030, double{INFINITY}, double{NAN}}) EXPECT_THROW(logarithm(x), Bug) << x;
  for (const double x : {701.0, -701.0, double{NAN}}) EXPECT_THROW(exponential(x), Bug) << x;
}

TEST(powers, are_the_worked_examples) {
  EXPECT_NEAR(logarithm(6), 1.7918, 5e-5);
  EXPECT_NEAR(exponential(1), 2.7183, 5e-5);
  EXPECT_NEAR(power(2, 10), 1024, 1e-11);
}

/// Found once: another processor, compiler or library gives the same.
TEST(powers, are_these_bits) {
  std::uint64_t digest = 0;
  for (int i = 1; i < 100'000; ++i)
    digest = digest * 1'099'511'628'211u ^ bits_of_double(power(i * 0.37, i * 1e-5) + exponential(-i * 1e-3));
  EXPECT_EQ(digest, 6831044108334702645u);
}

}  // namespace
}  // namespace sdip
