// Does a store that cannot be used say why, and stay as it is?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/migrations.h"
#include "db/store.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

std::string opening(const std::string& path) {
  return refusal([&] { const Store store(path); });
}

void run_sql(const std::string& path, const char* sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(connection);
  sqlite3_close(connection);
}

/// A closed store with one finished sweep.
void make_store(const std::string& path) {
  Store store(path);
  const Space space = sample_space(2000);
  run_sample(store, add_sample_sweep(store, space), space, {});
}

TEST(opening, makes_a_private_store_in_an_empty_folder) {
  const TemporaryFolder folder;
  EXPECT_EQ(opening(folder.store()), "accepted");
  EXPECT_EQ(file_text(folder.store()).substr(0, 15), "SQLite format 3");
  EXPECT_EQ(file_text(folder.store()).substr(68, 4), "SDIP");
}

TEST(opening, refuses_a_second_process_and_lets_it_in_afterwards) {
  const TemporaryFolder folder;
  {
    const Store store(folder.store());
    EXPECT_EQ(opening(folder.store()), "store_locked at " + folder.store() + ".lock");
  }
  EXPECT_EQ(opening(folder.store()), "accepted");
}

TEST(opening, refuses_a_file_that_is_no_database) {
  const TemporaryFolder folder;
  std::ofstream(folder.store()) << std::string(5000, 'x');
  EXPECT_EQ(opening(folder.store()), "store_corrupt at " + folder.store());
  EXPECT_EQ(file_text(folder.store()), std::string(5000, 'x'));
}

TEST(opening, refuses_the_database_of_another_program_and_leaves_it_alone) {
  const TemporaryFolder folder;
  run_sql(folder.store(), "CREATE TABLE theirs(x)");
  const std::string before = file_text(folder.store());
  EXPECT_EQ(opening(folder.store()), "store_foreign at " + folder.store());
  EXPECT_EQ(file_text(folder.store()), before);
}

TEST(opening, refuses_a_newer_version_and_leaves_it_alone) {
  const TemporaryFolder folder;
  make_store(folder.store());
  run_sql(folder.store(), "PRAGMA user_version = 99");
  const std::string before = file_text(folder.store());
  EXPECT_EQ(opening(folder.store()), "store_newer at " + folder.store());
  EXPECT_EQ(file_text(folder.store()), before);
}

TEST(opening, finds_damage_after_an_unclean_stop) {
  const TemporaryFolder folder;
  make_store(folder.store());
  run_sql(folder.store(), "UPDATE setting SET value = '0'");
  std::string bytes = file_text(folder.store());
  const std::size_t page = 16384;
  ASSERT_GT(bytes.size(), 12 * page);
  for (std::size_t i = 8 * page; i < 12 * page; ++i) bytes[i] = '\x5a';
  std::ofstream(folder.store(), std::ios::binary) << bytes;
  EXPECT_EQ(opening(folder.store()), "store_corrupt at " + folder.store());
}

TEST(opening, refuses_a_truncated_file) {
  const TemporaryFolder folder;
  make_store(folder.store());
  run_sql(folder.store(), "UPDATE setting SET value = '0'");
  std::filesystem::resize_file(folder.store(), 5 * 16384 + 100);
  EXPECT_EQ(opening(folder.store()), "store_corrupt at " + folder.store());
}

TEST(opening, refuses_a_folder_that_is_not_there) {
  const TemporaryFolder folder;
  EXPECT_EQ(opening((folder.path / "none" / "sdip.db").string()),
            "store_failed at " + (folder.path / "none" / "sdip.db.lock").string());
}

/// Runs `act` as a user whom permissions hold back, root or not.
template <class Act>
void without_rights(const Act& act) {
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  act();
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

TEST(opening, refuses_a_read_only_folder) {
  const TemporaryFolder folder;
  chmod(folder.path.c_str(), 0555);
  without_rights([&] { EXPECT_EQ(opening(folder.store()), "store_readonly at " + folder.store() + ".lock"); });
  chmod(folder.path.c_str(), 0755);
}

TEST(opening, refuses_a_read_only_file) {
  const TemporaryFolder folder;
  make_store(folder.store());
  chmod(folder.path.c_str(), 0777);
  chmod((folder.store() + ".lock").c_str(), 0666);
  chmod(folder.store().c_str(), 0444);
  without_rights([&] { EXPECT_EQ(opening(folder.store()), "store_readonly at " + folder.store()); });
}

TEST(migrations, go_step_by_step_after_a_backup) {
  const TemporaryFolder folder;
  make_store(folder.store());
  {
    Connection connection(folder.store(), Connection::Access::read_write);
    std::vector<const char*> steps(migrations().begin(), migrations().end());
    const auto now = std::ssize(steps);
    steps.insert(steps.end(), {"ALTER TABLE model ADD COLUMN note TEXT", "CREATE TABLE extra(x INTEGER) STRICT"});
    migrate(connection, steps);
    EXPECT_EQ(connection.integer("PRAGMA user_version"), now + 2);
    EXPECT_EQ(connection.integer("SELECT count(*) FROM chunk"), 16);
    Connection backup(folder.store() + ".before-v" + std::to_string(now + 2), Connection::Access::read_only);
    EXPECT_EQ(backup.integer("PRAGMA user_version"), now);
    EXPECT_EQ(backup.integer("SELECT count(*) FROM chunk"), 16);
  }
  EXPECT_EQ(opening(folder.store()), "store_newer at " + folder.store());
}

TEST(migrations, bring_a_store_of_the_first_version_up_to_now_with_its_points) {
  const TemporaryFolder folder;
  make_store(folder.store());
  run_sql(folder.store(),
          "DROP TABLE point_accuracy; DROP TABLE accuracy; DROP TABLE validation; PRAGMA user_version = 1");
  const Store store(folder.store());
  EXPECT_TRUE(std::filesystem::exists(folder.store() + ".before-v" + std::to_string(std::ssize(migrations()))));
  EXPECT_FALSE(store.accuracy("nothing").has_value());
  EXPECT_GT(store.sweep(1).done, 0);
}

TEST(migrations, leave_the_version_before_when_a_step_fails) {
  const TemporaryFolder folder;
  make_store(folder.store());
  {
    Connection connection(folder.store(), Connection::Access::read_write);
    std::vector<const char*> steps(migrations().begin(), migrations().end());
    steps.push_back("CREATE TABLE extra(x INTEGER) STRICT; SELECT broken");
    EXPECT_EQ(refusal([&] { migrate(connection, steps); }), "store_failed at " + folder.store());
    EXPECT_EQ(connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'"), 0);
  }
  EXPECT_EQ(opening(folder.store()), "accepted");
}

}  // namespace
}  // namespace sdip
