// Searches beside fronts that are known.
#include "server/studies/search_quality.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/explore/front.h"
#include "core/explore/search/families.h"
#include "core/explore/search/rows.h"
#include "core/explore/search/selection.h"
#include "server/io/threads.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"
#include "server/studies/format_accuracy.h"

namespace sdip {
namespace {

using Texts = std::vector<std::pair<const char*, const char*>>;

SearchGoal rate_and_area() {
  return {{{Metric::throughput_fps, Better::higher}, {Metric::area_mm2, Better::lower}}};
}

SearchedSpace small_space(const char* name, const char* model, const char* preset, const Texts& axes) {
  SearchedSpace searched{name, model, {require_preset(preset, "").machine, {}}, rate_and_area()};
  for (const auto& [row_name, values] : axes) {
    const ParameterRow* row = find_parameter(row_name);
    check(row != nullptr, "small_space: no such row");
    searched.space.axes.push_back({row, searched_values(*row, values)});
  }
  check_search_space(searched.space);
  return searched;
}

std::int64_t points_of(const SearchSpace& space) {
  std::int64_t points = 1;
  for (const Axis& axis : space.axes) points *= std::ssize(axis.values);
  return points;
}

Placing places_of(const SearchSpace& space, std::int64_t index) {
  Placing places(space.axes.size());
  for (std::size_t a = places.size(); a-- > 0;) {
    const auto size = std::ssize(space.axes[a].values);
    places[a] = static_cast<std::uint16_t>(index % size);
    index /= size;
  }
  return places;
}

std::int64_t index_of(const SearchSpace& space, const Machine& machine) {
  std::int64_t index = 0;
  for (const Axis& axis : space.axes) {
    const auto own = std::ranges::find(axis.values, axis.row->read(machine));
    check(own != axis.values.end(), "index_of: a machine of the space");
    index = index * std::ssize(axis.values) + (own - axis.values.begin());
  }
  return index;
}

Outcome no_outcome() {
  Outcome outcome;
  outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  return outcome;
}

/// Those of one program; nothing where it cannot be compiled.
std::optional<std::vector<Outcome>> outcomes_of(const CompileFunction& compile_machine,
                                                const std::vector<Machine>& machines) {
  std::vector<Outcome> outcomes(machines.size(), no_outcome());
  std::vector<Machine> allowed;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < machines.size(); ++i) try {
      check_machine(machines[i]);
      allowed.push_back(machines[i]);
      places.push_back(i);
    } catch (const Error&) {
      continue;
    }
  if (allowed.empty()) return std::nullopt;
  try {
    const Programs programs = compile_machine(allowed[0]);
    std::vector<Outcome> its(allowed.size());
    evaluator_of(programs, side_by_side)(allowed, its);
    for (std::size_t k = 0; k < its.size(); ++k) outcomes[places[k]] = std::move(its[k]);
  } catch (const Error&) {
    return std::nullopt;
  }
  return outcomes;
}

/// A program drawn at large, and so many of its machines.
std::vector<Machine> drawn_family(const SearchSpace& space, std::int64_t members, SearchDraws& draws) {
  const Placing program = drawn_at_large(space, draws);
  std::vector<Machine> machines;
  for (std::int64_t m = 0; m < members; ++m) {
    Placing places = drawn_at_large(space, draws);
    for (std::size_t a = 0; a < places.size(); ++a)
      if (changes_program(*space.axes[a].row)) places[a] = program[a];
    machines.push_back(machine_at(space, places));
  }
  return machines;
}

void add_costs(const SearchGoal& goal, std::span<const Machine> machines, std::span<const Outcome> outcomes,
               CostPoints& costs) {
  for (const Score& score : scores(goal, machines, outcomes))
    if (score.violation == 0) costs.push_back(score.costs);
}

CostPoints costs_of(const SearchResult& result) {
  CostPoints costs;
  for (const Candidate& one : result.best)
    if (one.score.violation == 0) costs.push_back(one.score.costs);
  return costs;
}

double seconds_from(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

double log10_cost(double cost) { return log_cost(cost) / std::log(10.0); }

}  // namespace

std::vector<SearchedSpace> small_spaces() {
  return {small_space("tiny-sd, lanes of convolutions", "tiny-sd", "balanced",
                      {{"cores", "1,2,3,4,6,8"},
                       {"conv_lanes_out", "4,8,16,32"},
                       {"vector_lanes", "16,64,256"},
                       {"dram_channels", "1,2,4"},
                       {"weight_format", "fp16,int8"},
                       {"psram_bytes", "16384:524288:1"},
                       {"dsram_bytes", "8192:65536:1"},
                       {"stackram_bytes", "16384:131072:1"},
                       {"fusion", "all"}}),
          small_space("tiny-sd, lanes of products", "tiny-sd", "edge",
                      {{"cores", "1,2,4,8,16"},
                       {"linear_lanes_n", "4,8,16,32"},
                       {"norm_lanes", "16,64,256"},
                       {"activation_format", "fp16,int8"},
                       {"weight_format", "fp16,int8"},
                       {"psram_bytes", "8192:262144:1"},
                       {"psram_port_bits", "512,1024,2048,4096"},
                       {"dsram_bytes", "16384:65536:1"},
                       {"stackram_bytes", "16384:65536:1"},
                       {"dram_kind", "lpddr4,hbm2"},
                       {"fusion", "none,norm"}}),
          small_space("sd15-unet", "sd15-unet", "balanced",
                      {{"cores", "1,2,4,6,8,12,16,20"},
                       {"conv_lanes_in", "8,16,32,64"},
                       {"matmul_lanes_n", "8,16,32"},
                       {"dram_channels", "2,4,8,16"},
                       {"weight_format", "fp16,int8"},
                       {"psram_bytes", "1048576:16777216:1"},
                       {"dsram_bytes", "262144:2097152:1"},
                       {"stackram_bytes", "1048576:8388608:1"},
                       {"fusion", "none,norm"}})};
}

SearchedSpace whole_space() {
  const Machine base = require_preset(std::string(default_preset), "").machine;
  return {"sd15, every row", "sd15", {base, searched_axes(base, {}, {})}, rate_and_area()};
}

SearchedSpace whole_space_of_seven(const Catalog& catalog, int threads) {
  constexpr double least_sqnr_db = 12;
  SearchedSpace searched = whole_space();
  searched.name += ", seven objectives";
  searched.space.axes = searched_axes(searched.space.base, {}, {}, true);
  const Formula sqnr = format_accuracies(catalog, {{"tiny-sd", 1}}, searched.space.base, searched.space.axes,
                                         least_sqnr_db, {}, threads, {})
                           .formula();
  searched.goal.objectives = {{Metric::throughput_fps, Better::higher},
                              {Metric::latency_s, Better::lower},
                              {Metric::energy_j_per_frame, Better::lower},
                              {Metric::area_mm2, Better::lower},
                              {Metric::power_w, Better::lower},
                              {Metric::price_usd, Better::lower},
                              {Measure(sqnr), Better::higher}};
  for (const char* condition : {"area_mm2 <= 800", "power_w <= 100", "throughput_fps >= 0.1"})
    searched.goal.constraints.push_back(parse_constraint(condition, "/constraints"));
  searched.goal.constraints.push_back(at_least(sqnr, least_sqnr_db));
  return searched;
}

Visited visit(const Catalog& catalog, const SearchedSpace& searched, int threads) {
  const SearchSpace& space = searched.space;
  Visited visited;
  visited.points = points_of(space);
  visited.outcomes.assign(as_size(visited.points), no_outcome());
  visited.compiled.resize(visited.outcomes.size());
  List<std::vector<std::int64_t>> of_program;
  std::map<Placing, std::size_t> programs;
  for (std::int64_t i = 0; i < visited.points; ++i) {
    Placing program = places_of(space, i);
    for (std::size_t a = 0; a < program.size(); ++a)
      if (!changes_program(*space.axes[a].row)) program[a] = 0;
    const auto [entry, fresh] = programs.try_emplace(std::move(program), of_program.size());
    if (fresh) of_program.emplace_back();
    of_program[entry->second].push_back(i);
  }
  visited.programs = std::ssize(of_program);
  const CompileFunction compile_machine = compile_quickly(catalog, {{searched.model, 1}});
  on_threads(threads, visited.programs, [&](std::int64_t p) {
    const std::vector<std::int64_t>& indices = of_program[p];
    std::vector<Machine> machines;
    for (const std::int64_t i : indices) machines.push_back(machine_at(space, places_of(space, i)));
    auto outcomes = outcomes_of(compile_machine, machines);
    for (std::size_t k = 0; outcomes && k < indices.size(); ++k) {
      visited.outcomes[indices[k]] = std::move((*outcomes)[k]);
      visited.compiled[indices[k]] = 1;
    }
  });
  CostPoints kept;
  for (std::int64_t i = 0; i < visited.points; ++i) {
    const Outcome& outcome = visited.outcomes[i];
    visited.feasible += outcome.feasible ? 1 : 0;
    const Machine machine = machine_at(space, places_of(space, i));
    if (outcome.feasible) add_costs(searched.goal, std::span(&machine, 1), std::span(&outcome, 1), kept);
  }
  visited.front = front_of(kept);
  return visited;
}

CostPoints searched_front(const SearchedSpace& searched, const Visited& visited, const SearchOptions& options) {
  auto nothing = std::make_shared<const Application>();
  const auto compile_machine = [&](const Machine& machine) {
    if (visited.compiled[index_of(searched.space, machine)] == 0)
      throw Error("value_conflict", "", "it has no program");
    return nothing;
  };
  const auto look_up = [&](const Application&, const Machine& machine) {
    return visited.outcomes[index_of(searched.space, machine)];
  };
  return costs_of(search(searched.space, searched.goal, compile_machine, one_by_one(look_up), options));
}

CostPoints drawn_front(const SearchedSpace& searched, const Visited& visited, std::uint64_t seed,
                       std::int64_t evaluations) {
  SearchDraws draws(seed, 0, 0);
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
  for (std::int64_t k = 0; k < evaluations; ++k) {
    machines.push_back(machine_at(searched.space, drawn_at_large(searched.space, draws)));
    outcomes.push_back(visited.outcomes[index_of(searched.space, machines.back())]);
  }
  CostPoints costs;
  add_costs(searched.goal, machines, outcomes, costs);
  return front_of(costs);
}

FoundFront compiled_search(const Catalog& catalog, const SearchedSpace& searched, const SearchOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  const SearchResult result =
      search(searched.space, searched.goal, compile_quickly(catalog, {{searched.model, 1}}), side_by_side, options);
  return {costs_of(result), result.progress.evaluated, result.progress.compiled, seconds_from(begun)};
}

FoundFront compiled_draw(const Catalog& catalog, const SearchedSpace& searched, std::uint64_t seed,
                         std::int64_t evaluations, int threads) {
  constexpr std::int64_t members = 64, programs_at_once = 64;
  const auto begun = std::chrono::steady_clock::now();
  const CompileFunction compile_machine = compile_quickly(catalog, {{searched.model, 1}});
  FoundFront found;
  while (found.evaluated < evaluations) {
    List<CostPoints> fronts(programs_at_once);
    List<std::int64_t> evaluated(programs_at_once, 1);  // what has no program is one
    on_threads(threads, programs_at_once, [&](std::int64_t p) {
      SearchDraws draws(seed, 0, static_cast<std::uint64_t>(found.compiled + p));
      const std::vector<Machine> machines = drawn_family(searched.space, members, draws);
      const auto outcomes = outcomes_of(compile_machine, machines);
      if (!outcomes) return;
      evaluated[p] = members;
      add_costs(searched.goal, machines, *outcomes, fronts[p]);
    });
    found.compiled += programs_at_once;
    for (const std::int64_t count : evaluated) found.evaluated += count;
    for (const CostPoints& front : fronts) found.costs.insert(found.costs.end(), front.begin(), front.end());
    found.costs = front_of(found.costs);
  }
  found.seconds = seconds_from(begun);
  return found;
}

CostPoints front_of(const CostPoints& points) {
  if (points.empty()) return {};
  const auto columns = columns_of(points, points[0].size(), std::identity());
  CostPoints front;
  for (const std::int64_t i : pareto_front(spans_of(columns), std::vector<Better>(columns.size(), Better::lower)))
    if (front.empty() || front.back() != points[at(i)]) front.push_back(points[at(i)]);
  return front;
}

VolumeShare::VolumeShare(const CostPoints& front) {
  constexpr double worse = 1.1;
  for (std::size_t k = 0; k < front[0].size(); ++k) {
    const auto by = [k](const auto& a, const auto& b) { return a[k] < b[k]; };
    const auto [best, worst] = std::ranges::minmax_element(front, by);
    reference_.push_back((*worst)[k] < 0 ? (*worst)[k] / worse : (*worst)[k] * worse);
    ideal_.push_back((*best)[k]);
  }
  whole_ = volume(front);
}

double VolumeShare::of(const CostPoints& points) const { return volume(points) / whole_; }

double VolumeShare::error(double share) const {
  if (reference_.size() <= 2) return 0;
  return std::sqrt(share * (1 - share) / whole_);
}

double VolumeShare::volume(const CostPoints& points) const {
  CostPoints logs;
  const auto in_logs = [](const std::vector<double>& costs) {
    std::vector<double> row;
    for (const double cost : costs) row.push_back(log10_cost(cost));
    return row;
  };
  for (const auto& point : points) logs.push_back(in_logs(point));
  const std::vector<double> reference = in_logs(reference_), ideal = in_logs(ideal_);
  if (reference.size() <= 2) return hypervolume(std::move(logs), reference);
  constexpr int places = 100'000;
  SearchDraws draws(1, 0, 0);
  std::vector<double> at(reference.size());
  int beaten = 0;
  for (int i = 0; i < places; ++i) {
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = ideal[k] + draws.share() * (reference[k] - ideal[k]);
    beaten += std::ranges::any_of(logs, [&](const auto& point) {
      return std::equal(point.begin(), point.end(), at.begin(),
                        [](double cost, double here) { return cost <= here; });
    });
  }
  return beaten;
}

}  // namespace sdip
