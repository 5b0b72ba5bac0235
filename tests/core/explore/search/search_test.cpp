// Does a search find what visiting every machine finds?
#include "core/explore/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/explore/search/selection.h"

namespace sdip {
namespace {

/// Six rows of which two are compiled: 92,160 machines.
SearchSpace made_space() {
  SearchSpace space;
  space.axes = {{find_parameter("cores"), {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24}},
                {find_parameter("conv_lanes_in"), {1, 2, 4, 8, 16, 32, 64, 128}},
                {find_parameter("vector_lanes"), {4, 8, 16, 32, 64, 128, 256, 512}},
                {find_parameter("dram_channels"), {1, 2, 4, 8, 16}},
                {find_parameter("psram_bytes"), {1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}},
                {find_parameter("fusion"), {0, 1, 2}}};
  return space;
}

/// Without a fusion of norms nothing fits in less than 4 KiB.
std::shared_ptr<const Application> compile_made(const Machine& machine) {
  if (machine.fusion != Fusion::norm && machine.psram_bytes < 4096)
    throw Error("no_fit", "/psram_bytes", "too small");
  auto application = std::make_shared<Application>();
  application->name = std::to_string(machine.psram_bytes);
  return application;
}

/// A machine with a best of its own: cores that wait for memory and lanes that wait for each other, at an area.
Outcome evaluate_made(const Application&, const Machine& m) {
  Outcome outcome;
  outcome.values.fill(0);
  const auto of = [&](Metric metric) -> double& { return outcome.values[static_cast<std::size_t>(metric)]; };
  const double lanes = static_cast<double>(m.conv_lanes_in), vectors = static_cast<double>(m.vector_lanes);
  const double bytes = 1e5 / std::sqrt(static_cast<double>(m.psram_bytes)) * (m.fusion == Fusion::norm ? 0.7 : 1);
  const double compute = 1e4 / lanes + 2e4 / vectors * (m.fusion == Fusion::no_fusion ? 2 : 1);
  const double transfer = bytes * static_cast<double>(m.cores) / static_cast<double>(m.dram_channels);
  of(Metric::throughput_fps) = static_cast<double>(m.cores) / (compute + transfer);
  of(Metric::area_mm2) = static_cast<double>(m.cores) * (lanes * 0.5 + vectors * 0.02 + 1) +
                         static_cast<double>(m.psram_bytes) * 1e-4 + static_cast<double>(m.dram_channels) * 3;
  of(Metric::step_cycles) = 1;
  outcome.feasible = m.cores != 12;
  if (!outcome.feasible) outcome.reason = "twelve are too hot";
  return outcome;
}

SearchResult search_made(const SearchGoal& goal, SearchOptions options) {
  return search(made_space(), goal, compile_made, one_by_one(evaluate_made), options);
}

/// All machines of the space that are feasible, scored.
std::vector<Score> visited(const SearchGoal& goal) {
  const SearchSpace space = made_space();
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
  std::vector<std::uint16_t> places(space.axes.size());
  for (;;) {
    const Machine machine = machine_at(space, places);
    try {
      const Outcome outcome = evaluate_made(*compile_made(machine), machine);
      machines.push_back(machine);
      outcomes.push_back(outcome);
    } catch (const Error&) {
    }
    std::size_t a = 0;
    while (a < places.size() && ++places[a] == space.axes[a].values.size()) places[a++] = 0;
    if (a == places.size()) break;
  }
  return scores(goal, machines, outcomes);
}

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

double volume_of(const std::vector<std::vector<double>>& costs) {
  std::vector<std::vector<double>> points;
  for (const auto& one : costs) points.push_back({-std::log10(-one[0]), std::log10(one[1])});
  const std::vector<double> reference = {5, 5};
  return hypervolume(points, reference);
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

/// Everything that a search says, but for how often it compiled.
std::vector<std::vector<double>> said(const SearchResult& result) {
  std::vector<std::vector<double>> all = {{static_cast<double>(result.progress.evaluated),
                                           static_cast<double>(result.progress.feasible),
                                           static_cast<double>(result.progress.generations)}};
  for (const Candidate& one : result.best) {
    all.emplace_back(one.places.begin(), one.places.end());
    all.push_back(one.score.costs);
  }
  return all;
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

TEST(search, passes_on_what_is_no_error_of_a_machine) {
  const auto broken = [](const Machine&) -> std::shared_ptr<const Application> { throw std::logic_error("a bug"); };
  EXPECT_THROW(
      search(made_space(), least_area(1), broken, one_by_one(evaluate_made), {.threads = 3, .evaluations = 9}),
      std::logic_error);
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
