// Are searches kept, listed and removed, and begun anew after their process ended?
#include <gmock/gmock.h>

#include "db/sqlite.h"
#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

SearchRow any_search() {
  SearchRow row;
  row.model = "tiny-sd";
  row.request_json = "{}";
  row.created = "2026-11-26T12:00:00Z";
  return row;
}

TEST(searches, are_queued_then_run_then_have_a_result) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const std::int64_t id = store.add_search(any_search()), newer = store.add_search(any_search());
  EXPECT_EQ(store.search(id).state, SweepState::queued);
  EXPECT_EQ(store.search_result(id), "");
  EXPECT_EQ(refusal([&] { store.end_search(id, SweepState::done, "{}", "{}"); }), "conflict at search 1");
  store.set_search_state(id, SweepState::running);
  EXPECT_EQ(refusal([&] { store.remove_search(id); }), "conflict at search 1");
  store.end_search(id, SweepState::done, R"({"evaluated":9})", R"({"best":[]})");
  EXPECT_EQ(store.search(id).state, SweepState::done);
  EXPECT_EQ(store.search(id).model, "tiny-sd");
  EXPECT_EQ(store.search(id).summary_json, R"({"evaluated":9})");
  EXPECT_EQ(store.search_result(id), R"({"best":[]})");
  EXPECT_EQ(refusal([&] { store.set_search_state(id, SweepState::cancelled); }), "conflict at search 1");
  ASSERT_EQ(store.searches().size(), 2U);
  EXPECT_EQ(store.searches()[0].id, newer);
  store.remove_search(id);
  EXPECT_EQ(refusal([&] { store.search(id); }), "not_found at search 1");
  EXPECT_EQ(refusal([&] { store.search_result(id); }), "not_found at search 1");
  EXPECT_EQ(store.add_search(any_search()), 3) << "a number is not given out twice";
}

TEST(searches, that_fail_say_why_and_cancelled_ones_keep_what_they_had) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const std::int64_t failed = store.add_search(any_search()), cancelled = store.add_search(any_search());
  store.set_search_state(failed, SweepState::running);
  store.set_search_state(failed, SweepState::failed, Problem{"unknown_model", "/model", "gone"});
  EXPECT_EQ(store.search(failed).error, (Problem{"unknown_model", "/model", "gone"}));
  store.set_search_state(cancelled, SweepState::running);
  store.end_search(cancelled, SweepState::cancelled, "{}", R"({"best":[1]})");
  EXPECT_EQ(store.search(cancelled).state, SweepState::cancelled);
  EXPECT_EQ(store.search_result(cancelled), R"({"best":[1]})");
}

/// Opens the store as a process does that is killed while the search runs.
void die_while_it_runs(const std::string& path, std::int64_t id) {
  Store store(path);
  store.restart_searches();
  EXPECT_EQ(store.search(id).state, SweepState::queued);
  store.set_search_state(id, SweepState::running);
}

TEST(searches, begin_anew_unless_the_process_died_with_them_three_times) {
  const TemporaryFolder folder;
  std::int64_t killed = 0, stopped = 0;
  {
    Store store(folder.store());
    killed = store.add_search(any_search());
    stopped = store.add_search(any_search());
  }
  for (int life = 0; life < 3; ++life) {
    die_while_it_runs(folder.store(), killed);
    Store store(folder.store());
    EXPECT_EQ(store.search(killed).state, SweepState::interrupted);
    store.restart_searches();
    store.set_search_state(stopped, SweepState::running);
    store.set_search_state(stopped, SweepState::interrupted);  // in order: that is never held against it
  }
  Store store(folder.store());
  store.restart_searches();
  EXPECT_EQ(store.search(killed).state, SweepState::interrupted);
  EXPECT_EQ(store.search(stopped).state, SweepState::queued);
}

}  // namespace
}  // namespace sdip
