// Are analyses of points kept as they were, up to their limit, and gone with their sweep?
#include <gmock/gmock.h>

#include "db/sqlite.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

/// A store with a finished sweep of 80 points, number 1.
struct Kept {
  TemporaryFolder folder;
  Space space = sample_space();
  std::unique_ptr<Store> store = std::make_unique<Store>(folder.store());

  Kept() { run_sample(*store, add_sample_sweep(*store, space), space, {}); }
  void keep(std::int64_t index, const std::string& text) const {
    store->keep_point(1, {.index = index, .created = "2026-11-27T12:00:00Z", .signature = "s"}, text);
  }
};

std::vector<std::int64_t> indices(const Store& store) {
  std::vector<std::int64_t> of;
  for (const KeptPoint& one : store.kept_points(1)) of.push_back(one.index);
  return of;
}

TEST(kept_points, come_back_as_they_were_from_a_store_opened_again) {
  Kept kept;
  std::string long_text;
  for (int i = 0; i < 100000; ++i) long_text += std::to_string(i * 7919 % 10007);
  kept.keep(17, long_text);
  kept.keep(3, "[]");
  kept.store = nullptr;
  const Store again(kept.folder.store());
  EXPECT_THAT(indices(again), testing::ElementsAre(3, 17));
  const KeptAnalyses whole = again.kept_analyses(1, 17);
  EXPECT_TRUE(whole.text == long_text);
  EXPECT_EQ(whole.point.signature, "s");
  EXPECT_EQ(whole.point.created, "2026-11-27T12:00:00Z");
  EXPECT_EQ(whole.point.text_bytes, std::ssize(long_text));
  EXPECT_EQ(again.kept_point(1, 3).value().text_bytes, 2);
  EXPECT_FALSE(again.kept_point(1, 4).has_value());
}

TEST(kept_points, are_kept_once_and_let_go_of) {
  const Kept kept;
  kept.keep(5, "old");
  kept.keep(5, "new");
  EXPECT_EQ(kept.store->kept_analyses(1, 5).text, "new");
  EXPECT_THAT(indices(*kept.store), testing::ElementsAre(5));
  kept.store->let_go_of_point(1, 5);
  EXPECT_THAT(indices(*kept.store), testing::IsEmpty());
  EXPECT_EQ(refusal([&] { kept.store->kept_analyses(1, 5); }), "not_found at index");
  EXPECT_EQ(refusal([&] { kept.store->let_go_of_point(1, 5); }), "not_found at index");
}

TEST(kept_points, are_stored_points_of_a_sweep_that_is_there_and_go_with_it) {
  const Kept kept;
  EXPECT_EQ(refusal([&] { kept.keep(80, "x"); }), "not_found at index");
  EXPECT_EQ(refusal([&] { kept.store->kept_points(2); }), "not_found at sweep 2");
  kept.keep(0, "x");
  kept.store->remove_sweep(1);
  Connection reading(kept.folder.store(), Connection::Access::read_only);
  EXPECT_EQ(reading.integer("SELECT count(*) FROM kept_point"), 0);
}

TEST(kept_points, are_so_many_at_most) {
  Kept kept;
  Connection(kept.folder.store(), Connection::Access::read_write)
      .execute(
          "INSERT INTO kept_point(sweep, point, created, signature, text_bytes, analyses)"
          " WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1998)"
          " SELECT 1, i, '', '', 0, x'789c030000000001' FROM n");
  kept.keep(1, "the thousandth");
  EXPECT_EQ(refusal([&] { kept.keep(2, "one more"); }), "limit_exceeded at index");
  kept.keep(1, "in its own place");
  EXPECT_EQ(kept.store->kept_analyses(1, 1).text, "in its own place");
}

TEST(kept_points, that_are_damaged_are_said_to_be) {
  Kept kept;
  kept.keep(5, "some text of some length, of some length");
  kept.store = nullptr;
  EXPECT_THAT(check_store(kept.folder.store()).damages, testing::IsEmpty());
  for (const char* sql :
       {"UPDATE kept_point SET text_bytes = text_bytes + 1", "UPDATE kept_point SET text_bytes = 3",
        "UPDATE kept_point SET text_bytes = 40, analyses = x'789c00'"}) {
    Connection(kept.folder.store(), Connection::Access::read_write).execute(sql);
    EXPECT_THAT(check_store(kept.folder.store()).damages, testing::SizeIs(1)) << sql;
    const Store store(kept.folder.store());
    EXPECT_EQ(refusal([&] { store.kept_analyses(1, 5); }), "store_corrupt at " + kept.folder.store()) << sql;
  }
}

}  // namespace
}  // namespace sdip
