// The command line.
#include "server/cli/cli.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <iostream>
#include <set>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/explore/search/search.h"
#include "core/machine/former.h"
#include "server/cli/commands.h"
#include "server/io/several.h"
#include "server/io/text.h"
#include "server/io/version.h"
#include "server/jobs/evaluations.h"
#include "server/json/program_files.h"
#include "server/models/operator_files.h"
#include "server/models/request.h"

namespace sdip {
namespace {

constexpr const char* footer =
    "Exit codes: 0 done, 1 input that cannot be used, 2 wrong usage, 3 the design point is infeasible, 70 a bug "
    "of\n"
    "ours, 130 cancelled. Results go to standard output, progress and problems to standard error.\n"
    "Values of an option that takes several may follow one flag: --dim B=1 H=64 MODEL. What has a = and does not\n"
    "end in .onnx is one more value; a MODEL of such a name stands before the options.";

/// "sdip: CODE: where: message", nothing in it able to write elsewhere on a terminal. Messages about a file begin
/// with its name already.
void print_error(const Error& error) {
  std::string message = error.what();
  const bool placed = error.where.empty() || message.starts_with(error.where);
  const std::string file = error.where.substr(0, error.where.find(": ")) + ": ";  // of "FILE: node", said once
  if (!placed && message.starts_with(file)) message.erase(0, file.size());
  std::cerr << "sdip: " << error.code << ": " << (placed ? "" : printable(error.where) + ": ") << printable(message)
            << std::endl;
}

/// Reads a file as JSON; errors name the file.
Json file_json(const std::string& file) {
  try {
    return parse_json(read_text(file));
  } catch (const Error& error) {
    if (error.where == file) throw;
    throw Error(error.code, file + "#" + error.where, error.what());
  }
}

int run_action(const Action& action) {
  try {
    const int code = action();
    std::cout.flush();
    if (!std::cout) throw Error("output_failed", "standard output", "cannot write");
    return code;
  } catch (const Error& error) {
    print_error(error);
    return exit_input;
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: " << printable(bug.what()) << " (a bug of ours; please report it)" << std::endl;
  }
  return exit_bug;
}

}  // namespace

const std::atomic<bool>& interrupts() {
  static std::atomic<bool> interrupted = false;
  static_assert(std::atomic<bool>::is_always_lock_free, "set by a signal handler");
  [[maybe_unused]] static const bool caught = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second one ends the program
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    return true;
  }();
  return interrupted;
}

std::string whole_number_problem(const std::string& text, std::int64_t least, std::int64_t most) {
  const auto number = whole_number(text);
  if (number && *number >= least && *number <= most) return "";
  return fmt::format("expected a whole number of {} to {}, found '{}'", least, most, printable(text.substr(0, 80)));
}

std::string seed_problem(const std::string& text) { return whole_number_problem(text, 0, most_seed); }

CLI::Option* add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& about) {
  return command.add_option("--seed", seed, about)->capture_default_str()->check(seed_problem);
}

void add_optimiser_options(CLI::App& command, std::string& optimiser, std::int64_t& islands) {
  const auto names = optimiser_names();
  optimiser = names[0];
  command
      .add_option("--optimiser", optimiser,
                  "How machines follow from those before: families; or pagmo's nsga2, moead or nspso, of two "
                  "objectives or more; or local, single changes of the best")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())))
      ->capture_default_str();
  command
      .add_option("--islands", islands,
                  "Populations that evolve side by side; every fifth generation each one's best go to the next")
      ->check(CLI::Range(std::int64_t{1}, static_cast<std::int64_t>(most_islands)))
      ->capture_default_str();
}

void add_machine_options(CLI::App& command, MachineOptions& options) {
  command.add_option("--preset", options.preset, "The machine to start from (`sdip presets`)")
      ->capture_default_str();
  command.add_option("--machine", options.file, "A JSON file of parameters over the preset");
  add_several(command, "--set", options.changes, "key=value over both (`sdip parameters`); several, or repeated");
}

void add_format_option(CLI::App& command, std::string& format, const char* about,
                       const std::vector<std::string>& formats) {
  command.add_option("--format", format, about)->check(CLI::IsMember(formats))->capture_default_str();
}

void add_formats_option(CLI::App& command, std::string& file) {
  command.add_option("--formats", file,
                     "A file of number formats for layers or operator families (docs/formats.md)");
}

void add_link_option(CLI::App& command, std::vector<std::string>& links) {
  add_several(command, "--link", links,
              "A parameter that follows others, as 'psram_port_bits=conv_lanes_out * 256'; repeated");
}

void add_formula_option(CLI::App& command, std::vector<std::string>& metrics) {
  add_several(command, "--metric", metrics,
              "A metric of your own: NAME=EXPRESSION or 'NAME [UNIT]=EXPRESSION' over metrics and parameters "
              "(docs/api.md#formulas); several, or repeated");
}

std::vector<Formula> formulas_of(const std::vector<std::string>& texts) {
  std::vector<Formula> formulas;
  for (const std::string& text : texts) formulas.push_back(formula_from_text(text, "--metric"));
  check_formulas(formulas, "--metric");
  return formulas;
}

const ParameterRow& require_setting(const std::string& name, const std::string& where) {
  if (const ParameterRow* row = find_setting(name)) return *row;
  std::vector<std::string_view> names;
  for (const auto& row : parameters()) names.push_back(row.name);
  for (const auto& row : technology_parameters()) names.push_back(row.name);
  const std::string hint = nearest_names(name, names);
  throw Error("unknown_parameter", where,
              "no such parameter; " + (hint.empty() ? "`sdip parameters` lists them all" : hint));
}

