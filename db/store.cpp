// Opening the store; models and sweeps.
#include "db/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "db/migrations.h"
#include "db/parts.h"

namespace sdip {
namespace {

constexpr std::string_view state_texts[] = {"queued", "running", "done", "cancelled", "failed", "interrupted"};

/// Gives each metric an id that has none.
void add_metrics(Connection& connection) {
  Statement add(connection,
                "INSERT OR IGNORE INTO metric(id, name) SELECT coalesce(max(id) + 1, 0), ? FROM metric");
  for (const MetricRow& metric : metrics()) add.bind(metric.name).run();
}

constexpr const char* sweep_columns =
    "SELECT id, name, model, spec_json, state, total, created, error_code, error_where, error_message,"
    " (SELECT coalesce(sum(count), 0) FROM chunk WHERE chunk.sweep = sweep.id),"
    " (SELECT coalesce(sum(feasible), 0) FROM chunk WHERE chunk.sweep = sweep.id), unchecked, signature,"
    " parent, revision_json, revision, taken FROM sweep";

SweepRow sweep_row(const Statement& row, const std::string& path) {
  SweepRow sweep;
  sweep.id = row.integer(0);
  sweep.name = row.text(1);
  sweep.model = row.text(2);
  sweep.spec_json = row.text(3);
  sweep.state = state_of(row.text(4), path);
  sweep.total = row.integer(5);
  sweep.created = row.text(6);
  if (!row.null(7))
    sweep.error = Problem{std::string(row.text(7)), std::string(row.text(8)), std::string(row.text(9))};
  sweep.done = row.integer(10);
  sweep.feasible = row.integer(11);
  sweep.unchecked = row.integer(12);
  sweep.signature = row.text(13);
  if (!row.null(14)) sweep.origin = SweepOrigin{row.integer(14), std::string(row.text(15))};
  sweep.revision = row.integer(16);
  sweep.taken = row.integer(17);
  return sweep;
}

[[noreturn]] void no_sweep(std::int64_t id) {
  throw Error("not_found", "sweep " + std::to_string(id), "no such sweep");
}

SweepRow sweep_in(Connection& connection, std::int64_t id) {
  Statement row(connection, (std::string(sweep_columns) + " WHERE id = ?").c_str());
  row.bind(id);
  if (!row.step()) no_sweep(id);
  return sweep_row(row, connection.path());
}

StoredModel model_row(const Statement& row) {
  return {.name = std::string(row.text(0)),
          .sha256 = std::string(row.text(1)),
          .file = std::string(row.text(2)),
          .size_bytes = row.integer(3),
          .facts_json = std::string(row.text(4)),
          .created = std::string(row.text(5))};
}

constexpr const char* model_columns = "SELECT name, sha256, file, size_bytes, facts_json, created FROM model";

}  // namespace

std::string_view sweep_state_text(SweepState state) { return state_texts[at(state)]; }

SweepState state_of(std::string_view text, const std::string& path) {
  const auto found = std::ranges::find(state_texts, text);
  if (found == std::end(state_texts)) throw Error("store_corrupt", path, "a sweep in no known state");
  return static_cast<SweepState>(found - std::begin(state_texts));
}

namespace {

bool may_follow(SweepState from, SweepState to) {
  switch (from) {
    case SweepState::queued:
      return to == SweepState::running || to == SweepState::cancelled || to == SweepState::failed;
    case SweepState::running:
      return to == SweepState::done || to == SweepState::cancelled || to == SweepState::failed ||
             to == SweepState::interrupted;
    case SweepState::cancelled:
    case SweepState::failed:
    case SweepState::interrupted:
      return to == SweepState::queued;
    case SweepState::done:
      break;
  }
  return false;
}

}  // namespace

void require_follows(const std::string& what, std::int64_t id, SweepState from, SweepState to) {
  if (!may_follow(from, to))
    throw Error(
        "conflict", what + " " + std::to_string(id),
        fmt::format("the {} is {} and cannot become {}", what, sweep_state_text(from), sweep_state_text(to)));
}

void bind_problem(Statement& statement, SweepState state, const std::optional<Problem>& problem) {
  if (state == SweepState::failed && problem)
    statement.bind(problem->code).bind(problem->where).bind(problem->message);
  else
    statement.bind_null().bind_null().bind_null();
}

FileLock::FileLock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) {
    const int error = errno;
    const char* code = error == EACCES || error == EROFS || error == EPERM ? "store_readonly"
                       : error == ENOSPC || error == EDQUOT                ? "disk_full"
                                                                           : "store_failed";
    throw Error(code, path, std::string("cannot create the store's lock file: ") + std::strerror(error));
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
    close(file_);
    throw Error("store_locked", path,
                "another sdip process uses this data folder: stop it, or give another folder");
  }
}

