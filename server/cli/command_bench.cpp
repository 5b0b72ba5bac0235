// sdip bench: how fast the two things are that people wait for, as ratios to what they should take.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/cli/layer_growth.h"
#include "server/cli/machine_rate.h"
#include "server/cli/search_report.h"
#include "server/cli/sweep_rate.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/studies/analysis.h"
#include "server/studies/machine_peak.h"

namespace sdip {
namespace {

constexpr double analysis_budget_s = 0.2;        // analyze of the SD 1.5 pipeline, compile included
constexpr double sweep_budget_points = 200'000;  // machines a second of a grid sweep of that pipeline
constexpr double fine_budget_points = 20'000;    // where every machine differs in every parameter

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return printable(line.substr(line.find(':') + 2));
  return "unknown processor";
}

/// A sweep whose instructions are counted: of its first points, those of one program where there are few.
struct Counted {
  const char* name;
  Space (*space)();
  std::int64_t points;
};
constexpr Counted counted_sweeps[] = {{"grid", grid_sweep, 16'384}, {"all-differ", fine_sweep, 512}};

/// Runs what callgrind counts: the programs, with their machines or without.
int run_counted(const std::string& name, bool evaluated) {
  for (const Counted& counted : counted_sweeps)
    if (name == counted.name) sweep_first(counted.space(), counted.points, evaluated);
  return exit_ok;
}

/// Instructions of a machine, and the share of the processor's peak at which they are carried out.
int run_instructions(bool json) {
  const double peak = peak_instructions_per_second();
  OrderedJson all = {{"machine", processor()}, {"peak_instructions_per_second", peak}};
  std::vector<TextRow> rows = {
      {"independent additions", quantity_text(peak, "/s"), "one thread, the most that it retires", ""}};
  for (const Counted& counted : counted_sweeps) {
    const std::string command = "bench --counted-sweep " + std::string(counted.name);
    const auto with = counted_instructions(command + " --evaluated"), without = counted_instructions(command);
    if (!with || !without)
      throw Error("valgrind_missing", "", "instructions are counted by valgrind, which could not be run");
    const double instructions = static_cast<double>(*with - *without) / static_cast<double>(counted.points);
    const double rate = sweep_rate(counted.space(), 1, Vectors::avx2).points_per_second;
    const std::string name = std::string(counted.name) + ", a machine";
    rows.push_back({name, count_text(static_cast<std::int64_t>(instructions)), "instructions", ""});
    rows.push_back({"", count_text(static_cast<std::int64_t>(rate)) + " /s", "one thread (AVX2), of its peak",
                    quantity_text(instructions * rate / peak, "x")});
    all[counted.name] = {{"points", counted.points},
                         {"instructions_per_point", instructions},
                         {"points_per_second_on_one_thread", rate},
                         {"over_peak", instructions * rate / peak}};
  }
  if (json) return print_json(all);
  print_table(std::cout, {{"sd15"}, {"", Align::right}, {""}, {"ratio", Align::right}}, rows, colour_out());
  return exit_ok;
}

OrderedJson growth_json(const std::vector<LayerGrowth>& growth) {
  OrderedJson layers = OrderedJson::array();
  for (const LayerGrowth& g : growth)
    layers.push_back({{"layers", g.layers},
                      {"classes", g.classes},
                      {"machine_s", g.seconds},
                      {"recurrence_s", g.recurrence_seconds}});
  return layers;
}

/// `first`: what is counted; `second`: how a row compares with one before it.
void print_growth(const std::vector<LayerGrowth>& growth, const char* first, std::int64_t LayerGrowth::*counted,
                  const char* second, const std::function<std::string(std::size_t row)>& compared) {
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < growth.size(); ++i)
    rows.push_back({count_text(growth[i].*counted), quantity_text(growth[i].seconds, "s"), compared(i),
                    quantity_text(growth[i].recurrence_seconds, "s")});
  print_table(std::cout,
              {{first, Align::right},
               {"a machine beside others", Align::right},
               {second, Align::right},
               {"recurrence apart", Align::right}},
              rows, colour_out());
}

void print_layer_growth(const std::vector<LayerGrowth>& growth) {
  print_growth(growth, "equal layers", &LayerGrowth::layers, "of one layer",
               [&](std::size_t i) { return quantity_text(growth[i].seconds / growth[0].seconds, "x"); });
}

void print_class_growth(const std::vector<LayerGrowth>& growth) {
  print_growth(growth, "kinds of 1,000 layers", &LayerGrowth::classes, "one more kind", [&](std::size_t i) {
    if (i == 0) return std::string();
    const auto more = static_cast<double>(growth[i].classes - growth[i - 1].classes);
    return quantity_text((growth[i].seconds - growth[i - 1].seconds) / more, "s");
  });
}

constexpr double random_budget_machines = 1'000;  // a second on two cores, programs made anew

/// A kind of machines to rate, and one in how many of those asked for; where most are wanted, more than were asked
/// for.
struct Rated {
  RatedMachines machines;
  std::int64_t times, one_in;
};
std::vector<Rated> all_rated() {
  const int threads = threads_here();
  const auto varied = [&](std::string_view name, std::string_view changes, std::string_view preset) {
    return RatedMachines{name, "sd15", preset, changes, false, true, threads};
  };
  return {
      {{"the whole space", "sd15"}, 1, 1},
      {{"the whole space", "sd15-unet"}, 1, 1},
      {varied("what is varied most", "tile_goal=bytes norm_statistics=own_pass fused_chains=off", default_preset),
       4, 1},
      {varied("... chains of products", "tile_goal=bytes norm_statistics=own_pass", default_preset), 1, 2},
      {varied("... balanced tiles", "norm_statistics=own_pass", default_preset), 1, 2},
      {varied("... recomputation", "tile_goal=bytes norm_statistics=own_pass skip_handling=recompute",
              default_preset),
       1, 10},
      {varied("... the thorough schedule", "tile_goal=bytes norm_statistics=own_pass schedule=least_live_thorough",
              default_preset),
       1, 5},
      {varied("everything, around edge",
              "fusion=norm norm_statistics=producer fused_attention=on split_products=on part_views=on "
              "fused_chains=on strips=line_buffers skip_handling=recompute schedule=least_live_thorough",
              "edge"),
       1, 20}};
}

OrderedJson machines_json(const MachineRate& rate) {
  const RatedMachines& rated = rate.rated;
  return {{"name", rated.name},
          {"model", rated.model},
          {"preset", rated.preset},
          {"changes", rated.changes},
          {"whole_space", rated.whole},
          {"costed", rated.costed},
          {"threads", rated.threads},
          {"drawn", rate.drawn},
          {"refused", rate.refused},
          {"misfits", rate.misfits},
          {"fitting", rate.fitting},
          {"machines_per_second", rate.per_second()},
          {"fitting_seconds", rate.fitting_seconds / static_cast<double>(rate.fitting)},
          {"compared", rate.compared},
          {"unequal", rate.unequal},
          {"scratch_over_kept", rate.speedup()}};
}

/// Machines of the whole space, compiled on one thread; machines over what is varied most, and with options that
/// take longer, compiled and costed on all.
int run_machines(bool json, std::int64_t machines, std::int64_t every) {
  OrderedJson all = OrderedJson::array();
  std::vector<TextRow> rows;
  for (const Rated& one : all_rated()) {
    const RatedMachines& rated = one.machines;
    const MachineRate rate =
        machine_rate(rated, std::max<std::int64_t>(1, machines * one.times / one.one_in), every);
    all.push_back(machines_json(rate));
    const double budget = static_cast<double>(rated.threads) / 2 * random_budget_machines;
    rows.push_back({fmt::format("{}, {}", rated.model, rated.name),
                    count_text(rate.misfits + rate.fitting) + " of " + count_text(rate.drawn),
                    count_text(rate.fitting),
                    std::string(rated.costed ? "and costed, " : "compiled, ") + std::to_string(rated.threads),
                    count_text(static_cast<std::int64_t>(rate.per_second())) + " /s",
                    quantity_text(rate.per_second() / budget, "x"),
                    quantity_text(rate.fitting_seconds / static_cast<double>(rate.fitting), "s"),
                    quantity_text(rate.speedup(), "x")});
    check(rate.unequal == 0, "programs made with what earlier ones made are those made from scratch");
  }
  if (json) return print_json(all);
  std::cout << "on " << processor() << "; drawn machines of which none is refused\n";
  print_table(std::cout,
              {{"drawn of"},
               {"machines", Align::right},
               {"fit", Align::right},
               {"threads"},
               {"", Align::right},
               {"of 500 /s a thread", Align::right},
               {"a thread, one that fits", Align::right},
               {"from scratch", Align::right}},
              rows, colour_out());
  return exit_ok;
}

constexpr double first_budget_s = 1, again_budget_s = 1e-3;  // a device on SD 1.5

/// Published machines, by archetype the slowest.
int run_devices(bool json) {
  OrderedJson all = OrderedJson::array();
  std::vector<TextRow> rows;
  const auto ratio = [](double value) { return quantity_text(value, "x"); };
  for (const DeviceRate& rate : device_rates()) {
    all.push_back({{"archetype", rate.archetype},
                   {"devices", rate.devices},
                   {"slowest_first", rate.slowest_first},
                   {"first_s", rate.first_s},
                   {"slowest_again", rate.slowest_again},
                   {"again_s", rate.again_s}});
    rows.push_back({rate.archetype, std::to_string(rate.devices), rate.slowest_first,
                    quantity_text(rate.first_s, "s"), ratio(rate.first_s / first_budget_s), rate.slowest_again,
                    quantity_text(rate.again_s, "s"), ratio(rate.again_s / again_budget_s)});
  }
  if (json) return print_json(all);
  print_table(std::cout,
              {{"sd15 on"},
               {"devices", Align::right},
               {"the slowest"},
               {"at first", Align::right},
               {"of 1 s", Align::right},
               {"the slowest"},
               {"at other rates", Align::right},
               {"of 1 ms", Align::right}},
              rows, colour_out());
  return exit_ok;
}

int run_bench(bool json) {
  const int threads = threads_here();
  const Machine machine;
  const double whole = median_of(7, [&] { analyze(Catalog(), "sd15", machine); });
  const Catalog catalog;
  const auto workload = catalog.workload("sd15", machine);
  const Application application = compile(*workload, machine);
  const double compiled = median_of(7, [&] { compile(*workload, machine); });
  const double estimated = median_of(21, [&] { estimate(application, machine); });
  const double evaluated = median_of(21, [&] { evaluate(application, machine); });
  const SweepRate grid = sweep_rate(grid_sweep(), threads), fine = sweep_rate(fine_sweep(), threads);
  const double alone = static_cast<double>(threads) / evaluated;
  const std::vector<LayerGrowth> layers = layer_growth(), classes = class_growth();
  if (json)
    return print_json({{"machine", processor()},
                       {"threads", threads},
                       {"analyze_s", whole},
                       {"compile_s", compiled},
                       {"estimate_s", estimated},
                       {"evaluate_s", evaluated},
                       {"sweep_machine", rated_machine()},
                       {"sweep_points", grid.points},
                       {"sweep_feasible", grid.feasible},
                       {"sweep_programs", grid.programs},
                       {"sweep_compile_s", grid.compile_s},
                       {"sweep_points_per_second", grid.points_per_second},
                       {"fine_points", fine.points},
                       {"fine_feasible", fine.feasible},
                       {"fine_programs", fine.programs},
                       {"fine_stairs_searches", fine.searches},
                       {"fine_compile_s", fine.compile_s},
                       {"fine_points_per_second", fine.points_per_second},
                       {"analyze_over_budget", whole / analysis_budget_s},
                       {"sweep_over_budget", grid.points_per_second / sweep_budget_points},
                       {"fine_over_budget", fine.points_per_second / fine_budget_points},
                       {"sweep_over_evaluate", grid.points_per_second / alone},
                       {"layers_of_one_class", growth_json(layers)},
                       {"classes_of_1000_layers", growth_json(classes)}});
  std::cout << "on " << processor() << ", " << threads << " threads\n";
  const auto ratio = [](double value) { return quantity_text(value, "x"); };
  print_table(
      std::cout, {{"sd15"}, {"median", Align::right}, {""}, {"ratio", Align::right}},
      {{"analyze, everything", quantity_text(whole, "s"), "of the 0.2 s allowed", ratio(whole / analysis_budget_s)},
       {"compile", quantity_text(compiled, "s"), "of analyze", ratio(compiled / whole)},
       {"estimate, full report", quantity_text(estimated, "s"), "of compile", ratio(estimated / compiled)},
       {"evaluate, metrics only", quantity_text(evaluated, "s"), "of estimate", ratio(evaluated / estimated)},
       {fmt::format("grid of {}, its {} programs", count_text(grid.points), count_text(grid.programs)),
        quantity_text(grid.compile_s, "s"), "of compile, a program",
        ratio(grid.compile_s / static_cast<double>(grid.programs) / compiled)},
       {"grid, its machines", count_text(static_cast<std::int64_t>(grid.points_per_second)) + " /s",
        "of the 200,000 wanted", ratio(grid.points_per_second / sweep_budget_points)},
       {"", "", "of evaluate on all threads", ratio(grid.points_per_second / alone)},
       {"all differ, " + count_text(fine.points) + ", their " + count_text(fine.programs) + " programs",
        quantity_text(fine.compile_s, "s"), "of compile, a program",
        ratio(fine.compile_s / static_cast<double>(fine.programs) / compiled)},
       {"all differ, its machines", count_text(static_cast<std::int64_t>(fine.points_per_second)) + " /s",
        "of the 20,000 wanted", ratio(fine.points_per_second / fine_budget_points)}},
      colour_out());
  std::cout << "grid and all differ: " << rated_machine() << "; " << count_text(grid.feasible) << " and "
            << count_text(fine.feasible) << " of their machines can be built\n";
  print_layer_growth(layers);
  print_class_growth(classes);
  return exit_ok;
}

struct BenchOptions {
  bool json = false, instructions = false, evaluated = false, machines = false, devices = false;
  std::int64_t drawn = 500, every = 10;
  std::string counted;
  std::vector<std::string> searches;
  std::string optimiser;
  std::int64_t islands = 1;
  SearchReport search;
};

CLI::Option* add_search_options(CLI::App& command, BenchOptions& options) {
  CLI::Option* search =
      command
          .add_option(
              "--search", options.searches,
              "Instead: how much of the front the search finds, beside draws at large: of three small spaces "
              "that are visited whole (1 minute), of the whole space of sd15, or with seven objectives (15 "
              "minutes and more; a line of each search on standard error)")
          ->check(CLI::IsMember({"small", "whole", "seven"}))
          ->expected(0, 3);
  const auto of_search = [&](const char* name, auto& value, const char* help, std::int64_t least,
                             std::int64_t most) {
    command.add_option(name, value, help)->check(CLI::Range(least, most))->capture_default_str()->needs(search);
  };
  add_optimiser_options(command, options.optimiser, options.islands);
  of_search("--seeds", options.search.seeds, "With --search: searches", 1, 1000);
  of_search("--evaluations", options.search.evaluations, "With --search: machines of one of whole or seven", 1,
            100'000'000);
  of_search("--runs", options.search.runs, "With --search: long searches that make the front", 0, 1000);
  of_search("--run-evaluations", options.search.run_evaluations, "With --search: machines of one of them", 1,
            100'000'000);
  command
      .add_option("--keep", options.search.kept,
                  "With --search whole or seven: a folder for what each finds; broken off, it goes on there")
      ->needs(search);
  return search;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchOptions>();
  auto* command = app.add_subcommand("bench", "How fast this program is here, as ratios");
  command->add_flag("--json", options->json, "JSON instead of a table");
  command->add_flag("--instructions", options->instructions,
                    "Instead: instructions of a machine of a sweep, counted by callgrind, and their share of the "
                    "processor's peak (2 minutes)");
  command->add_flag("--machines", options->machines,
                    "Instead: machines a second that differ in everything, programs made for each");
  command->add_flag("--devices", options->devices,
                    "Instead: how long a published machine takes, at first, with another DRAM rate, and again");
  command->add_option("--count", options->drawn, "With --machines: how many, those that are refused apart")
      ->capture_default_str();
  command
      ->add_option("--compared-every", options->every,
                   "With --machines: of how many one is compiled from scratch, too; 0: none")
      ->capture_default_str();
  const CLI::Option* search = add_search_options(*command, *options);
  command->add_option("--counted-sweep", options->counted)->group("");
  command->add_flag("--evaluated", options->evaluated)->group("");
  command->callback([&action, options, search] {
    options->search.json = options->json;
    options->search.optimiser = optimiser_named(options->optimiser).value();
    options->search.islands = as_size(options->islands);
    const auto wants = [&](const char* part) {
      return std::ranges::find(options->searches, part) != options->searches.end();
    };
    const bool searches = search->count() > 0;
    options->search.whole = wants("whole");
    options->search.seven = wants("seven");
    options->search.small = wants("small") || (searches && !options->search.whole && !options->search.seven);
    action = [options, searches] {
      if (searches) return run_search_report(options->search);
      if (!options->counted.empty()) return run_counted(options->counted, options->evaluated);
      if (options->devices) return run_devices(options->json);
      if (options->machines) return run_machines(options->json, options->drawn, options->every);
      return options->instructions ? run_instructions(options->json) : run_bench(options->json);
    };
  });
}

}  // namespace sdip
