// kill -9 in the middle of a sweep, and what is there afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/core/base/full_run.h"
#include "tests/sanitized.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

const std::vector<std::string> swept_axes = {
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
  for (int i = 0; i < 12'000 && points_in(data) <= points; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return points_in(data);
}

/// Starts the sweep in `data` and sends `signal` as soon as some points are stored.
Ended interrupted_sweep(const TemporaryFolder& folder, const std::string& data, int signal) {
  std::vector<std::string> rest = {"tiny-sd"};
  rest.insert(rest.end(), swept_axes.begin(), swept_axes.end());
  const pid_t process = start_sdip(sweep_into(data, rest), folder.path);
  more_points_in(data, 0);
  ::kill(process, signal);
  return wait_for(process, folder.path);
}

std::string whole_export() {
  const TemporaryFolder folder;
  std::vector<std::string> rest = {"tiny-sd", "--export", folder / "points.csv"};
  rest.insert(rest.end(), swept_axes.begin(), swept_axes.end());
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

/// How often a sweep is hit: SDIP_CRASH_ROUNDS, or 200 times in a full run.
int crash_rounds() {
  const char* const wanted = std::getenv("SDIP_CRASH_ROUNDS");
  if (wanted != nullptr) return std::atoi(wanted);
  return sanitized ? 5 : full_run() ? 200 : 10;
}

/// What hits a process: kill -9 after a time, or at a write of its store (tests/server/child/failing_writes.cpp),
/// in the middle of it; or that write, and each that follows, fails.
struct Blow {
  std::chrono::milliseconds kill_after = std::chrono::hours(1);
  std::vector<std::string> environment = {};
};

/// A kill comes within what a whole sweep took on this machine.
Blow drawn_blow(std::mt19937& random, std::chrono::milliseconds whole) {
  Blow blow;
  constexpr int killed = 0, ways[] = {killed, ENOSPC, EIO, EROFS};
  if (sanitized || random() % 3 == 0)
    blow.kill_after = std::chrono::milliseconds(static_cast<std::int64_t>(random()) % whole.count());
  else
    blow.environment = {"LD_PRELOAD=" SDIP_FAILING_WRITES, "SDIP_FAIL_AT=" + std::to_string(1 + random() % 250),
                        "SDIP_FAIL_WITH=" + std::to_string(ways[random() % std::size(ways)])};
  return blow;
}

/// Starts the sweep in `data`, or goes on with it, until it ends. `seen`: points that a reader saw meanwhile.
Ended life_under(const Blow& blow, const std::string& data, int& seen) {
  const TemporaryFolder folder;
  std::vector<std::string> rest = {"tiny-sd", "--part", "1/1"};
  rest.insert(rest.end(), swept_axes.begin(), swept_axes.end());
  const auto deadline = std::chrono::steady_clock::now() + blow.kill_after;
  const pid_t process = start_sdip(sweep_into(data, rest), folder.path, blow.environment);
  for (siginfo_t ended{}; ended.si_pid == 0;) {
    if (std::chrono::steady_clock::now() >= deadline) ::kill(process, SIGKILL);
    seen = std::max(seen, points_in(data));
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    ::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
  }
  return wait_for(process, folder.path);
}

/// The store is whole, and holds all that was seen in it.
void expect_kept(const std::string& data, int& seen) {
  if (!std::filesystem::exists(data + "/sdip.sqlite") && seen == 0) return;
  const Ended checked = run_sdip({"db", "check", "--data", data, "--json"});
  ASSERT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  const int points = nlohmann::json::parse(checked.out)["points"];
  EXPECT_GE(points, seen);
  seen = points;
}

TEST(crash, rounds_of_kills_and_of_writes_that_fail_lose_nothing) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string whole = whole_export();
  const auto took = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  const int rounds = crash_rounds();
  std::mt19937 random(26);
  int hit = 0, sweeps = 0, points_at_hits = 0;
  while (hit < rounds) {
    const TemporaryFolder folder;
    const std::string data = folder / "data";
    int seen = 0;
    for (bool done = false; !done;) {
      const Blow blow = hit < rounds ? drawn_blow(random, took) : Blow();
      const Ended ended = life_under(blow, data, seen);
      done = ended.exit_code == 0;
      if (done) break;
      ++hit;
      const bool told = ended.exit_code == 1 && ended.err.find("sdip.sqlite") != std::string::npos;
      ASSERT_TRUE(told || ended.exit_code == 128 + SIGKILL) << ended.exit_code << ": " << ended.err;
      ASSERT_NO_FATAL_FAILURE(expect_kept(data, seen));
      points_at_hits += seen > 0;
    }
    ++sweeps;
    ASSERT_EQ(run_sdip({"export", "1", "--data", data, "-o", folder / "resumed.csv"}).exit_code, 0);
    ASSERT_TRUE(file_text(folder / "resumed.csv") == whole) << "sweep " << sweeps;
  }
  std::cout << hit << " rounds over " << sweeps << " sweeps, " << points_at_hits << " of them with points stored\n";
  EXPECT_GT(points_at_hits, rounds / 2) << "too early to have tested anything";
}

/// Each point is a compilation of its own, so that a batch of them takes seconds.
constexpr int slow_points = sanitized ? 102 : 502;
const std::string slow_axis = sanitized ? "dsram_bytes=1000000:3000000:40000" : "dsram_bytes=1000000:3000000:8000";
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
