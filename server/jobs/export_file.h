// Exports into files, for `sdip sweep --export` and `sdip export`.
#pragma once

#include <memory>

#include "server/io/files.h"
#include "server/jobs/exports.h"

namespace sdip {

/// The file of an export, opened before anything is computed for it; none for standard output. Throws Error
/// value_invalid at `where` where the format needs a file and gets none.
std::unique_ptr<NewFile> export_target(const std::string& file, ExportFormat format, const std::string& where);

/// Whether the manifest stands in a file of its own beside the target: of CSV and NDJSON, unless they go to
/// standard output or a device.
bool has_manifest_beside(ExportFormat format, const NewFile* target);

/// The points, whole or not at all; to standard output where there is no target. `beside`: the manifest goes into
/// FILE.manifest.json besides. Formats that hold it have it, too.
void export_to(const Store& store, const SweepRecord& sweep, ExportQuery query, const OrderedJson& manifest,
               NewFile* target, const std::string& file, bool beside);

}  // namespace sdip
