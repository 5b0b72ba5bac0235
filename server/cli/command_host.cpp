// sdip host: where the time of a machine with a host goes.
#include <iostream>
#include <memory>

#include "server/cli/commands.h"
#include "server/cli/text/host_text.h"
#include "server/io/text.h"

namespace sdip {
namespace {

struct HostArguments {
  std::string model, format = "text";
  FileOptions files;
  MachineOptions machine;
};

int run_host(const HostArguments& arguments) {
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(file_models(arguments.files));
  const HostReport report = host_report(catalog.workloads(), arguments.model, machine);
  if (!report.infeasible.empty()) {
    std::cerr << "sdip: infeasible: " << printable(report.infeasible) << "\n";
    return exit_infeasible;
  }
  if (arguments.format == "json")
    std::cout << json_text(host_json(report), 2) << "\n";
  else if (arguments.format == "markdown")
    print_host_markdown(std::cout, report);
  else
    print_host_report(std::cout, report, colour_out());
  return exit_ok;
}

}  // namespace

void add_host_command(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<HostArguments>();
  arguments->machine.preset = "pynq-attention";
  auto* command =
      app.add_subcommand("host", "Where the time of a machine with a host goes, and what would save most of it");
  command->add_option("MODEL", arguments->model, "A built-in model or an ONNX file")->required();
  command->add_option("--format", arguments->format, "text, json or markdown")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  add_machine_options(*command, arguments->machine);
  add_file_options(*command, arguments->files);
  command->callback([&action, arguments] { action = [arguments] { return run_host(*arguments); }; });
}

}  // namespace sdip
