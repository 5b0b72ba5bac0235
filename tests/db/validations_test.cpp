// Are validations kept, listed and removed with their sweep, and do older stores take them?
#include <gmock/gmock.h>

#include "db/sqlite.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

template <class Call>
std::string refused(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code + " at " + error.where;
  }
  return "accepted";
}

ValidationRow asked(std::optional<std::int64_t> sweep = {}) {
  ValidationRow row;
  row.sweep = sweep;
  row.model = "tiny-sd";
  row.request_json = "{}";
  row.created = "2026-11-21T12:00:00Z";
  return row;
}

std::int64_t any_sweep(Store& store) {
  SweepRow row;
  row.name = row.model = "m";
  row.spec_json = "{}";
  row.total = 10;
  row.created = "2026-11-21T12:00:00Z";
  return store.add_sweep(row);
}

TEST(validations, are_queued_then_run_then_have_a_result) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const std::int64_t id = store.add_validation(asked());
  EXPECT_EQ(store.validation(id).state, SweepState::queued);
  EXPECT_EQ(store.validation_result(id), "");
  EXPECT_EQ(refused([&] { store.end_validation(id, "{}", "{}"); }), "conflict at validation 1");
  store.set_validation_state(id, SweepState::running);
  EXPECT_EQ(refused([&] { store.remove_validation(id); }), "conflict at validation 1");
  store.end_validation(id, R"({"passed":true})", R"({"stages":[]})");
  const ValidationRow row = store.validation(id);
  EXPECT_EQ(row.state, SweepState::done);
  EXPECT_EQ(row.model, "tiny-sd");
  EXPECT_EQ(row.summary_json, R"({"passed":true})");
  EXPECT_EQ(store.validation_result(id), R"({"stages":[]})");
  EXPECT_EQ(refused([&] { store.set_validation_state(id, SweepState::running); }), "conflict at validation 1");
  store.remove_validation(id);
  EXPECT_EQ(refused([&] { store.validation(id); }), "not_found at validation 1");
}

TEST(validations, that_fail_say_why) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const std::int64_t id = store.add_validation(asked());
  store.set_validation_state(id, SweepState::running);
  store.set_validation_state(id, SweepState::failed, Problem{"layer_unmatched", "/x", "no layer"});
  EXPECT_EQ(store.validation(id).error, (Problem{"layer_unmatched", "/x", "no layer"}));
}

TEST(validations, of_a_sweep_are_not_listed_and_go_with_it) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const std::int64_t sweep = any_sweep(store);
  EXPECT_FALSE(store.validation_of(sweep));
  const std::int64_t first = store.add_validation(asked()), second = store.add_validation(asked());
  store.add_validation(asked(sweep));
  const std::int64_t newest = store.add_validation(asked(sweep));
  ASSERT_TRUE(store.validation_of(sweep));
  EXPECT_EQ(store.validation_of(sweep)->id, newest);
  std::vector<std::int64_t> listed;
  for (const ValidationRow& row : store.validations()) listed.push_back(row.id);
  EXPECT_THAT(listed, testing::ElementsAre(second, first));
  store.remove_sweep(sweep);
  EXPECT_EQ(refused([&] { store.validation(newest); }), "not_found at validation 4");
  EXPECT_EQ(refused([&] { store.add_validation(asked(99)); }), "not_found at sweep 99");
}

TEST(validations, that_ran_when_the_process_ended_are_interrupted) {
  const TemporaryFolder folder;
  std::int64_t id = 0;
  {
    Store store(folder.store());
    id = store.add_validation(asked());
    store.set_validation_state(id, SweepState::running);
  }
  const Store store(folder.store());
  EXPECT_EQ(store.validation(id).state, SweepState::interrupted);
}

}  // namespace
}  // namespace sdip
