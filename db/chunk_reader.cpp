// Chunks of points, read back.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {

std::int64_t total_of(Connection& connection, std::int64_t sweep) {
  Statement row(connection, "SELECT total FROM sweep WHERE id = ?");
  if (!row.bind(sweep).step()) throw Error("not_found", "sweep " + std::to_string(sweep), "no such sweep");
  return row.integer(0);
}

ChunkReader::ChunkReader(Connection& connection, const MetricIds& metric_ids)
    : connection_(connection),
      metric_ids_(metric_ids),
      column_(connection, "SELECT data FROM chunk_column WHERE id = ?") {}

ChunkHead ChunkReader::head(const Statement& row) const {
  ChunkHead chunk{.id = row.integer(0), .first = row.integer(1), .count = row.integer(2), .feasible = {}};
  chunk.feasible = decode_flags(row.blob(4), chunk.count, row.integer(3), connection_.path());
  return chunk;
}

void ChunkReader::each(std::int64_t sweep, std::int64_t after, const std::function<bool(const ChunkHead&)>& visit) {
  // Chunks do not overlap, so at most one that starts before `after` can end behind it.
  Statement row(connection_,
                "SELECT id, first, count, feasible, flags FROM chunk WHERE sweep = ?1 AND first >= coalesce("
                "(SELECT max(first) FROM chunk WHERE sweep = ?1 AND first <= ?2), 0) ORDER BY first");
  row.bind(sweep).bind(after);
  while (row.step()) {
    const ChunkHead chunk = head(row);
    if (chunk.first + chunk.count <= after) continue;
    if (!visit(chunk)) return;
  }
}

std::optional<ChunkHead> ChunkReader::holding(std::int64_t sweep, std::int64_t index) {
  std::optional<ChunkHead> found;
  each(sweep, index, [&](const ChunkHead& chunk) {
    if (chunk.first <= index) found = chunk;
    return false;
  });
  return found;
}

void ChunkReader::column(const ChunkHead& chunk, Metric metric, std::vector<double>& values) {
  column_.bind(column_id(chunk.id, metric_ids_[static_cast<std::size_t>(metric)]));
  const bool stored = column_.step();
  decode_column(stored ? column_.blob(0) : std::string_view(), chunk.feasible, values, connection_.path());
  column_.reset();
}

std::vector<StoredPoint> ChunkReader::points(const ChunkHead& chunk) {
  std::vector<StoredPoint> points(chunk.feasible.size());
  Statement row(connection_, "SELECT reason, reasons FROM chunk WHERE id = ?");
  check(row.bind(chunk.id).step(), "ChunkReader::points: the chunk was just read");
  std::vector<std::string> reasons = decode_reasons(chunk.feasible, row.blob(0), row.blob(1), connection_.path());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].index = chunk.first + static_cast<std::int64_t>(i);
    points[i].feasible = chunk.feasible[i] != 0;
    points[i].reason = std::move(reasons[i]);
  }
  std::vector<double> values;
  for (std::size_t m = 0; m < metric_count; ++m) {
    values.clear();
    column(chunk, static_cast<Metric>(m), values);
    for (std::size_t i = 0; i < points.size(); ++i) points[i].values[m] = values[i];
  }
  return points;
}

}  // namespace sdip
