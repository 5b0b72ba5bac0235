// All points of a sweep as CSV or as one JSON object a line.
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/escaped.h"
#include "db/parts.h"

namespace sdip {
namespace {

/// Shortest decimal form that reads back as the same double; nothing when there is no finite value.
std::string number_text(double value, const char* without) {
  if (!std::isfinite(value)) return without;
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string json_text(std::string_view text) {
  return visible_json(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string header_cell(std::string_view name, std::string_view unit) {
  std::string cell(name);
  if (!unit.empty()) cell += " [" + std::string(unit) + "]";
  return csv_cell(cell);
}

/// Behind the metrics: what was measured, of points for which it was.
constexpr std::string_view accuracy_header = ",sqnr_db [dB],cosine,accuracy_weights";

const char* weights_text(const StoredAccuracy& accuracy) { return accuracy.random_weights ? "random" : "file"; }

std::string csv_header(const Space& space, std::span<const Formula> formulas) {
  std::string line = "index,feasible,reason";
  for (const Axis& axis : space.axes) line += "," + header_cell(axis.row->name, axis.row->unit);
  for (const MetricRow& metric : metrics()) line += "," + header_cell(metric.name, metric.unit);
  for (const Formula& formula : formulas) line += "," + header_cell(formula.name, formula.unit);
  return line + std::string(accuracy_header) + "\n";
}

/// What formulas make of a chunk's points: a column each.
using FormulaColumns = std::vector<std::vector<double>>;

std::string csv_line(const Space& space, const StoredPoint& point, const FormulaColumns& formulas,
                     std::size_t place, const StoredAccuracy* accuracy) {
  std::string line = std::to_string(point.index) + (point.feasible ? ",1," : ",0,") + csv_cell(point.reason);
  for (std::size_t a = 0; a < space.axes.size(); ++a)
    line += "," + value_text(*space.axes[a].row, axis_value(space, a, point.index));
  for (const double value : point.values) line += "," + number_text(value, "");
  for (const std::vector<double>& values : formulas) line += "," + number_text(values[place], "");
  if (accuracy == nullptr) return line + ",,,\n";
  return line + "," + number_text(accuracy->sqnr_db, accuracy->sqnr_db > 0 ? "inf" : "") + "," +
         number_text(accuracy->cosine, "") + "," + weights_text(*accuracy) + "\n";
}

std::string json_line(const Space& space, const StoredPoint& point, std::span<const Formula> formulas,
                      const FormulaColumns& columns, std::size_t place, const StoredAccuracy* accuracy) {
  std::string line = "{\"index\":" + std::to_string(point.index) +
                     ",\"feasible\":" + (point.feasible ? "true" : "false") +
                     ",\"reason\":" + json_text(point.reason);
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    const ParameterRow& row = *space.axes[a].row;
    const std::string text = value_text(row, axis_value(space, a, point.index));
    line += "," + json_text(row.name) + ":" + (row.type == ParameterType::choice ? json_text(text) : text);
  }
  for (std::size_t m = 0; m < metric_count; ++m)
    line += "," + json_text(metrics()[m].name) + ":" + number_text(point.values[m], "null");
  for (std::size_t f = 0; f < formulas.size(); ++f)
    line += "," + json_text(formulas[f].name) + ":" + number_text(columns[f][place], "null");
  if (accuracy == nullptr) return line + ",\"sqnr_db\":null,\"cosine\":null,\"accuracy_weights\":null}\n";
  const std::string db = number_text(accuracy->sqnr_db, accuracy->sqnr_db > 0 ? "\"inf\"" : "null");
  return line + ",\"sqnr_db\":" + db + ",\"cosine\":" + number_text(accuracy->cosine, "null") +
         ",\"accuracy_weights\":\"" + weights_text(*accuracy) + "\"}\n";
}

}  // namespace

void Store::export_points(std::int64_t id, const Space& space, std::span<const Formula> formulas,
                          ExportFormat format, const std::function<bool(std::string_view)>& sink) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  check(total_of(reading.connection(), id) == point_count(space), "export_points: the sweep's own space");
  if (format == ExportFormat::csv && !sink(csv_header(space, formulas))) return;
  const auto measured = point_accuracies_in(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  reader.each(id, 0, [&](const ChunkHead& chunk) {
    FormulaColumns columns(formulas.size());
    for (std::size_t f = 0; f < formulas.size(); ++f)
      reader.measure(chunk, space, Measure(formulas[f]), columns[f]);
    std::string text;
    std::size_t row = 0;
    for (const StoredPoint& point : reader.points(chunk)) {
      const auto found = measured.find(point.index);
      const StoredAccuracy* accuracy = found == measured.end() ? nullptr : &found->second;
      text += format == ExportFormat::csv ? csv_line(space, point, columns, row, accuracy)
                                          : json_line(space, point, formulas, columns, row, accuracy);
      ++row;
    }
    return sink(text);
  });
}

}  // namespace sdip
