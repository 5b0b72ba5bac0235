// What a damaged store and a full disk look like from outside: a code, and nothing of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <random>

#include "db/sqlite.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

const std::vector<std::string> some_points = {
    "tiny-sd", "--validate-seconds", "0", "--axis", "cores=1:20:1", "--axis", "psram_bytes=1048576,2097152"};

std::string sweep_in(const TemporaryFolder& folder) {
  std::vector<std::string> arguments = {"sweep", "--data", folder / "data", "--export", folder / "right.csv"};
  arguments.insert(arguments.end(), some_points.begin(), some_points.end());
  EXPECT_EQ(run_sdip(arguments).exit_code, 0);
  return folder / "data";
}

TEST(db_check, finds_a_store_whole_and_lists_what_is_damaged) {
  const TemporaryFolder folder;
  const std::string data = sweep_in(folder), file = data + "/sdip.sqlite";
  const Ended whole = run_sdip({"db", "check", "--data", data});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.out, testing::HasSubstr("1 sweeps, 40 points\nwhole\n"));

  std::string bytes = file_text(file);
  for (std::size_t page = 1; page < bytes.size() / 16384; ++page) bytes[page * 16384 + 9000] ^= '\x20';
  write_file(file, bytes);
  const Ended damaged = run_sdip({"db", "check", "--data", data});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, testing::HasSubstr("\ndamaged: "));
  EXPECT_THAT(damaged.err, testing::StartsWith("sdip: store_corrupt: " + file));
  const Ended listed = run_sdip({"db", "check", "--data", data, "--json"});
  EXPECT_EQ(listed.exit_code, 1);
  EXPECT_FALSE(Json::parse(listed.out)["damages"].empty());

  EXPECT_EQ(run_sdip({"db", "check", "--data", folder / "nowhere"}).exit_code, 1);
  EXPECT_EQ(run_sdip({"db"}).exit_code, 2);
  EXPECT_THAT(run_sdip({"--help"}).out, testing::HasSubstr("db "));
}

TEST(damaged_store, is_exported_rightly_or_not_at_all) {
  const TemporaryFolder folder;
  const std::string data = sweep_in(folder), file = data + "/sdip.sqlite", right = file_text(folder / "right.csv");
  const std::string whole = file_text(file);
  std::mt19937 random(7);
  int refused = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
    write_file(file, bytes);
    const Ended ended = run_sdip({"export", "1", "--data", data, "-o", folder / "found.csv"});
    if (ended.exit_code == 0) {
      EXPECT_EQ(file_text(folder / "found.csv"), right) << trial;
      continue;
    }
    ++refused;
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, testing::StartsWith("sdip: store_corrupt: ")) << trial;
  }
  EXPECT_GT(refused, 5);
}

/// Neither where things lie nor how they are asked for.
void expect_nothing_of_ours(const Site& site, const Answer& answer) {
  EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr(site.folder.path.string())));
  EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr("sqlite")));
  for (const char* word : {"SELECT", "INSERT", "UPDATE", "BEGIN", "COMMIT"})
    EXPECT_THAT(answer.body, testing::Not(testing::HasSubstr(word)));
}

TEST(damaged_store, is_500_without_paths_or_sql_before_an_answer_begins) {
  const Site site;
  const std::string path = "/api/v1/sweeps/" + site.sweep(small_sweep);
  for (const char* what : {"/points", "/columns", "/front", "/points/3", "/export"})
    EXPECT_EQ(site.get(path + what).status, 200) << what;
  Connection(store_file(site.folder.path).string(), Connection::Access::read_write)
      .execute("UPDATE chunk SET flags = zeroblob((count + 7) / 8), feasible = 0, reason = zeroblob(4 * count)");
  for (const char* what : {"/points", "/columns", "/front", "/points/3", "/export"}) {
    const Answer answer = site.get(path + what);
    EXPECT_EQ(answer.status, 500) << what;
    EXPECT_EQ(answer.json()["code"], "store_corrupt") << what;
    expect_nothing_of_ours(site, answer);
  }
}

TEST(full_disk, is_507_without_paths_or_sql) {
  const Site site;
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Answer answer = site.post("/api/v1/sweeps", small_sweep);
  ::setrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, before);
  EXPECT_EQ(answer.status, 507) << answer.body;
  EXPECT_EQ(answer.json()["code"], "disk_full");
  EXPECT_EQ(answer.json()["where"], "");
  expect_nothing_of_ours(site, answer);
  EXPECT_EQ(site.post("/api/v1/sweeps", small_sweep).status, 202) << "once there is room again";
}

}  // namespace
}  // namespace sdip::test
