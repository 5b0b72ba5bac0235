// Where a front bends, and how much it covers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "core/explore/front.h"

namespace sdip {
namespace {

using testing::Each;
using testing::ElementsAre;

using Table = std::vector<std::vector<double>>;

std::vector<std::span<const double>> views(const Table& columns) { return {columns.begin(), columns.end()}; }

std::vector<Knee> knees_of(const Table& columns, const std::vector<Better>& better) {
  return front_knees(views(columns), better);
}

const std::vector<Better> lower_both(2, Better::lower);

/// A front of so many random points above 0, of which the first column is to be great.
Table random_front(std::mt19937& random, std::size_t points, std::size_t width) {
  std::lognormal_distribution<double> drawn(0, 1);
  Table columns(width), front(width);
  for (auto& column : columns)
    for (std::size_t i = 0; i < points; ++i) column.push_back(drawn(random));
  std::vector<Better> better(width, Better::lower);
  better[0] = Better::higher;
  for (const std::int64_t i : pareto_front(views(columns), better))
    for (std::size_t k = 0; k < width; ++k) front[k].push_back(columns[k][static_cast<std::size_t>(i)]);
  return front;
}

TEST(front_knees, of_the_worked_example) {
  EXPECT_THAT(knees_of({{1, 10, 1000}, {1000, 10, 1}}, lower_both),
              ElementsAre(Knee::plain, Knee::greatest, Knee::plain));
}

TEST(front_knees, are_none_where_the_front_does_not_bend_towards_less) {
  EXPECT_THAT(knees_of({{1, 10, 100}, {100, 10, 1}}, lower_both), Each(Knee::plain)) << "a straight line";
  EXPECT_THAT(knees_of({{1, 50, 100}, {100, 50, 1}}, lower_both), Each(Knee::plain)) << "it bends away";
  EXPECT_THAT(knees_of({{5, 5}, {7, 7}}, lower_both), Each(Knee::plain)) << "equal points";
  EXPECT_THAT(knees_of({{5}, {7}}, lower_both), Each(Knee::plain));
  EXPECT_TRUE(knees_of({{}, {}}, lower_both).empty());
  EXPECT_THAT(knees_of({{5, 5}}, {Better::higher}), Each(Knee::plain));
}

TEST(front_knees, are_local_where_the_front_bends_twice) {
  // In decades: (0, 4), (1, 2.2), (2, 1.9), (3, 0.1), (4, 0): scaled the second's sum is 0.8, the fourth's 0.775.
  const Table columns = {{1, 10, 100, 1000, 10000},
                         {1e4, std::pow(10, 2.2), std::pow(10, 1.9), std::pow(10, 0.1), 1}};
  EXPECT_THAT(knees_of(columns, lower_both),
              ElementsAre(Knee::plain, Knee::local, Knee::plain, Knee::greatest, Knee::plain));
}

TEST(front_knees, take_the_first_of_equals_and_leave_out_what_is_not_finite) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(knees_of({{inf, 1, 10, 10, 1000}, {0.1, 1000, 10, 10, 1}}, lower_both),
              ElementsAre(Knee::plain, Knee::plain, Knee::greatest, Knee::plain, Knee::plain));
}

TEST(front_knees, take_values_of_two_signs_as_they_are) {
  EXPECT_THAT(knees_of({{-1, 0, 3}, {3, 0, -1}}, lower_both),
              ElementsAre(Knee::plain, Knee::greatest, Knee::plain));
  EXPECT_THAT(knees_of({{1, 10, 1000}, {-1, -100, -1000}}, {Better::lower, Better::lower}),
              ElementsAre(Knee::plain, Knee::greatest, Knee::plain))
      << "below 0 the greater size is less";
}

/// The definition, word for word: of each the drop to the next greater one on either side.
std::vector<Knee> simple_knees(const Table& front) {
  const std::size_t n = front[0].size();
  const auto scaled = [&](std::size_t k, std::size_t i) {
    const auto [least, most] = std::ranges::minmax(front[k]);
    const double share = std::log(front[k][i] / least) / std::log(most / least);
    return k == 0 ? 1 - share : share;
  };
  std::vector<double> distance(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < front.size(); ++k) distance[i] -= scaled(k, i);
    distance[i] = (distance[i] + static_cast<double>(front.size()) - 1) / std::sqrt(front.size());
  }
  std::vector<Knee> knees(n, Knee::plain);
  for (std::size_t i = 0; i < n; ++i) {
    if (distance[i] < 1e-9) continue;
    double drop = std::numeric_limits<double>::infinity();
    bool greatest = true;
    for (const int step : {-1, 1}) {
      double lowest = distance[i];
      for (std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i); j >= 0 && j < static_cast<std::ptrdiff_t>(n);
           j += step) {
        const double here = distance[static_cast<std::size_t>(j)];
        if (here > distance[i]) {
          greatest = false;
          break;
        }
        lowest = std::min(lowest, here);
      }
      drop = std::min(drop, distance[i] - lowest);
    }
    if (greatest)
      knees[i] = Knee::greatest;
    else if (front.size() == 2 && drop >= least_knee)
      knees[i] = Knee::local;
  }
  return knees;
}

