// The points of a sweep that are exported, and in which forms (docs/exports.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/space/measure.h"
#include "core/explore/space/points.h"

namespace sdip {

enum class ExportFormat { csv, ndjson, json, markdown, latex, sqlite };

struct ExportFormatRow {
  ExportFormat format{};
  std::string_view name, suffix, media_type;
  bool text = true;             // can be written to any stream; else it needs a file
  bool holds_manifest = false;  // within it; else it stands in a file of its own
};
std::span<const ExportFormatRow> export_formats();
const ExportFormatRow& row_of(ExportFormat format);

/// The figures measured of a point's accuracy (docs/api.md); empty where none were.
enum class AccuracyField { sqnr_db, cosine, accuracy_weights };
inline constexpr std::string_view accuracy_fields[] = {"sqnr_db", "cosine", "accuracy_weights"};

struct ExportQuery {
  ExportFormat format = ExportFormat::csv;
  std::vector<std::size_t> axes;  // positions in space.axes
  std::vector<Measure> measures;
  std::vector<AccuracyField> accuracies;
  std::optional<std::vector<std::int64_t>> only{};  // stored points, in this order; nothing: all, by index
  /// The points that were stored when it was made, ascending: those stored since are left out. Nothing: all are
  /// there.
  std::optional<std::vector<IndexRange>> stored{};
  std::string manifest_json{};  // for formats that hold it; "" : null
};

/// Every column: the axes, the metrics, these formulas, and the accuracies.
ExportQuery whole_export(const Space& space, std::span<const Formula> formulas, ExportFormat format);

struct ExportColumn {
  std::string name, unit;
  bool number = true;
};
/// index, feasible, reason, and those of the query.
std::vector<ExportColumn> export_columns(const Space& space, const ExportQuery& query);

}  // namespace sdip
