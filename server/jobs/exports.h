// Exports of sweeps: which columns and points, and what is to be known of where they come from.
#pragma once

#include "server/jobs/sweep_json.h"

namespace sdip {

/// The format of that name. Throws Error value_invalid.
ExportFormat export_format_named(std::string_view name, const std::string& where);
/// As a file's name ends; csv for any other.
ExportFormat export_format_of(std::string_view file);

/// Columns by name, comma separated; "": all, or of a table for people (Markdown, LaTeX) the axes, objectives and
/// formulas. `front`: of the points of the front alone, in its order. Throws Error unknown_metric at `where`.
ExportQuery export_query(const Store& store, const SweepRecord& sweep, ExportFormat format, std::string_view fields,
                         bool front, const std::string& where);

/// What made these points: program, engine, model with its hash, spec, columns; and the command that wrote them.
OrderedJson manifest_json(const Store& store, const SweepRecord& sweep, const ExportQuery& query,
                          const std::string& command);

}  // namespace sdip
