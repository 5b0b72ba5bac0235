// sdip reproduce: are the points of a manifest those that this program computes?
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/json_in.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/jobs/data_folder.h"
#include "server/jobs/export_file.h"
#include "server/jobs/jobs.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

constexpr std::string_view manifest_ending = ".manifest.json";

/// What was exported, and what made it.
struct Exported {
  std::string file;  // of the points
  ExportFormat format = ExportFormat::csv;
  Json manifest;
};

bool is_manifest(const Json& json) {
  const auto has_texts = [](const Json& column) {
    return column.is_object() && column.contains("name") && column["name"].is_string();
  };
  return json.is_object() && json.contains("manifest") && json["manifest"] == 1 && json.contains("spec") &&
         json.contains("columns") && json["columns"].is_array() &&
         std::ranges::all_of(json["columns"], has_texts) && json.contains("points") &&
         (json["points"] == "all" || json["points"] == "front") && json.contains("version") &&
         json["version"].is_string() && json.contains("signature");
}

Exported exported_in(const std::string& file) {
  Exported exported;
  exported.file = file;
  std::string holder = file;
  if (file.ends_with(manifest_ending))
    exported.file = file.substr(0, file.size() - manifest_ending.size());
  else if (std::filesystem::exists(file + std::string(manifest_ending)))
    holder = file + std::string(manifest_ending);
  exported.format = export_format_of(exported.file);
  const bool csv = exported.format == ExportFormat::csv, lines = exported.format == ExportFormat::ndjson;
  if (!csv && !lines && exported.format != ExportFormat::json)
    throw Error("value_invalid", exported.file,
                "points are compared in CSV, NDJSON and JSON; `sdip sweep --spec` takes the spec of any manifest");
  if (holder == file && !file.ends_with(manifest_ending) && exported.format != ExportFormat::json)
    throw Error("file_not_found", file + std::string(manifest_ending),
                "expected what made these points: `sdip export --manifest` writes it");
  exported.manifest = parse_json(read_text(holder));
  if (holder == exported.file && exported.manifest.is_object()) exported.manifest = exported.manifest["manifest"];
  if (!is_manifest(exported.manifest)) throw Error("value_invalid", holder, "expected a manifest of an export");
  return exported;
}

/// Columns of points beyond those that every export has.
std::string fields_in(const Json& manifest) {
  std::string fields;
  for (const Json& column : manifest["columns"]) {
    const std::string name = column["name"];
    if (name == "index" || name == "feasible" || name == "reason") continue;
    fields += (fields.empty() ? "" : ",") + name;
  }
  return fields;
}

bool has_accuracy(const Json& manifest) {
  return std::ranges::any_of(manifest["columns"], [](const Json& column) {
    return std::ranges::find(accuracy_fields, column["name"].get<std::string>()) != std::end(accuracy_fields);
  });
}

void require_same_engine(const Json& manifest) {
  const Json& made_by = manifest["signature"];
  if (made_by.is_string() && made_by.get<std::string>() == signature()) return;
  throw Error("engine_changed", "signature",
              fmt::format("the points are of version {}, signature {}; this one's is {}",
                          manifest["version"].get<std::string>(),
                          made_by.is_string() ? made_by.get<std::string>() : "unknown", signature()));
}

/// What is to be equal: of JSON the points alone, since its manifest has the time and number of its sweep.
std::string points_in(const std::string& text, ExportFormat format) {
  if (format != ExportFormat::json) return text;
  const Json document = parse_json(text);
  return document.is_object() && document.contains("points") ? document["points"].dump(1) : std::string();
}

/// The first line in which two texts differ, from 1.
std::int64_t first_difference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::ranges::mismatch(a, b);
  return 1 + std::count(a.begin(), at, '\n');
}

int run_reproduce(const std::string& file) {
  const Exported exported = exported_in(file);
  require_same_engine(exported.manifest);
  const std::string then = points_in(read_text(exported.file), exported.format);
  const DataFolder data("");
  Store store(store_file(data.path()).string());
  const Catalog catalog(UploadedModels{&store, data.path(), this_program, {}});
  const SweepSpec spec = spec_from_json(exported.manifest["spec"]);
  for (const MixPart& part : mix_of_text(spec.model, "/spec/model"))
    if (!is_built_in(part.model))
      throw Error("unknown_model", "/spec/model",
                  part.model + " is no built-in model: upload it into a folder and run `sdip sweep --spec` there");
  const std::int64_t id = add_sweep(store, catalog, spec);
  std::cerr << "evaluating " << count_text(point_count(spec.space)) << " points of " << printable(spec.model)
            << std::endl;
  if (run_sweep(store, catalog, id, {.threads = threads_here(), .cancel = &interrupts()})) return exit_cancelled;
  const SweepRecord sweep = sweep_record(store, id);
  if (sweep.row.error) throw Error(sweep.row.error->code, sweep.row.error->where, sweep.row.error->message);
  const ExportQuery query = export_query(store, sweep, exported.format, fields_in(exported.manifest),
                                         exported.manifest["points"] == "front", "/columns");
  std::string text;
  store.export_points(id, spec.space, query, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  const std::string now = points_in(text, exported.format);
  if (now == then) {
    std::cout << "reproduced: " << printable(exported.file) << ", " << count_text(std::ssize(now)) << " bytes of "
              << count_text(sweep.row.done) << " points, sha256 " << sha256_hex(std::as_bytes(std::span(now)))
              << "\n";
    return exit_ok;
  }
  std::cout << "not reproduced: " << printable(exported.file) << " differs from line "
            << first_difference(then, now) << " on"
            << (has_accuracy(exported.manifest)
                    ? " (accuracy is measured apart, and not here: `sdip export --fields` leaves it out)"
                    : "")
            << "\n";
  return exit_input;
}

}  // namespace

void add_reproduce_command(CLI::App& app, Action& action) {
  const auto file = std::make_shared<std::string>();
  auto* command = app.add_subcommand(
      "reproduce", "Whether an export with a manifest has the bytes that this program computes for it");
  command
      ->add_option("FILE", *file,
                   "The export (CSV, NDJSON with FILE.manifest.json beside it, JSON), or the manifest")
      ->required();
  command->callback([&action, file] { action = [=] { return run_reproduce(*file); }; });
}

}  // namespace sdip
