// sdip compile: the programs of a model, as `.graph` text, and their weights.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/program/compile/print.h"
#include "core/program/form/parse.h"
#include "core/program/tiling/mapping_text.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"
#include "server/models/request.h"
#include "server/models/weight_values.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

struct CompileArguments {
  std::string model, folder, mapping_file, formats_file;
  FileOptions files;
  MachineOptions machine;
  std::uint64_t seed = 0;
  std::vector<std::string> print_after;
  bool weights = false, seed_given = false, show_mapping = false, show_allocation = false;
  bool binary = false, list_passes = false, time_passes = false;
};

/// A stage's name as a file name: what is not a letter, digit, '.', '-' or '_' becomes '_'.
std::string file_name(std::string_view stage) {
  std::string name(stage.substr(0, 100));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
  return name;
}

/// Files that are all there in the end, or none.
struct NewFiles {
  std::vector<std::unique_ptr<NewFile>> files{};
  std::vector<std::string> lines{};  // what is said of them

  NewFile& add(const std::filesystem::path& path) { return *files.emplace_back(std::make_unique<NewFile>(path)); }
  void keep() {
    for (const auto& file : files) file->keep();
    for (const std::string& line : lines) std::cout << line << "\n";
  }
};

std::string ratio_text(const ReachedRatio& ratio) {
  if (ratio.bytes == 0) return "";
  const auto times = [](double x) { return fixed_text(std::floor(x * 100) / 100, 2); };
  return ", shrinks " + times(static_cast<double>(ratio.bytes) / static_cast<double>(ratio.packed_bytes)) +
         " times, '" + printable(ratio.least_name) + "' the least: " + times(ratio.least);
}

/// The weights of a stage, or what its ROM holds, as `name`.weight or .rom.
WeightScales write_weights_of(const CompileArguments& arguments, const Machine& machine, const Member& member,
                              const CompiledStage& stage, const std::string& name, NewFiles& files) {
  const std::filesystem::path path =
      std::filesystem::path(arguments.folder) / (name + (hard_coded(machine, stage.role) ? ".rom" : ".weight"));
  NewFile& file = files.add(path);
  const WeightSource source = member_weights(member, machine, arguments.seed, arguments.folder).numbers;
  WrittenWeights written = write_weight_file(stage, machine, source,
                                             [&](std::span<const std::byte> piece) { file.write(text_of(piece)); });
  files.lines.push_back(printable(path.string()) + ": " +
                        quantity_text(static_cast<double>(stage.program.stored_weight_bytes.value), "B") +
                        ratio_text(written.ratio));
  return std::move(written.scales);
}

void print_passes() {
  std::vector<TextRow> rows;
  for (const Pass& pass : passes()) rows.push_back({std::string(pass.name), std::string(pass.reason)});
  print_table(std::cout, {{"pass"}, {"why it stands there"}}, rows, colour_out());
}

void require_passes(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const Pass& pass : passes()) known.push_back(pass.name);
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end()) {
      const std::string hint = nearest_names(name, known);
      throw Error("value_invalid", "--print-after",
                  "no such pass; " + (hint.empty() ? "`sdip compile --passes` lists them" : hint));
    }
}

using Clock = std::chrono::steady_clock;

/// Seconds of each pass, over all stages.
struct PassTimes {
  std::vector<std::pair<std::string, double>> seconds{};
  Clock::time_point last = Clock::now();

  void add(std::string_view pass) {
    const double passed = std::chrono::duration<double>(Clock::now() - last).count();
    const auto row = std::ranges::find(seconds, pass, &std::pair<std::string, double>::first);
    if (row == seconds.end())
      seconds.emplace_back(pass, passed);
    else
      row->second += passed;
    last = Clock::now();
  }
  void print() const {
    double total = 0;
    for (const auto& [pass, s] : seconds) total += s;
    std::vector<TextRow> rows;
    for (const auto& [pass, s] : seconds)
      rows.push_back({pass, quantity_text(s, "s"), share_text(total > 0 ? s / total : 0)});
    rows.push_back({"total", quantity_text(total, "s"), share_text(1)});
    print_table(std::cerr, {{"pass"}, {"time", Align::right}, {"", Align::right}}, rows, wants_colour(2));
  }
};

/// Compiles; prints and times passes as asked, on standard error.
Application compile_watched(const CompileArguments& arguments, const Workload& workload, const Machine& machine,
                            CompileOptions options) {
  PassTimes times;
  options.after_pass = [&](std::string_view stage, std::string_view pass, const Compilation& c) {
    times.add(pass);
    if (std::ranges::find(arguments.print_after, pass) != arguments.print_after.end())
      std::cerr << printable(stage) << " after " << pass << ":\n" << compilation_text(c);
    times.last = Clock::now();
  };
  times.last = Clock::now();
  Application application =
      compile_said(workload, machine, formats_of_file(arguments.formats_file), options, arguments.mapping_file);
  times.add("words");
  if (arguments.time_passes) times.print();
  return application;
}

