// Does each optimiser find fronts of machines that keep the conditions, on islands, and the same ones each time?
#include "core/explore/search/optimisers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/explore/search/archive.h"
#include "core/explore/search/islands.h"
#include "tests/core/explore/search/made_space.h"

namespace sdip {
namespace {

SearchGoal rate_and_area(const char* condition) {
  return {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}},
          {parse_constraint(condition, "/constraints/0")}};
}

std::vector<std::vector<double>> costs_kept(const SearchResult& found) {
  std::vector<std::vector<double>> costs;
  for (const Candidate& one : found.best) {
    EXPECT_EQ(one.score.violation, 0);
    costs.push_back(one.score.costs);
  }
  return costs;
}

class EachOptimiser : public testing::TestWithParam<Optimiser> {};

/// A tenth of the machines, of which one in seven keeps the condition.
TEST_P(EachOptimiser, covers_the_front_of_the_machines_that_keep_a_condition) {
  const SearchGoal goal = rate_and_area("area_mm2 <= 120");
  std::vector<std::vector<double>> all;
  for (const Score& score : visited(goal))
    if (score.violation == 0) all.push_back(score.costs);
  const double whole = volume_of(all);
  for (const std::size_t islands : {1u, 3u}) {
    const SearchResult found =
        search_made(goal, {.optimiser = GetParam(), .islands = islands, .evaluations = 9'000});
    EXPECT_GE(volume_of(costs_kept(found)), 0.99 * whole) << islands;
    EXPECT_LE(found.progress.evaluated, 9'000);
    EXPECT_GE(found.progress.evaluated, 8'000);
  }
}

TEST_P(EachOptimiser, repeats_bit_for_bit_on_any_number_of_threads_and_differs_by_seed_and_islands) {
  const SearchGoal goal = rate_and_area("area_mm2 <= 120");
  SearchOptions options{.optimiser = GetParam(), .islands = 3, .seed = 5, .evaluations = 4'000};
  const auto once = said(search_made(goal, options));
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_EQ(said(search_made(goal, options)), once) << threads;
  }
  options.seed = 6;
  EXPECT_NE(said(search_made(goal, options)), once);
  options.seed = 5;
  options.islands = 2;
  EXPECT_NE(said(search_made(goal, options)), once);
}

TEST_P(EachOptimiser, says_what_it_has_when_it_is_stopped_amid_a_generation) {
  std::atomic<int> asked = 0;
  SearchOptions options{.optimiser = GetParam(), .islands = 2, .threads = 2};
  options.stop = [&] { return ++asked > 400; };
  const SearchResult found = search_made(rate_and_area("area_mm2 <= 120"), options);
  EXPECT_TRUE(found.stopped);
  EXPECT_FALSE(found.best.empty());
  options.stop = [] { return true; };
  EXPECT_TRUE(search_made(rate_and_area("area_mm2 <= 120"), options).best.empty());
}

TEST_P(EachOptimiser, goes_on_from_any_generation_as_if_it_had_not_ended) {
  std::vector<SearchGoal> goals = {rate_and_area("area_mm2 <= 120")};
  if (GetParam() == Optimiser::families)  // and polishes
    goals.push_back({{{Metric::area_mm2, Better::lower}}, {parse_constraint("throughput_fps >= 0.03", "")}});
  for (const SearchGoal& goal : goals) {
    std::vector<SearchState> states;
    SearchOptions options{.optimiser = GetParam(), .islands = 3, .threads = 2, .evaluations = 6'000};
    options.on_state = [&](const SearchState& state) { states.push_back(state); };
    const auto once = said(search_made(goal, options));
    ASSERT_GT(states.size(), 3u);
    EXPECT_EQ(states.back().polishing, goal.objectives.size() == 1);
    options.on_state = nullptr;
    for (const std::size_t at : {std::size_t{0}, states.size() / 2, states.size() - 1}) {
      options.from = states[at];
      std::int64_t first = 0;
      options.on_generation = [&](const SearchProgress& progress) {
        if (first == 0) first = progress.generations;
      };
      EXPECT_EQ(said(search_made(goal, options)), once) << at;
      if (first != 0) {
        EXPECT_GE(first, states[at].progress.generations);
      }
    }
    options.on_generation = nullptr;
    options.from->islands.pop_back();  // it is of another search
    EXPECT_EQ(said(search_made(goal, options)), once);
  }
}

TEST_P(EachOptimiser, takes_budgets_too_small_for_a_generation) {
  for (const std::int64_t evaluations : {1, 3, 70, 200})
    EXPECT_LE(search_made(rate_and_area("area_mm2 <= 1000"),
                          {.optimiser = GetParam(), .islands = 3, .evaluations = evaluations})
                  .progress.evaluated,
              evaluations);
}

TEST_P(EachOptimiser, gives_the_nearest_machine_where_none_keeps_the_conditions) {
  const SearchResult found =
      search_made(rate_and_area("area_mm2 <= 0.001"), {.optimiser = GetParam(), .evaluations = 3'000});
  ASSERT_EQ(found.best.size(), 1u);
  EXPECT_GT(found.best[0].score.violation, 0);
  EXPECT_LT(found.best[0].machine.conv_lanes_in, 8) << "towards smaller ones";
}

std::string name_of_optimiser(const testing::TestParamInfo<Optimiser>& info) {
  return std::string(optimiser_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(optimisers, EachOptimiser,
                         testing::Values(Optimiser::families, Optimiser::nsga2, Optimiser::moead, Optimiser::nspso,
                                         Optimiser::local),
                         name_of_optimiser);

TEST(optimisers, have_names_that_are_found_again) {
  for (const std::string_view name : optimiser_names())
    EXPECT_EQ(optimiser_name(optimiser_named(name).value()), name);
  EXPECT_FALSE(optimiser_named("nsga"));
}

/// An island of machines that cost so much.
Population island_of(std::initializer_list<int> costs) {
  Population island;
  for (const int cost : costs) {
    Candidate& one = island.emplace_back();
    one.places = {static_cast<std::uint16_t>(cost)};
    one.machine.cores = cost;
    one.score.costs = {static_cast<double>(cost)};
  }
  return island;
}

std::vector<int> costs_of(const Population& island) {
  std::vector<int> costs;
  for (const Candidate& one : island) costs.push_back(static_cast<int>(one.score.costs[0]));
  return costs;
}

TEST(islands, send_copies_of_their_best_around_a_ring_in_place_of_the_last) {
  std::vector<Population> islands = {island_of({5, 1, 9, 3}), island_of({12, 15, 11, 14}),
                                     island_of({28, 22, 23, 24})};
  migrate(row_of(Optimiser::nsga2), islands);  // a quarter of four
  EXPECT_THAT(costs_of(islands[0]), testing::ElementsAre(5, 1, 22, 3)) << "others stay where they are";
  EXPECT_THAT(costs_of(islands[1]), testing::ElementsAre(12, 1, 11, 14));
  EXPECT_THAT(costs_of(islands[2]), testing::ElementsAre(11, 22, 23, 24));
  migrate(row_of(Optimiser::families), islands);
  EXPECT_THAT(costs_of(islands[1]), testing::ElementsAre(1, 11, 12)) << "the best first, each machine once";
  std::vector<Population> one = {island_of({5, 1, 9, 3})};
  migrate(row_of(Optimiser::nsga2), one);
  EXPECT_THAT(costs_of(one[0]), testing::ElementsAre(5, 1, 9, 3));
}

}  // namespace
}  // namespace sdip
