// sdip compile: the programs of a model, as `.graph` text.
#include <filesystem>
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "server/analysis.h"
#include "server/commands.h"
#include "server/files.h"
#include "server/text.h"

namespace sdip {
namespace {

struct CompileArguments {
  std::string model, folder;
  std::vector<std::string> dims;
  MachineOptions machine;
};

/// A stage's name as a file name: what is not a letter, digit, '.', '-' or '_' becomes '_'.
std::string file_name(std::string_view stage) {
  std::string name(stage.substr(0, 100));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-' && c != '_') c = '_';
  return name + ".graph";
}

int run_compile(const CompileArguments& arguments) {
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(FileModels{dims_of(arguments.dims)});
  const auto workload = catalog.workload(arguments.model, machine);
  const Application application = compile(*workload, machine);
  if (!application.feasible) {
    std::cerr << "sdip: infeasible: " << printable(application.reason) << "\n";
    return exit_infeasible;
  }
  if (!arguments.folder.empty()) require_folder(arguments.folder);
  for (std::size_t s = 0; s < application.stages.size(); ++s) {
    const CompiledStage& stage = application.stages[s];
    const std::string text = graph_text(stage, workload->stages[s].graph);
    if (arguments.folder.empty()) {
      std::cout << text;
      continue;
    }
    const auto path = std::filesystem::path(arguments.folder) / file_name(stage.name);
    NewFile file(path);
    file.write(text);
    file.keep();
    std::cout << path.string() << ": " << count_text(static_cast<std::int64_t>(stage.program.instructions.size()))
              << " instructions, " << quantity_text(static_cast<double>(stage.program.weight_bytes.value), "B")
              << " of weights\n";
  }
  return exit_ok;
}

}  // namespace

void add_compile_command(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<CompileArguments>();
  auto* command = app.add_subcommand("compile", "The programs of a model on a machine, as .graph text");
  command->add_option("MODEL", arguments->model, "A built-in model or an ONNX file")->required();
  command->add_option("--out", arguments->folder, "Folder to write STAGE.graph files into; else standard output");
  add_machine_options(*command, arguments->machine);
  add_dim_option(*command, arguments->dims);
  command->callback([&action, arguments] { action = [=] { return run_compile(*arguments); }; });
}

}  // namespace sdip
