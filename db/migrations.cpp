// The schema, as the steps that led to it. docs/formats.md describes every column and blob.
#include "db/migrations.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "core/base/error.h"
#include "core/base/index.h"
#include "db/sqlite.h"

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

/// Effects of number formats on results: measured once for a key, and for which points.
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

/// Checksums of chunks (of pages, too, which no SQL says), points from before them, and starts that led nowhere.
const char* const checksums = R"(
ALTER TABLE chunk ADD COLUMN checksums BLOB;
ALTER TABLE sweep ADD COLUMN unchecked INTEGER NOT NULL DEFAULT 0;
UPDATE sweep SET unchecked = (SELECT coalesce(sum(count), 0) FROM chunk WHERE chunk.sweep = sweep.id);
ALTER TABLE sweep ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sweep ADD COLUMN restarted_at INTEGER NOT NULL DEFAULT 0;
)";

/// Which engine computed a sweep's points; '': one from before it was kept.
const char* const signatures = R"(
ALTER TABLE sweep ADD COLUMN signature TEXT NOT NULL DEFAULT '';
)";

/// Searches for the best machine; `killed`: how often the process ended while one ran.
const char* const searches = R"(
CREATE TABLE search(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL,
  request_json TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('queued', 'running', 'done', 'cancelled', 'failed', 'interrupted')),
  created TEXT NOT NULL,
  killed INTEGER NOT NULL DEFAULT 0,
  summary_json TEXT,
  result_json TEXT,
  error_code TEXT,
  error_where TEXT,
  error_message TEXT
) STRICT;
)";

/// Columns that are packed, or computed (docs/formats.md): no table changes, and what is stored stays as it is, but
/// an older program cannot read what is stored from now on.
const char* const packed_columns = "";

/// Which sweep one was made of, and how; `taken`: how many of its points were taken over and not evaluated.
const char* const revisions = R"(
ALTER TABLE sweep ADD COLUMN parent INTEGER;
ALTER TABLE sweep ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE sweep ADD COLUMN revision_json TEXT;
ALTER TABLE sweep ADD COLUMN taken INTEGER NOT NULL DEFAULT 0;
)";

/// Bounds of the metrics of chunks; chunks from before have none.
const char* const bounds_of_chunks = R"(
CREATE TABLE chunk_bounds(
  chunk INTEGER PRIMARY KEY REFERENCES chunk(id),
  data BLOB NOT NULL
) STRICT;
)";

/// Where a search is, so that it can go on.
const char* const search_progress = R"(
ALTER TABLE search ADD COLUMN progress_json TEXT;
)";

/// Analyses of points that somebody wants to keep as they are.
const char* const kept_points = R"(
CREATE TABLE kept_point(
  id INTEGER PRIMARY KEY,
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  point INTEGER NOT NULL CHECK(point >= 0),
  created TEXT NOT NULL,
  signature TEXT NOT NULL,
  text_bytes INTEGER NOT NULL CHECK(text_bytes BETWEEN 0 AND 268435456),
  analyses BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX kept_point_place ON kept_point(sweep, point);
)";

const char* const steps_so_far[] = {version_1,        validations,     accuracies,     checksums,
                                    signatures,       searches,        packed_columns, revisions,
                                    bounds_of_chunks, search_progress, kept_points};

/// Puts what was written to a file, or a folder's names, on the disk.
void sync(const std::filesystem::path& path, int how) {
  const int file = ::open(path.c_str(), how | O_CLOEXEC);
  const bool kept = file >= 0 && ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!kept) throw Error("store_failed", path.string(), std::string("cannot be synced: ") + std::strerror(error));
}

void remove_files(const std::string& path, std::initializer_list<const char*> ends) {
  std::error_code ignored;  // what stays in the way is named by what stumbles over it
  for (const char* end : ends) std::filesystem::remove(path + end, ignored);
}