FileLock::~FileLock() { close(file_); }

namespace {

/// A store of the newest version at `path`; to be read alone it is locked only while it is brought up.
const std::string& brought_up(const std::string& path, StoreAccess access) {
  if (access == StoreAccess::write) {
    bring_up(path);
    return path;
  }
  const std::int64_t newest = std::ssize(migrations());
  if (Connection there(path, Connection::Access::read_only); store_version(there, newest) == newest) return path;
  const FileLock lock(path + ".lock");
  bring_up(path);
  return path;
}

}  // namespace

Store::Parts::Parts(const std::string& store_path, StoreAccess access)
    : path(store_path),
      lock(access == StoreAccess::write ? std::make_unique<FileLock>(store_path + ".lock") : nullptr),
      writer(brought_up(store_path, access),
             access == StoreAccess::write ? Connection::Access::read_write : Connection::Access::read_only) {
  if (!lock) {
    metric_ids = metric_ids_in(writer);
    return;
  }
  keep_log(writer);
  Statement clean(writer, "SELECT 1 FROM setting WHERE name = 'clean' AND value = '0'");
  if (clean.step()) writer.check_whole();
  clean.reset();
  Transaction transaction(writer, Transaction::Kind::durable_write);
  writer.execute(
      "INSERT INTO setting VALUES('clean', '0') ON CONFLICT(name) DO UPDATE SET value = '0';"
      "UPDATE sweep SET state = 'interrupted' WHERE state = 'running';"
      "UPDATE validation SET state = 'interrupted' WHERE state = 'running';"
      "UPDATE search SET state = 'interrupted', killed = killed + 1 WHERE state = 'running'");
  add_metrics(writer);
  metric_ids = metric_ids_in(writer);
  transaction.commit();
}

Store::Parts::~Parts() {
  idle.clear();
  if (!lock) return;
  try {
    Transaction transaction(writer, Transaction::Kind::durable_write);
    writer.execute("UPDATE setting SET value = '1' WHERE name = 'clean'");
    transaction.commit();
  } catch (const Error&) {
    // The next open checks the file; nothing else is lost.
  }
}

ReadConnection::ReadConnection(std::mutex& pooling, std::vector<std::unique_ptr<Connection>>& idle,
                               const std::string& path)
    : pooling_(pooling), idle_(idle) {
  {
    const std::scoped_lock lock(pooling_);
    if (!idle_.empty()) {
      connection_ = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!connection_) connection_ = std::make_unique<Connection>(path, Connection::Access::read_only);
  connection_->execute("BEGIN");
}

ReadConnection::~ReadConnection() {
  try {
    connection_->execute("COMMIT");
    const std::scoped_lock lock(pooling_);
    idle_.push_back(std::move(connection_));
  } catch (const Error&) {
    // The connection is closed instead of kept.
  }
}

Store::Store(const std::string& path, StoreAccess access) : parts_(std::make_unique<Parts>(path, access)) {}
Store::~Store() = default;

void Store::add_model(const StoredModel& row) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement taken(parts_->writer, "SELECT 1 FROM model WHERE name = ?");
  if (taken.bind(row.name).step()) throw Error("conflict", row.name, "a model of this name exists already");
  Statement add(parts_->writer, "INSERT INTO model VALUES(?, ?, ?, ?, ?, ?)");
  add.bind(row.name)
      .bind(row.sha256)
      .bind(row.file)
      .bind(row.size_bytes)
      .bind(row.facts_json)
      .bind(row.created)
      .run();
  transaction.commit();
}

std::vector<StoredModel> Store::models() const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), (std::string(model_columns) + " ORDER BY name").c_str());
  std::vector<StoredModel> models;
  while (row.step()) models.push_back(model_row(row));
  return models;
}

std::optional<StoredModel> Store::model(std::string_view name) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), (std::string(model_columns) + " WHERE name = ?").c_str());
  if (!row.bind(name).step()) return std::nullopt;
  return model_row(row);
}

bool Store::remove_model(std::string_view name) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement(parts_->writer, "DELETE FROM model WHERE name = ?").bind(name).run();
  const bool removed = parts_->writer.integer("SELECT changes()") > 0;
  transaction.commit();
  return removed;
}

std::int64_t Store::add_sweep(const SweepRow& row) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement add(parts_->writer,
                "INSERT INTO sweep(name, model, spec_json, state, total, created, signature, parent, revision_json,"
                " revision) VALUES(?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?)");
  add.bind(row.name).bind(row.model).bind(row.spec_json).bind(row.total).bind(row.created).bind(row.signature);
  if (row.origin) {
    const SweepRow parent = sweep_in(parts_->writer, row.origin->parent);
    add.bind(parent.id).bind(row.origin->revision_json).bind(parent.revision + 1).run();
  } else {
    add.bind_null().bind_null().bind(std::int64_t{1}).run();
  }
  const std::int64_t id = parts_->writer.integer("SELECT last_insert_rowid()");
  transaction.commit();
  return id;
}

