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

MetricIds metric_ids_in(Connection& connection) {
  MetricIds ids{};
  Statement find(connection, "SELECT id FROM metric WHERE name = ?");
  for (std::size_t m = 0; m < metric_count; ++m) {
    ids[m] = find.bind(metrics()[m].name).step() ? find.integer(0) : -1;
    find.reset();
  }
  return ids;
}

ChunkReader::ChunkReader(Connection& connection, const MetricIds& metric_ids)
    : connection_(connection),
      metric_ids_(metric_ids),
      column_(connection, "SELECT data FROM chunk_column WHERE id = ?") {}

namespace {

/// Runs `work`; damage that it finds is said of the points of this chunk.
void with_place(std::int64_t sweep, std::int64_t first, std::int64_t count, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string place = fmt::format("points {} to {} of sweep {}", first, first + count - 1, sweep);
    throw Error(error.code, error.where, place + ": " + error.what());
  }
}

ChunkHead head_of(const Statement& row, std::int64_t sweep, const std::string& path) {
  ChunkHead chunk{.id = row.integer(0),
                  .sweep = sweep,
                  .first = row.integer(1),
                  .count = row.integer(2),
                  .feasible = {},
                  .reason = std::string(row.blob(5)),
                  .reasons = std::string(row.blob(6)),
                  .checksums = {}};
  if (!row.null(7)) chunk.checksums = row.blob(7);
  const std::int64_t feasible = row.integer(3);
  with_place(sweep, chunk.first, chunk.count, [&] {
    if (chunk.checksums)
      check_head({sweep, chunk.first, chunk.count, feasible}, row.blob(4), chunk.reason, chunk.reasons,
                 *chunk.checksums, path);
    chunk.feasible = decode_flags(row.blob(4), chunk.count, feasible, path);
  });
  return chunk;
}

}  // namespace

void ChunkReader::each(std::int64_t sweep, std::int64_t after, const std::function<bool(const ChunkHead&)>& visit) {
  // Chunks do not overlap, so at most one that starts before `after` can end behind it.
  Statement row(connection_,
                "SELECT id, first, count, feasible, flags, reason, reasons, checksums FROM chunk WHERE sweep = ?1 "
                "AND first >= coalesce("
                "(SELECT max(first) FROM chunk WHERE sweep = ?1 AND first <= ?2), 0) ORDER BY first");
  row.bind(sweep).bind(after);
  while (row.step()) {
    const ChunkHead chunk = head_of(row, sweep, connection_.path());
    if (chunk.first + chunk.count <= after) continue;
    if (!visit(chunk)) return;
  }
}

void ChunkReader::each_since(std::int64_t sweep, std::int64_t chunk,
                             const std::function<void(const ChunkHead&)>& visit) {
  // All of a sweep by the index of sweeps; those since another by their ids, of which there are few.
  const char* const all =
      "SELECT id, first, count, feasible, flags, reason, reasons, checksums FROM chunk WHERE sweep = ?1 AND id > "
      "?2";
  const char* const since =
      "SELECT id, first, count, feasible, flags, reason, reasons, checksums FROM chunk WHERE id > ?2 AND +sweep = "
      "?1";
  Statement row(connection_, chunk == 0 ? all : since);
  row.bind(sweep).bind(chunk);
  while (row.step()) visit(head_of(row, sweep, connection_.path()));
}

void ChunkReader::each_bounds_since(std::int64_t sweep, std::int64_t chunk, std::int64_t metric_id,
                                    const std::function<void(const ChunkBoundsRow&)>& visit) {
  // An index holds all of a chunk that is asked for, but for its bounds.
  Statement row(connection_,
                "SELECT chunk.id, first, count, feasible, data FROM chunk INDEXED BY chunk_place"
                " LEFT JOIN chunk_bounds ON chunk_bounds.chunk = iif(?3 < 0, NULL, chunk.id)"
                " WHERE sweep = ?1 AND chunk.id > ?2");
  row.bind(sweep).bind(chunk).bind(metric_id);
  constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
  while (row.step()) {
    ChunkBoundsRow one{row.integer(0), row.integer(1), row.integer(2), row.integer(3)};
    if (!row.null(4))
      one.bounds =
          decode_bounds(row.blob(4), metric_id, connection_.path()).value_or(MetricBounds{no_value, no_value});
    visit(one);
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
  column_of_id(chunk, metric_ids_[metric], values);
}

void ChunkReader::measure(const ChunkHead& chunk, const Space& space, const Measure& measure,
                          std::vector<double>& values) {
  append_measure(
      measure, space, chunk.first, chunk.feasible,
      [&](Metric metric, std::vector<double>& its) { column(chunk, metric, its); }, values);
}

void ChunkReader::column_of_id(const ChunkHead& chunk, std::int64_t metric_id, std::vector<double>& values) {
  with_place(chunk.sweep, chunk.first, chunk.count, [&] { read_column(chunk, metric_id, values); });
}

void ChunkReader::read_column(const ChunkHead& chunk, std::int64_t metric_id, std::vector<double>& values) {
  column_.reset();  // of one that was damaged
  column_.bind(column_id(chunk.id, metric_id));
  const std::string_view column = column_.step() ? column_.blob(0) : std::string_view();
  if (chunk.checksums) check_column(*chunk.checksums, metric_id, column, connection_.path());
  const DerivedMetric* const row = derived_row(column, connection_.path());
  if (row == nullptr) decode_column(column, chunk.feasible, values, connection_.path());
  column_.reset();
  if (row == nullptr) return;
  const auto id_of = [&](Metric metric) { return metric_ids_[metric]; };
  if (id_of(row->metric) != metric_id)
    throw Error("store_corrupt", connection_.path(), "a column is computed as another metric's");
  std::vector<double> first, second;
  read_column(chunk, id_of(row->of[0]), first);
  read_column(chunk, id_of(row->of[1]), second);
  for (std::size_t i = 0; i < first.size(); ++i) values.push_back(row->from(first[i], second[i]));
}

std::vector<std::string> ChunkReader::reasons(const ChunkHead& chunk) {
  std::vector<std::string> reasons;
  with_place(chunk.sweep, chunk.first, chunk.count,
             [&] { reasons = decode_reasons(chunk.feasible, chunk.reason, chunk.reasons, connection_.path()); });
  return reasons;
}

std::vector<StoredPoint> ChunkReader::points(const ChunkHead& chunk) {
  std::vector<StoredPoint> points(chunk.feasible.size());
  std::vector<std::string> reasons = this->reasons(chunk);
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

PointBatch ChunkReader::batch(const ChunkHead& chunk, const IndexRange& range) {
  PointBatch batch;
  batch.first = std::max(chunk.first, range.first);
  for (const StoredPoint& point : points(chunk))
    if (range.first <= point.index && point.index < range.end)
      append(batch, {.feasible = point.feasible, .reason = point.reason, .values = point.values});
  return batch;
}

}  // namespace sdip
