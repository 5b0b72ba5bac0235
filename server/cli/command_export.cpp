// sdip export.
#include <iostream>
#include <memory>

#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/cli/commands.h"
#include "server/io/text.h"
#include "server/jobs/export_file.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

struct ExportArguments {
  std::int64_t sweep = 0;
  std::string data, file, format, fields;
  std::vector<std::string> metrics;
  bool front = false, manifest = false;
};

std::string export_command(const ExportArguments& a, ExportFormat format) {
  std::string command =
      fmt::format("sdip export {} --data {} --format {}", a.sweep, shell_word(a.data), row_of(format).name);
  if (a.front) command += " --front";
  if (!a.fields.empty()) command += " --fields " + shell_word(a.fields);
  for (const std::string& metric : a.metrics) command += " --metric " + shell_word(metric);
  return command;
}

int run_export(const ExportArguments& arguments) {
  const Store store(kept_store_file(arguments.data).string(), StoreAccess::read);
  SweepRecord sweep = sweep_record(store, arguments.sweep);
  if (engine_changed(sweep.row))
    std::cerr << "sdip: note: these points are of "
              << (sweep.row.signature.empty() ? "a version that kept no signature"
                                              : "signature " + printable(sweep.row.signature))
              << ", and this version's is " << signature() << ": it may compute them otherwise" << std::endl;
  for (Formula& formula : formulas_of(arguments.metrics)) sweep.spec.formulas.push_back(std::move(formula));
  check_formulas(sweep.spec.formulas, "--metric");
  const ExportFormat format = arguments.format.empty() ? export_format_of(arguments.file)
                                                       : export_format_named(arguments.format, "--format");
  const auto target = export_target(arguments.file, format, "--output");
  if (arguments.manifest && (!target || target->path().empty()))
    throw Error("value_invalid", "--manifest", "stands beside a file: expected --output FILE");
  const ExportQuery query = export_query(store, sweep, format, arguments.fields, arguments.front, "--fields");
  const OrderedJson manifest = manifest_json(store, sweep, query, export_command(arguments, format));
  export_to(store, sweep, query, manifest, target.get(), arguments.file,
            arguments.manifest || has_manifest_beside(format, target.get()));
  return exit_ok;
}

}  // namespace

void add_export_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<ExportArguments>(
      app, action, "export", "The points of a stored sweep, all in index order or its front", run_export);
  command.add_option("SWEEP", a.sweep, "Number of the sweep")->required();
  command.add_option("--data", a.data, "Folder the sweep is kept in")->required();
  add_formula_option(command, a.metrics);
  command.add_option(
      "--format", a.format,
      "csv, ndjson, json, markdown, latex or sqlite; when not given as the file's name ends, else csv");
  command.add_option("--fields", a.fields,
                     "Columns: axes, metrics and formulas, comma separated; all when not given (of markdown and "
                     "latex axes, objectives and formulas)");
  command.add_flag("--front", a.front, "The Pareto front by the sweep's objectives alone, in its order");
  command.add_flag(
      "--manifest", a.manifest,
      "What made the points, into FILE.manifest.json, of json, markdown, latex and sqlite, too, which hold it");
  command.add_option(
      "-o,--output", a.file,
      "File to write, with FILE.manifest.json beside of csv and ndjson; standard output when not given");
}

}  // namespace sdip
