// sdip compile: the programs of a model, as `.graph` text, and their weights.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/analysis.h"
#include "server/commands.h"
#include "server/files.h"
#include "server/text.h"
#include "server/weight_values.h"

namespace sdip {
namespace {

struct CompileArguments {
  std::string model, folder;
  FileOptions files;
  MachineOptions machine;
  std::uint64_t seed = 0;
  bool weights = false, seed_given = false, show_allocation = false;
};

/// A stage's name as a file name: what is not a letter, digit, '.', '-' or '_' becomes '_'.
std::string file_name(std::string_view stage) {
  std::string name(stage.substr(0, 100));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
  return name;
}

WeightScales write_weights_of(const CompileArguments& arguments, const Machine& machine, const Member& member,
                              const CompiledStage& stage, const std::filesystem::path& path) {
  NewFile file(path);
  const WeightSource source = weight_source(member, machine, arguments.seed, arguments.folder);
  WeightScales scales = write_weight_file(stage, machine, source, [&](std::span<const std::byte> piece) {
    file.write({reinterpret_cast<const char*>(piece.data()), piece.size()});
  });
  file.keep();
  std::cout << printable(path.string()) << ": "
            << quantity_text(static_cast<double>(stage.program.stored_weight_bytes.value), "B") << "\n";
  return scales;
}

int run_compile(const CompileArguments& arguments) {
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(file_models(arguments.files));
  const auto workload = catalog.workload(arguments.model, machine);
  const Application application = compile(*workload, machine);
  if (!application.feasible) {
    std::cerr << "sdip: infeasible: " << printable(application.reason) << "\n";
    return exit_infeasible;
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
  for (const CompiledStage& stage : application.stages) {
    if (arguments.folder.empty()) {
      std::cout << graph_text(stage);
      continue;
    }
    const std::string name = file_name(stage.name);
    const std::filesystem::path folder = arguments.folder;
    WeightScales scales;
    if (arguments.weights)
      scales =
          write_weights_of(arguments, machine, member_of(members, stage.name), stage, folder / (name + ".weight"));
    const std::string text = graph_text(stage, scales);
    const auto path = folder / (name + ".graph");
    NewFile file(path);
    file.write(text);
    file.keep();
    std::cout << printable(path.string()) << ": "
              << count_text(static_cast<std::int64_t>(stage.program.instructions.size())) << " instructions, "
              << quantity_text(static_cast<double>(stage.program.weight_bytes.value), "B") << " of weights\n";
  }
  return exit_ok;
}

}  // namespace

void add_compile_command(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<CompileArguments>();
  auto* command = app.add_subcommand("compile", "The programs of a model on a machine, as .graph text");
  command->add_option("MODEL", arguments->model, "A built-in model or an ONNX file")->required();
  auto* out = command->add_option("--out", arguments->folder,
                                  "Folder to write STAGE.graph files into; else standard output");
  auto* weights =
      command->add_flag("--weights", arguments->weights,
                        "Write STAGE.weight too: the model's weights in weight_format, random ones for a "
                        "built-in model");
  weights->needs(out);
  auto* seed = command->add_option("--seed", arguments->seed, "Seed of a built-in model's random weights")
                   ->needs(weights)
                   ->capture_default_str();
  command->add_flag("--show-allocation", arguments->show_allocation,
                    "Peak and live bytes of each memory, and values that wait on the stack; without --out in place "
                    "of the programs");
  add_machine_options(*command, arguments->machine);
  add_file_options(*command, arguments->files);
  command->callback([&action, arguments, seed] {
    arguments->seed_given = seed->count() > 0;
    action = [=] { return run_compile(*arguments); };
  });
}

}  // namespace sdip