void write_stages(const CompileArguments& arguments, const Machine& machine, const Application& application,
                  const std::vector<Member>& members) {
  NewFiles files;
  for (const CompiledStage& stage : application.stages) {
    const std::string name = file_name(stage.name);
    WeightScales scales;
    if (arguments.weights)
      scales = write_weights_of(arguments, machine, member_of(members, stage.name), stage, name, files);
    CompiledStage scaled = stage;
    for (std::size_t i = 0; i < scales.size(); ++i) scaled.program.instructions.at(i).scales = scales[i];
    const auto path = std::filesystem::path(arguments.folder) / (name + (arguments.binary ? ".graphb" : ".graph"));
    files.add(path).write(arguments.binary ? write_graph_binary(scaled) : graph_text(scaled));
    files.lines.push_back(fmt::format("{}: {} instructions, {} of weights", printable(path.string()),
                                      count_text(static_cast<std::int64_t>(stage.program.instructions.size())),
                                      quantity_text(static_cast<double>(stage.program.weight_bytes.value), "B")));
  }
  files.keep();
}

int run_compile(const CompileArguments& arguments) {
  if (arguments.list_passes) return print_passes(), exit_ok;
  if (arguments.model.empty()) throw Error("value_invalid", "MODEL", "expected a model, or --passes");
  require_passes(arguments.print_after);
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(file_models(arguments.files));
  const auto workload = catalog.workload(arguments.model, machine);
  CompileOptions options;
  if (!arguments.mapping_file.empty())
    options.mapping_rules = parse_mappings(read_text(arguments.mapping_file), arguments.mapping_file);
  const Application application = compile_watched(arguments, *workload, machine, std::move(options));
  if (!application.feasible) return say_infeasible(application.reason);
  if (arguments.show_mapping) {
    std::cout << mappings_text(application);
    return exit_ok;
  }
  if (arguments.show_allocation) {
    std::vector<MemoryView> views;
    for (const CompiledStage& stage : application.stages) views.push_back(memory_view(stage, machine));
    print_allocation(views);
    if (arguments.folder.empty()) return exit_ok;
  }
  if (!arguments.folder.empty()) require_folder(arguments.folder);
  const std::vector<Member> members = catalog.members(arguments.model, "/model");
  if (arguments.seed_given && !members.front().file.empty())
    throw Error("value_conflict", "--seed",
                "a model read from a file has its own weights; a seed is for built-in ones");
  if (arguments.folder.empty())
    for (const CompiledStage& stage : application.stages) std::cout << graph_text(stage);
  else
    write_stages(arguments, machine, application, members);
  return exit_ok;
}

}  // namespace

void add_compile_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<CompileArguments>(
      app, action, "compile", "The programs of a model on a machine, as .graph text", run_compile);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file");
  auto* out = command.add_option("--out", a.folder, "Folder to write STAGE.graph files into; else standard output");
  auto* weights =
      command.add_flag("--weights", a.weights,
                       "Write STAGE.weight too (STAGE.rom where they are hard-coded): the model's weights in "
                       "weight_format, random ones for a built-in model");
  weights->needs(out);
  command.add_flag("--binary", a.binary, "Write STAGE.graphb, the binary form, instead of text")->needs(out);
  command.add_flag("--passes", a.list_passes, "List the compiler's passes, and compile nothing");
  command.add_flag("--time-passes", a.time_passes, "The time of each pass, on standard error");
  add_several(command, "--print-after", a.print_after,
              "A pass, after which the compilation is printed on standard error; several, or repeated");
  auto* seed = add_seed_option(command, a.seed, "Seed of a built-in model's random weights")->needs(weights);
  command.add_option("--mapping", a.mapping_file,
                     "A file of mappings that override the compiler's (docs/formats.md)");
  command
      .add_flag("--show-mapping", a.show_mapping,
                "The mapping of each convolution and product, in the language of --mapping, and no program")
      ->excludes(out);
  command.add_flag("--show-allocation", a.show_allocation,
                   "Peak and live bytes of each memory, and values that wait on the stack; without --out in place "
                   "of the programs");
  add_machine_options(command, a.machine);
  add_formats_option(command, a.formats_file);
  add_file_options(command, a.files);
  command.parse_complete_callback([&given = a.seed_given, seed] { given = seed->count() > 0; });
}

}  // namespace sdip