TEST(front_knees, agree_with_the_definition_on_random_fronts) {
  std::mt19937 random(3);
  int locals = 0, greatest = 0;
  for (int round = 0; round < 300; ++round) {
    const std::size_t width = 2 + random() % 3;
    const Table front = random_front(random, 2 + random() % 300, width);
    if (front[0].size() < 2) continue;
    std::vector<Better> better(width, Better::lower);
    better[0] = Better::higher;
    const std::vector<Knee> knees = knees_of(front, better);
    ASSERT_EQ(knees, simple_knees(front)) << width << " objectives, round " << round;
    locals += static_cast<int>(std::ranges::count(knees, Knee::local));
    greatest += static_cast<int>(std::ranges::count(knees, Knee::greatest));
  }
  EXPECT_GT(locals, 10);
  EXPECT_GT(greatest, 100);
}

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

TEST(cost_axes, have_logarithms_of_one_sign_and_a_reference_a_tenth_worse) {
  const Table front = {{100, 10}, {4, 2}, {-1, 3}, {-2, -8}};
  const std::vector<Better> better = {Better::higher, Better::lower, Better::lower, Better::lower};
  const auto axes = cost_axes(views(front), better);
  EXPECT_DOUBLE_EQ(axes[0].least, -2);
  EXPECT_DOUBLE_EQ(axes[0].most, -1);
  EXPECT_NEAR(axes[0].value(axes[0].reference()), 10 / 1.1, 1e-9);
  EXPECT_NEAR(axes[1].value(axes[1].reference()), 4 * 1.1, 1e-9);
  EXPECT_EQ(axes[2].sign, 0);
  EXPECT_NEAR(axes[2].reference(), 3.4, 1e-12);
  EXPECT_NEAR(axes[3].value(axes[3].reference()), -2 / 1.1, 1e-9);
  EXPECT_LT(axes[3].cost(-8), axes[3].cost(-2));
}

TEST(front_volume, is_that_of_the_logarithms_up_to_the_reference) {
  const Table front = {{100, 10}, {4, 2}};
  const auto axes = cost_axes(views(front), std::vector<Better>{Better::higher, Better::lower});
  const double tenth = std::log10(1.1);
  // (-2, log 4) and (-1, log 2): a strip as high as a tenth and 1 and a tenth wide, one log 2 high and a tenth
  // wide.
  EXPECT_NEAR(*front_volume(axes, views(front)), (1 + tenth) * tenth + tenth * std::log10(2.0), 1e-12);
  EXPECT_EQ(*front_volume(axes, views({{9}, {1}})), 0) << "beyond the reference";
  EXPECT_EQ(*front_volume(axes, views({{std::numeric_limits<double>::quiet_NaN()}, {1}})), 0);
  EXPECT_EQ(*front_volume(axes, views({{}, {}})), 0);
}

TEST(front_volume, agrees_with_random_places_and_is_left_out_where_it_takes_long) {
  std::mt19937 random(5);
  for (const std::size_t width : {2U, 3U, 4U}) {
    const Table front = random_front(random, 80, width);
    std::vector<Better> better(width, Better::lower);
    better[0] = Better::higher;
    const auto axes = cost_axes(views(front), better);
    double box = 1;
    for (const CostAxis& axis : axes) box *= axis.reference() - axis.least;
    constexpr int places = 40'000;
    int beaten = 0;
    std::uniform_real_distribution<double> share(0, 1);
    for (int p = 0; p < places; ++p) {
      std::vector<double> at;
      for (const CostAxis& axis : axes) at.push_back(axis.least + share(random) * (axis.reference() - axis.least));
      for (std::size_t i = 0; i < front[0].size(); ++i) {
        bool beats = true;
        for (std::size_t k = 0; k < width; ++k) beats = beats && axes[k].cost(front[k][i]) <= at[k];
        if (!beats) continue;
        ++beaten;
        break;
      }
    }
    const double volume = front_volume(axes, views(front)).value_or(-1);
    EXPECT_NEAR(volume / box, beaten / static_cast<double>(places), 0.015) << width;
  }
  const Table many(4, std::vector<double>(101, 1));
  EXPECT_FALSE(front_volume(cost_axes(views(many), std::vector<Better>(4, Better::lower)), views(many)));
  const Table two(2, std::vector<double>(5000, 1));
  EXPECT_TRUE(front_volume(cost_axes(views(two), lower_both), views(two)));
}

}  // namespace
}  // namespace sdip
