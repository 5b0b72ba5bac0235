// Sweeps made of others, by the command line and by the API, against fresh ones of the same settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "core/base/error.h"
#include "db/sqlite.h"
#include "db/store.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::string>;

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Runs a sweep without a validation; returns what it wrote.
Ended swept(const Words& words) { return run_sdip(joined(joined({"sweep"}, words), {"--validate-seconds", "0"})); }

void expect_swept(const Words& words) {
  const Ended ended = swept(words);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

std::string export_of(const std::string& data, int sweep) {
  const Ended ended = run_sdip({"export", std::to_string(sweep), "--data", data});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.out;
}

std::int64_t taken_by(const std::string& data, int sweep) {
  return Store(data + "/sdip.sqlite").sweep(sweep).taken;
}

const Words parent = {"tiny-sd",
                      "--axis",
                      "cores=1,2,4",
                      "--axis",
                      "core_clock_mhz=100:2500:40",
                      "--axis",
                      "psram_bytes=65536,1048576"};
const Words wider = {"tiny-sd",
                     "--axis",
                     "cores=1,2,4,8",
                     "--axis",
                     "core_clock_mhz=100:2500:40",
                     "--axis",
                     "psram_bytes=65536,1048576,2097152"};
const Words widening = {"--extend", "1", "--axis", "cores=8", "--axis", "psram_bytes=2097152"};

TEST(revisions, an_extended_sweep_is_byte_for_byte_a_fresh_one) {
  const TemporaryFolder folder;
  const std::string data = folder / "data", fresh = folder / "fresh";
  expect_swept(joined(parent, {"--data", data}));
  expect_swept(joined(widening, {"--data", data}));
  expect_swept(joined(wider, {"--data", fresh}));
  EXPECT_TRUE(export_of(data, 2) == export_of(fresh, 1));
  EXPECT_EQ(taken_by(data, 2), 366);
  EXPECT_EQ(taken_by(data, 1), 0);
}

TEST(revisions, a_sweep_of_the_same_points_as_another_takes_them_over) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  expect_swept(joined(parent, {"--data", data, "--part", "1/2"}));
  expect_swept(joined(parent, {"--data", data, "--name", "again", "--objectives", "min:area_mm2"}));
  expect_swept(joined(parent, {"--data", data, "--set", "dram_channels=2"}));
  expect_swept(joined(parent, {"--data", folder / "fresh"}));
  EXPECT_EQ(taken_by(data, 2), 183) << "as far as they are stored";
  EXPECT_EQ(taken_by(data, 3), 0) << "on another machine";
  EXPECT_TRUE(export_of(data, 2) == export_of(folder / "fresh", 1));
  Connection(data + "/sdip.sqlite", Connection::Access::read_write)
      .execute(
          "UPDATE chunk SET flags = zeroblob((count + 7) / 8), feasible = 0, reason = zeroblob(4 * count) WHERE "
          "sweep = 2");
  expect_swept(joined(parent, {"--data", data}));
  EXPECT_TRUE(export_of(data, 4) == export_of(folder / "fresh", 1)) << "what is damaged is evaluated";
}

TEST(revisions, an_extension_that_was_killed_resumes_to_the_same_bytes) {
  const TemporaryFolder folder;
  const std::string data = folder / "data", fresh = folder / "fresh";
  // Long enough to be met in its middle: each value is a program of its own.
  const std::string more = "psram_bytes=1100000:9000000:100000";
  expect_swept(joined(parent, {"--data", data}));
  const pid_t killed = start_sdip({"sweep", "--data", data, "--extend", "1", "--axis", more}, folder.path);
  const auto stored = [&] {
    try {
      Connection store(data + "/sdip.sqlite", Connection::Access::read_only);
      return store.integer("SELECT coalesce(sum(count), 0) FROM chunk WHERE sweep = 2");
    } catch (const Error&) {
      return std::int64_t{0};  // the store is being opened
    }
  };
  for (int i = 0; i < 60'000 && stored() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(killed, SIGKILL);
  EXPECT_EQ(wait_for(killed, folder.path).exit_code, 128 + SIGKILL) << "it had ended already";
  const Ended resumed = swept({"--data", data, "--resume", "2"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("of them stored already"));
  EXPECT_EQ(taken_by(data, 2), 366);
  const Words whole = joined(parent, {"--data", fresh});
  expect_swept(joined(whole, {"--name", "small"}));
  const Json spec = Json::parse(Store(data + "/sdip.sqlite").sweep(2).spec_json);
  write_file(folder / "spec.json", spec.dump());
  expect_swept({"--spec", folder / "spec.json", "--data", fresh});
  EXPECT_TRUE(export_of(data, 2) == export_of(fresh, 2));
}

TEST(revisions, a_sample_goes_on_and_keeps_its_points) {
  const TemporaryFolder folder;
  for (const char* sampling : {"random", "latin_hypercube", "sobol"}) {
    const std::string data = folder / sampling;
    expect_swept(joined(parent, {"--sampling", sampling, "--count", "300", "--data", data}));
    expect_swept({"--extend", "1", "--count", "200", "--data", data});
    EXPECT_EQ(taken_by(data, 2), 300);
    write_file(folder / "spec.json", Store(data + "/sdip.sqlite").sweep(2).spec_json);
    expect_swept({"--spec", folder / "spec.json", "--data", data});
    const std::string before = export_of(data, 1), after = export_of(data, 2);
    EXPECT_TRUE(after == export_of(data, 3)) << sampling;
    EXPECT_TRUE(after.starts_with(before)) << sampling;
  }
}

TEST(revisions, narrow_clone_and_retry_take_over_what_belongs) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  expect_swept(joined(parent, {"--data", data}));
  expect_swept({"--narrow", "1", "--axis", "cores=4,1", "--constraint", "area_mm2 <= 200", "--data", data});
  expect_swept({"--clone", "1", "--name", "again", "--data", data});
  expect_swept({"--retry", "3", "--data", data});
  const Store store(data + "/sdip.sqlite");
  EXPECT_EQ(store.sweep(2).taken, 244);
  EXPECT_EQ(store.sweep(3).taken, 366);
  EXPECT_EQ(store.sweep(3).name, "again");
  EXPECT_LT(store.sweep(3).feasible, 366);
  EXPECT_EQ(store.sweep(4).taken, store.sweep(3).feasible);
  EXPECT_EQ(store.sweep(4).revision, 3);
  EXPECT_EQ(store.sweep(4).origin->parent, 3);
}

TEST(revisions, exports_name_where_the_points_come_from) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  expect_swept(joined(parent, {"--data", data}));
  expect_swept(joined(widening, {"--data", data}));
  const Json manifest = Json::parse(run_sdip({"export", "2", "--data", data, "--format", "json"}).out)["manifest"];
  EXPECT_EQ(manifest["sweep"]["revision"], 2);
  EXPECT_EQ(manifest["sweep"]["parent"], 1);
  EXPECT_EQ(manifest["sweep"]["change"], Json::parse(R"({"kind": "extend", "axes": [
    {"parameter": "cores", "values": [8]}, {"parameter": "psram_bytes", "values": [2097152]}]})"));
}

