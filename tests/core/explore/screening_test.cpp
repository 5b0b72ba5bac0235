// Does screening say of functions whose effects and indices are known what they are?
#include "core/explore/screening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace sdip {
namespace {

using UnitFunction = std::function<double(const UnitPoint&)>;

std::vector<double> values_of(const std::vector<UnitPoint>& points, const UnitFunction& function) {
  std::vector<double> values;
  for (const UnitPoint& point : points) values.push_back(function(point));
  return values;
}

std::vector<MorrisEffect> effects_of(std::size_t factors, const UnitFunction& function) {
  const MorrisDesign design = morris_design(factors, 200, 1);
  return morris_effects(design, values_of(design.points, function));
}

std::vector<SobolIndex> indices_of(std::size_t factors, std::int64_t samples, const UnitFunction& function) {
  return sobol_indices(factors, values_of(sobol_design(factors, samples, 1), function));
}

TEST(morris, gives_the_worked_examples) {
  const auto sum = effects_of(3, [](const UnitPoint& x) { return 3 * x[0] - 5 * x[1]; });
  EXPECT_NEAR(sum[0].mean, 3, 1e-12);
  EXPECT_NEAR(sum[0].deviation, 0, 1e-12);
  EXPECT_NEAR(sum[1].mean, -5, 1e-12);
  EXPECT_NEAR(sum[1].mean_size, 5, 1e-12);
  EXPECT_EQ(sum[2].mean_size, 0);
  EXPECT_EQ(sum[2].effects, 200);
  const auto product = effects_of(2, [](const UnitPoint& x) { return x[0] * x[1]; });
  EXPECT_NEAR(product[0].mean, 0.5, 0.08);
  // The deviation of 0, 1/3, 2/3, 1, each as likely.
  EXPECT_NEAR(product[0].deviation, std::sqrt(5.0 / 36), 0.05);
}

TEST(morris, takes_one_step_of_each_factor_in_a_trajectory_and_repeats_by_its_seed) {
  const MorrisDesign design = morris_design(5, 7, 3), again = morris_design(5, 7, 3);
  EXPECT_EQ(design.points, again.points);
  EXPECT_NE(design.points, morris_design(5, 7, 4).points);
  ASSERT_EQ(design.points.size(), 7u * 6);
  for (std::size_t t = 0; t < 7; ++t) {
    std::vector<std::size_t> stepped(design.stepped.begin() + static_cast<std::ptrdiff_t>(5 * t),
                                     design.stepped.begin() + static_cast<std::ptrdiff_t>(5 * t + 5));
    EXPECT_THAT(stepped, testing::UnorderedElementsAre(0, 1, 2, 3, 4));
    for (std::size_t s = 0; s < 5; ++s)
      for (std::size_t k = 0; k < 5; ++k) {
        const double from = design.points[6 * t + s][k], to = design.points[6 * t + s + 1][k];
        EXPECT_NEAR(std::fabs(to - from), k == stepped[s] ? 2.0 / 3 : 0, 1e-12);
        EXPECT_TRUE(to >= 0 && to <= 1);
      }
  }
}

TEST(morris, leaves_out_what_has_no_value) {
  const auto some = effects_of(
      2, [](const UnitPoint& x) { return x[1] > 0.9 ? std::numeric_limits<double>::quiet_NaN() : 2 * x[0]; });
  EXPECT_NEAR(some[0].mean, 2, 1e-12);
  EXPECT_LT(some[0].effects, 200);
  EXPECT_GT(some[0].effects, 100);
}

/// Ishigami and Homma, "An importance quantification technique in uncertainty analysis for computer models", ISUMA
/// 1990: sin x + a sin^2 y + b z^4 sin x on [-pi, pi]^3, with the indices that integrals give.
TEST(sobol_indices, are_those_of_the_ishigami_function_within_three_standard_errors) {
  constexpr double a = 7, b = 0.1, pi = std::numbers::pi;
  const double pi4 = std::pow(pi, 4), pi8 = pi4 * pi4;
  const double variance = a * a / 8 + b * pi4 / 5 + b * b * pi8 / 18 + 0.5;
  const double alone_x = 0.5 * std::pow(1 + b * pi4 / 5, 2), alone_y = a * a / 8;
  const double together_xz = b * b * pi8 * (1.0 / 18 - 1.0 / 50);
  const double first[] = {alone_x / variance, alone_y / variance, 0};
  const double total[] = {(alone_x + together_xz) / variance, alone_y / variance, together_xz / variance};
  EXPECT_NEAR(first[0], 0.3139, 5e-5);
  EXPECT_NEAR(first[1], 0.4424, 5e-5);
  EXPECT_NEAR(total[0], 0.5576, 5e-5);
  EXPECT_NEAR(total[2], 0.2437, 5e-5);
  const auto found = indices_of(3, 20'000, [&](const UnitPoint& u) {
    const auto angle = [&](std::size_t k) { return (2 * u[k] - 1) * pi; };
    return std::sin(angle(0)) + a * std::pow(std::sin(angle(1)), 2) +
           b * std::pow(angle(2), 4) * std::sin(angle(0));
  });
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(found[k].first, first[k], 3 * found[k].first_error + 1e-3) << k;
    EXPECT_NEAR(found[k].total, total[k], 3 * found[k].total_error + 1e-3) << k;
    EXPECT_LT(found[k].first_error, 0.02);
    EXPECT_LT(found[k].total_error, 0.02);
  }
}

TEST(sobol_indices, are_halves_of_a_sum_and_none_of_a_constant) {
  for (const SobolIndex& one : indices_of(2, 5'000, [](const UnitPoint& x) { return x[0] + x[1]; })) {
    EXPECT_NEAR(one.first, 0.5, 3 * one.first_error);
    EXPECT_NEAR(one.total, 0.5, 3 * one.total_error);
  }
  EXPECT_TRUE(std::isnan(indices_of(1, 10, [](const UnitPoint&) { return 4.0; })[0].total));
}

TEST(sobol_indices, leave_out_what_has_no_value) {
  const auto found = indices_of(
      2, 5'000, [](const UnitPoint& x) { return x[0] > 0.5 ? std::numeric_limits<double>::quiet_NaN() : x[1]; });
  EXPECT_NEAR(found[0].total, 0, 1e-12);
  EXPECT_NEAR(found[1].total, 1, 3 * found[1].total_error);
}

TEST(screening, places_values_evenly) {
  EXPECT_EQ(place_in(3, 0), 0u);
  EXPECT_EQ(place_in(3, 0.4), 1u);
  EXPECT_EQ(place_in(3, 1), 2u);
}

}  // namespace
}  // namespace sdip
