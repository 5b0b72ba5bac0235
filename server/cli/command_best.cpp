// sdip best: which machine to build.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/cli/sweep_arguments.h"
#include "server/cli/text/best_text.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/jobs/data_folder.h"
#include "server/jobs/service.h"
#include "server/studies/best_merge.h"

namespace sdip {
namespace {

struct BestArguments {
  std::string model, spec_file, search_time = "60s";
  FileOptions files;
  MachineOptions machine;
  std::vector<std::string> minimize, maximize, where, fix, vary, links, metrics;
  std::string optimiser, sqnr_model, data, part;
  std::vector<std::string> merged;
  std::optional<double> sqnr_db;
  std::optional<std::int64_t> evaluations;
  std::uint64_t seed = 1;
  std::int64_t islands = 1, validate_seconds = 30;
  bool json = false, rows = false;
};

/// "90", "90s", "5m", "1h" in seconds.
std::int64_t seconds_of_text(const std::string& text) {
  std::size_t end = 0;
  std::int64_t number = 0;
  try {
    number = std::stoll(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const std::string unit = text.substr(end);
  const std::int64_t scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (end == 0 || scale == 0 || number < 1 || number > most_search_seconds / scale)
    throw Error("value_invalid", "--for",
                text.substr(0, 80) + ": expected whole seconds, minutes or hours, as 90s, 5m or 1h, up to 24h");
  return number * scale;
}

/// key=value of each, as the machine's JSON has them.
Json fixed_json(const std::vector<std::string>& settings) {
  Json fixed = Json::object();
  for (const std::string& setting : settings) {
    const auto equals = setting.find('=');
    const std::string key = setting.substr(0, equals), where = "--fix " + key.substr(0, 80);
    if (equals == std::string::npos) throw Error("value_invalid", where, "expected key=value");
    const ParameterRow* row = find_setting(key);
    if (row == nullptr)
      throw Error("unknown_parameter", where,
                  "no such parameter or figure; `sdip parameters` and `sdip technology` list them");
    const bool is_figure = key.starts_with(technology_prefix);
    Json& among = is_figure ? fixed["technology"] : fixed;
    const std::string name = is_figure ? key.substr(technology_prefix.size()) : key;
    if (among.contains(name)) throw Error("value_invalid", where, "given more than once");
    among[name] = value_json(*row, parse_value(*row, setting.substr(equals + 1), where));
  }
  return fixed;
}

Json said_body(const BestArguments& a) {
  if (!a.spec_file.empty()) return parse_json(read_text(a.spec_file));
  if (a.model.empty())
    throw Error("value_invalid", "MODEL", "expected a model, a mix or --spec; `sdip models` lists them");
  if (a.minimize.empty() && a.maximize.empty())
    throw Error(
        "value_invalid", "--minimize",
        "expected what the machine is to be best in: --minimize or --maximize and a metric (`sdip metrics`), "
        "several for a front");
  Json body = {{"model", a.model},
               {"preset", a.machine.preset},
               {"machine", Json(machine_json(said_machine(a.machine)))},
               {"fixed", fixed_json(a.fix)},
               {"objectives", Json::array()},
               {"constraints", a.where},
               {"validate_seconds", a.validate_seconds},
               {"seed", a.seed},
               {"optimiser", a.optimiser},
               {"islands", a.islands}};
  for (const std::string& name : a.minimize) body["objectives"].push_back("min:" + name);
  for (const std::string& name : a.maximize) body["objectives"].push_back("max:" + name);
  if (!a.vary.empty()) body["axes"] = Json::array();
  for (const std::string& axis : a.vary) body["axes"].push_back(axis_json(axis, "--vary"));
  for (const std::string& link : a.links) body["links"].push_back(link_json(link));
  if (!a.metrics.empty()) body["metrics"] = Json(formulas_json(formulas_of(a.metrics)));
  if (a.sqnr_db) body["sqnr_db"] = *a.sqnr_db;
  if (!a.sqnr_model.empty()) body["sqnr_model"] = a.sqnr_model;
  if (a.evaluations)
    body["evaluations"] = *a.evaluations;
  else
    body["seconds"] = seconds_of_text(a.search_time);
  return body;
}

Json best_body(const BestArguments& a) {
  Json body = said_body(a);
  if (!a.part.empty() && body.is_object()) body["part"] = work_part_text(work_part(a.part, "--part"));
  return body;
}

BestRequest said_best(const BestArguments& a) {
  try {
    return best_request(best_body(a));
  } catch (const Error& error) {
    throw told_by_option(told_by_option(error, "/axes", "--vary", a.vary), "/links", "--link", a.links);
  }
}

/// A line on standard error, rewritten on a terminal.
void show_progress(const BestRequest& request, const BestProgress& shown) {
  const bool terminal = ::isatty(2) == 1;
  const SearchProgress& progress = shown.search;
  if (shown.doing == "accuracy") std::cerr << "measuring sets of number formats" << std::endl;
  if (shown.doing != "search" || (!terminal && progress.generations % 20 != 1)) return;
  std::cerr << (terminal ? "\r\x1b[K" : "") << count_text(progress.evaluated) << " machines, "
            << count_text(progress.compiled) << " programs";
  if (!progress.best.empty() && request.goal.objectives.size() == 1)
    std::cerr << ", best " << objectives_text(request.goal, progress.best);
  std::cerr << (terminal ? "" : "\n") << std::flush;
}

/// Every row that is searched, and its values.
int list_rows(bool json, bool narrow) {
  if (json) return print_json(searched_rows_json(narrow));
  std::vector<TextRow> rows;
  for (const SearchedRow& row : searched_rows())
    rows.push_back({std::string(row.name), searched_text(row, narrow), std::string(find_parameter(row.name)->en)});
  print_table(std::cout, {{"row"}, {"values"}, {"", Align::left, true}}, rows, colour_out());
  return exit_ok;
}

/// The accuracies kept in a data folder, if there is one.
KnownAccuracies accuracies_in(Store* store) {
  if (store == nullptr) return {};
  return {[store](const std::string& key) { return store->accuracy(key); },
          [store](const std::string& key, const StoredAccuracy& found) { store->add_accuracy(key, found); }};
}

int say(const BestArguments& arguments, const BestAnswer& answer) {
  if (arguments.json)
    print_json(best_json(answer));
  else
    print_best(std::cout, answer, options_text(arguments.files), colour_out());
  return answer.cancelled ? exit_cancelled : answer.keeps() ? exit_ok : exit_infeasible;
}

/// Merges answers of parts. Those that are missing are told on standard error.
int run_merged(const BestArguments& arguments) {
  std::vector<PartAnswer> parts;
  for (const std::string& file : arguments.merged) try {
      parts.push_back({file, parse_json(read_text(file))});
    } catch (const Error& error) {
      throw error.where.empty() ? Error(error.code, file, error.what()) : error;
    }
  const Catalog catalog(file_models(arguments.files));
  const BestAnswer answer = merged_best(catalog, parts, &interrupts());
  if (const std::string missing = missing_parts(parts); !missing.empty())
    std::cerr << "parts that none of these answers is: " << missing << std::endl;
  return say(arguments, answer);
}

int run_best(const BestArguments& arguments) {
  if (arguments.rows) return list_rows(arguments.json, arguments.sqnr_db.has_value());
  if (!arguments.merged.empty()) return run_merged(arguments);
  std::unique_ptr<DataFolder> data;
  std::unique_ptr<Store> store;
  if (!arguments.data.empty()) {
    data = std::make_unique<DataFolder>(arguments.data);
    store = std::make_unique<Store>(store_file(data->path()).string());
  }
  const BestRequest request = said_best(arguments);
  const Catalog catalog(file_models(arguments.files));
  const int threads = threads_here();
  const BestAnswer answer = find_best(
      catalog, request, threads, &interrupts(),
      [&](const BestProgress& progress) { show_progress(request, progress); }, accuracies_in(store.get()));
  if (::isatty(2) == 1) std::cerr << std::endl;
  return say(arguments, answer);
}

}  // namespace

void add_best_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<BestArguments>(
      app, action, "best", "The best machine for a goal, searched in the whole space", run_best);
  command.add_option("MODEL", a.model, "A built-in model, an ONNX file, or a mix (sd15:3+sdxl)");
  add_file_options(command, a.files);
  add_machine_options(command, a.machine);
  add_several(command, "--minimize", a.minimize, "A metric to be made small; repeated: a front");
  add_several(command, "--maximize", a.maximize, "A metric to be made great; repeated: a front");
  add_several(command, "--where", a.where, "A condition, as 'throughput_fps >= 30'; repeated");
  add_several(command, "--fix", a.fix, "key=value that is not searched; repeated");
  add_several(command, "--vary", a.vary,
              "An axis as `sdip sweep` has it, in place of the values searched; repeated");
  add_link_option(command, a.links);
  add_formula_option(command, a.metrics);
  auto* time = command.add_option("--for", a.search_time, "How long to search: 60s, 5m, 1h")->capture_default_str();
  command
      .add_option("--evaluations", a.evaluations, "Machines to evaluate in place of a time: repeats bit for bit")
      ->check([](const std::string& text) { return whole_number_problem(text, 1, most_evaluations); })
      ->excludes(time);
  add_seed_option(command, a.seed, "Seed");
  add_optimiser_options(command, a.optimiser, a.islands);
  command.add_option("--sqnr-db", a.sqnr_db,
                     "Least signal to quantisation noise, as the executor measures it before the search: formats "
                     "below 8 bits are then searched, too");
  command.add_option("--sqnr-model", a.sqnr_model,
                     "Measured in place of MODEL, which may be too large: tiny-sd for sd15");
  command.add_option("--data", a.data, "A folder that keeps what was measured of formats");
  command
      .add_option("--validate-seconds", a.validate_seconds, "Time in which the answer is validated; 0: it is not")
      ->capture_default_str();
  auto* spec = command.add_option("--spec", a.spec_file,
                                  "A JSON file as POST /searches takes it, in place of all of these but --json");
  for (CLI::Option* other : command.get_options())
    if (other != spec && other != command.get_help_ptr()) spec->excludes(other);
  command.add_option("--part", a.part,
                     "K/N: the K-th of N independent searches, whose answers --merge makes one; with "
                     "--spec as well");
  auto* merged = command.add_option(
      "--merge", a.merged, "Answers of parts, as --json printed them: the best of all, or the front of all");
  constexpr std::string_view of_files[] = {"--help", "--merge", "--dim", "--input", "--role", "--operators"};
  for (CLI::Option* other : command.get_options())  // the answers say the rest
    if (std::ranges::find(of_files, other->get_name()) == std::end(of_files)) merged->excludes(other);
  command.add_flag("--rows", a.rows, "List the rows that are searched, and their values");
  command.add_flag("--json", a.json, "JSON instead of a table");
}

}  // namespace sdip
