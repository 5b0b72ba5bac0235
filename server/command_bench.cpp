// sdip bench: how fast the two things are that people wait for, as ratios to what they should take.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <thread>

#include "core/explore/spec.h"
#include "core/explore/sweep.h"
#include "server/analysis.h"
#include "server/commands.h"
#include "server/sweep_arguments.h"
#include "server/text.h"

namespace sdip {
namespace {

constexpr double analysis_budget_s = 0.2;        // analyze of the SD 1.5 pipeline, compile included
constexpr double sweep_budget_points = 200'000;  // machines a second of a grid sweep of that pipeline

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

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return printable(line.substr(line.find(':') + 2));
  return "unknown processor";
}

/// Points of a sweep a second on `threads`, and what its programs took before.
struct SweepRate {
  std::int64_t points = 0, programs = 0;
  double compile_s = 0, points_per_second = 0;
};

SweepRate sweep_rate(const std::vector<std::string>& axes, int threads) {
  SweepArguments arguments;
  arguments.model = "sd15";
  arguments.axes = axes;
  const SweepSpec spec = spec_from_json(sweep_body(arguments));
  const Catalog catalog;
  const IndexRange all{0, point_count(spec.space)};
  CompileOptions quickly;
  quickly.say_needed_bytes = false;
  quickly.mappings = std::make_shared<MappingCache>();
  std::map<std::vector<std::int64_t>, std::shared_ptr<const Application>> programs;
  SweepRate rate;
  rate.points = all.end;
  rate.compile_s = seconds_of([&] {
    for (std::int64_t i = 0; i < all.end; ++i) {
      const Machine m = point(spec.space, i);
      std::shared_ptr<const Application>& program = programs[compile_key(m)];
      if (!program)
        program = std::make_shared<const Application>(compile(*catalog.workload("sd15", m), m, quickly));
    }
  });
  rate.programs = std::ssize(programs);
  SweepOptions options;
  options.threads = threads;
  const auto compiled = [&](const Machine& m) { return programs.at(compile_key(m)); };
  const double seconds = median_of(
      3, [&] { sweep(spec.space, std::span(&all, 1), compiled, side_by_side, options, [](PointBatch&&) {}); });
  rate.points_per_second = static_cast<double>(all.end) / seconds;
  return rate;
}

/// A grid over cores, conv2d lanes, vector lanes, weight format, PSRAM capacity, DSRAM width, DRAM clock ratio and
/// sharing.
std::vector<std::string> grid_axes() {
  return {"cores=1,2,4,5,7,10,15,20",
          "dram_clock_ratio=0.5,0.75,1,1.25,1.5,1.75,2,2.5,3,3.5,4,5,6,8,12,16",
          "conv_lanes_in=8,16,32,64",
          "vector_lanes=64,128,256,512",
          "weight_format=fp16,int8",
          "psram_bytes=4194304,8388608",
          "dsram_port_bits=1024,2048,4096,8192",
          "mac_sharing=separate,shared"};
}

int run_bench(bool json) {
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const Machine machine;
  const double whole = median_of(7, [&] { analyze(Catalog(), "sd15", machine); });
  const Catalog catalog;
  const auto workload = catalog.workload("sd15", machine);
  const Application application = compile(*workload, machine);
  const double compiled = median_of(7, [&] { compile(*workload, machine); });
  const double estimated = median_of(21, [&] { estimate(application, machine); });
  const double evaluated = median_of(21, [&] { evaluate(application, machine); });
  const SweepRate grid = sweep_rate(grid_axes(), threads);
  const double alone = static_cast<double>(threads) / evaluated;
  if (json) {
    std::cout << json_text(OrderedJson{{"machine", processor()},
                                       {"threads", threads},
                                       {"analyze_s", whole},
                                       {"compile_s", compiled},
                                       {"estimate_s", estimated},
                                       {"evaluate_s", evaluated},
                                       {"sweep_points", grid.points},
                                       {"sweep_programs", grid.programs},
                                       {"sweep_compile_s", grid.compile_s},
                                       {"sweep_points_per_second", grid.points_per_second},
                                       {"analyze_over_budget", whole / analysis_budget_s},
                                       {"sweep_over_budget", grid.points_per_second / sweep_budget_points},
                                       {"sweep_over_evaluate", grid.points_per_second / alone}},
                           2)
              << "\n";
    return exit_ok;
  }
  std::cout << "on " << processor() << ", " << threads << " threads\n";
  const auto ratio = [](double value) { return quantity_text(value, "x"); };
  print_table(
      std::cout, {{"sd15"}, {"median", Align::right}, {""}, {"ratio", Align::right}},
      {{"analyze, everything", quantity_text(whole, "s"), "of the 0.2 s allowed", ratio(whole / analysis_budget_s)},
       {"compile", quantity_text(compiled, "s"), "of analyze", ratio(compiled / whole)},
       {"estimate, full report", quantity_text(estimated, "s"), "of compile", ratio(estimated / compiled)},
       {"evaluate, metrics only", quantity_text(evaluated, "s"), "of estimate", ratio(evaluated / estimated)},
       {"grid of " + count_text(grid.points) + ", its " + count_text(grid.programs) + " programs",
        quantity_text(grid.compile_s, "s"), "of compile, a program",
        ratio(grid.compile_s / static_cast<double>(grid.programs) / compiled)},
       {"grid, its machines", count_text(static_cast<std::int64_t>(grid.points_per_second)) + " /s",
        "of the 200,000 wanted", ratio(grid.points_per_second / sweep_budget_points)},
       {"", "", "of evaluate on all threads", ratio(grid.points_per_second / alone)}},
      colour_out());
  return exit_ok;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  const auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("bench", "How fast this program is here, as ratios");
  command->add_flag("--json", *json, "JSON instead of a table");
  command->callback([&action, json] { action = [json] { return run_bench(*json); }; });
}

}  // namespace sdip
