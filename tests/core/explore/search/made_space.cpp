// A space small enough to visit whole.
#include "tests/core/explore/search/made_space.h"

#include <cmath>

#include "core/base/error.h"
#include "core/explore/front.h"
#include "core/explore/search/selection.h"

namespace sdip {

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

std::shared_ptr<const Application> compile_made(const Machine& machine) {
  if (machine.fusion != Fusion::norm && machine.psram_bytes < 4096)
    throw Error("no_fit", "/psram_bytes", "too small");
  auto application = std::make_shared<Application>();
  application->name = std::to_string(machine.psram_bytes);
  return application;
}

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

double volume_of(const std::vector<std::vector<double>>& costs) {
  std::vector<std::vector<double>> points;
  for (const auto& one : costs) points.push_back({-std::log10(-one[0]), std::log10(one[1])});
  const std::vector<double> reference = {5, 5};
  return hypervolume(points, reference);
}

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

}  // namespace sdip
