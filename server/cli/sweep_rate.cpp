// How fast machines are evaluated side by side.
#include "server/cli/sweep_rate.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include "core/cost/price/batch.h"
#include "core/explore/space/spec.h"
#include "core/explore/sweep.h"
#include "core/program/compile/stage_cache.h"
#include "core/program/tiling/mapping_cache.h"
#include "server/cli/sweep_arguments.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

constexpr const char* rated_model = "sd15";

// Small enough, with the cores and lanes of the sweeps, that each of their machines can be built.
constexpr const char* rated_preset = "essay";
constexpr const char* rated_changes[] = {"dies=1",
                                         "technology_node=n5",
                                         "dram_kind=lpddr5x",
                                         "dram_channels=16",
                                         "dsram_bytes=8388608",
                                         "stackram_bytes=4194304",
                                         "skip_handling=spill"};

/// The programs of a space's machines, compiled once for each range of PSRAM's capacity that they know.
class Library {
 public:
  Library(const Space& space, std::int64_t points) {
    quickly_.say_needed_bytes = false;
    quickly_.mappings = std::make_shared<MappingCache>();
    quickly_.stages = std::make_shared<StageCache>();
    for (std::int64_t i = 0; i < points; ++i) add(point(space, i));
  }

  std::shared_ptr<const Application> of(const Machine& machine) const {
    const auto steps = steps_.find(key_but_psram(machine));
    if (steps == steps_.end()) return nullptr;
    const auto& its = steps->second;
    const auto holds = [&](const auto& one) { return one.second->psram_bytes.holds(machine.psram_bytes); };
    const auto found = std::find_if(std::reverse_iterator(its.upper_bound(machine.psram_bytes)), its.rend(), holds);
    return found == its.rend() ? nullptr : found->second;
  }
  std::int64_t programs() const { return programs_; }
  std::int64_t searches() const { return static_cast<std::int64_t>(quickly_.mappings->counts().searched); }

 private:
  void add(const Machine& machine) {
    if (of(machine)) return;
    auto program =
        std::make_shared<const Application>(compile(*catalog_.workload(rated_model, machine), machine, quickly_));
    ++programs_;
    const std::int64_t least = program->psram_bytes.least;  // one of the same least that ends sooner is part of it
    steps_[key_but_psram(machine)].insert_or_assign(least, std::move(program));
  }

  const Catalog catalog_;
  CompileOptions quickly_;
  std::map<std::vector<std::int64_t>, std::map<std::int64_t, std::shared_ptr<const Application>>> steps_;
  std::int64_t programs_ = 0;
};

Space space_of(std::vector<std::string> axes, const std::string& sampling) {
  SweepArguments arguments;
  arguments.model = rated_model;
  arguments.machine.preset = rated_preset;
  std::ranges::copy(rated_changes, std::back_inserter(arguments.machine.changes));
  arguments.axes = std::move(axes);
  arguments.sampling = sampling;
  if (sampling == "random") arguments.count = 20'000;
  return said_spec(arguments, sweep_body(arguments)).space;
}

}  // namespace

std::string rated_machine() {
  std::string text = std::string(rated_model) + " on " + rated_preset;
  for (const char* change : rated_changes) text += std::string(" ") + change;
  return text;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_of(int runs, const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) seconds.push_back(seconds_of(work));
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

Space grid_sweep() {
  return space_of(
      {"cores=1,2,3,4,5,6,7,8", "dram_channels=8,10,12,14,16,18,20,22,24,26,28,32,36,40,48,64",
       "conv_lanes_in=4,8,12,16", "vector_lanes=64,128,256,512", "weight_format=fp16,int8",
       "psram_bytes=4194304,8388608", "dsram_port_bits=1024,2048,4096,8192", "mac_sharing=separate,shared"},
      "grid");
}

Space fine_sweep() {
  return space_of({"cores=1:8:1", "dram_rate_mtps=1000:8500:1", "conv_lanes_in=4:16:1", "vector_lanes=30:512:1",
                   "weight_format=fp16,int8", "psram_bytes=1048576:8388608:786", "dsram_port_bits=512:8192:8",
                   "mac_sharing=separate,shared"},
                  "random");
}

namespace {

/// Returns how many can be built.
std::int64_t evaluate_all(const Space& space, const IndexRange& range, const Library& library, int threads,
                          Vectors vectors) {
  const auto in_lanes = [vectors](const Application& application) -> Evaluator {
    const auto batch = std::make_shared<BatchEvaluator>(application, vectors);
    return [batch](std::span<const Machine> machines, std::span<Outcome> outcomes) {
      batch->evaluate(machines, outcomes);
    };
  };
  SweepOptions options;
  options.threads = threads;
  const auto compiled = [&](const Machine& m) { return library.of(m); };
  std::int64_t feasible = 0;
  sweep(space, std::span(&range, 1), compiled, in_lanes, options,
        [&](PointBatch&& batch) { feasible += std::ranges::count(batch.feasible, 1); });
  return feasible;
}

}  // namespace

void sweep_first(const Space& space, std::int64_t points, bool evaluated) {
  const Library library(space, points);
  if (evaluated) evaluate_all(space, {0, points}, library, 1, widest_vectors());
}

SweepRate sweep_rate(const Space& space, int threads, Vectors vectors) {
  const IndexRange all{0, point_count(space)};
  std::unique_ptr<const Library> library;
  SweepRate rate;
  rate.points = all.end;
  rate.compile_s = seconds_of([&] { library = std::make_unique<const Library>(space, all.end); });
  rate.programs = library->programs();
  rate.searches = library->searches();
  const double seconds =
      median_of(3, [&] { rate.feasible = evaluate_all(space, all, *library, threads, vectors); });
  rate.points_per_second = static_cast<double>(all.end) / seconds;
  return rate;
}

}  // namespace sdip
