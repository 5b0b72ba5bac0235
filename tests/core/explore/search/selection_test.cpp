// Who lives on, and how much a front covers.
#include "core/explore/search/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace sdip {
namespace {

using testing::ElementsAre;

Score score_of(std::vector<double> costs, double violation = 0) { return {std::move(costs), violation}; }

TEST(selection, puts_those_that_keep_the_conditions_first_and_the_rest_by_how_far_they_are) {
  const std::vector<Score> scores = {score_of({1}, 0.5), score_of({9}), score_of({2}, no_values), score_of({3}),
                                     score_of({0}, 0.1)};
  EXPECT_THAT(selection_order(scores), ElementsAre(3, 1, 4, 0, 2));
}

TEST(selection, goes_front_by_front_and_on_a_front_by_who_stands_alone) {
  // (1, 100), (10, 10), (100, 1) and (11, 9) are a front, of which the ends stand first and of the two between the
  // one that is farther from its neighbours by ratios; (20, 20) is beaten.
  const std::vector<Score> scores = {score_of({10, 10}), score_of({20, 20}), score_of({1, 100}), score_of({100, 1}),
                                     score_of({11, 9})};
  const auto order = selection_order(scores);
  EXPECT_THAT(std::vector<std::size_t>(order.begin(), order.begin() + 2), testing::UnorderedElementsAre(2, 3));
  EXPECT_EQ(order.back(), 1u);
}

TEST(selection, of_nothing_is_nothing) { EXPECT_TRUE(selection_order({}).empty()); }

TEST(hypervolume, of_the_worked_example) {
  const std::vector<double> reference = {4, 4};
  EXPECT_DOUBLE_EQ(hypervolume({{1, 3}, {2, 1}}, reference), 7);
}

TEST(hypervolume, leaves_out_what_is_beyond_the_reference) {
  const std::vector<double> reference = {4, 4};
  EXPECT_DOUBLE_EQ(hypervolume({{5, 0}, {0, 4}, {std::numeric_limits<double>::infinity(), 1}}, reference), 0);
}

/// Volume of the cells of a grid that a point beats, counted one by one.
double counted(const std::vector<std::vector<double>>& points, int edge, std::size_t width) {
  std::int64_t cells = 1, beaten = 0;
  for (std::size_t k = 0; k < width; ++k) cells *= edge;
  for (std::int64_t cell = 0; cell < cells; ++cell)
    for (const auto& point : points) {
      std::int64_t rest = cell;
      bool under = true;
      for (std::size_t k = 0; k < width; ++k, rest /= edge)
        under = under && point[k] <= static_cast<double>(rest % edge);
      if (under) {
        ++beaten;
        break;
      }
    }
  return static_cast<double>(beaten);
}

TEST(hypervolume, is_the_number_of_cells_that_are_beaten) {
  std::mt19937 random(7);
  constexpr int edge = 6;
  for (const std::size_t width : {1u, 2u, 3u, 4u})
    for (int round = 0; round < 40; ++round) {
      std::vector<std::vector<double>> points(1 + random() % 8);
      for (auto& point : points)
        for (std::size_t k = 0; k < width; ++k) point.push_back(static_cast<double>(random() % edge));
      const std::vector<double> reference(width, edge);
      EXPECT_DOUBLE_EQ(hypervolume(points, reference), counted(points, edge, width)) << width << " " << round;
    }
}

}  // namespace
}  // namespace sdip
