// Are models and sweeps kept, and do sweeps only change state as allowed?
#include "db/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/explore/refusal.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

StoredModel sample_model(const std::string& name) {
  return {.name = name,
          .sha256 = std::string(64, 'a'),
          .file = "models/aaaa",
          .size_bytes = 12,
          .facts_json = R"({"nodes":1})",
          .created = "2026-11-20T12:00:00Z"};
}

TEST(store, keeps_models_by_name) {
  const TemporaryFolder folder;
  {
    Store store(folder.store());
    store.add_model(sample_model("b"));
    store.add_model(sample_model("a'; DROP TABLE model; --"));
    EXPECT_EQ(refusal([&] { store.add_model(sample_model("b")); }), "conflict at b");
  }
  Store store(folder.store());
  ASSERT_EQ(store.models().size(), 2u);
  EXPECT_EQ(store.models()[1].name, "b");
  EXPECT_EQ(store.model("b")->facts_json, R"({"nodes":1})");
  EXPECT_FALSE(store.model("c").has_value());
  EXPECT_TRUE(store.remove_model("b"));
  EXPECT_FALSE(store.remove_model("b"));
  EXPECT_EQ(store.models().size(), 1u);
}

TEST(store, lists_sweeps_newest_first_with_what_is_done) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = sample_space();
  const auto first = add_sample_sweep(store, space);
  const auto second = add_sample_sweep(store, space);
  run_sample(store, first, space, {.batch_points = 16});
  const auto sweeps = store.sweeps();
  ASSERT_EQ(sweeps.size(), 2u);
  EXPECT_EQ(sweeps[0].id, second);
  EXPECT_EQ(sweeps[0].done, 0);
  EXPECT_EQ(sweeps[1].done, 80);
  EXPECT_EQ(sweeps[1].feasible, 70);
  EXPECT_EQ(sweeps[1].total, 80);
  EXPECT_EQ(sweeps[1].created, "2026-11-20T12:00:00Z");
  EXPECT_EQ(refusal([&] { store.sweep(99); }), "not_found at sweep 99");
}

TEST(store, lets_a_sweep_change_state_only_as_documented) {
  using enum SweepState;
  const std::vector<SweepState> all = {queued, running, done, cancelled, failed, interrupted};
  // The steps that lead from queued to each state.
  const std::vector<std::vector<SweepState>> ways = {{},          {running}, {running, done},
                                                     {cancelled}, {failed},  {running, interrupted}};
  const std::vector<std::vector<SweepState>> allowed = {
      {running, cancelled, failed}, {done, cancelled, failed, interrupted}, {}, {queued}, {queued}, {queued}};
  const TemporaryFolder folder;
  Store store(folder.store());
  for (std::size_t from = 0; from < all.size(); ++from) {
    for (const SweepState to : all) {
      const auto id = add_sample_sweep(store, sample_space());
      for (const SweepState step : ways[from]) store.set_state(id, step);
      const bool accepted = refusal([&] { store.set_state(id, to); }) == "accepted";
      EXPECT_EQ(accepted, testing::Matches(testing::Contains(to))(allowed[from]))
          << sweep_state_text(all[from]) << " to " << sweep_state_text(to);
      EXPECT_EQ(store.sweep(id).state, accepted ? to : all[from]);
    }
  }
}

TEST(store, keeps_why_a_sweep_failed_until_it_is_resumed) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const auto id = add_sample_sweep(store, sample_space());
  const Problem problem{"disk_full", "sdip.db", "no space"};
  store.set_state(id, SweepState::failed, problem);
  EXPECT_EQ(store.sweep(id).error, problem);
  store.set_state(id, SweepState::queued);
  EXPECT_FALSE(store.sweep(id).error.has_value());
}

TEST(store, keeps_points_of_two_engines_apart) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = sample_space();
  const auto id = add_sample_sweep(store, space);
  EXPECT_EQ(store.sweep(id).signature, "");
  store.set_signature(id, "first");
  EXPECT_EQ(store.sweep(id).signature, "first") << "no point is stored yet";
  run_sample(store, id, space, {});
  store.set_signature(id, "first");
  EXPECT_EQ(refusal([&] { store.set_signature(id, "second"); }), "engine_changed at sweep " + std::to_string(id));
  EXPECT_EQ(store.sweep(id).signature, "first");
  EXPECT_EQ(refusal([&] { store.set_signature(id + 1, "first"); }), "not_found at sweep " + std::to_string(id + 1));
}

TEST(store, finds_a_running_sweep_interrupted_when_opened_again) {
  const TemporaryFolder folder;
  std::int64_t running = 0, queued = 0;
  {
    Store store(folder.store());
    running = add_sample_sweep(store, sample_space());
    queued = add_sample_sweep(store, sample_space());
    store.set_state(running, SweepState::running);
  }
  const Store store(folder.store());
  EXPECT_EQ(store.sweep(running).state, SweepState::interrupted);
  EXPECT_EQ(store.sweep(queued).state, SweepState::queued);
}

TEST(store, queues_interrupted_sweeps_again_unless_three_starts_led_nowhere) {
  const TemporaryFolder folder;
  const Space space = sample_space(300);
  std::int64_t id = 0, ended = 0;
  {
    Store store(folder.store());
    id = add_sample_sweep(store, space);
    ended = add_sample_sweep(store, space);
    store.set_state(ended, SweepState::cancelled);
    store.set_state(id, SweepState::running);
  }
  const auto start = [&](const std::vector<IndexRange>& kept) {
    Store store(folder.store());
    const bool resumed = store.resume_interrupted() == std::vector<std::int64_t>{id};
    if (resumed) store.set_state(id, SweepState::running);
    sweep(space, kept, sample_compile, one_by_one(sample_evaluate), {},
          [&](PointBatch&& batch) { store.append(id, batch); });
    return resumed;
  };
  EXPECT_TRUE(start({}) && start({}) && start({{0, 10}})) << "a kept point begins the count anew";
  EXPECT_TRUE(start({}) && start({}) && start({}));
  EXPECT_FALSE(start({})) << "what ends the process each time does not for ever";
  Store store(folder.store());
  EXPECT_EQ(store.sweep(id).state, SweepState::interrupted);
  store.set_state(id, SweepState::queued);
  store.set_state(id, SweepState::running);
  store.set_state(id, SweepState::interrupted);
  EXPECT_EQ(store.resume_interrupted(), std::vector<std::int64_t>{id}) << "resumed by hand it may try again";
}

TEST(store, removes_a_sweep_with_its_points_unless_it_runs) {
  const TemporaryFolder folder;
  Store store(folder.store());
  const Space space = sample_space();
  const auto id = add_sample_sweep(store, space);
  const auto other = add_sample_sweep(store, space);
  run_sample(store, id, space, {});
  run_sample(store, other, space, {});
  store.set_state(id, SweepState::running);
  EXPECT_EQ(refusal([&] { store.remove_sweep(id); }), "conflict at sweep " + std::to_string(id));
  store.set_state(id, SweepState::done);
  store.remove_sweep(id);
  EXPECT_EQ(refusal([&] { store.columns(id, space, {}); }), "not_found at sweep " + std::to_string(id));
  EXPECT_EQ(store.columns(other, space, {}).index.size(), 80u);
  EXPECT_GT(add_sample_sweep(store, space), other) << "ids are not used again";
}

}  // namespace
}  // namespace sdip
