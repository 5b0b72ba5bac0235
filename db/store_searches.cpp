// Searches in the store.
#include "core/base/error.h"
#include "db/parts.h"
#include "db/store.h"

namespace sdip {
namespace {

constexpr const char* search_columns =
    "SELECT id, model, request_json, state, created, coalesce(summary_json, ''), error_code, error_where,"
    " error_message FROM search";

SearchRow search_row(const Statement& row, const std::string& path) {
  SearchRow search;
  search.id = row.integer(0);
  search.model = row.text(1);
  search.request_json = row.text(2);
  search.state = state_of(row.text(3), path);
  search.created = row.text(4);
  search.summary_json = row.text(5);
  if (!row.null(6))
    search.error = Problem{std::string(row.text(6)), std::string(row.text(7)), std::string(row.text(8))};
  return search;
}

SearchRow search_in(Connection& connection, std::int64_t id) {
  Statement row(connection, (std::string(search_columns) + " WHERE id = ?").c_str());
  row.bind(id);
  if (!row.step()) throw no_such("search", id);
  return search_row(row, connection.path());
}

}  // namespace

std::int64_t Store::add_search(const SearchRow& row) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement add(parts_->writer,
                "INSERT INTO search(model, request_json, state, created) VALUES(?, ?, 'queued', ?)");
  add.bind(row.model).bind(row.request_json).bind(row.created).run();
  const std::int64_t id = parts_->writer.integer("SELECT last_insert_rowid()");
  transaction.commit();
  return id;
}

std::vector<SearchRow> Store::searches() const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), (std::string(search_columns) + " ORDER BY id DESC").c_str());
  std::vector<SearchRow> rows;
  while (row.step()) rows.push_back(search_row(row, parts_->path));
  return rows;
}

SearchRow Store::search(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  return search_in(reading.connection(), id);
}

std::string Store::search_result(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  return asked_result(reading.connection(), "search", id);
}

void Store::keep_search_progress(std::int64_t id, std::string_view progress_json) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement keep(parts_->writer,
                 "UPDATE search SET progress_json = ?, killed = 0 WHERE id = ? AND state = 'running'");
  keep.bind(progress_json).bind(id).run();
  transaction.commit();
}

std::string Store::search_progress(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), "SELECT coalesce(progress_json, '') FROM search WHERE id = ?");
  row.bind(id);
  if (!row.step()) throw no_such("search", id);
  return std::string(row.text(0));
}

void Store::restart_searches() {
  constexpr std::int64_t most_kills = 3;  // what kills the process each time would for ever
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  Statement restart(parts_->writer,
                    "UPDATE search SET state = 'queued' WHERE state = 'interrupted' AND killed < ?");
  restart.bind(most_kills).run();
  transaction.commit();
}

void Store::set_search_state(std::int64_t id, SweepState state, const std::optional<Problem>& problem) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  set_asked_state(parts_->writer, "search", id, state, problem);
  transaction.commit();
}

void Store::end_search(std::int64_t id, SweepState state, std::string_view summary_json,
                       std::string_view result_json) {
  check(state == SweepState::done || state == SweepState::cancelled, "end_search: a state that has a result");
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  end_asked(parts_->writer, "search", id, state, summary_json, result_json);
  Statement(parts_->writer, "UPDATE search SET progress_json = NULL WHERE id = ?").bind(id).run();
  transaction.commit();
}

void Store::remove_search(std::int64_t id) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  remove_asked(parts_->writer, "search", id);
  transaction.commit();
}

}  // namespace sdip
