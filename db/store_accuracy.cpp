// Accuracies of number formats: kept once a key, and for which points of which sweep.
#include <cmath>

#include "core/base/error.h"
#include "db/parts.h"

namespace sdip {
namespace {

StoredAccuracy accuracy_row(const Statement& row, int first) {
  return {row.real(first), row.real(first + 1), row.integer(first + 2) != 0};
}

void bind_number(Statement& statement, double value) {
  if (std::isnan(value))
    statement.bind_null();
  else
    statement.bind(value);
}

}  // namespace

std::map<std::int64_t, StoredAccuracy> point_accuracies_in(Connection& connection, std::int64_t sweep) {
  Statement row(connection,
                "SELECT point, sqnr_db, cosine, random_weights FROM point_accuracy"
                " JOIN accuracy ON accuracy.id = point_accuracy.accuracy WHERE sweep = ?");
  row.bind(sweep);
  std::map<std::int64_t, StoredAccuracy> measured;
  while (row.step()) measured[row.integer(0)] = accuracy_row(row, 1);
  return measured;
}

std::optional<StoredAccuracy> Store::accuracy(std::string_view key) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), "SELECT sqnr_db, cosine, random_weights FROM accuracy WHERE key = ?");
  if (!row.bind(key).step()) return std::nullopt;
  return accuracy_row(row, 0);
}

void Store::add_accuracy(std::string_view key, const StoredAccuracy& accuracy) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::write);
  Statement add(parts_->writer,
                "INSERT OR IGNORE INTO accuracy(key, sqnr_db, cosine, random_weights) VALUES(?, ?, ?, ?)");
  add.bind(key);
  bind_number(add, accuracy.sqnr_db);
  bind_number(add, accuracy.cosine);
  add.bind(std::int64_t{accuracy.random_weights}).run();
  transaction.commit();
}

void Store::set_point_accuracy(std::int64_t id, std::int64_t index, std::string_view key) {
  const std::scoped_lock lock(parts_->writing);
  Transaction transaction(parts_->writer, Transaction::Kind::write);
  if (index < 0 || index >= total_of(parts_->writer, id))
    throw Error("not_found", "index", "the sweep has no such point");
  Statement set(parts_->writer,
                "INSERT OR REPLACE INTO point_accuracy(sweep, point, accuracy)"
                " SELECT ?, ?, id FROM accuracy WHERE key = ?");
  set.bind(id).bind(index).bind(key).run();
  if (parts_->writer.integer("SELECT changes()") == 0)
    throw Error("not_found", std::string(key), "nothing was measured under this key");
  transaction.commit();
}

std::map<std::int64_t, std::string> Store::accuracy_keys(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  Statement row(reading.connection(),
                "SELECT point, key FROM point_accuracy JOIN accuracy ON accuracy.id = point_accuracy.accuracy"
                " WHERE sweep = ?");
  row.bind(id);
  std::map<std::int64_t, std::string> keys;
  while (row.step()) keys[row.integer(0)] = row.text(1);
  return keys;
}

std::map<std::string, StoredAccuracy> Store::accuracies() const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  Statement row(reading.connection(), "SELECT key, sqnr_db, cosine, random_weights FROM accuracy");
  std::map<std::string, StoredAccuracy> all;
  while (row.step()) all[std::string(row.text(0))] = accuracy_row(row, 1);
  return all;
}

std::map<std::int64_t, StoredAccuracy> Store::point_accuracies(std::int64_t id) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  return point_accuracies_in(reading.connection(), id);
}

}  // namespace sdip
