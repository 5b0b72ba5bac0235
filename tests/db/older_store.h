// Stores as another program, or an older sdip, wrote them: pages without checksums.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <utility>
#include <vector>

#include "db/chunk.h"
#include "db/migrations.h"

namespace sdip {

/// As any program with SQLite does.
inline void run_other_sql(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(connection);
  sqlite3_close(connection);
}

/// A column of today as those before version 7 were: every value, or one that all share. Requires one that is not
/// computed from others.
inline std::string raw_column(std::string column, const std::vector<std::uint8_t>& feasible) {
  EXPECT_EQ(derived_row(column, ""), nullptr);
  if (column[0] == 1) return column;
  std::vector<double> values;
  decode_column(column, feasible, values, "");
  column.assign(1, '\0');
  for (std::size_t i = 0; i < values.size(); ++i)
    if (feasible[i] != 0) column.append(reinterpret_cast<const char*>(&values[i]), sizeof(double));
  return column;
}

constexpr const char* columns_of_chunks =
    "SELECT chunk_column.id, data, flags, count, feasible FROM chunk_column JOIN chunk ON chunk.id = "
    "chunk_column.id / 256";

/// SQL that inserts the columns of a store of today, raw.
inline std::string insert_raw_columns(const std::string& of) {
  Connection today(of, Connection::Access::read_only);
  Statement column(today, columns_of_chunks);
  std::string sql;
  while (column.step()) {
    sql += "INSERT INTO chunk_column VALUES(" + std::to_string(column.integer(0)) + ", x'";
    for (const char byte : raw_column(std::string(column.blob(1)),
                                      decode_flags(column.blob(2), column.integer(3), column.integer(4), of))) {
      constexpr const char* digits = "0123456789abcdef";
      sql += digits[static_cast<unsigned char>(byte) >> 4];
      sql += digits[static_cast<unsigned char>(byte) & 15];
    }
    sql += "');";
  }
  return sql;
}

/// Makes a store of today one of version 6: its columns raw, with their checksums.
inline void make_version_6(const std::string& path) {
  Connection store(path, Connection::Access::read_write);
  Transaction transaction(store, Transaction::Kind::write);
  std::vector<std::pair<std::int64_t, std::string>> columns;
  Statement column(store, columns_of_chunks);
  while (column.step())
    columns.emplace_back(column.integer(0),
                         raw_column(std::string(column.blob(1)),
                                    decode_flags(column.blob(2), column.integer(3), column.integer(4), path)));
  Statement set_column(store, "UPDATE chunk_column SET data = ? WHERE id = ?");
  for (const auto& [id, data] : columns) set_column.bind_blob(data).bind(id).run();
  Statement chunk(store, "SELECT id, sweep, first, count, feasible, flags, reason, reasons FROM chunk");
  Statement set_checksums(store, "UPDATE chunk SET checksums = ? WHERE id = ?");
  while (chunk.step()) {
    ChunkBlobs blobs;
    blobs.flags = chunk.blob(5), blobs.reason = chunk.blob(6), blobs.reasons = chunk.blob(7);
    std::array<std::int64_t, metric_count> ids{};
    for (std::size_t m = 0; m < metric_count; ++m)
      ids[m] = static_cast<std::int64_t>(m);  // as a new store has them
    for (const auto& [id, data] : columns)
      if (id / 256 == chunk.integer(0)) blobs.columns[static_cast<std::size_t>(id % 256)] = data;
    const ChunkPlace place{chunk.integer(1), chunk.integer(2), chunk.integer(3), chunk.integer(4)};
    set_checksums.bind_blob(encode_checksums(place, blobs, ids)).bind(chunk.integer(0)).run();
  }
  for (const char* later : {"parent", "revision", "revision_json", "taken"})
    store.execute((std::string("ALTER TABLE sweep DROP COLUMN ") + later).c_str());
  store.execute("DROP TABLE chunk_bounds; DROP TABLE kept_point");
  store.execute("ALTER TABLE search DROP COLUMN progress_json");
  store.execute("PRAGMA user_version = 6");
  transaction.commit();
}

/// A store of that version, with the sweeps and points of a store of today.
inline void make_older_store(const std::string& path, const std::string& of, int version) {
  run_other_sql(path, "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL");
  for (int step = 0; step < version; ++step) run_other_sql(path, migrations()[static_cast<std::size_t>(step)]);
  run_other_sql(path, "PRAGMA application_id = " + std::to_string(store_application_id) +
                          "; PRAGMA user_version = " + std::to_string(version));
  run_other_sql(path, "ATTACH '" + of + R"(' AS today;
    INSERT INTO setting SELECT * FROM today.setting;
    INSERT INTO metric SELECT * FROM today.metric;
    INSERT INTO sweep SELECT id, name, model, spec_json, state, total, created, error_code, error_where,
      error_message FROM today.sweep;
    INSERT INTO chunk SELECT id, sweep, first, count, feasible, flags, reason, reasons FROM today.chunk;
    BEGIN;
    )" + insert_raw_columns(of) +
                          "COMMIT");
}

}  // namespace sdip
