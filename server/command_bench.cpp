// sdip bench: how fast the two things are that people wait for, as ratios to what they should take.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
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

constexpr double analysis_budget_s = 0.2;     // issue: analyze of the SD 1.5 pipeline, compile included
constexpr double sweep_budget_points = 5000;  // issue: points a second of a sweep of that pipeline

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

/// Points a second of a grid whose programs differ in three of its axes.
double sweep_rate(int threads) {
  SweepArguments arguments;
  arguments.model = "sd15";
  for (const char* axis : {"psram_bytes=4194304,8388608", "dsram_bytes=2097152,4194304", "weight_format=fp16,int8",
                           "cores=1,2,4,5,10,20", "dram_bus_bits=64,128,256,512", "vector_lanes=64,128,256,512",
                           "core_clock_mhz=400:1600:100"})
    arguments.axes.push_back(axis);
  const SweepSpec spec = spec_from_json(sweep_body(arguments));
  const Catalog catalog;
  const IndexRange all{0, point_count(spec.space)};
  SweepOptions options;
  options.threads = threads;
  const double seconds = seconds_of([&] {
    sweep(
        spec.space, std::span(&all, 1),
        [&](const Machine& m) {
          return std::make_shared<const Application>(compile(*catalog.workload("sd15", m), m));
        },
        side_by_side, options, [](PointBatch&&) {});
  });
  return static_cast<double>(all.end) / seconds;
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
  const double points = sweep_rate(threads);
  if (json) {
    std::cout << json_text(OrderedJson{{"machine", processor()},
                                       {"threads", threads},
                                       {"analyze_s", whole},
                                       {"compile_s", compiled},
                                       {"estimate_s", estimated},
                                       {"evaluate_s", evaluated},
                                       {"sweep_points_per_second", points},
                                       {"analyze_over_budget", whole / analysis_budget_s},
                                       {"sweep_over_budget", points / sweep_budget_points}},
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
       {"sweep", count_text(static_cast<std::int64_t>(points)) + " points/s", "of the 5000 wanted",
        ratio(points / sweep_budget_points)}},
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
