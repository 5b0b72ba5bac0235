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
  if (format == "json") return print_json(analysis_json(rows));
  if (format == "csv")
    print_analysis_csv(std::cout, rows);
  else if (format == "markdown")
    print_analysis_markdown(std::cout, rows);
  else
    print_analysis(std::cout, rows, colour_out());
  return exit_ok;
}

}  // namespace

void add_npu_analysis_command(CLI::App& app, Action& action) {
  const auto [command, format] = add_command<std::string>(
      app, action, "npu-analysis",
      "An NPU maker's published figures of Stable Diffusion at 8 MB, beside ours by definition", run_npu_analysis);
  format = "text";
  add_format_option(command, format, "text, csv, json or markdown", {"text", "csv", "json", "markdown"});
}

}  // namespace sdip
