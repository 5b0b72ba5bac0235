// What outlives a process: interrupted sweeps resume, queued ones run, clean stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/study/signature.h"
#include "db/sqlite.h"
#include "server/jobs/service.h"
#include "server/jobs/sweep_json.h"
#include "tests/core/explore/refusal.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

SweepSpec spec_of(const char* text) { return spec_from_json(Json::parse(text)); }

SweepState state_when_settled(Service& service, std::int64_t id) {
  for (int i = 0; i < 6000; ++i) {  // sanitizers on a busy machine take their time
    const auto state = service.store.sweep(id).state;
    if (state != SweepState::queued && state != SweepState::running) return state;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return service.store.sweep(id).state;
}

TEST(service, a_stopped_service_leaves_its_sweep_interrupted_and_the_next_one_goes_on_with_it) {
  const TemporaryFolder folder;
  std::int64_t id = 0, waiting = 0;
  {
    Service service(folder.path, SDIP_BINARY);
    id = service.jobs.submit(spec_of(
        R"({"model": "tiny-sd", "sampling": "random", "count": 30000, "axes": [{"parameter": "steps", "min": 1, "max": 1000, "step": 1}]})"));
    waiting = service.jobs.submit(spec_of(small_sweep));
    for (int i = 0; i < 1000 && service.store.sweep(id).done == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  {
    const Store store(store_file(folder.path).string());
    EXPECT_EQ(store.sweep(id).state, SweepState::interrupted);
    EXPECT_EQ(store.sweep(waiting).state, SweepState::queued);
    EXPECT_GT(store.sweep(id).done, 0);
    EXPECT_LT(store.sweep(id).done, 30000);
  }
  Service service(folder.path, SDIP_BINARY);
  EXPECT_EQ(state_when_settled(service, id), SweepState::done);
  EXPECT_EQ(service.store.sweep(id).done, 30000);
  EXPECT_EQ(state_when_settled(service, waiting), SweepState::done) << "queued sweeps run after a restart";
}

TEST(service, a_sweep_that_the_user_ended_is_not_gone_on_with) {
  const TemporaryFolder folder;
  std::int64_t id = 0;
  {
    Store store(store_file(folder.path).string());
    id = add_sweep(store, Catalog(), spec_of(small_sweep));
    store.set_state(id, SweepState::cancelled);
  }
  const Service service(folder.path, SDIP_BINARY);
  EXPECT_EQ(service.store.sweep(id).state, SweepState::cancelled);
}

TEST(service, a_sweep_s_spec_is_read_once) {
  const TemporaryFolder folder;
  Service service(folder.path, SDIP_BINARY);
  const std::int64_t id = add_sweep(service.store, service.catalog, spec_of(R"({"model": "tiny-sd", "axes": [
      {"parameter": "dies", "values": [1, 2]},
      {"parameter": "die_link_bits", "values": [512, 1024], "when": "dies > 1"}]})"));
  const SweepRecord first = sweep_record(service.store, id), again = sweep_record(service.store, id);
  EXPECT_EQ(point_count(again.spec.space), 3);
  EXPECT_EQ(first.spec.space.blocks.of_grid.get(), again.spec.space.blocks.of_grid.get());
}

TEST(service, points_of_another_engine_are_shown_and_neither_mixed_nor_gone_on_with) {
  const TemporaryFolder folder;
  const std::string file = store_file(folder.path).string();
  std::int64_t ended = 0, waiting = 0, empty = 0;
  {
    Store store(file);
    const Catalog catalog;
    ended = add_sweep(store, catalog, spec_of(small_sweep));
    waiting = add_sweep(store, catalog, spec_of(small_sweep));
    empty = add_sweep(store, catalog, spec_of(small_sweep));
    EXPECT_EQ(store.sweep(ended).signature, signature());
    for (const std::int64_t id : {ended, waiting}) {
      RunOptions options;
      std::atomic<bool> cancel = false;
      options.cancel = &cancel;
      options.on_batch = [&](const Pace&) { cancel = true; };
      EXPECT_TRUE(run_sweep(store, catalog, id, options) || store.sweep(id).state == SweepState::done);
      if (store.sweep(id).state == SweepState::running) store.set_state(id, SweepState::interrupted);
    }
  }
  Connection(file, Connection::Access::read_write)
      .execute("UPDATE sweep SET signature = 'another', state = 'interrupted'");
  Connection(file, Connection::Access::read_write).execute("UPDATE sweep SET state = 'cancelled' WHERE id = 1");
  Service service(folder.path, SDIP_BINARY);
  EXPECT_TRUE(engine_changed(service.store.sweep(ended)));
  EXPECT_EQ(sdip::refusal([&] { service.jobs.resume(ended); }), "engine_changed at sweep " + std::to_string(ended));
  EXPECT_EQ(service.store.sweep(ended).state, SweepState::cancelled);
  EXPECT_EQ(state_when_settled(service, waiting), SweepState::failed);
  EXPECT_EQ(service.store.sweep(waiting).error->code, "engine_changed");
  EXPECT_EQ(state_when_settled(service, empty), SweepState::done) << "without points it is of today's";
  EXPECT_FALSE(engine_changed(service.store.sweep(empty)));
  EXPECT_EQ(service.store.sweep(empty).signature, signature());
}

TEST(service, a_sweep_whose_model_is_gone_fails_and_keeps_no_points) {
  const TemporaryFolder folder;
  Store store(store_file(folder.path).string());
  Catalog catalog(UploadedModels{&store, folder.path, SDIP_BINARY, nullptr});
  std::filesystem::create_directories(folder.path / "models");
  NewFile file(folder.path / "models" / "upload");
  file.write(small_onnx());
  catalog.add({Role::network, "one", {}}, file, std::string(64, 'a'));
  const std::int64_t id =
      add_sweep(store, catalog, spec_of(R"({"model": "one", "axes": [{"parameter": "cores", "values": [1, 2]}]})"));
  std::filesystem::remove_all(folder.path / "models");
  EXPECT_FALSE(run_sweep(store, catalog, id, {}));
  const SweepRow row = store.sweep(id);
  EXPECT_EQ(row.state, SweepState::failed);
  EXPECT_EQ(row.error.value_or(Problem{}).code, "file_not_found");
  EXPECT_EQ(row.done, 0);
}

TEST(service, an_upload_that_was_killed_is_cleared_away) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "models");
  write_file(folder.path / "models" / ".new-a1B2c3", "half");
  write_file(folder.path / "models" / "whole.onnx", "x");
  const Service service(folder.path, SDIP_BINARY);
  EXPECT_FALSE(std::filesystem::exists(folder.path / "models" / ".new-a1B2c3"));
  EXPECT_TRUE(std::filesystem::exists(folder.path / "models" / "whole.onnx"));
}

