// sdip screen: which rows of a machine matter to a metric.
#include <cmath>
#include <iostream>
#include <memory>

#include "server/cli/commands.h"
#include "server/cli/sweep_arguments.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/studies/screening.h"

namespace sdip {
namespace {

struct ScreenArguments {
  std::string model, method = "morris";
  FileOptions files;
  MachineOptions machine;
  std::vector<std::string> axes, links, metrics, measures;
  std::optional<std::int64_t> samples;
  std::uint64_t seed = 1;
  bool json = false;
};

Json screen_body(const ScreenArguments& a) {
  Json body = {{"model", a.model},
               {"preset", a.machine.preset},
               {"machine", Json(machine_json(machine_of(a.machine)))},
               {"method", a.method},
               {"seed", a.seed}};
  if (!a.measures.empty()) body["measures"] = a.measures;
  if (!a.metrics.empty()) body["metrics"] = Json(formulas_json(formulas_of(a.metrics)));
  if (a.samples) body["samples"] = *a.samples;
  if (!a.axes.empty()) body["axes"] = Json::array();
  for (const std::string& axis : a.axes) body["axes"].push_back(axis_json(axis));
  for (const std::string& link : a.links) body["links"].push_back(link_json(link));
  return body;
}

ScreeningRequest said_request(const ScreenArguments& a) {
  try {
    return screening_request(screen_body(a));
  } catch (const Error& error) {
    throw told_by_option(told_by_option(error, "/axes", "--axis", a.axes), "/links", "--link", a.links);
  }
}

std::string effect_text(double value) { return std::isnan(value) ? "-" : significant_text(value, 4); }

std::string with_error(double value, double error) {
  if (std::isnan(value)) return "-";
  return fixed_text(value, 3) + (std::isnan(error) ? "" : " +- " + fixed_text(error, 3));
}

TextRow row_of_axis(const Screening& screening, std::size_t m, std::size_t a) {
  TextRow row = {std::string(screening.request.space.axes[a].row->name)};
  if (screening.effects.empty()) {
    const SobolIndex& index = screening.indices[m][a];
    row.push_back(with_error(index.first, index.first_error));
    row.push_back(with_error(index.total, index.total_error));
    return row;
  }
  const MorrisEffect& effect = screening.effects[m][a];
  for (const double value : {effect.mean_size, effect.mean, effect.deviation}) row.push_back(effect_text(value));
  row.push_back(count_text(effect.effects));
  return row;
}

void print_screening(const Screening& screening) {
  const ScreeningRequest& request = screening.request;
  const bool morris = request.method == ScreeningMethod::morris;
  std::cout << printable(request.model) << ": " << count_text(std::ssize(request.space.axes)) << " rows around "
            << request.preset << ", " << count_text(screening.evaluated) << " machines of "
            << count_text(screening.compiled) << " programs, " << count_text(screening.without_value)
            << " of them without values, seed " << request.seed << "\n";
  if (!screening.reason.empty()) std::cout << "the first without values: " << printable(screening.reason) << "\n";
  for (std::size_t m = 0; m < request.measures.size(); ++m) {
    const Measure& measure = request.measures[m];
    std::vector<TextRow> rows;
    for (const std::size_t a : by_importance(screening, m)) {
      const bool nothing = morris ? screening.effects[m][a].mean_size == 0 : screening.indices[m][a].total == 0;
      if (!nothing) rows.push_back(row_of_axis(screening, m, a));
    }
    const std::string unit = measure.unit().empty() ? "" : fmt::format(" [{}]", measure.unit());
    const std::string heading =
        (morris ? "Elementary effects on " : "Shares of the variance of ") + std::string(measure.name()) +
        (morris ? unit + " over each row's whole range" : "") + "; rows that do nothing are left out";
    std::vector<Column> columns = {{"row"}};
    if (morris)
      for (const char* title : {"mean size", "mean", "deviation", "effects"})
        columns.push_back({title, Align::right});
    else
      for (const char* title : {"alone", "in total"}) columns.push_back({title, Align::right});
    print_section(std::cout, heading, columns, rows, colour_out());
  }
}

int run_screen(const ScreenArguments& arguments) {
  const ScreeningRequest request = said_request(arguments);
  const Catalog catalog(file_models(arguments.files));
  const Screening screening = screen(catalog, request, threads_here(), [] { return interrupts().load(); });
  if (arguments.json)
    print_json(screening_json(screening));
  else
    print_screening(screening);
  return screening.without_value < screening.evaluated ? exit_ok : exit_infeasible;
}

}  // namespace

void add_screen_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<ScreenArguments>(
      app, action, "screen", "Which rows of a machine matter to a metric, over their whole ranges", run_screen);
  command.add_option("MODEL", a.model, "A built-in model, an ONNX file, or a mix (sd15:3+sdxl)")->required();
  add_file_options(command, a.files);
  add_machine_options(command, a.machine);
  add_several(command, "--axis", a.axes,
              "A row and its values as `sdip sweep` has it; repeated; none: numbers that `sdip best` "
              "searches, from half "
              "of the machine's value to twice");
  add_link_option(command, a.links);
  add_several(command, "--measure", a.measures, "A metric or formula; repeated; none: throughput_fps and area_mm2");
  add_formula_option(command, a.metrics);
  command.add_option("--method", a.method, "morris: elementary effects; sobol: shares of the variance")
      ->capture_default_str();
  command.add_option("--samples", a.samples, "Trajectories of morris (10), samples of sobol (64)");
  add_seed_option(command, a.seed, "Seed");
  command.add_flag("--json", a.json, "JSON instead of tables");
}

}  // namespace sdip
