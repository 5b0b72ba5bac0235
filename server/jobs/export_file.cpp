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

void export_to(const Store& store, const SweepRecord& sweep, const ExportQuery& query, NewFile* target) {
  const std::int64_t id = sweep.row.id;
  if (!row_of(query.format).text)
    store.export_database(id, sweep.spec.space, query, target->path().string());
  else if (target)
    store.export_points(id, sweep.spec.space, query,
                        [&](std::string_view piece) { return target->write(piece), true; });
  else
    store.export_points(id, sweep.spec.space, query,
                        [](std::string_view piece) { return static_cast<bool>(std::cout << piece); });
  if (target) target->keep();
}

}  // namespace sdip