TEST(service, serve_stops_cleanly_on_a_signal) {
  const TemporaryFolder folder;
  const pid_t process = start_sdip({"serve", "--port", "0", "--data", folder / "data"}, folder.path);
  for (int i = 0; i < 1000 && file_text(folder.path / "out").empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::kill(process, SIGTERM);
  const Ended ended = wait_for(process, folder.path);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, testing::StartsWith("SDIP Explorer: http://127.0.0.1:"));
  EXPECT_FALSE(std::filesystem::exists(folder.path / "data" / "sdip.sqlite-wal")) << "the store was closed";
}

TEST(service, one_folder_has_one_process) {
  const Site site;
  const Ended ended = run_sdip({"sweep", "tiny-sd", "--axis", "cores=1", "--data", site.folder.path.string()});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, testing::StartsWith("sdip: store_locked: "));
}

TEST(service, its_folder_can_be_read_beside_it) {
  const Site site;
  const std::string id = site.sweep(small_sweep);
  const Ended exported = run_sdip({"export", id, "--data", site.folder.path.string()});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_EQ(exported.out, site.get("/api/v1/sweeps/" + id + "/export").body);
  EXPECT_EQ(run_sdip({"db", "check", "--data", site.folder.path.string()}).exit_code, 0);
  EXPECT_EQ(site.sweep(small_sweep), std::to_string(std::stoi(id) + 1)) << "and goes on writing";
}

}  // namespace
}  // namespace sdip::test
