// Who lives on.
#include "core/explore/search/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sdip
