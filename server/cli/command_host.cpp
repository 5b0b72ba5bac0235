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
  if (!report.infeasible.empty()) return say_infeasible(report.infeasible);
  if (arguments.format == "json") return print_json(host_json(report));
  if (arguments.format == "markdown")
    print_host_markdown(std::cout, report);
  else
    print_host_report(std::cout, report, colour_out());
  return exit_ok;
}

}  // namespace

void add_host_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<HostArguments>(
      app, action, "host", "Where the time of a machine with a host goes, and what would save most of it",
      run_host);
  a.machine.preset = "pynq-attention";
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file")->required();
  add_format_option(command, a.format, "text, json or markdown", {"text", "json", "markdown"});
  add_machine_options(command, a.machine);
  add_file_options(command, a.files);
}

}  // namespace sdip