TEST(revisions, are_refused_with_what_is_not_theirs) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  expect_swept(joined(parent, {"--data", data}));
  const auto said = [&](const Words& words) { return swept(words).err; };
  EXPECT_THAT(said({"--clone", "1"}), HasSubstr("value_invalid: --clone: needs --data"));
  EXPECT_THAT(said({"--clone", "1", "tiny-sd", "--data", data}), HasSubstr("value_conflict: --clone"));
  EXPECT_THAT(said({"--clone", "1", "--retry", "1", "--data", data}), HasSubstr("value_conflict: --retry"));
  EXPECT_THAT(said({"--extend", "7", "--count", "3", "--data", data}), HasSubstr("not_found: sweep 7"));
  EXPECT_THAT(said({"--extend", "1", "--count", "3", "--data", data}), HasSubstr("value_invalid: /count"));
  EXPECT_EQ(Store(data + "/sdip.sqlite").sweeps().size(), 1u);
}

/// A sweep's points but for what is measured of them when it is done.
std::string computed_of(const Site& site, const std::string& sweep) {
  return site.get("/api/v1/sweeps/" + sweep + "/export?fields=cores,psram_bytes,throughput_fps,area_mm2,power_w")
      .body;
}

TEST(revisions, of_an_uploaded_model_take_over_what_a_child_need_not_evaluate) {
  const Site site;
  EXPECT_EQ(site.put("/api/v1/models/small", small_onnx()).status, 201);
  const std::string axes = R"("axes": [{"parameter": "psram_bytes", "values": [65536, 1048576]},
                                        {"parameter": "cores", "values": )";
  const std::string of_small = R"({"model": "small", "validate_seconds": 0, )";
  site.sweep(of_small + axes + "[1, 2]}]}");
  const Answer made = site.post("/api/v1/sweeps/1/revisions",
                                R"({"kind": "extend", "axes": [{"parameter": "cores", "values": [4, 8]}]})");
  ASSERT_EQ(made.status, 202) << made.body;
  EXPECT_EQ(made.headers.at("location"), "/api/v1/sweeps/2");
  const Json done = site.wait_for_state("2", "done");
  EXPECT_EQ(done["taken"], 4);
  EXPECT_EQ(done["parent"], 1);
  const std::string fresh = site.sweep(of_small + axes + "[1, 2, 4, 8]}]}");
  EXPECT_EQ(computed_of(site, "2"), computed_of(site, fresh));
}

TEST(revisions, of_a_sweep_that_is_removed_are_evaluated_whole) {
  const Site site;
  site.sweep(small_sweep);
  const std::string whole = computed_of(site, "1");
  EXPECT_EQ(site.post("/api/v1/sweeps/1/revisions", R"({"kind": "clone"})").status, 202);
  site.wait_for_state("2", "done");
  EXPECT_EQ(site.request("DELETE", "/api/v1/sweeps/1").status, 204);
  EXPECT_EQ(site.post("/api/v1/sweeps/2/revisions", R"({"kind": "retry"})").status, 202);
  EXPECT_EQ(site.wait_for_state("3", "done")["parent"], 2);
  EXPECT_EQ(site.get("/api/v1/sweeps/2").json()["parent"], 1) << "numbers are never used again";
  EXPECT_EQ(computed_of(site, "3"), whole);
}

}  // namespace
}  // namespace sdip::test
