// The commands of `sdip`: each adds itself to the command line and, chosen, returns the exit code. Internal to its
// room.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/form/memory_view.h"
#include "server/models/catalog.h"

namespace sdip {

/// Exit codes, as `sdip --help` lists them.
enum Exit { exit_ok = 0, exit_input = 1, exit_usage = 2, exit_infeasible = 3, exit_bug = 70, exit_cancelled = 130 };

/// Runs the chosen command; returns its exit status.
using Action = std::function<int()>;

/// A subcommand of `app`, and what its options are read into, which `run` is given once it is chosen.
template <class Arguments>
std::pair<CLI::App&, Arguments&> add_command(CLI::App& app, Action& action, const char* name, const char* about,
                                             int (*run)(const Arguments&)) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App& command = *app.add_subcommand(name, about);
  command.callback([&action, arguments, run] { action = [arguments, run] { return run(*arguments); }; });
  return {command, *arguments};
}

/// An option of several values: a flag takes one, and is repeated, or several follow it (server/io/several.h).
template <class Value>
CLI::Option* add_several(CLI::App& command, const char* name, std::vector<Value>& values, const char* about) {
  return command.add_option(name, values, about)->allow_extra_args(false);
}

void add_model_commands(CLI::App& app, Action& action);  // model list, show, write
void add_table_commands(CLI::App& app, Action& action);  // parameters, metrics, presets, openapi, signature
void add_point_command(CLI::App& app, Action& action);   // analyze
void add_compare_command(CLI::App& app, Action& action);
void add_compile_command(CLI::App& app, Action& action);
void add_program_commands(CLI::App& app, Action& action);  // assemble, disassemble
void add_tiling_command(CLI::App& app, Action& action);
void add_traffic_command(CLI::App& app, Action& action);
void add_memory_command(CLI::App& app, Action& action);
void add_run_command(CLI::App& app, Action& action);
void add_validate_command(CLI::App& app, Action& action);
void add_accuracy_command(CLI::App& app, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_merge_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_front_command(CLI::App& app, Action& action);
void add_reproduce_command(CLI::App& app, Action& action);
void add_best_command(CLI::App& app, Action& action);
void add_screen_command(CLI::App& app, Action& action);
void add_db_commands(CLI::App& app, Action& action);  // db check
void add_host_command(CLI::App& app, Action& action);
void add_npu_analysis_command(CLI::App& app, Action& action);
void add_serve_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);

/// From the first call on, whether SIGINT or SIGTERM came; a second one ends the program.
const std::atomic<bool>& interrupts();

/// --preset, --machine and --set: which machine is meant.
struct MachineOptions {
  std::string preset = std::string(default_preset);
  std::string file;
  std::vector<std::string> changes;
};
void add_machine_options(CLI::App& command, MachineOptions& options);
/// The problem of a whole number, for a check of an option; nothing of least to most.
std::string whole_number_problem(const std::string& text, std::int64_t least, std::int64_t most);
/// The problem of a seed, for a check of an option; nothing of 0 to most_seed.
std::string seed_problem(const std::string& text);
/// --seed N: anything else is wrong usage.
CLI::Option* add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& about);
/// --optimiser NAME and --islands N, of a search.
void add_optimiser_options(CLI::App& command, std::string& optimiser, std::int64_t& islands);
/// --format, one of these.
void add_format_option(CLI::App& command, std::string& format, const char* about,
                       const std::vector<std::string>& formats);
/// --formats FILE.
void add_formats_option(CLI::App& command, std::string& file);
/// --link PARAMETER=FORMULA, several.
void add_link_option(CLI::App& command, std::vector<std::string>& links);
/// --metric NAME=EXPRESSION, several.
void add_formula_option(CLI::App& command, std::vector<std::string>& texts);
/// Throws as parse_formula does, with the option as its place.
std::vector<Formula> formulas_of(const std::vector<std::string>& texts);
/// The row of that name, of the machine or of technology. Throws Error unknown_parameter, with the nearest names.
const ParameterRow& require_setting(const std::string& name, const std::string& where);
/// The preset, then the file, then each change. Throws Error, with the option or file as its place. machine_of: of
/// a machine that keeps the rules between rows.
Machine said_machine(const MachineOptions& options);
Machine machine_of(const MachineOptions& options);

/// --dim NAME=SIZE, --input NAME=VALUE, --role ROLE and --operators FILE, for models given as files.
struct FileOptions {
  std::vector<std::string> dims, inputs, operators;
  std::string role = "network";
};
void add_file_options(CLI::App& command, FileOptions& options);
/// As typed: " --dim B=1 --role core"; nothing where all are as they usually are.
std::string options_text(const FileOptions& options);
/// --operators FILE alone.
void add_operators_option(CLI::App& command, std::vector<std::string>& files);
/// Whether this is a value and no file: a number, true, false, or something in brackets. A file of such a name is
/// written ./16000.
bool is_value(std::string_view text);
/// How files are to be read; notes on them go to standard error. Throws Error value_invalid, operator_invalid.
FileModels file_models(const FileOptions& options);

/// Throws Error value_conflict unless there is either a MODEL or a program, and where --dim, --input or --role go
/// with one; value_invalid where MODEL is a program.
void require_model_or_program(const std::string& model, bool program, const FileOptions& files);

/// Peak, live bytes and their ratio of each memory, and values that wait because lives do not nest.
void print_allocation(const std::vector<MemoryView>& views);

/// Prints JSON, indented; returns the exit code.
int print_json(const OrderedJson& value);

/// Says on standard error why a design point cannot be; returns the exit code.
int say_infeasible(std::string_view reason);

/// Whether standard output gets colour.
bool colour_out();

}  // namespace sdip