std::vector<SweepRow> Store::sweeps() const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), (std::string(sweep_columns) + " ORDER BY id DESC").c_str());
  std::vector<SweepRow> sweeps;
  while (row.step()) sweeps.push_back(sweep_row(row, parts_->path));
  return sweeps;
}

SweepRow Store::sweep(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  return sweep_in(reading.connection(), id);
}

SweepRow Store::sweep(std::int64_t id, std::vector<IndexRange>& stored) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  SweepRow row = sweep_in(reading.connection(), id);
  stored = stored_in(reading.connection(), id);
  return row;
}

void Store::set_state(std::int64_t id, SweepState state, const std::optional<Problem>& problem) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  require_follows("sweep", id, sweep_in(parts_->writer, id).state, state);
  Statement set(parts_->writer,
                "UPDATE sweep SET state = ?, error_code = ?, error_where = ?, error_message = ?,"
                " restarts = iif(state = 'interrupted', 0, restarts) WHERE id = ?");
  set.bind(sweep_state_text(state));
  bind_problem(set, state, problem);
  set.bind(id).run();
  transaction.commit();
}

void Store::set_signature(std::int64_t id, std::string_view signature) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  const SweepRow row = sweep_in(parts_->writer, id);
  if (row.signature == signature) return;
  if (row.done > 0)
    throw Error("engine_changed", "sweep " + std::to_string(id),
                "its " + std::to_string(row.done) + " points are of " +
                    (row.signature.empty() ? "a version that kept no signature" : "signature " + row.signature) +
                    ", and this version's is " + std::string(signature) +
                    ": start the sweep anew, or end it with the version that began it");
  Statement set(parts_->writer, "UPDATE sweep SET signature = ? WHERE id = ?");
  set.bind(signature).bind(id).run();
  transaction.commit();
}

std::vector<std::int64_t> Store::resume_interrupted() {
  constexpr std::int64_t most_restarts = 3;  // that lead nowhere: what ends the process each time would for ever
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  std::vector<SweepRow> interrupted;
  Statement row(parts_->writer, (std::string(sweep_columns) + " WHERE state = 'interrupted' ORDER BY id").c_str());
  while (row.step()) interrupted.push_back(sweep_row(row, parts_->path));
  std::vector<std::int64_t> resumed;
  Statement resume(parts_->writer,
                   "UPDATE sweep SET state = 'queued', restarts = iif(restarted_at = ?1, restarts, 0) + 1,"
                   " restarted_at = ?1 WHERE id = ?2 AND (restarts < ?3 OR restarted_at <> ?1)");
  for (const SweepRow& sweep : interrupted) {
    resume.bind(sweep.done).bind(sweep.id).bind(most_restarts).run();
    if (parts_->writer.integer("SELECT changes()") > 0) resumed.push_back(sweep.id);
  }
  transaction.commit();
  return resumed;
}

void Store::remove_sweep(std::int64_t id) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  if (sweep_in(parts_->writer, id).state == SweepState::running)
    throw Error("conflict", "sweep " + std::to_string(id), "the sweep runs: cancel it first");
  std::vector<std::int64_t> chunks;
  Statement row(parts_->writer, "SELECT id FROM chunk WHERE sweep = ?");
  row.bind(id);
  while (row.step()) chunks.push_back(row.integer(0));
  Statement columns(parts_->writer, "DELETE FROM chunk_column WHERE id BETWEEN ? AND ?");
  for (const std::int64_t chunk : chunks) columns.bind(column_id(chunk, 0)).bind(column_id(chunk, 255)).run();
  Statement bounds(parts_->writer, "DELETE FROM chunk_bounds WHERE chunk = ?");
  for (const std::int64_t chunk : chunks) bounds.bind(chunk).run();
  Statement(parts_->writer, "DELETE FROM chunk WHERE sweep = ?").bind(id).run();
  Statement(parts_->writer, "DELETE FROM validation WHERE sweep = ?").bind(id).run();
  Statement(parts_->writer, "DELETE FROM point_accuracy WHERE sweep = ?").bind(id).run();
  Statement(parts_->writer, "DELETE FROM kept_point WHERE sweep = ?").bind(id).run();
  Statement(parts_->writer, "DELETE FROM sweep WHERE id = ?").bind(id).run();
  parts_->fronts.forget(id);
  parts_->orders.forget(id);
  parts_->ranks.forget(id);
  transaction.commit();
}

}  // namespace sdip