/// Copies an older store to `draft`; false when it is of the newest version.
bool copied(const std::string& path, const std::string& draft, std::int64_t newest) {
  Connection older(path, Connection::Access::read_write);
  if (store_version(older, newest) == newest) return false;
  older.check_whole();
  Statement(older, "VACUUM INTO ?").bind(draft).run();
  return true;
}

void run_steps(const std::string& draft, std::span<const char* const> steps) {
  Connection connection(draft, Connection::Access::read_write);
  connection.execute("PRAGMA page_size = 16384");  // see docs/formats.md: seven column chunks a page
  keep_log(connection);
  connection.execute("PRAGMA synchronous = OFF");  // the whole is synced before it is renamed
  for (auto version = connection.integer("PRAGMA user_version"); version < std::ssize(steps); ++version) {
    Transaction transaction(connection, Transaction::Kind::write);
    connection.execute(steps[at(version)]);
    connection.execute(("PRAGMA application_id = " + std::to_string(store_application_id)).c_str());
    connection.execute(("PRAGMA user_version = " + std::to_string(version + 1)).c_str());
    transaction.commit();
  }
}

/// A log that is left would be read into whatever takes its store's place.
void require_no_log(const std::string& path) {
  if (std::filesystem::exists(path + "-wal"))
    throw Error("store_failed", path, "its log of writes could not be written into it");
}

void make_and_place(const std::string& path, const std::string& draft, std::span<const char* const> steps) {
  const bool older = std::filesystem::exists(path);
  if (older && !copied(path, draft, std::ssize(steps))) return;
  run_steps(draft, steps);
  require_no_log(draft);
  if (older) {
    require_no_log(path);
    const std::string backup = fmt::format("{}.before-v{}", path, std::ssize(steps));
    remove_files(backup, {""});
    std::error_code no_links;  // of this file system
    std::filesystem::create_hard_link(path, backup, no_links);
    if (no_links) std::filesystem::copy_file(path, backup);
    std::filesystem::permissions(draft, std::filesystem::status(path).permissions());
  } else {
    remove_files(path, {"-wal", "-shm"});  // of a store that is no more
  }
  sync(draft, O_RDWR);
  std::filesystem::rename(draft, path);
  sync(std::filesystem::absolute(path).parent_path(), O_RDONLY | O_DIRECTORY);
}

}  // namespace

std::span<const char* const> migrations() { return steps_so_far; }

std::int64_t store_version(Connection& connection, std::int64_t newest) {
  if (std::filesystem::file_size(connection.path()) == 0)
    throw Error("store_corrupt", connection.path(),
                "an empty file is no store: it was cut off; remove it to begin anew");
  const std::int64_t version = connection.integer("PRAGMA user_version");
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const bool empty =
      connection.integer("SELECT count(*) FROM sqlite_schema") == 0 && version == 0 && application == 0;
  if (!empty && application != store_application_id)
    throw Error("store_foreign", connection.path(), "an SQLite file of another program: give another data folder");
  if (version > newest)
    throw Error("store_newer", connection.path(),
                fmt::format("written by a newer sdip (version {} of the store; this one reads up to {}): update "
                            "sdip, or give another data folder",
                            version, newest));
  return version;
}

void keep_log(Connection& connection) {
  connection.execute(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864");
}

void bring_up(const std::string& path, std::span<const char* const> steps) {
  const std::string draft = path + ".new";
  const auto clear = [&] { remove_files(draft, {"", "-wal", "-shm", "-journal"}); };
  try {
    clear();  // of a process that was killed
    make_and_place(path, draft, steps);
  } catch (const Error& error) {
    clear();
    throw Error(error.code, path, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    const int number = error.code().value();
    const bool full = number == ENOSPC || number == EDQUOT;
    const bool denied = number == EACCES || number == EPERM || number == EROFS;
    throw Error(full     ? "disk_full"
                : denied ? "store_readonly"
                         : "store_failed",
                path, "cannot be made: " + error.code().message());
  }
}

}  // namespace sdip
