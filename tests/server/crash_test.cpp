// kill -9 in the middle of a sweep, and what is there afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "tests/sanitized.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

const std::vector<std::string> axes = {
    "--axis", "psram_bytes=1048576,2097152", "--axis", "cores=1:20:1",
    "--axis", "dram_channels=2,4,8,16",      "--axis", "core_clock_mhz=100:2500:40",
    "--set",  "technology.dram.hbm2=4.4",    "--axis", "technology.n7.multiply.fp16=0.3,0.34"};

std::vector<std::string> sweep_into(const std::string& folder, std::vector<std::string> rest) {
  std::vector<std::string> arguments = {"sweep", "--data", folder};
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

/// How many points of the sweep a reader sees that another process is writing.
int points_in(const std::string& data) {
  sqlite3* store = nullptr;
  sqlite3_stmt* query = nullptr;
  const bool found =
      sqlite3_open_v2((data + "/sdip.sqlite").c_str(), &store, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(store, "SELECT sum(count) FROM chunk", -1, &query, nullptr) == SQLITE_OK &&
      sqlite3_step(query) == SQLITE_ROW;
  const int points = found ? sqlite3_column_int(query, 0) : 0;
  sqlite3_finalize(query);
  sqlite3_close(store);
  return points;
}

/// Waits until there are more than `points`.
int more_points_in(const std::string& data, int points) {
  for (int i = 0; i < 60'000 && points_in(data) <= points; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return points_in(data);
}

/// Starts the sweep in `data` and sends `signal` as soon as some points are stored.
Ended interrupted_sweep(const TemporaryFolder& folder, const std::string& data, int signal) {
  std::vector<std::string> rest = {"tiny-sd"};
  rest.insert(rest.end(), axes.begin(), axes.end());
  const pid_t process = start_sdip(sweep_into(data, rest), folder.path);
  more_points_in(data, 0);
  ::kill(process, signal);
  return wait_for(process, folder.path);
}

std::string whole_export() {
  const TemporaryFolder folder;
  std::vector<std::string> rest = {"tiny-sd", "--export", folder / "points.csv"};
  rest.insert(rest.end(), axes.begin(), axes.end());
  EXPECT_EQ(run_sdip(sweep_into(folder / "data", rest)).exit_code, 0);
  return file_text(folder / "points.csv");
}

void expect_resumed_equals_whole(const TemporaryFolder& folder, const std::string& data) {
  const Ended resumed = run_sdip(sweep_into(data, {"--resume", "1", "--export", folder / "resumed.csv"}));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::HasSubstr("of them stored already")) << "the sweep was not in its middle";
  EXPECT_EQ(file_text(folder / "resumed.csv"), whole_export());
}

TEST(crash, a_sweep_killed_in_the_middle_resumes_to_the_same_bytes) {
  const TemporaryFolder folder;
  EXPECT_EQ(interrupted_sweep(folder, folder / "data", SIGKILL).exit_code, 128 + SIGKILL) << "it had ended already";
  expect_resumed_equals_whole(folder, folder / "data");
}

TEST(crash, an_interrupt_cancels_cleanly_and_resumes_to_the_same_bytes) {
  const TemporaryFolder folder;
  const Ended ended = interrupted_sweep(folder, folder / "data", SIGINT);
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.err, testing::HasSubstr("--resume 1"));
  expect_resumed_equals_whole(folder, folder / "data");
}

/// Each point is a compilation of its own, so that a batch of them takes seconds.
constexpr int slow_points = sanitized ? 102 : 1002;
const std::string slow_axis = sanitized ? "dsram_bytes=1000000:3000000:40000" : "dsram_bytes=1000000:3000000:4000";
const std::vector<std::string> slow_sweep = {"sd15",   "--validate-seconds", "0", "--axis", slow_axis,
                                             "--axis", "cores=1,2"};

TEST(crash, a_server_killed_in_a_sweep_s_first_moments_keeps_points_each_time_and_goes_on_by_itself) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  const pid_t first = start_sdip(sweep_into(data, slow_sweep), folder.path);
  int points = more_points_in(data, 0);
  ::kill(first, SIGKILL);
  EXPECT_EQ(wait_for(first, folder.path).exit_code, 128 + SIGKILL);
  EXPECT_LT(points, slow_points / 2) << "it kept points before a batch was whole";
  const std::vector<std::string> serve = {"serve", "--port", "0", "--validate-seconds", "0", "--data", data};
  for (int life = 0; life < 4; ++life) {
    const int before = points;
    const pid_t process = start_sdip(serve, folder.path);
    points = more_points_in(data, before);
    ::kill(process, life == 3 ? SIGTERM : SIGKILL);
    wait_for(process, folder.path);
    EXPECT_GT(points, before) << "life " << life;
  }
  const pid_t process = start_sdip(serve, folder.path);
  while (points < slow_points && more_points_in(data, points) > points) points = points_in(data);
  EXPECT_EQ(points, slow_points);
  ::kill(process, SIGTERM);
  EXPECT_EQ(wait_for(process, folder.path).exit_code, 0);
  EXPECT_EQ(run_sdip({"export", "1", "--data", data, "-o", folder / "resumed.csv"}).exit_code, 0);

  std::vector<std::string> whole = slow_sweep;
  whole.insert(whole.end(), {"--export", folder / "whole.csv"});
  EXPECT_EQ(run_sdip(sweep_into(folder / "other", whole)).exit_code, 0);
  EXPECT_EQ(file_text(folder / "resumed.csv"), file_text(folder / "whole.csv"));
}

}  // namespace
}  // namespace sdip::test
