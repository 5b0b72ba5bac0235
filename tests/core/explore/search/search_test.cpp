// Does a search find what visiting every machine finds?
#include "core/explore/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "tests/core/explore/search/made_space.h"

namespace sdip {
namespace {

SearchGoal least_area(double fps) {
  return {{{Metric::area_mm2, Better::lower}},
          {parse_constraint("throughput_fps >= " + std::to_string(fps), "/constraints/0")}};
}

TEST(search, finds_the_best_machine_that_visiting_all_finds) {
  for (const double fps : {0.001, 0.01, 0.03}) {
    const SearchGoal goal = least_area(fps);
    double least = std::numeric_limits<double>::infinity();
    for (const Score& score : visited(goal))
      if (score.violation == 0) least = std::min(least, score.costs[0]);
    ASSERT_TRUE(std::isfinite(least));
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const SearchResult found = search_made(goal, {.seed = seed, .evaluations = 9'000});
      ASSERT_FALSE(found.best.empty());
      EXPECT_EQ(found.best[0].score.violation, 0);
      EXPECT_DOUBLE_EQ(found.best[0].score.costs[0], least) << fps << " " << seed;
      EXPECT_LE(found.progress.evaluated, 9'000);
    }
  }
}

TEST(search, covers_the_front_that_visiting_all_finds) {
  const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
  std::vector<std::vector<double>> all;
  for (const Score& score : visited(goal))
    if (score.violation == 0) all.push_back(score.costs);
  const double whole = volume_of(all);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const SearchResult found = search_made(goal, {.seed = seed, .evaluations = 9'000});
    std::vector<std::vector<double>> front;
    for (const Candidate& one : found.best) front.push_back(one.score.costs);
    EXPECT_GE(volume_of(front), 0.995 * whole) << seed;
    EXPECT_LE(volume_of(front), whole * (1 + 1e-12));
  }
}

TEST(search, repeats_bit_for_bit_on_any_number_of_threads) {
  const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
  const auto once = said(search_made(goal, {.seed = 5, .threads = 1, .evaluations = 12'000}));
  for (const int threads : {1, 2, 5})
    EXPECT_EQ(said(search_made(goal, {.seed = 5, .threads = threads, .evaluations = 12'000})), once);
  EXPECT_NE(said(search_made(goal, {.seed = 6, .threads = 1, .evaluations = 12'000})), once);
}

TEST(search, gives_the_nearest_machine_where_none_keeps_the_conditions) {
  const SearchResult found = search_made(least_area(1e6), {.evaluations = 5'000});
  ASSERT_EQ(found.best.size(), 1u);
  EXPECT_GT(found.best[0].score.violation, 0);
  EXPECT_LT(found.best[0].score.violation, 1);  // feasible, and short of the condition alone
  EXPECT_TRUE(found.progress.best.empty());
}

TEST(search, needs_no_row_that_is_compiled) {
  SearchSpace space;
  space.axes = {made_space().axes[0], made_space().axes[1]};
  const SearchGoal goal = {{{Metric::area_mm2, Better::lower}}};
  const SearchResult found = search(space, goal, compile_made, one_by_one(evaluate_made), {.evaluations = 500});
  ASSERT_FALSE(found.best.empty());
  EXPECT_EQ(found.best[0].machine.cores, 1);
  EXPECT_EQ(found.best[0].machine.conv_lanes_in, 1);
  EXPECT_LE(found.progress.evaluated, 500);
}

TEST(search, says_what_it_has_when_it_is_stopped) {
  std::atomic<int> asked = 0;
  SearchOptions options;
  options.stop = [&] { return ++asked > 400; };
  const SearchResult found = search_made(least_area(0.01), options);
  EXPECT_TRUE(found.stopped);
  EXPECT_FALSE(found.best.empty());
  options.stop = [] { return true; };
  EXPECT_TRUE(search_made(least_area(0.01), options).best.empty());
}

TEST(search, begins_with_the_machines_it_is_given) {
  SearchOptions options;
  options.evaluations = 1;  // one generation
  Machine start;
  start.cores = 20;
  start.conv_lanes_in = 100;  // 128 is the nearest
  options.starts = {start};
  const SearchSpace space = made_space();
  const auto places = nearest_places(space, start);
  EXPECT_EQ(machine_at(space, places).cores, 20);
  EXPECT_EQ(machine_at(space, places).conv_lanes_in, 128);
}

TEST(search, tells_what_it_has_done_after_each_generation) {
  std::vector<std::int64_t> evaluated;
  SearchOptions options{.evaluations = 12'000};
  options.on_generation = [&](const SearchProgress& progress) { evaluated.push_back(progress.evaluated); };
  const SearchResult found = search_made(least_area(0.01), options);
  EXPECT_EQ(std::ssize(evaluated), found.progress.generations);
  EXPECT_TRUE(std::ranges::is_sorted(evaluated));
  EXPECT_EQ(evaluated.back(), found.progress.evaluated);
}

TEST(search, of_a_front_says_what_it_covers_which_never_falls) {
  std::vector<SearchProgress> told;
  SearchOptions options{.evaluations = 6'000};
  options.on_generation = [&](const SearchProgress& progress) { told.push_back(progress); };
  const SearchGoal front{{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
  const SearchResult found = search_made(front, options);
  ASSERT_GT(told.size(), 3u);
  ASSERT_EQ(told[0].reference.size(), 2u);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_EQ(told[i].reference, told[0].reference);
    EXPECT_GE(told[i].volume.value(), told[i - 1].volume.value());
  }
  EXPECT_GT(told.back().volume.value(), told[0].volume.value());
  // By hand: the front's steps, the best rate first, in decades.
  const std::vector<double>& reference = found.progress.reference;
  double area = 0, rate = -reference[0];
  for (std::size_t i = found.best.size(); i-- > 0;) {
    const std::vector<double>& costs = found.best[i].score.costs;
    if (-costs[0] <= rate || costs[1] >= reference[1]) continue;
    area += std::log10(-costs[0] / rate) * std::log10(reference[1] / costs[1]);
    rate = -costs[0];
  }
  EXPECT_NEAR(found.progress.volume.value(), area, 1e-9 * area);
  options.on_generation = [](const SearchProgress& progress) {
    EXPECT_TRUE(progress.reference.empty());
    EXPECT_FALSE(progress.volume.has_value());
  };
  search_made({{{Metric::area_mm2, Better::lower}}}, options);
}

TEST(search, passes_on_what_is_no_error_of_a_machine) {
  const auto broken = [](const Machine&) -> std::shared_ptr<const Application> { throw std::logic_error("a bug"); };
  EXPECT_THROW(
      search(made_space(), least_area(1), broken, one_by_one(evaluate_made), {.threads = 3, .evaluations = 9}),
      std::logic_error);
}

/// vector_lanes counts where there are more than four cores, fusion where there are more than four channels.
SearchSpace conditional_space() {
  SearchSpace space = made_space();
  space.axes[2].when = parse_constraint("cores > 4", "");
  space.axes[5].when = parse_constraint("dram_channels > 4", "");
  return space;
}

TEST(search_space, has_each_machine_once_where_conditions_make_places_one) {
  const SearchSpace space = conditional_space();
  std::map<std::vector<std::uint16_t>, Machine> machines;
  std::vector<std::uint16_t> places(space.axes.size());
  for (std::uint16_t cores = 3; cores < 6; ++cores)
    for (std::uint16_t lanes = 0; lanes < 8; ++lanes)
      for (std::uint16_t channels = 2; channels < 4; ++channels)
        for (std::uint16_t fusion = 0; fusion < 3; ++fusion) {
          places = {cores, 1, lanes, channels, 2, fusion};
          const Machine machine = machine_at(space, places);
          EXPECT_TRUE(machine.cores > 4 || machine.vector_lanes == space.base.vector_lanes);
          EXPECT_TRUE(machine.dram_channels > 4 || machine.fusion == space.base.fusion);
          const auto settled = settled_places(space, places);
          EXPECT_EQ(machine_at(space, settled), machine);
          machines.emplace(settled, machine);
        }
  EXPECT_EQ(machines.size(), (1u + 2 * 8) * (1 + 3)) << "of 4, 5 and 6 cores, and 4 and 8 channels";
  for (auto one = machines.begin(); one != machines.end(); ++one)
    for (auto other = std::next(one); other != machines.end(); ++other) EXPECT_NE(one->second, other->second);
}

TEST(search_space, has_each_machine_once_where_a_row_means_nothing) {
  SearchSpace space;
  space.axes = {{find_parameter("dies"), {1, 2}}, {find_parameter("die_link_bits"), {1024, 4096, 8192}}};
  EXPECT_EQ(machine_at(space, std::vector<std::uint16_t>{0, 0}),
            machine_at(space, std::vector<std::uint16_t>{0, 2}));
  EXPECT_EQ(settled_places(space, {0, 0}), settled_places(space, {0, 2}));
  EXPECT_NE(settled_places(space, {1, 0}), settled_places(space, {1, 2}));
}

/// Branches in parallel are compiled for a number of cores, which else only costs.
TEST(search, evaluates_each_machine_with_its_own_programs) {
  SearchSpace space;
  space.axes = {{find_parameter("cores"), {1, 2, 4, 8, 16}},
                {find_parameter("vector_lanes"), {16, 32, 64, 128}},
                {find_parameter("branches"), {0, 1}}};
  const auto compile_for_cores = [](const Machine& machine) {
    auto application = std::make_shared<Application>();
    application->name = std::to_string(machine.cores) + (machine.branches == Branches::parallel ? " share" : "");
    return application;
  };
  std::atomic<int> shared = 0;
  const auto evaluate_so = [&](const Application& application, const Machine& machine) {
    if (machine.branches == Branches::parallel) {
      EXPECT_EQ(application.name, std::to_string(machine.cores) + " share");
      ++shared;
    }
    return evaluate_made(application, machine);
  };
  for (const Optimiser optimiser : {Optimiser::families, Optimiser::nsga2}) {
    const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
    search(space, goal, compile_for_cores, one_by_one(evaluate_so), {.optimiser = optimiser, .evaluations = 500});
  }
  search(space, least_area(0.001), compile_for_cores, one_by_one(evaluate_so), {.evaluations = 500});
  EXPECT_GT(shared, 30);
}

TEST(search_space, refuses_conditions_on_metrics_and_on_axes_that_come_later) {
  SearchSpace space = made_space();
  space.axes[0].when = parse_constraint("vector_lanes > 4", "");
  EXPECT_THROW(check_search_space(space), Error);
  space.axes[0].when = parse_constraint("area_mm2 > 4", "");
  EXPECT_THROW(check_search_space(space), Error);
}

/// A program says what it was compiled for.
std::shared_ptr<const Application> compile_named(const Machine& machine) {
  auto application = std::make_shared<Application>();
  application->name = std::to_string(static_cast<int>(machine.fusion)) + " " + std::to_string(machine.psram_bytes);
  return application;
}

TEST(search, of_axes_under_conditions_evaluates_each_machine_on_its_own_program_and_finds_the_best) {
  const SearchSpace space = conditional_space();
  const auto evaluate = [](const Application& application, const Machine& machine) {
    EXPECT_EQ(application.name, compile_named(machine)->name);
    EXPECT_TRUE(machine.cores > 4 || machine.vector_lanes == Machine().vector_lanes);
    return evaluate_made(application, machine);
  };
  const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
  for (const std::string_view name : optimiser_names()) {
    const Optimiser optimiser = optimiser_named(name).value();
    const SearchResult found = search(space, goal, compile_named, one_by_one(evaluate),
                                      {.optimiser = optimiser, .islands = 2, .evaluations = 3'000});
    EXPECT_GT(found.best.size(), 5u) << name;
    for (const Candidate& one : found.best) {
      EXPECT_EQ(one.machine, machine_at(space, one.places));
      EXPECT_EQ(one.outcome.values, evaluate_made({}, one.machine).values);
    }
  }
}

/// psram_bytes, which is compiled, follows cores, which only cost; vector_lanes cannot with three of them.
SearchSpace linked_space() {
  SearchSpace space = made_space();
  space.axes.erase(space.axes.begin() + 4);
  space.axes.erase(space.axes.begin() + 2);
  space.links = {{find_parameter("psram_bytes"), parse_formula("link", "", "4096 * cores", "")},
                 {find_parameter("vector_lanes"), parse_formula("link", "", "if(cores == 3, 0, 8 * cores)", "")}};
  return space;
}

TEST(search_space, has_links_followed_and_says_which_machine_cannot) {
  const SearchSpace space = linked_space();
  for (std::uint16_t cores = 0; cores < space.axes[0].values.size(); ++cores) {
    const Machine machine = machine_at(space, std::vector<std::uint16_t>{cores, 1, 2, 1});
    EXPECT_EQ(machine.psram_bytes, 4096 * machine.cores);
    if (machine.cores != 3) {
      EXPECT_EQ(machine.vector_lanes, 8 * machine.cores);
      EXPECT_NO_THROW(check_machine_in(space, machine));
      continue;
    }
    EXPECT_EQ(machine.vector_lanes, space.base.vector_lanes);
    try {
      check_machine_in(space, machine);
      ADD_FAILURE() << "three cores have no lanes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code + " at " + error.where, "value_out_of_range at vector_lanes");
    }
  }
  SearchSpace refused = space;
  refused.axes.push_back({find_parameter("vector_lanes"), {4, 8}});
  EXPECT_THROW(check_search_space(refused), Error) << "an axis and a link";
  refused = space;
  refused.axes[1].when = parse_constraint("vector_lanes > 4", "");
  EXPECT_THROW(check_search_space(refused), Error) << "a condition on what follows";
}

TEST(search, of_linked_rows_evaluates_each_machine_on_its_own_program_and_finds_the_best) {
  const SearchSpace space = linked_space();
  const auto evaluate = [](const Application& application, const Machine& machine) {
    EXPECT_EQ(application.name, compile_named(machine)->name);
    EXPECT_EQ(machine.psram_bytes, 4096 * machine.cores);
    EXPECT_EQ(machine.vector_lanes, 8 * machine.cores);
    return evaluate_made(application, machine);
  };
  double most = 0;
  for (std::uint16_t cores = 0; cores < 12; ++cores)
    for (std::uint16_t channels = 0; channels < 5; ++channels)
      for (std::uint16_t fusion = 0; fusion < 3; ++fusion) {
        const Machine machine = machine_at(space, std::vector<std::uint16_t>{cores, 7, channels, fusion});
        const Outcome outcome = evaluate_made({}, machine);
        if (outcome.feasible && machine.cores != 3) most = std::max(most, outcome.values[Metric::throughput_fps]);
      }
  const SearchGoal goal = {{{Metric::throughput_fps, Better::higher}}};
  const SearchResult found = search(space, goal, compile_named, one_by_one(evaluate), {.evaluations = 1'500});
  ASSERT_FALSE(found.best.empty());
  EXPECT_EQ(found.best[0].outcome.values[Metric::throughput_fps], most);
  const SearchGoal both = {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
  for (const std::string_view name : optimiser_names()) {
    const SearchResult front = search(space, both, compile_named, one_by_one(evaluate),
                                      {.optimiser = optimiser_named(name).value(), .evaluations = 1'500});
    EXPECT_GT(front.best.size(), 5u) << name;
    for (const Candidate& one : front.best) EXPECT_NE(one.machine.cores, 3);
  }
}

TEST(search_space, refuses_no_axis_an_axis_twice_and_an_axis_of_one_value) {
  const Axis cores{find_parameter("cores"), {1, 2}}, one{find_parameter("dies"), {1}};
  for (const std::vector<Axis>& axes : {std::vector<Axis>{}, {cores, cores}, {cores, one}})
    EXPECT_THROW(check_search_space({Machine(), axes}), Error);
  EXPECT_NO_THROW(check_search_space({Machine(), {cores}}));
}

TEST(search_space, makes_machines_one_that_differ_in_rows_that_mean_nothing) {
  SearchSpace space;
  space.axes = {{find_parameter("dies"), {1, 2}}, {find_parameter("die_link_bits"), {256, 512}}};
  const std::vector<std::uint16_t> a = {0, 0}, b = {0, 1}, c = {1, 0}, d = {1, 1};
  EXPECT_EQ(machine_at(space, a), machine_at(space, b));
  EXPECT_NE(machine_at(space, c), machine_at(space, d));
}

}  // namespace
}  // namespace sdip
