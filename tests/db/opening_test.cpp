// Does a store that cannot be used say why, and stay as it is?
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/checked_pages.h"
#include "db/migrations.h"
#include "db/parts.h"
#include "db/store.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/older_store.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

std::string opening(const std::string& path) {
  return refusal([&] { const Store store(path); });
}

/// As a program of ours does: pages keep their checksums.
void run_sql(const std::string& path, const char* sql) {
  Connection(path, Connection::Access::read_write).execute(sql);
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

TEST(opening, to_be_read_alone_shows_what_another_has_stored_so_far) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal([&] { const Store store(folder.store(), StoreAccess::read); }),
            "store_failed at " + folder.store());
  const Space space = sample_space(2000);
  Store writer(folder.store());
  const std::int64_t id = add_sample_sweep(writer, space);
  const auto append = [&](const IndexRange& range) {
    const std::vector<IndexRange> ranges = {range};
    sweep(space, ranges, sample_compile, one_by_one(sample_evaluate), {},
          [&](PointBatch&& batch) { writer.append(id, batch); });
  };
  append({0, 1000});
  Store reader(folder.store(), StoreAccess::read);
  std::vector<IndexRange> stored;
  EXPECT_EQ(reader.sweep(id, stored).done, 1000);
  ExportQuery query = whole_export(space, {}, ExportFormat::csv);
  query.stored = stored;
  const auto text = [&] {
    std::string all;
    reader.export_points(id, space, query, [&](std::string_view piece) { return all += piece, true; });
    return all;
  };
  const std::string before = text();
  append({1000, 4000});
  EXPECT_EQ(reader.sweep(id).done, 4000);
  EXPECT_EQ(text(), before) << "the points that were stored then";
  EXPECT_THAT(check_store(folder.store()).damages, testing::IsEmpty());
  EXPECT_EQ(refusal([&] { reader.remove_sweep(id); }), "store_readonly at " + folder.store());
  EXPECT_EQ(reader.sweep(id).done, 4000);
}

TEST(opening, to_be_read_alone_brings_an_older_one_up_unless_another_has_it) {
  const TemporaryFolder folder;
  make_store(folder.store());
  make_version_6(folder.store());
  {
    const FileLock lock(folder.store() + ".lock");
    EXPECT_EQ(refusal([&] { const Store store(folder.store(), StoreAccess::read); }),
              "store_locked at " + folder.store() + ".lock");
  }
  EXPECT_EQ(Store(folder.store(), StoreAccess::read).sweep(1).done, 4000);
}

TEST(opening, refuses_a_file_that_is_no_database) {
  const TemporaryFolder folder;
  std::ofstream(folder.store()) << std::string(5000, 'x');
  EXPECT_EQ(opening(folder.store()), "store_corrupt at " + folder.store());
  EXPECT_EQ(file_text(folder.store()), std::string(5000, 'x'));
}

