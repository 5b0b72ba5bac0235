// Exports into files.
#include "server/jobs/export_file.h"

#include <iostream>

#include "core/base/error.h"

namespace sdip {

std::unique_ptr<NewFile> export_target(const std::string& file, ExportFormat format, const std::string& where) {
  const bool stream = file.empty() || file == "-";
  auto target = stream ? nullptr : std::make_unique<NewFile>(std::filesystem::path(file));
  if (!row_of(format).text && (stream || target->path().empty()))
    throw Error("value_invalid", where,
                std::string(row_of(format).name) + " is written into a file: expected its name");
  return target;
}

bool has_manifest_beside(ExportFormat format, const NewFile* target) {
  return !row_of(format).holds_manifest && target != nullptr && !target->path().empty();
}

void export_to(const Store& store, const SweepRecord& sweep, ExportQuery query, const OrderedJson& manifest,
               NewFile* target, const std::string& file, bool beside) {
  const std::int64_t id = sweep.row.id;
  std::unique_ptr<NewFile> manifest_file;
  if (beside) {
    manifest_file = std::make_unique<NewFile>(std::filesystem::path(file + ".manifest.json"));
    manifest_file->write(json_text(manifest, 2) + "\n");
  }
  if (row_of(query.format).holds_manifest) query.manifest_json = json_text(manifest);
  if (!row_of(query.format).text)
    store.export_database(id, sweep.spec.space, query, target->path().string());
  else if (target)
    store.export_points(id, sweep.spec.space, query,
                        [&](std::string_view piece) { return target->write(piece), true; });
  else
    store.export_points(id, sweep.spec.space, query,
                        [](std::string_view piece) { return static_cast<bool>(std::cout << piece); });
  if (target) target->keep();
  if (manifest_file) manifest_file->keep();
}

}  // namespace sdip
