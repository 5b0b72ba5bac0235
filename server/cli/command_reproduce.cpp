// sdip reproduce: are the points of a manifest those that this program computes?
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/study/signature.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/io/json_in.h"
#include "server/io/points_file.h"
#include "server/io/text.h"
#include "server/io/threads.h"
#include "server/io/version.h"
#include "server/jobs/data_folder.h"
#include "server/jobs/export_file.h"
#include "server/jobs/jobs.h"
#include "server/jobs/service.h"

namespace sdip {
namespace {

constexpr std::string_view manifest_ending = ".manifest.json";

/// An export, and what made it.
struct Exported {
  std::string file;  // of the points
  ExportFormat format = ExportFormat::csv;
  Json manifest;
};

bool has_text(const Json& object, const char* key) { return object.contains(key) && object[key].is_string(); }

bool has_count(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number_integer() && object[key] >= 0;
}

bool is_manifest(const Json& json) {
  const auto is_column = [](const Json& column) { return column.is_object() && has_text(column, "name"); };
  if (!json.is_object() || !json.contains("manifest") || json["manifest"] != 1) return false;
  for (const char* key : {"spec", "columns", "points", "signature", "model", "sweep"})
    if (!json.contains(key)) return false;
  const Json &model = json["model"], &sweep = json["sweep"], &columns = json["columns"];
  return has_text(json, "version") && (json["points"] == "all" || json["points"] == "front") &&
         columns.is_array() && std::ranges::all_of(columns, is_column) && model.is_object() &&
         has_text(model, "name") && model.contains("files") && sweep.is_object() && has_count(sweep, "total") &&
         has_count(sweep, "done");
}

/// The manifest that stands in the first line of a JSON export, whose points are not read for it.
std::string manifest_within(const std::string& file) {
  constexpr std::string_view before = "{\"manifest\":", behind = ",\n";
  const std::string line = LineFile(file).next();
  if (!line.starts_with(before) || !line.ends_with(behind) || line.size() < before.size() + behind.size())
    throw Error("value_invalid", file, "expected a JSON export as `sdip export` writes it, a point a line");
  return line.substr(before.size(), line.size() - before.size() - behind.size());
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
  exported.manifest = parse_json(holder == exported.file ? manifest_within(holder) : read_text(holder));
  if (!is_manifest(exported.manifest)) throw Error("value_invalid", holder, "expected a manifest of an export");
  return exported;
}

std::string fields_in(const Json& manifest) {
  return list_text(
      manifest["columns"], [](const Json& column) { return column["name"].get<std::string>(); }, ",");
}

void require_same_engine(const Json& manifest) {
  const Json& made_by = manifest["signature"];
  const std::string version = manifest["version"];
  if (!made_by.is_string() || made_by.get<std::string>() != signature())
    throw Error("engine_changed", "signature",
                fmt::format("the points are of version {}, signature {}; this one's is {}", version,
                            made_by.is_string() ? made_by.get<std::string>() : "unknown", signature()));
  if (version != program_version)
    std::cerr << "sdip: note: exported by version " << printable(version) << ", and this is " << program_version
              << "; their engines have one signature" << std::endl;
}

/// The model by its name, and by the hashes of its files where the manifest has them of a built-in model.
void require_same_model(const Store& store, const SweepSpec& spec, const Json& manifest) {
  const Json& model = manifest["model"];
  if (model["name"] != spec.model)
    throw Error(
        "model_changed", "/model/name",
        fmt::format("the manifest names {}, and its spec is of {}", model["name"].get<std::string>(), spec.model));
  for (const MixPart& part : mix_of_text(spec.model, "/spec/model"))
    if (!is_built_in(part.model))
      throw Error("unknown_model", "/spec/model",
                  part.model + " is no built-in model: upload it into a folder and run `sdip sweep --spec` there");
  const Json files = Json::parse(json_text(model_files(store, spec.model)));
  if (model["files"] == files) return;
  const bool list = model["files"].is_array();
  for (const Json& file : files)
    if (!list || std::ranges::find(model["files"], file) == model["files"].end())
      throw Error("model_changed", "/model/files",
                  fmt::format("the points are of other bytes of {}: expected its file {} with sha256 {}",
                              spec.model, file["name"].get<std::string>(), file["sha256"].get<std::string>()));
  throw Error("model_changed", "/model/files", spec.model + " has no such file");
}

/// A version with more parameters hashes the same machine otherwise: what counts is whether the points are the
/// same.
void note_other_machine(const SweepSpec& spec, const Json& manifest) {
  if (manifest.contains("machine_sha256") && manifest["machine_sha256"] != machine_sha256(spec.space.base))
    std::cerr << "sdip: note: the machine that the sweep begins with is not, parameter by parameter, that of the "
                 "manifest (machine_sha256)"
              << std::endl;
}

/// The points that were stored when the export was made. Throws Error value_invalid, points_unknown.
std::vector<IndexRange> stored_points(const Json& manifest, std::int64_t total) {
  const Json& sweep = manifest["sweep"];
  const Json stored = sweep.contains("stored") ? sweep["stored"] : Json();
  const auto done = sweep["done"].get<std::int64_t>();
  if (sweep["total"] != total)
    throw Error("value_invalid", "/sweep/total", "expected " + count_text(total) + ", as its spec has points");
  if (stored.is_null() && done != total)
    throw Error("points_unknown", "/sweep/stored",
                fmt::format("of {} points {} were stored when this was exported, and the manifest does not say "
                            "which: resume the sweep, and export it when it is done",
                            count_text(total), count_text(done)));
  if (stored.is_null()) return {{0, total}};
  const auto is_range = [](const Json& range) {
    return range.is_array() && range.size() == 2 && range[0].is_number_integer() && range[1].is_number_integer();
  };
  if (!stored.is_array() || !std::ranges::all_of(stored, is_range))
    throw Error("value_invalid", "/sweep/stored", "expected [[first, end], ...]");
  std::vector<IndexRange> ranges;
  std::int64_t count = 0, least = 0;
  for (const Json& range : stored) {
    const IndexRange one{range[0].get<std::int64_t>(), range[1].get<std::int64_t>()};
    if (one.first < least || one.end <= one.first || one.end > total)
      throw Error("value_invalid", "/sweep/stored", "expected ranges of the sweep's points, ascending");
    least = one.end;
    count += one.end - one.first;
    ranges.push_back(one);
  }
  if (count != done)
    throw Error("value_invalid", "/sweep/stored", "expected ranges of " + count_text(done) + " points, as `done`");
  return ranges;
}

int not_reproduced(const std::string& file, const std::string& why) {
  std::cout << "not reproduced: " << printable(file) << " " << why << "\n";
  return exit_input;
}

/// Says a difference that is not in accuracy.
std::string difference_text(const PointsDifference& found) {
  if (found.in_header) return fmt::format("differs in its header, line {}", found.line);
  return fmt::format("differs from line {} on{}", found.line,
                     found.column.empty() ? "" : ", first in " + printable(found.column));
}

/// The lines before the points as the store would write them; nothing where the file has the same.
std::optional<std::string> header_difference(const Store& store, const SweepRecord& sweep, const ExportQuery& query,
                                             const std::string& file) {
  PointsComparison comparison(file, query.format);
  store.export_points(sweep.row.id, sweep.spec.space, query,
                      [&](std::string_view piece) { return comparison.take(piece); });
  const auto& found = comparison.difference();
  if (found && found->in_header) return difference_text(*found);
  return std::nullopt;
}

int run_reproduce(const std::string& name) {
  const Exported exported = exported_in(name);
  const auto& [file, format, manifest] = exported;
  require_same_engine(manifest);
  const DataFolder data("");
  Store store(store_file(data.path()).string());
  const Catalog catalog(UploadedModels{&store, data.path(), this_program, {}});
  const SweepSpec spec = spec_from_json(manifest["spec"]);
  require_same_model(store, spec, manifest);
  note_other_machine(spec, manifest);
  const std::vector<IndexRange> stored = stored_points(manifest, point_count(spec.space));
  const std::int64_t id = add_sweep(store, catalog, spec), done = manifest["sweep"]["done"];
  SweepRecord sweep = sweep_record(store, id);
  const bool front = manifest["points"] == "front";
  const std::string fields = fields_in(manifest);
  ExportQuery query = export_query(store, sweep, format, fields, front, "/columns");
  if (const auto why = header_difference(store, sweep, query, file)) return not_reproduced(file, *why);
  const std::int64_t count = points_in_file(file, format);
  if (!front && count != done)
    return not_reproduced(file,
                          fmt::format("has {} points, and {} were exported", count_text(count), count_text(done)));
  std::cerr << "evaluating " << count_text(done) << " points of " << printable(spec.model) << std::endl;
  if (run_sweep(store, catalog, id, {.threads = threads_here(), .cancel = &interrupts(), .part = stored}))
    return exit_cancelled;
  query = export_query(store, sweep, format, fields, front, "/columns");
  if (sweep.row.error) throw Error(sweep.row.error->code, sweep.row.error->where, sweep.row.error->message);
  if (query.only && count != std::ssize(*query.only))
    return not_reproduced(file, fmt::format("has {} points, and the front {}", count_text(count),
                                            count_text(std::ssize(*query.only))));
  PointsComparison comparison(file, format);
  store.export_points(id, spec.space, query, [&](std::string_view piece) { return comparison.take(piece); });
  comparison.end();
  if (const auto& found = comparison.difference()) return not_reproduced(file, difference_text(*found));
  if (const auto& found = comparison.in_accuracy())
    return not_reproduced(
        file,
        fmt::format("differs from line {} on, and in accuracy alone (accuracy is measured apart, and not here: "
                    "`sdip export --fields` leaves it out)",
                    found->line));
  std::cout << "reproduced: " << printable(file) << ", " << count_text(comparison.bytes()) << " bytes of "
            << count_text(count) << " points, sha256 " << comparison.sha256() << "\n";
  return exit_ok;
}

}  // namespace

void add_reproduce_command(CLI::App& app, Action& action) {
  const auto [command, file] = add_command<std::string>(
      app, action, "reproduce", "Whether an export with a manifest has the bytes that this program computes for it",
      run_reproduce);
  command
      .add_option("FILE", file, "The export (CSV, NDJSON with FILE.manifest.json beside it, JSON), or the manifest")
      ->required();
}

}  // namespace sdip
