// Points in: batches appended; and what of a sweep is there.
#include <algorithm>

#include "core/base/error.h"
#include "db/bounds.h"
#include "db/parts.h"

namespace sdip {
namespace {

[[noreturn]] void conflict(std::int64_t sweep, const PointBatch& batch, const char* why) {
  throw Error("conflict", "sweep " + std::to_string(sweep),
              fmt::format("points {} to {} {}", batch.first, batch.range().end - 1, why));
}

/// The chunk is there already, whichever version of the store wrote it.
bool same_chunk(Connection& connection, const MetricIds& metric_ids, std::int64_t sweep, const ChunkBlobs& blobs,
                std::int64_t first) {
  ChunkReader reader(connection, metric_ids);
  const auto chunk = reader.holding(sweep, first);
  check(chunk.has_value(), "same_chunk: the chunk was just found");
  return encode(reader.batch(*chunk, {first, first + chunk->count})) == blobs;
}

}  // namespace

std::vector<IndexRange> stored_in(Connection& connection, std::int64_t sweep) {
  Statement row(connection, "SELECT first, count FROM chunk WHERE sweep = ? ORDER BY first");
  row.bind(sweep);
  std::vector<IndexRange> stored;
  while (row.step()) {
    const IndexRange chunk{row.integer(0), row.integer(0) + row.integer(1)};
    if (!stored.empty() && stored.back().end == chunk.first)
      stored.back().end = chunk.end;
    else
      stored.push_back(chunk);
  }
  return stored;
}

void Store::append(std::int64_t id, const PointBatch& batch, std::int64_t taken) {
  const ChunkBlobs blobs = encode(batch);
  const std::scoped_lock lock(parts_->writing);
  Connection& writer = parts_->writer;
  Transaction transaction(writer, Transaction::Kind::write);
  if (batch.first < 0 || batch.range().end > total_of(writer, id)) conflict(id, batch, "lie outside the sweep");

  Statement last(writer,
                 "SELECT id, first, count FROM chunk WHERE sweep = ? AND first < ? ORDER BY first DESC LIMIT 1");
  last.bind(id).bind(batch.range().end);
  if (last.step() && last.integer(1) + last.integer(2) > batch.first) {
    if (last.integer(1) != batch.first || last.integer(2) != blobs.count)
      conflict(id, batch, "overlap points that are stored");
    if (!same_chunk(writer, parts_->metric_ids, id, blobs, batch.first))
      conflict(id, batch, "are stored with other values");
    return;
  }
  last.reset();

  Statement chunk(writer,
                  "INSERT INTO chunk(sweep, first, count, feasible, flags, reason, reasons, checksums)"
                  " VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
  chunk.bind(id).bind(batch.first).bind(blobs.count).bind(blobs.feasible);
  chunk.bind_blob(blobs.flags).bind_blob(blobs.reason).bind_blob(blobs.reasons);
  chunk.bind_blob(encode_checksums({id, batch.first, blobs.count, blobs.feasible}, blobs, parts_->metric_ids))
      .run();
  const std::int64_t chunk_id = writer.integer("SELECT last_insert_rowid()");
  Statement column(writer, "INSERT INTO chunk_column(id, data) VALUES(?, ?)");
  for (std::size_t m = 0; m < metric_count; ++m)
    if (!blobs.columns[m].empty())
      column.bind(column_id(chunk_id, parts_->metric_ids[m])).bind_blob(blobs.columns[m]).run();
  Statement(writer, "INSERT INTO chunk_bounds(chunk, data) VALUES(?, ?)")
      .bind(chunk_id)
      .bind_blob(encode_bounds(batch, parts_->metric_ids))
      .run();
  if (taken > 0) Statement(writer, "UPDATE sweep SET taken = taken + ? WHERE id = ?").bind(taken).bind(id).run();
  transaction.commit();
}

std::vector<IndexRange> Store::stored_ranges(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  return stored_in(reading.connection(), id);
}

std::vector<IndexRange> Store::missing_ranges(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  const std::int64_t total = total_of(reading.connection(), id);
  std::vector<IndexRange> missing;
  std::int64_t next = 0;
  for (const IndexRange& stored : stored_in(reading.connection(), id)) {
    if (stored.first > next) missing.push_back({next, stored.first});
    next = stored.end;
  }
  if (next < total) missing.push_back({next, total});
  return missing;
}

Columns Store::columns(std::int64_t id, const Space& space, std::span<const Measure> wanted) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  Columns columns;
  columns.values.resize(wanted.size());
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  reader.each(id, 0, [&](const ChunkHead& chunk) {
    for (std::int64_t i = 0; i < chunk.count; ++i) columns.index.push_back(chunk.first + i);
    columns.feasible.insert(columns.feasible.end(), chunk.feasible.begin(), chunk.feasible.end());
    for (std::size_t k = 0; k < wanted.size(); ++k) reader.measure(chunk, space, wanted[k], columns.values[k]);
    return true;
  });
  return columns;
}

/// One snapshot, and what reads it.
struct StoredPoints::State {
  State(Store::Parts& parts, std::int64_t sweep, const Space& its)
      : id(sweep),
        space(its),
        reading(parts.pooling, parts.idle, parts.path),
        reader(reading.connection(), parts.metric_ids) {
    total_of(reading.connection(), sweep);
  }
  std::int64_t id;
  const Space& space;
  ReadConnection reading;
  ChunkReader reader;
};

StoredPoints::StoredPoints(const Store& store, std::int64_t id, const Space& space)
    : state_(std::make_unique<State>(*store.parts_, id, space)) {}
StoredPoints::~StoredPoints() = default;

void StoredPoints::each(const std::optional<Measure>& measure,
                        const std::function<bool(const PointRun&)>& visit) const {
  std::vector<double> values;
  state_->reader.each(state_->id, 0, [&](const ChunkHead& chunk) {
    values.clear();
    if (measure) state_->reader.measure(chunk, state_->space, *measure, values);
    return visit({chunk.first, chunk.feasible, values});
  });
}

void StoredPoints::each_of(std::span<const Measure> measures,
                           const std::function<void(const std::vector<std::vector<double>>& values)>& visit) const {
  std::vector<std::vector<double>> values(measures.size());
  state_->reader.each(state_->id, 0, [&](const ChunkHead& chunk) {
    for (std::size_t k = 0; k < measures.size(); ++k) {
      values[k].clear();
      state_->reader.measure(chunk, state_->space, measures[k], values[k]);
    }
    visit(values);
    return true;
  });
}

std::int64_t StoredPoints::check(std::span<const Measure> wanted) const {
  std::int64_t count = 0;
  std::vector<double> values;
  state_->reader.each(state_->id, 0, [&](const ChunkHead& chunk) {
    count += chunk.count;
    for (const Measure& measure : wanted) {
      values.clear();
      state_->reader.measure(chunk, state_->space, measure, values);
    }
    return true;
  });
  return count;
}

std::optional<StoredPoint> Store::point(std::int64_t id, std::int64_t index) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  const auto chunk = reader.holding(id, index);
  if (!chunk) return std::nullopt;
  return reader.points(*chunk)[at(index - chunk->first)];
}

}  // namespace sdip