Machine said_machine(const MachineOptions& options) {
  Machine machine = require_preset(options.preset, "--preset").machine;
  std::vector<std::string> warnings;
  if (!options.file.empty()) warnings = assign_json(machine, file_json(options.file), options.file + "#");
  std::vector<Setting> settings;
  std::set<std::string> said;
  for (const auto& change : options.changes) {
    const auto equals = change.find('=');
    const std::string key = change.substr(0, equals);
    if (equals == std::string::npos)
      throw Error("value_invalid", "--set " + change.substr(0, 80), "expected key=value");
    const ParameterRow& row = require_setting(key, "--set " + key.substr(0, 80));
    if (!said.insert(key).second) throw Error("value_invalid", "--set " + key, "given more than once");
    settings.push_back({&row, parse_value(row, change.substr(equals + 1), "--set " + key)});
  }
  for (std::string& warning : assign_settings(machine, settings)) warnings.push_back(std::move(warning));
  for (const std::string& warning : warnings) std::cerr << "sdip: warning: " << warning << std::endl;
  return machine;
}

Machine machine_of(const MachineOptions& options) {
  Machine machine = said_machine(options);
  check_machine(machine);
  return machine;
}

void add_operators_option(CLI::App& command, std::vector<std::string>& files) {
  add_several(command, "--operators", files,
              "A JSON file that defines operators (docs/formats.md); several, or repeated");
}

bool is_value(std::string_view text) {
  if (text.starts_with('[') || text == "true" || text == "false") return true;
  double number = 0;
  const auto [last, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem != std::errc::invalid_argument && last == text.data() + text.size();
}

void add_file_options(CLI::App& command, FileOptions& options) {
  add_several(command, "--dim", options.dims,
              "NAME=SIZE binds a symbolic dimension of a file; several, or repeated");
  add_several(command, "--input", options.inputs,
              "NAME=VALUE makes an input of a file a constant: sr=16000, mask=[1,1,0]; several, or repeated");
  command
      .add_option(
          "--role", options.role,
          "What a file is: core (a noise predictor, run each step), text_encoder, encoder, decoder, network")
      ->capture_default_str();
  add_operators_option(command, options.operators);
}

std::string options_text(const FileOptions& options) {
  std::string text;
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    for (const std::string& value : values) text += fmt::format(" {} {}", name, shell_word(printable(value)));
  };
  add("--dim", options.dims);
  add("--input", options.inputs);
  if (options.role != FileOptions().role) add("--role", {options.role});
  add("--operators", options.operators);
  return text;
}

FileModels file_models(const FileOptions& options) {
  FileModels files;
  for (const auto& text : options.dims) bind_dim(files.dims, text, "--dim");
  for (const auto& text : options.inputs) {
    give_input(files.given, text, "--input");
    if (!is_value(std::string_view(text).substr(text.find('=') + 1)))
      throw Error("value_invalid", "--input",
                  text.substr(0, 80) + ": expected a value such as 16000, true or [1,1,0]; files are for sdip run");
  }
  files.role = role_named(options.role, "--role");
  files.operators = operators_of(options.operators);
  files.tell = [](const std::string& note) { std::cerr << "sdip: note: " << printable(note) << "\n"; };
  return files;
}

void require_model_or_program(const std::string& model, bool program, const FileOptions& files) {
  if (model.empty() != program)
    throw Error("value_conflict", "--program",
                program ? "expected a MODEL or --program FILE, and not both"
                        : "expected a MODEL or --program FILE, and neither is given");
  if (!program) require_no_program(model);
  if (program && !files.dims.empty())
    throw Error("value_conflict", "--dim", "a program has its sizes; expected with an ONNX file only");
  if (program && !files.inputs.empty())
    throw Error("value_conflict", "--input", "a program has its constants; expected with an ONNX file only");
  if (program && files.role != FileOptions{}.role)
    throw Error("value_conflict", "--role", "a program says its role itself; expected with an ONNX file only");
}

/// Adds the command that a server starts to evaluate an upload (server/models/apart.h); it is not for people.
void add_evaluate_command(CLI::App& app, Action& action) {
  app.add_subcommand(child_command, "Evaluates a model for a server that started this")
      ->group("")
      ->callback([&action] { action = [] { return run_evaluation(evaluations()); }; });
}

int print_json(const OrderedJson& value) {
  std::cout << json_text(value, 2) << "\n";
  return exit_ok;
}

int say_infeasible(std::string_view reason) {
  std::cerr << "sdip: infeasible: " << printable(reason) << "\n";
  return exit_infeasible;
}

bool colour_out() { return wants_colour(1); }

int run_program(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond a limit on files then fails, and that is told
  CLI::App app{"SDIP Explorer: what a diffusion processor costs, and which one is best.", "sdip"};
  app.set_version_flag("--version", "sdip " + std::string(program_version));
  app.require_subcommand(1);
  app.footer(footer);
  Action action;
  for (const auto add : {add_model_commands,  add_table_commands,       add_point_command,    add_compare_command,
                         add_compile_command, add_program_commands,     add_tiling_command,   add_traffic_command,
                         add_memory_command,  add_run_command,          add_validate_command, add_accuracy_command,
                         add_sweep_command,   add_export_command,       add_front_command,    add_reproduce_command,
                         add_merge_command,   add_best_command,         add_screen_command,   add_db_commands,
                         add_host_command,    add_npu_analysis_command, add_serve_command,    add_bench_command,
                         add_evaluate_command})
    add(app, action);

  try {
    std::vector<std::string> arguments = with_repeated_flags(app, {argv + 1, argv + argc});
    std::ranges::reverse(arguments);  // as CLI11 takes them
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? exit_ok : exit_usage;
  }
  return run_action(action);
}

}  // namespace sdip
