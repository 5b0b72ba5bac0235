// Exports into files, for `sdip sweep --export` and `sdip export`.
#pragma once

#include <memory>

#include "server/io/files.h"
#include "server/jobs/exports.h"

namespace sdip {

/// The file of an export, opened before anything is computed for it; none for standard output. Throws Error
/// value_invalid at `where` where the format needs a file and gets none.
std::unique_ptr<NewFile> export_target(const std::string& file, ExportFormat format, const std::string& where);

/// The points, whole or not at all; to standard output where there is no target.
void export_to(const Store& store, const SweepRecord& sweep, const ExportQuery& query, NewFile* target);

}  // namespace sdip
