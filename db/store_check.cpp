// Reads everything in a store, and says what of it is damaged.
#include <algorithm>

#include "core/base/error.h"
#include "db/checked_pages.h"
#include "db/migrations.h"
#include "db/parts.h"

namespace sdip {
namespace {

/// First version of the store that keeps points.
constexpr std::int64_t first_keeping_version = 11;

constexpr const char* most_complaints = "PRAGMA integrity_check(100)";

/// The message that SQLite has for a page whose checksum is another: it cannot say more.
constexpr std::string_view unreadable = "unable to get the page. error code=8202";

/// Runs `work`; damage that stops it is noted.
template <class Work>
void note_damage(StoreCheck& found, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code != "store_corrupt") throw;
    found.damages.emplace_back(error.what());
  }
}

void check_pages(Connection& connection, StoreCheck& found) {
  Statement complaint(connection, most_complaints);
  while (complaint.step()) {
    std::string text(complaint.text(0));
    if (text == "ok") continue;
    if (const auto at = text.find(unreadable); at != std::string::npos)
      text.replace(at, unreadable.size(), "the page is not what was written");
    found.damages.push_back(std::move(text));
  }
}

/// A chunk with all its columns, today's metrics or not.
void check_chunk(Connection& connection, ChunkReader& reader, const ChunkHead& chunk) {
  std::vector<double> values;
  std::vector<std::int64_t> metrics;
  if (chunk.checksums) {
    metrics = column_metrics(*chunk.checksums);
  } else {
    Statement column(connection, "SELECT id FROM chunk_column WHERE id BETWEEN ? AND ?");
    column.bind(column_id(chunk.id, 0)).bind(column_id(chunk.id, 255));
    while (column.step()) metrics.push_back(column.integer(0) - column_id(chunk.id, 0));
  }
  for (const std::int64_t metric : metrics) reader.column_of_id(chunk, metric, values);
  decode_reasons(chunk.feasible, chunk.reason, chunk.reasons, connection.path());
}

/// Chunk by chunk, so that what stands behind a damaged one is read, too.
void check_sweep(Connection& connection, ChunkReader& reader, std::int64_t id, StoreCheck& found) {
  const std::string name = "sweep " + std::to_string(id);
  Statement sweep(connection, "SELECT state, total FROM sweep WHERE id = ?");
  check(sweep.bind(id).step(), "check_sweep: it was just listed");
  const bool done = state_of(sweep.text(0), connection.path()) == SweepState::done;
  const std::int64_t total = sweep.integer(1);
  const auto expect_end = [&](std::int64_t next, std::int64_t first) {
    if (done && next < first)
      found.damages.push_back(
          fmt::format("{} is done, and its points {} to {} are not there", name, next, first - 1));
  };
  Statement place(connection,
                  "SELECT first, count FROM chunk WHERE sweep = ? AND first >= ? ORDER BY first LIMIT 1");
  std::int64_t next = 0;
  for (; place.bind(id).bind(next).step(); place.reset()) {
    const std::int64_t first = place.integer(0), count = place.integer(1);
    expect_end(next, first);
    note_damage(found, [&] {
      const auto chunk = reader.holding(id, first);
      if (!chunk) throw Error("store_corrupt", connection.path(), name + " lacks a chunk that it had");
      if (!chunk->checksums) found.unchecked += chunk->count;
      check_chunk(connection, reader, *chunk);
    });
    found.points += count;
    next = std::max(first + count, next + 1);
  }
  expect_end(next, total);
}

void check_sweeps(Connection& connection, StoreCheck& found) {
  std::vector<std::int64_t> ids;
  Statement row(connection, "SELECT id FROM sweep ORDER BY id");
  while (row.step()) ids.push_back(row.integer(0));
  const MetricIds metric_ids = metric_ids_in(connection);
  ChunkReader reader(connection, metric_ids);
  for (const std::int64_t id : ids) note_damage(found, [&] { check_sweep(connection, reader, id, found); });
  found.sweeps = std::ssize(ids);
}

void check_kept_points(Connection& connection, StoreCheck& found) {
  Statement row(connection, "SELECT analyses, text_bytes FROM kept_point");
  while (row.step()) note_damage(found, [&] { unpacked_analyses(row.blob(0), row.integer(1), connection.path()); });
}

void list_models(Connection& connection, StoreCheck& found) {
  Statement row(connection, "SELECT name, sha256, file FROM model ORDER BY name");
  while (row.step()) {
    StoredModel model;
    model.name = row.text(0);
    model.sha256 = row.text(1);
    model.file = row.text(2);
    found.models.push_back(std::move(model));
  }
}

}  // namespace

StoreCheck check_store(const std::string& path) {
  Connection connection(path, Connection::Access::read_only);
  const Transaction one_moment(connection, Transaction::Kind::read);
  StoreCheck found;
  found.version = store_version(connection, std::ssize(migrations()));
  note_damage(found, [&] { check_pages(connection, found); });
  if (found.version > 0) note_damage(found, [&] { list_models(connection, found); });
  if (found.version >= first_keeping_version) note_damage(found, [&] { check_kept_points(connection, found); });
  if (found.version >= first_checked_version)
    note_damage(found, [&] { check_sweeps(connection, found); });
  else if (found.version > 0)
    note_damage(found, [&] {
      found.sweeps = connection.integer("SELECT count(*) FROM sweep");
      found.points = found.unchecked = connection.integer("SELECT coalesce(sum(count), 0) FROM chunk");
    });
  return found;
}

}  // namespace sdip
