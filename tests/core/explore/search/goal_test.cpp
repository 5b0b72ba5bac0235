// How far is a machine from keeping a condition?
#include "core/explore/search/goal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sdip {
namespace {

Outcome outcome_of(double fps, double area, bool feasible = true) {
  Outcome outcome;
  outcome.feasible = feasible;
  outcome.values[static_cast<std::size_t>(Metric::throughput_fps)] = fps;
  outcome.values[static_cast<std::size_t>(Metric::area_mm2)] = area;
  return outcome;
}

Score score_of(const SearchGoal& goal, const Outcome& outcome, const Machine& machine = {}) {
  return scores(goal, std::vector<Machine>{machine}, std::vector<Outcome>{outcome}).at(0);
}

Machine with_cores(std::int64_t cores) {
  Machine machine;
  machine.cores = cores;
  return machine;
}

SearchGoal goal_of(const std::string& condition) {
  return {{{Metric::area_mm2, Better::lower}}, {parse_constraint(condition, "/constraints/0")}};
}

TEST(search_goal, measures_how_far_a_comparison_is_from_holding) {
  const SearchGoal goal = goal_of("throughput_fps >= 30");
  EXPECT_EQ(score_of(goal, outcome_of(30, 50)).violation, 0);
  EXPECT_DOUBLE_EQ(score_of(goal, outcome_of(15, 50)).violation, 0.5);
  EXPECT_DOUBLE_EQ(score_of(goal, outcome_of(15, 50)).costs[0], 50);
  EXPECT_DOUBLE_EQ(score_of(goal_of("area_mm2 / 2 < 1 + 19"), outcome_of(1, 80)).violation, 0.5);
  EXPECT_GT(score_of(goal_of("area_mm2 < 80"), outcome_of(1, 80)).violation, 0);
  EXPECT_DOUBLE_EQ(score_of(goal_of("cores == 2"), outcome_of(1, 80), with_cores(4)).violation, 0.5);
}

TEST(search_goal, takes_a_condition_that_is_no_comparison_as_kept_or_not) {
  const SearchGoal goal = goal_of("if(throughput_fps > 10, area_mm2 < 20, 0)");
  EXPECT_EQ(score_of(goal, outcome_of(11, 19)).violation, 0);
  EXPECT_EQ(score_of(goal, outcome_of(11, 21)).violation, 1);
}

TEST(search_goal, adds_conditions_and_puts_limits_and_what_cannot_run_behind_them) {
  SearchGoal goal = goal_of("throughput_fps >= 30");
  goal.constraints.push_back(parse_constraint("area_mm2 <= 25", "/constraints/1"));
  EXPECT_DOUBLE_EQ(score_of(goal, outcome_of(15, 50)).violation, 1);
  EXPECT_DOUBLE_EQ(score_of(goal, outcome_of(15, 50, false)).violation, 1 + broken_limit);
  Outcome nothing;
  nothing.values.fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(score_of(goal, nothing).violation, no_values);
  EXPECT_TRUE(std::isinf(score_of(goal, nothing).costs[0]));
}

TEST(search_goal, knows_which_way_a_condition_is_kept_beside_zero_and_between_signs) {
  const auto violation = [](const char* condition, double fps, double area) {
    return score_of(goal_of(condition), outcome_of(fps, area)).violation;
  };
  for (const char* condition : {"throughput_fps - 30 >= 0", "0 <= throughput_fps - 30", "0 > 30 - throughput_fps"})
    EXPECT_DOUBLE_EQ(violation(condition, 15, 50), 0.5) << condition;
  EXPECT_DOUBLE_EQ(violation("2 * throughput_fps - 60 >= 0", 15, 50), 0.5);
  EXPECT_LT(violation("area_mm2 <= -1", 15, 20), violation("area_mm2 <= -1", 15, 5000)) << "the smaller is nearer";
  EXPECT_LT(violation("log(throughput_fps / 100) >= 0", 50, 20),
            violation("log(throughput_fps / 100) >= 0", 10, 20));
  EXPECT_EQ(violation("area_mm2 - 20 <= 0", 1, 20), 0);
  EXPECT_GT(score_of(goal_of("1 / (cores - 1) >= 0"), outcome_of(15, 50), with_cores(1)).violation, 0)
      << "an infinite number compares with nothing";
}

TEST(search_goal, says_how_near_conditions_are_to_being_broken) {
  const auto relaxed = [](const SearchGoal& goal, const Outcome& outcome, const Machine& machine = {}) {
    return relaxed_scores(goal, std::vector<Machine>{machine}, std::vector<Outcome>{outcome}).at(0);
  };
  SearchGoal goal = goal_of("throughput_fps >= 30");
  const auto near = [&](double fps) { return std::log(relaxed(goal, outcome_of(fps, 50)).costs.at(1)); };
  EXPECT_DOUBLE_EQ(near(30), 0);
  EXPECT_DOUBLE_EQ(near(40), -0.25);
  EXPECT_DOUBLE_EQ(near(60), -0.5);
  EXPECT_DOUBLE_EQ(near(900), -0.5) << "no better than twice as good";
  EXPECT_DOUBLE_EQ(near(24), 0.2);
  EXPECT_EQ(relaxed(goal, outcome_of(20, 50)).violation, 0) << "within a third";
  EXPECT_NEAR(relaxed(goal, outcome_of(15, 50)).violation, 0.5 - 1.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(relaxed(goal, outcome_of(15, 50)).costs.at(0), 50);
  EXPECT_GE(relaxed(goal, outcome_of(30, 50, false)).violation, broken_limit);
  goal.constraints.push_back(parse_constraint("area_mm2 <= 100", "/constraints/1"));
  EXPECT_DOUBLE_EQ(std::log(relaxed(goal, outcome_of(24, 80)).costs.at(1)), 0.2 - 0.2);
  EXPECT_EQ(relaxed(goal_of("cores != 2"), outcome_of(1, 80), with_cores(4)).violation, 0);
}

TEST(search_goal, prefers_no_size_where_no_condition_compares) {
  const auto costs = [](const SearchGoal& goal, double fps, double area) {
    return relaxed_scores(goal, std::vector<Machine>(1), std::vector<Outcome>{outcome_of(fps, area)}).at(0).costs;
  };
  const SearchGoal fastest = {{{Metric::throughput_fps, Better::higher}}};
  EXPECT_EQ(costs(fastest, 30, 4), (std::vector<double>{-60, -15})) << "small and fast, large and faster";
  const SearchGoal least = {{{Metric::latency_s, Better::lower}}};
  Outcome slow = outcome_of(1, 9);
  slow.values[Metric::latency_s] = 6;
  EXPECT_EQ(relaxed_scores(least, std::vector<Machine>(1), std::vector<Outcome>{slow}).at(0).costs,
            (std::vector<double>{18, 2}));
  const SearchGoal chosen = goal_of("if(throughput_fps > 10, area_mm2 < 20, 0)");
  EXPECT_EQ(costs(chosen, 30, 4), (std::vector<double>{8, 2})) << "a condition that is no comparison";
}

TEST(search_goal, makes_what_is_better_high_small) {
  const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}}};
  EXPECT_EQ(score_of(goal, outcome_of(30, 1)).costs[0], -30);
}