TEST(opening, refuses_the_database_of_another_program_and_leaves_it_alone) {
  const TemporaryFolder folder;
  run_other_sql(folder.store(), "CREATE TABLE theirs(x)");
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

TEST(opening, refuses_an_empty_file_and_leaves_it_alone) {
  const TemporaryFolder folder;
  std::ofstream(folder.store()) << "";
  EXPECT_EQ(opening(folder.store()), "store_corrupt at " + folder.store());
  EXPECT_EQ(std::filesystem::file_size(folder.store()), 0u);
}

TEST(opening, refuses_what_another_program_wrote_into_it) {
  const TemporaryFolder folder;
  make_store(folder.store());
  run_other_sql(folder.store(), "UPDATE sweep SET total = total + 1");
  EXPECT_EQ(opening(folder.store()), "store_corrupt at " + folder.store());
}

TEST(opening, makes_a_store_under_another_name_first) {
  const TemporaryFolder folder;
  const std::string draft = folder.store() + ".new";
  std::ofstream(draft) << "half of one, of a process that was killed";
  std::ofstream(draft + "-wal") << "and its log";
  std::ofstream(folder.store() + "-wal") << "the log of a store that was removed";
  EXPECT_EQ(opening(folder.store()), "accepted");
  EXPECT_FALSE(std::filesystem::exists(draft));
  EXPECT_FALSE(std::filesystem::exists(draft + "-wal"));
  std::filesystem::remove(folder.store());
  std::filesystem::create_directories(draft + "/in/the/way");
  EXPECT_EQ(opening(folder.store()), "store_failed at " + folder.store());
  EXPECT_FALSE(std::filesystem::exists(folder.store())) << "a store is there whole or not at all";
}

TEST(migrations, go_step_by_step_after_a_backup) {
  const TemporaryFolder folder;
  make_store(folder.store());
  std::vector<const char*> steps(migrations().begin(), migrations().end());
  const auto now = std::ssize(steps);
  steps.insert(steps.end(), {"ALTER TABLE model ADD COLUMN note TEXT", "CREATE TABLE extra(x INTEGER) STRICT"});
  bring_up(folder.store(), steps);
  Connection connection(folder.store(), Connection::Access::read_only);
  EXPECT_EQ(connection.integer("PRAGMA user_version"), now + 2);
  EXPECT_EQ(connection.integer("SELECT count(*) FROM chunk"), 16);
  Connection backup(folder.store() + ".before-v" + std::to_string(now + 2), Connection::Access::read_only);
  EXPECT_EQ(backup.integer("PRAGMA user_version"), now);
  EXPECT_EQ(backup.integer("SELECT count(*) FROM chunk"), 16);
  EXPECT_EQ(opening(folder.store()), "store_newer at " + folder.store());
}

TEST(migrations, leave_the_version_before_when_a_step_fails) {
  const TemporaryFolder folder;
  make_store(folder.store());
  const std::string before = file_text(folder.store());
  std::vector<const char*> steps(migrations().begin(), migrations().end());
  steps.push_back("CREATE TABLE extra(x INTEGER) STRICT; SELECT broken");
  EXPECT_EQ(refusal([&] { bring_up(folder.store(), steps); }), "store_failed at " + folder.store());
  EXPECT_EQ(file_text(folder.store()), before);
  EXPECT_FALSE(std::filesystem::exists(folder.store() + ".new"));
  EXPECT_EQ(opening(folder.store()), "accepted");
}

/// For each version that came before checksums of pages.
class older : public testing::TestWithParam<int> {};
TEST(opening, of_version_6_keeps_its_points_and_knows_them_again) {
  const TemporaryFolder folder;
  make_store(folder.store());
  const Space space = sample_space(2000);
  const auto text = [&](const Store& store) { return exported(store, 1, space, ExportFormat::csv); };
  const std::string before = text(Store(folder.store()));
  make_version_6(folder.store());
  EXPECT_EQ(check_store(folder.store()).version, 6);
  Store store(folder.store());
  EXPECT_TRUE(text(store) == before);
  const std::vector<IndexRange> all = {{0, point_count(space)}};
  sweep(space, all, sample_compile, one_by_one(sample_evaluate), {},
        [&](PointBatch&& batch) { store.append(1, batch); });  // the same again, in other bytes
  EXPECT_TRUE(text(store) == before);
  EXPECT_THAT(check_store(folder.store() + ".before-v" + std::to_string(std::ssize(migrations()))).damages,
              testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(migrations, older, testing::Range(1, first_checked_version));

TEST_P(older, opens_with_its_points_which_are_unchecked_and_goes_on_with_checked_ones) {
  const TemporaryFolder folder, untouched;
  const Space space = sample_space(2000);
  std::int64_t id = 0;
  {
    Store store(untouched.store());
    id = add_sample_sweep(store, space);
    const std::vector<IndexRange> some = {{0, 1000}};
    sweep(space, some, sample_compile, one_by_one(sample_evaluate), {},
          [&](PointBatch&& batch) { store.append(id, batch); });
  }
  make_older_store(folder.store(), untouched.store(), GetParam());
  const std::string before = file_text(folder.store());
  const StoreCheck found = check_store(folder.store());
  EXPECT_EQ(found.version, GetParam());
  EXPECT_EQ(found.unchecked, 1000);
  EXPECT_THAT(found.damages, testing::IsEmpty());
  {
    Store store(folder.store());
    EXPECT_EQ(file_text(folder.store() + ".before-v" + std::to_string(std::ssize(migrations()))), before);
    EXPECT_EQ(store.sweep(id).unchecked, 1000);
    EXPECT_EQ(store.sweep(id).signature, "") << "of an engine that is not known";
    const std::vector<IndexRange> stored = {{0, 1000}};
    sweep(space, stored, sample_compile, one_by_one(sample_evaluate), {},
          [&](PointBatch&& batch) { store.append(id, batch); });  // the same again, in other bytes
    run_sample(store, id, space, {});
    EXPECT_EQ(store.sweep(id).done, store.sweep(id).total);
    EXPECT_EQ(store.sweep(id).unchecked, 1000);
    EXPECT_TRUE(store.validations().empty());
    EXPECT_TRUE(store.searches().empty());
    EXPECT_FALSE(store.accuracy("nothing").has_value());
    Store whole(untouched.store());
    run_sample(whole, id, space, {});
    EXPECT_EQ(whole.sweep(id).unchecked, 0);
    EXPECT_TRUE(exported(store, id, space, ExportFormat::csv) == exported(whole, id, space, ExportFormat::csv));
  }
  const StoreCheck now = check_store(folder.store());
  EXPECT_EQ(now.version, std::ssize(migrations()));
  EXPECT_EQ(now.points, 4000);
  EXPECT_EQ(now.unchecked, 1000);
  EXPECT_THAT(now.damages, testing::IsEmpty());
}

}  // namespace
}  // namespace sdip
