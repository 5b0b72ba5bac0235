// Stores as another program, or an older sdip, wrote them: pages without checksums.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

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
    INSERT INTO chunk_column SELECT * FROM today.chunk_column)");
}

}  // namespace sdip