TEST(search_goal, computes_formulas_of_machines) {
  const Measure measure(parse_formula("per_core", "frame/s", "throughput_fps / cores", "here"));
  const std::vector<Machine> machines = {with_cores(2), with_cores(5)};
  const std::vector<Outcome> outcomes = {outcome_of(10, 1), outcome_of(10, 1)};
  EXPECT_EQ(measured(measure, machines, outcomes), (std::vector<double>{5, 2}));
}

TEST(search_goal, says_how_far_a_machine_is_from_a_number_that_a_table_has_of_it) {
  const ParameterRow* rows[] = {find_parameter("cores")};
  const std::vector<TabledValue> table = {{{2}, 20}, {{3}, 15}};
  const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}},
                           {at_least(tabled_formula("f", "", rows, table), 20)}};
  const std::vector<Machine> machines = {with_cores(2), with_cores(3), with_cores(4)};
  const std::vector<Outcome> outcomes = {outcome_of(10, 1), outcome_of(10, 1), outcome_of(10, 1)};
  const std::vector<Score> found = scores(goal, machines, outcomes);
  EXPECT_EQ(found[0].violation, 0);
  EXPECT_DOUBLE_EQ(found[1].violation, 0.25);
  EXPECT_EQ(found[2].violation, 1) << "none was measured";
}

}  // namespace
}  // namespace sdip
