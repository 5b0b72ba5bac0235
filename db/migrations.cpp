// The schema, as the steps that led to it. docs/formats.md describes every column and blob.
#include "db/migrations.h"

#include <filesystem>
#include <string>

#include "core/base/error.h"

namespace sdip {
namespace {

const char* const version_1 = R"(
CREATE TABLE setting(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE model(
  name TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL CHECK(length(sha256) = 64),
  file TEXT NOT NULL,
  size_bytes INTEGER NOT NULL CHECK(size_bytes >= 0),
  facts_json TEXT NOT NULL,
  created TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE metric(
  id INTEGER PRIMARY KEY CHECK(id BETWEEN 0 AND 255),
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE sweep(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  spec_json TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('queued', 'running', 'done', 'cancelled', 'failed', 'interrupted')),
  total INTEGER NOT NULL CHECK(total >= 1),
  created TEXT NOT NULL,
  error_code TEXT,
  error_where TEXT,
  error_message TEXT
) STRICT;

CREATE TABLE chunk(
  id INTEGER PRIMARY KEY,
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  first INTEGER NOT NULL CHECK(first >= 0),
  count INTEGER NOT NULL CHECK(count >= 1),
  feasible INTEGER NOT NULL CHECK(feasible BETWEEN 0 AND count),
  flags BLOB NOT NULL CHECK(length(flags) = (count + 7) / 8),
  reason BLOB NOT NULL CHECK(length(reason) = 4 * (count - feasible)),
  reasons BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunk_place ON chunk(sweep, first, count, feasible);

CREATE TABLE chunk_column(
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL CHECK(length(data) >= 9)
) STRICT;
)";

const char* const validations = R"(
CREATE TABLE validation(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  sweep INTEGER REFERENCES sweep(id),
  model TEXT NOT NULL,
  request_json TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('queued', 'running', 'done', 'cancelled', 'failed', 'interrupted')),
  created TEXT NOT NULL,
  summary_json TEXT,
  result_json TEXT,
  error_code TEXT,
  error_where TEXT,
  error_message TEXT
) STRICT;
CREATE INDEX validation_sweep ON validation(sweep, id);
)";

/// What number formats do to results: measured once for a key, and for which points.
const char* const accuracies = R"(
CREATE TABLE accuracy(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  sqnr_db REAL,
  cosine REAL,
  random_weights INTEGER NOT NULL CHECK(random_weights IN (0, 1))
) STRICT;

CREATE TABLE point_accuracy(
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  point INTEGER NOT NULL CHECK(point >= 0),
  accuracy INTEGER NOT NULL REFERENCES accuracy(id),
  PRIMARY KEY(sweep, point)
) STRICT, WITHOUT ROWID;
)";

const char* const steps_so_far[] = {version_1, validations, accuracies};

void back_up(Connection& connection, std::int64_t to) {
  const std::string backup = connection.path() + ".before-v" + std::to_string(to);
  std::error_code ignored;  // VACUUM INTO names what stands in its way
  std::filesystem::remove(backup, ignored);
  Statement copy(connection, "VACUUM INTO ?");
  copy.bind(backup).run();
}

}  // namespace

std::span<const char* const> migrations() { return steps_so_far; }

void migrate(Connection& connection, std::span<const char* const> steps) {
  const auto newest = static_cast<std::int64_t>(steps.size());
  std::int64_t version = connection.integer("PRAGMA user_version");
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const bool empty =
      connection.integer("SELECT count(*) FROM sqlite_schema") == 0 && version == 0 && application == 0;
  if (!empty && application != store_application_id)
    throw Error("store_foreign", connection.path(), "an SQLite file of another program: give another data folder");
  if (version > newest)
    throw Error("store_newer", connection.path(),
                "written by a newer sdip (version " + std::to_string(version) +
                    " of the store; this one reads up to " + std::to_string(newest) +
                    "): update sdip, or give another data folder");
  if (empty) connection.execute("PRAGMA page_size = 16384");  // see docs/formats.md: seven column chunks a page
  connection.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864");
  if (version == newest) return;
  if (!empty) back_up(connection, newest);
  for (; version < newest; ++version) {
    Transaction transaction(connection, Transaction::Kind::durable_write);
    connection.execute(steps[static_cast<std::size_t>(version)]);
    connection.execute(("PRAGMA application_id = " + std::to_string(store_application_id)).c_str());
    connection.execute(("PRAGMA user_version = " + std::to_string(version + 1)).c_str());
    transaction.commit();
  }
}

}  // namespace sdip
