// sdip npu-analysis: an NPU maker's published analysis of Stable Diffusion beside ours.
#include <iostream>
#include <memory>

#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/studies/npu_analysis.h"

namespace sdip {
namespace {

int run_npu_analysis(const std::string& format) {
  const std::vector<AnalysisRow> rows = npu_analysis(analysed_models());
  if (format == "json")
    std::cout << json_text(analysis_json(rows), 2) << "\n";
  else if (format == "csv")
    print_analysis_csv(std::cout, rows);
  else if (format == "markdown")
    print_analysis_markdown(std::cout, rows);
  else
    print_analysis(std::cout, rows, colour_out());
  return exit_ok;
}

}  // namespace

void add_npu_analysis_command(CLI::App& app, Action& action) {
  const auto format = std::make_shared<std::string>("text");
  auto* command = app.add_subcommand(
      "npu-analysis", "An NPU maker's published figures of Stable Diffusion at 8 MB, beside ours by definition");
  command->add_option("--format", *format, "text, csv, json or markdown")
      ->check(CLI::IsMember({"text", "csv", "json", "markdown"}))
      ->capture_default_str();
  command->callback([&action, format] { action = [format] { return run_npu_analysis(*format); }; });
}

}  // namespace sdip
