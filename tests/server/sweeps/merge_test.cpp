// Parts of a sweep, evaluated by processes apart, against one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/study/signature.h"
#include "db/sqlite.h"
#include "db/store.h"
#include "server/io/json_in.h"
#include "server/jobs/merge.h"
#include "tests/core/explore/refusal.h"
#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

/// 4,800 points of two programs.
const std::vector<std::string> two_programs = {
    "sweep",  "tiny-sd",           "--axis", "psram_bytes=1048576,2097152", "--axis", "cores=1:20:1",
    "--axis", "dram_channels=2,4", "--axis", "core_clock_mhz=100:2500:40"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> part(int k, int n, const std::string& data) {
  return with(two_programs, {"--part", std::to_string(k) + "/" + std::to_string(n), "--data", data});
}

void expect_done(const Ended& ended) { EXPECT_EQ(ended.exit_code, 0) << ended.err; }

std::string exported(const std::string& data) {
  const Ended ended = run_sdip({"export", "1", "--data", data});
  expect_done(ended);
  return ended.out;
}

void change_store(const std::string& data, const std::string& sql) {
  Connection(data + "/sdip.sqlite", Connection::Access::read_write).execute(sql.c_str());
}

bool has_points(const std::string& data) {
  sqlite3* store = nullptr;
  sqlite3_stmt* row = nullptr;
  const bool found =
      sqlite3_open_v2((data + "/sdip.sqlite").c_str(), &store, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(store, "SELECT 1 FROM chunk", -1, &row, nullptr) == SQLITE_OK &&
      sqlite3_step(row) == SQLITE_ROW;
  sqlite3_finalize(row);
  sqlite3_close(store);
  return found;
}

TEST(parts, of_a_sweep_merge_to_the_bytes_of_one_process_though_one_was_killed) {
  const TemporaryFolder folder;
  const std::string one = folder / "one", out = folder / "whole";
  expect_done(run_sdip(with(two_programs, {"--data", one, "--validate-seconds", "0"})));
  const std::vector<std::string> parts = {folder / "1", folder / "2", folder / "3"};
  const pid_t killed = start_sdip(part(2, 3, parts[1]), folder.path);
  for (int i = 0; i < 60'000 && !has_points(parts[1]); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(killed, SIGKILL);
  wait_for(killed, folder.path);
  ASSERT_TRUE(has_points(parts[1]));

  for (int k = 1; k <= 3; ++k) expect_done(run_sdip(part(k, 3, parts[static_cast<std::size_t>(k - 1)])));
  const Ended again = run_sdip(part(2, 3, parts[1]));
  EXPECT_THAT(again.out, HasSubstr("Part 2 of 3 of sweep 1: 1,627 points; the folder has 1,627 of 4,880"));

  const Ended some = run_sdip({"merge", out, parts[0], parts[2], "--json"});
  expect_done(some);
  EXPECT_EQ(Json::parse(some.out)["sweeps"][0]["gaps"], Json::parse(R"([{"first": 1626, "end": 3253}])"));
  const Ended whole = run_sdip(with({"merge", out}, parts));
  EXPECT_THAT(whole.out, HasSubstr("4,880 of 4,880 points, 1,627 of them new, 3,253 there already and the same"));
  EXPECT_TRUE(exported(out) == exported(one));
  const Ended same = run_sdip(with({"merge", out}, parts));
  EXPECT_THAT(same.out, HasSubstr("4,880 of 4,880 points, 0 of them new, 4,880 there already"));
  EXPECT_TRUE(exported(out) == exported(one));
}

TEST(parts, of_another_sweep_are_said_to_be_one_of_their_own) {
  const TemporaryFolder folder;
  const std::string a = folder / "a", b = folder / "b", out = folder / "whole";
  for (const auto& [data, cores] : {std::pair(a, "cores=1,2"), std::pair(b, "cores=1,2,4")})
    expect_done(run_sdip({"sweep", "tiny-sd-text", "--axis", cores, "--part", "1/2", "--data", data}));
  const Ended first = run_sdip({"merge", out, a});
  expect_done(first);
  EXPECT_THAT(first.out, testing::Not(HasSubstr("of its own")));
  const Ended other = run_sdip({"merge", out, b});
  expect_done(other);
  EXPECT_THAT(other.out,
              HasSubstr("Sweep 2 is one of its own, from " + b + " on: no other sweep here has its spec"));
  const Ended again = run_sdip({"merge", out, a, b, "--json"});
  const Json told = Json::parse(again.out);
  for (const Json& sweep : told["sweeps"]) EXPECT_FALSE(sweep["made"].get<bool>());
  const Ended both = run_sdip({"merge", folder / "new", a, b});
  EXPECT_THAT(both.out, HasSubstr("Sweep 1 is one of its own, from " + a));
  EXPECT_THAT(both.out, HasSubstr("Sweep 2 is one of its own, from " + b));
}

TEST(parts, bring_what_was_measured_and_validated_of_a_whole_sweep) {
  const TemporaryFolder folder;
  const std::string one = folder / "one", out = folder / "merged";
  expect_done(run_sdip({"sweep", "tiny-sd-text", "--axis", "cores=1,2,4", "--data", one, "--accuracy-seconds", "60",
                        "--validate-seconds", "10"}));
  EXPECT_THAT(exported(one), HasSubstr("random")) << "of what weights it was measured";
  for (int again = 0; again < 2; ++again) {
    expect_done(run_sdip({"merge", out, one}));
    EXPECT_EQ(exported(out), exported(one));
    const Store from(one + "/sdip.sqlite"), to(out + "/sdip.sqlite");
    ASSERT_TRUE(to.validation_of(1).has_value());
    EXPECT_EQ(to.validation_of(1)->summary_json, from.validation_of(1)->summary_json);
    EXPECT_EQ(to.validation_result(to.validation_of(1)->id), from.validation_result(from.validation_of(1)->id));
    EXPECT_EQ(to.validation_of(1)->id, 1) << "copied once";
    EXPECT_EQ(to.accuracies().size(), from.accuracies().size());
  }
}

TEST(parts, that_differ_or_are_of_another_engine_are_refused) {
  const TemporaryFolder folder;
  const std::string a = folder / "a", b = folder / "b", out = folder / "whole";
  expect_done(run_sdip(part(1, 40, a)));
  expect_done(run_sdip(part(1, 20, b)));  // and what a has
  change_store(b, "UPDATE sweep SET signature = 'another'");
  const Ended engine = run_sdip({"merge", out, a, b});
  EXPECT_EQ(engine.exit_code, 1);
  EXPECT_THAT(engine.err, HasSubstr("sdip: engine_changed: " + b));
  change_store(b, "UPDATE sweep SET signature = '" + signature() + "'");
  expect_done(run_sdip({"merge", out, b, a}));
  EXPECT_EQ(run_sdip({"merge", out, out}).exit_code, 1);
  EXPECT_THAT(run_sdip({"merge", out, folder / "nowhere"}).err, HasSubstr("sdip: file_not_found: "));
  EXPECT_EQ(run_sdip({"merge", folder / "new", a, folder / "nowhere"}).exit_code, 1);
  write_file(b + "/sdip.sqlite", "no database");
  EXPECT_EQ(run_sdip({"merge", folder / "new", a, b}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "new")) << "parts are looked at before a folder is made";
}

TEST(parts, whose_model_is_damaged_are_refused_and_its_error_is_no_point_s_reason) {
  const TemporaryFolder folder;
  const std::string model = folder / "plain.onnx", a = folder / "a", out = folder / "whole";
  write_file(model, small_onnx());
  const auto sweep_part = [&](const char* one, const std::string& data) {
    return run_sdip({"sweep", model + "+tiny-sd-text", "--axis", "cores=1,2,4", "--part", one, "--data", data});
  };
  expect_done(sweep_part("1/2", a));
  EXPECT_EQ(run_sdip({"db", "check", "--data", a}).exit_code, 0);
  const std::filesystem::path kept = std::filesystem::directory_iterator(a + "/models")->path();
  write_file(kept, "garbage");
  const Ended checked = run_sdip({"db", "check", "--data", a});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.out, HasSubstr("damaged: models/"));
  const Ended merged = run_sdip({"merge", out, a});
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_THAT(merged.err, HasSubstr("sdip: store_corrupt: models/"));
  EXPECT_FALSE(std::filesystem::exists(out + "/models/" + kept.filename().string()));
  const Ended resumed = run_sdip({"sweep", "--data", a, "--resume", "1"});
  EXPECT_EQ(resumed.exit_code, 1) << resumed.out;
  EXPECT_THAT(resumed.err, HasSubstr("ONNX model"));
  EXPECT_EQ(Store(a + "/sdip.sqlite").sweep(1).done, 1) << "no point was kept of it";
}

TEST(parts, of_points_that_disagree_are_a_conflict) {
  const TemporaryFolder folder;
  const Space space =
      space_from_json(Json::parse(R"({"axes": [{"parameter": "cores", "values": [1, 2, 3]}]})"), {});
  const auto store_of = [&](const std::string& data, double throughput, std::int64_t first, std::int64_t count) {
    std::filesystem::create_directories(data);
    Store store(data + "/sdip.sqlite");
    SweepRow row;
    row.name = row.model = "tiny-sd";
    row.spec_json = "{}";
    row.total = 3;
    row.signature = "one";
    const std::int64_t id = store.add_sweep(row);
    PointBatch batch;
    batch.first = first;
    for (std::int64_t i = 0; i < count; ++i) {
      Outcome outcome{.feasible = true, .reason = ""};
      outcome.values.fill(throughput);
      append(batch, outcome);
    }
    store.append(id, batch);
  };
  const std::vector<std::filesystem::path> parts = {folder / "a", folder / "b"};
  store_of(parts[0], 1, 0, 2);
  store_of(parts[1], 2, 1, 2);
  std::filesystem::create_directories(folder / "out");
  Store out(folder / "out/sdip.sqlite");
  EXPECT_EQ(refusal([&] { merge_parts(out, folder / "out", parts); }), "conflict at " + parts[1].string());
  EXPECT_EQ(out.sweep(1).done, 2) << "of the part that disagrees nothing before it does";
}

TEST(parts, of_the_scripts_for_slurm_merge_to_the_same_bytes) {
  const TemporaryFolder folder;
  write_file(folder / "spec.json", R"({"model": "tiny-sd", "sampling": "sobol", "count": 64, "axes": [
      {"parameter": "psram_bytes", "values": [1048576, 2097152]}, {"parameter": "cores", "values": [1, 2, 3, 4, 5]},
      {"parameter": "core_clock_mhz", "min": 100, "max": 2000, "step": 1}]})");
  const auto script = [&](const std::string& name, int task) {
    const std::string command = "SDIP=" SDIP_BINARY " SDIP_SPEC=" + folder / "spec.json" +
                                " SDIP_OUT=" + folder / "parts" +
                                " SDIP_PARTS=2 SLURM_ARRAY_TASK_ID=" + std::to_string(task) +
                                " bash " SDIP_SOURCE_DIR "/docker/slurm/" + name + " > /dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  };
  script("part.sh", 1);
  script("part.sh", 2);
  script("merge.sh", 0);
  expect_done(
      run_sdip({"sweep", "--spec", folder / "spec.json", "--data", folder / "one", "--validate-seconds", "0"}));
  EXPECT_TRUE(exported(folder / "parts/whole") == exported(folder / "one"));
}

TEST(parts, are_runs_that_cover_every_point_once) {
  for (const std::int64_t total : {0, 1, 7, 1000})
    for (const std::int64_t n : {1, 3, 8, 1001}) {
      std::int64_t next = 0;
      for (std::int64_t k = 1; k <= n; ++k) {
        const IndexRange range = range_of({k, n}, total);
        EXPECT_EQ(range.first, next);
        EXPECT_LE(range.end - range.first, total / n + 1);
        next = range.end;
      }
      EXPECT_EQ(next, total);
    }
  EXPECT_EQ(work_part("3/8", "--part").part, 3);
  for (const char* wrong : {"", "1", "0/3", "4/3", "1/0", "a/b", "1/3x", "-1/3", "1/10000000"})
    EXPECT_EQ(refusal([&] { work_part(wrong, "--part"); }), "value_invalid at --part") << wrong;
}

TEST(parts, want_a_folder_and_no_front) {
  const TemporaryFolder folder;
  EXPECT_THAT(run_sdip(with(two_programs, {"--part", "1/3"})).err, HasSubstr("sdip: value_invalid: --part: "));
  EXPECT_THAT(run_sdip(part(4, 3, folder / "x")).err, HasSubstr("sdip: value_invalid: --part: "));
  EXPECT_THAT(run_sdip(with(part(1, 3, folder / "x"), {"--export", folder / "p.csv"})).err,
              HasSubstr("sdip: value_conflict: --part: "));
}

}  // namespace
}  // namespace sdip::test
