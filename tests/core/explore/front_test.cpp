// Which points does no other point beat?
#include "core/explore/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::vector<std::int64_t> front_of(const std::vector<std::vector<double>>& columns,
                                   const std::vector<Better>& better) {
  const std::vector<std::span<const double>> views(columns.begin(), columns.end());
  return pareto_front(views, better);
}

/// The definition, word for word.
std::vector<std::int64_t> simple_front(const std::vector<std::vector<double>>& columns,
                                       const std::vector<Better>& better) {
  const auto worse = [&](std::size_t k, std::size_t a, std::size_t b) {
    return better[k] == Better::higher ? columns[k][a] < columns[k][b] : columns[k][a] > columns[k][b];
  };
  std::vector<std::int64_t> front;
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    bool beaten = false;
    for (std::size_t j = 0; j < columns[0].size() && !beaten; ++j) {
      bool nowhere_worse = true, somewhere_better = false;
      for (std::size_t k = 0; k < columns.size(); ++k) {
        nowhere_worse = nowhere_worse && !worse(k, j, i);
        somewhere_better = somewhere_better || worse(k, i, j);
      }
      beaten = nowhere_worse && somewhere_better;
    }
    if (!beaten) front.push_back(static_cast<std::int64_t>(i));
  }
  return front;
}

TEST(pareto_front, of_the_worked_example) {
  EXPECT_THAT(front_of({{10, 10, 3, 2}, {5, 4, 1, 2}}, {Better::higher, Better::lower}), ElementsAre(1, 2));
}

TEST(pareto_front, keeps_all_equal_points_in_order_of_position) {
  EXPECT_THAT(front_of({{1, 2, 2, 2}, {5, 4, 4, 9}}, {Better::higher, Better::lower}), ElementsAre(1, 2));
}

TEST(pareto_front, takes_minus_zero_for_zero) {
  EXPECT_THAT(front_of({{0.0, -0.0}, {1, 1}}, {Better::lower, Better::lower}), ElementsAre(0, 1));
}

TEST(pareto_front, leaves_out_points_without_a_value) {
  EXPECT_THAT(front_of({{9, nan_value, 1}, {nan_value, 1, 1}}, {Better::higher, Better::lower}), ElementsAre(2));
  EXPECT_THAT(front_of({{nan_value}}, {Better::higher}), IsEmpty());
  EXPECT_THAT(front_of({{}}, {Better::higher}), IsEmpty());
}

TEST(pareto_front, of_one_objective_is_its_best) {
  EXPECT_THAT(front_of({{3, 7, 7, 1}}, {Better::higher}), ElementsAre(1, 2));
}

TEST(pareto_front, agrees_with_the_definition_on_random_points) {
  std::mt19937 random(1);
  for (std::size_t width = 1; width <= 4; ++width) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::vector<double>> columns(width, std::vector<double>(60));
      std::vector<Better> better(width);
      for (std::size_t k = 0; k < width; ++k) {
        better[k] = random() % 2 == 0 ? Better::higher : Better::lower;
        for (double& value : columns[k]) value = static_cast<double>(random() % 12);
      }
      std::vector<std::int64_t> front = front_of(columns, better);
      const auto& first = columns[0];
      EXPECT_TRUE(std::ranges::is_sorted(front, [&](std::int64_t a, std::int64_t b) {
        const double left = first[static_cast<std::size_t>(a)], right = first[static_cast<std::size_t>(b)];
        return better[0] == Better::higher ? left > right : left < right;
      }));
      std::ranges::sort(front);
      ASSERT_EQ(front, simple_front(columns, better)) << width << " objectives, round " << round;
    }
  }
}

TEST(pareto_front, of_many_points_that_all_stay_agrees_with_the_definition) {
  std::mt19937 random(2);
  std::vector<std::vector<double>> columns(3);
  for (int i = 0; i < 1500; ++i) {
    const double a = static_cast<double>(random() % 2000), b = static_cast<double>(random() % 2000);
    columns[0].push_back(a);
    columns[1].push_back(b);
    columns[2].push_back(-a - b + static_cast<double>(i % 50 == 0));
  }
  const std::vector<Better> better(3, Better::lower);
  std::vector<std::int64_t> front = front_of(columns, better);
  std::ranges::sort(front);
  EXPECT_GT(front.size(), 1000u);
  EXPECT_EQ(front, simple_front(columns, better));
}

}  // namespace
}  // namespace sdip
