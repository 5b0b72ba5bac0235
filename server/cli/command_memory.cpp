// sdip memory: what lies where and when in each SRAM, as figures, JSON or a Chrome trace.
#include <cmath>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/json/memory_json.h"
#include "server/json/program_files.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

struct MemoryArguments {
  std::string model, format = "text";
  std::vector<std::string> programs;
  FileOptions files;
  MachineOptions machine;
};

std::string ratio_text(std::int64_t peak, std::int64_t live) {
  if (live == 0) return "-";
  const auto thousandths = std::llround(1000.0 * static_cast<double>(peak) / static_cast<double>(live));
  const std::string digits = std::to_string(1000 + thousandths % 1000);
  return fmt::format("{}.{}", thousandths / 1000, digits.substr(1));
}

}  // namespace

void print_allocation(const std::vector<MemoryView>& views) {
  std::vector<TextRow> rows;
  for (const MemoryView& view : views)
    for (const MemoryFigures& one : view.memories)
      rows.push_back({printable(view.stage), std::string(memory_text(one.memory)),
                      quantity_text(static_cast<double>(one.peak_bytes), "B"),
                      quantity_text(static_cast<double>(one.live_bytes), "B"),
                      ratio_text(one.peak_bytes, one.live_bytes),
                      quantity_text(static_cast<double>(one.capacity_bytes), "B"),
                      one.memory == MemoryName::stackram ? count_text(one.crossing_pairs) : "-"});
  print_table(std::cout,
              {{"stage"},
               {"memory"},
               {"peak", Align::right},
               {"live", Align::right},
               {"peak/live", Align::right},
               {"capacity", Align::right},
               {"pairs that do not nest", Align::right}},
              rows, colour_out());
  for (const MemoryView& view : views)
    for (const MemoryFigures& one : view.memories)
      for (const WaitingValue& pair : one.waiting)
        std::cout << printable(view.stage) << ": " << printable(pair.lower) << " dies at instruction " << pair.dies
                  << " below " << printable(pair.upper) << ", in use to " << pair.waits_to << "\n";
}

namespace {

int run_memory(const MemoryArguments& arguments) {
  require_model_or_program(arguments.model, !arguments.programs.empty(), arguments.files);
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(file_models(arguments.files));
  const Analysis analysis = arguments.programs.empty()
                                ? analyze(catalog, arguments.model, machine)
                                : analyze_programs(arguments.programs, machine, catalog.operators());
  if (!analysis.report.outcome.feasible) return say_infeasible(analysis.report.outcome.reason);
  if (arguments.format == "json") return print_json(memory_json(analysis));
  if (arguments.format == "chrome")
    std::cout << json_text(memory_trace(analysis), -1) << "\n";
  else
    print_allocation(memory_views(analysis));
  return exit_ok;
}

}  // namespace

void add_memory_command(CLI::App& app, Action& action) {
  const auto [command, a] =
      add_command<MemoryArguments>(app, action, "memory", "What lies where and when in each SRAM", run_memory);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file");
  add_several(command, "--program", a.programs,
              "A program instead of a model: .graph text or its binary form, a stage each; several, or repeated");
  add_format_option(command, a.format,
                    "text: peaks; json: every rectangle; chrome: a trace for Perfetto or chrome://tracing",
                    {"text", "json", "chrome"});
  add_machine_options(command, a.machine);
  add_file_options(command, a.files);
}

}  // namespace sdip
