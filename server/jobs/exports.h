// Exports of sweeps: which columns and points, and what is to be known of where they come from.
#pragma once

#include "server/jobs/sweep_json.h"

namespace sdip {

/// The format of that name; `text`: of those alone that are text. Throws Error value_invalid.
ExportFormat export_format_named(std::string_view name, const std::string& where, bool text = false);
/// As a file's name ends; csv for any other.
ExportFormat export_format_of(std::string_view file);

/// Columns by name, comma separated; "": all, or of a table for people (Markdown, LaTeX) the axes, objectives and
/// formulas. `front`: of the points of the front alone, in its order. Which points are stored is read anew, into
/// the query and the sweep's row. Throws Error unknown_metric at `where`.
ExportQuery export_query(const Store& store, SweepRecord& sweep, ExportFormat format, std::string_view fields,
                         bool front, const std::string& where);

/// The objectives, then formulas that are none: all columns would be wider than a page.
std::vector<Measure> measures_for_people(const SweepSpec& spec);
/// A model's files and their hashes: of a built-in one those that `sdip model write` writes.
OrderedJson model_files(const Store& store, const std::string& model);

/// SHA-256 of the machine's JSON with every parameter: two sweeps of equal ones begin with the same machine.
std::string machine_sha256(const Machine& machine);

/// The manifest of points, which says what made them: program, engine, model with its hash, spec, columns; and the
/// command that wrote them.
OrderedJson manifest_json(const Store& store, const SweepRecord& sweep, const ExportQuery& query,
                          const std::string& command);

}  // namespace sdip
