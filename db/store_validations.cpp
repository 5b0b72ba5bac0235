// Validations in the store.
#include "core/base/error.h"
#include "db/parts.h"
#include "db/store.h"

namespace sdip {
namespace {

constexpr const char* validation_columns =
    "SELECT id, sweep, model, request_json, state, created, coalesce(summary_json, ''), error_code, error_where,"
    " error_message FROM validation";

ValidationRow row_of(const Statement& row, const std::string& path) {
  ValidationRow validation;
  validation.id = row.integer(0);
  if (!row.null(1)) validation.sweep = row.integer(1);
  validation.model = row.text(2);
  validation.request_json = row.text(3);
  validation.state = state_of(row.text(4), path);
  validation.created = row.text(5);
  validation.summary_json = row.text(6);
  if (!row.null(7))
    validation.error = Problem{std::string(row.text(7)), std::string(row.text(8)), std::string(row.text(9))};
  return validation;
}

ValidationRow validation_in(Connection& connection, std::int64_t id) {
  Statement row(connection, (std::string(validation_columns) + " WHERE id = ?").c_str());
  row.bind(id);
  if (!row.step()) throw no_such("validation", id);
  return row_of(row, connection.path());
}

}  // namespace

std::int64_t Store::add_validation(const ValidationRow& row) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  if (row.sweep) total_of(parts_->writer, *row.sweep);
  Statement add(parts_->writer,
                "INSERT INTO validation(sweep, model, request_json, state, created) VALUES(?, ?, ?, 'queued', ?)");
  row.sweep ? add.bind(*row.sweep) : add.bind_null();
  add.bind(row.model).bind(row.request_json).bind(row.created).run();
  const std::int64_t id = parts_->writer.integer("SELECT last_insert_rowid()");
  transaction.commit();
  return id;
}

std::vector<ValidationRow> Store::queued_validations() const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(),
                (std::string(validation_columns) + " WHERE state = 'queued' ORDER BY id").c_str());
  std::vector<ValidationRow> rows;
  while (row.step()) rows.push_back(row_of(row, parts_->path));
  return rows;
}

std::vector<ValidationRow> Store::validations() const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(),
                (std::string(validation_columns) + " WHERE sweep IS NULL ORDER BY id DESC").c_str());
  std::vector<ValidationRow> rows;
  while (row.step()) rows.push_back(row_of(row, parts_->path));
  return rows;
}

ValidationRow Store::validation(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  return validation_in(reading.connection(), id);
}

std::optional<ValidationRow> Store::validation_of(std::int64_t sweep) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(),
                (std::string(validation_columns) + " WHERE sweep = ? ORDER BY id DESC LIMIT 1").c_str());
  row.bind(sweep);
  if (!row.step()) return std::nullopt;
  return row_of(row, parts_->path);
}

std::string Store::validation_result(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  return asked_result(reading.connection(), "validation", id);
}

void Store::set_validation_state(std::int64_t id, SweepState state, const std::optional<Problem>& problem) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  set_asked_state(parts_->writer, "validation", id, state, problem);
  transaction.commit();
}

void Store::end_validation(std::int64_t id, std::string_view summary_json, std::string_view result_json) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  end_asked(parts_->writer, "validation", id, SweepState::done, summary_json, result_json);
  transaction.commit();
}

void Store::remove_validation(std::int64_t id) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::durable_write);
  remove_asked(parts_->writer, "validation", id);
  transaction.commit();
}

}  // namespace sdip
