// Is a sweep that was killed, again and again, byte for byte the one that was not?
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "tests/db/older_store.h"
#include "tests/db/sample.h"

namespace sdip {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t batch_points = 64;

/// As sample_evaluate, taking its time now and then.
Outcome slow_evaluate(const Application& application, const Machine& machine) {
  if (machine.cores % 10 == 0) std::this_thread::sleep_for(microseconds(500));
  return sample_evaluate(application, machine);
}

/// The life of one process: resume the sweep and tell `acknowledged` how many points the store has taken.
[[noreturn]] void live(const std::string& path, std::int64_t id, const Space& space, int acknowledged) {
  try {
    Store store(path);
    if (store.sweep(id).state == SweepState::interrupted) store.set_state(id, SweepState::queued);
    store.set_state(id, SweepState::running);
    std::int64_t taken = store.sweep(id).done;
    const auto missing = store.missing_ranges(id);
    sweep(space, missing, sample_compile, one_by_one(slow_evaluate), {.threads = 2, .batch_points = batch_points},
          [&](PointBatch&& batch) {
            store.append(id, batch);
            taken += batch.count();
            if (write(acknowledged, &taken, sizeof taken) != sizeof taken) _exit(3);
          });
    store.set_state(id, SweepState::done);
  } catch (const std::exception& error) {
    fprintf(stderr, "child: %s\n", error.what());
    _exit(2);
  }
  _exit(0);
}

/// Starts a life, ends it after `patience`, and returns the last number it acknowledged; `finished` if it came
/// first.
std::int64_t live_and_die(const std::string& path, std::int64_t id, const Space& space, microseconds patience,
                          bool& finished) {
  int pipe_ends[2];
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    live(path, id, space, pipe_ends[1]);
  }
  close(pipe_ends[1]);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(microseconds(200));
      continue;
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    break;
  }
  finished = WIFEXITED(status);
  if (finished) {
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  std::int64_t acknowledged = 0, number = 0;
  while (read(pipe_ends[0], &number, sizeof number) == sizeof number) acknowledged = number;
  close(pipe_ends[0]);
  return acknowledged;
}

TEST(crash, leaves_a_sweep_that_resumes_to_the_same_bytes) {
  const Space space = sample_space(15'000);
  const TemporaryFolder folder, untouched;
  std::int64_t id = 0;
  {
    Store store(folder.store());
    id = add_sample_sweep(store, space);
  }
  std::mt19937 random(20261120);
  int kills = 0;
  bool finished = false;
  for (int life = 0; life < 200 && !finished; ++life) {
    const microseconds patience(life < 15 ? 3'000 + random() % 60'000 : 20'000'000);
    const std::int64_t acknowledged = live_and_die(folder.store(), id, space, patience, finished);
    if (finished) break;
    ++kills;
    const Store store(folder.store());
    const SweepRow row = store.sweep(id);
    ASSERT_GE(row.done, acknowledged) << "a batch that was taken is there after kill -9";
    if (row.state == SweepState::done) {  // killed on its way out
      EXPECT_EQ(row.done, row.total);
      finished = true;
      break;
    }
    ASSERT_TRUE(row.state == SweepState::interrupted || row.state == SweepState::queued);
    ASSERT_EQ(row.done % batch_points, row.done == row.total ? row.total % batch_points : 0) << "batches are whole";
  }
  ASSERT_TRUE(finished);
  EXPECT_GE(kills, 5) << "too few kills to have tested anything: make the sweep longer";

  Store whole(untouched.store());
  const std::int64_t other = add_sample_sweep(whole, space);
  run_sample(whole, other, space, {.batch_points = 1000});
  const Store resumed(folder.store());
  EXPECT_EQ(resumed.sweep(id).state, SweepState::done);
  for (const ExportFormat format : {ExportFormat::csv, ExportFormat::ndjson})
    EXPECT_TRUE(exported(resumed, id, space, format) == exported(whole, other, space, format));
}

/// Opens the store in a process that is killed after a while.
void open_and_die(const std::string& path, microseconds patience) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const Store store(path);
    } catch (const std::exception& error) {
      fprintf(stderr, "child: %s\n", error.what());
      _exit(2);
    }
    _exit(0);
  }
  std::this_thread::sleep_for(patience);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "what the one before left is in its way";
}

TEST(crash, while_a_store_is_made_leaves_none_or_a_whole_one) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 25; ++trial) {
    const TemporaryFolder folder;
    for (int life = 0; life < 2; ++life) open_and_die(folder.store(), microseconds(random() % 40'000));
    if (std::filesystem::exists(folder.store())) {
      EXPECT_GT(std::filesystem::file_size(folder.store()), 0u);
    }
    const Store store(folder.store());
    EXPECT_TRUE(store.sweeps().empty());
  }
}

TEST(crash, while_an_older_store_is_brought_up_leaves_the_older_or_the_newer_one) {
  const TemporaryFolder today, older;
  const Space space = sample_space(600);
  {
    Store store(today.store());
    run_sample(store, add_sample_sweep(store, space), space, {});
  }
  make_older_store(older.store(), today.store(), 3);
  std::string right;
  std::mt19937 random(12);
  for (int trial = 0; trial < 20; ++trial) {
    const TemporaryFolder folder;
    std::filesystem::copy_file(older.store(), folder.store());
    for (int life = 0; life < 2; ++life) open_and_die(folder.store(), microseconds(random() % 60'000));
    const Store store(folder.store());
    EXPECT_EQ(store.sweep(1).unchecked, 1200);
    const std::string found = exported(store, 1, space, ExportFormat::csv);
    if (right.empty()) right = found;
    EXPECT_TRUE(found == right);
  }
}

}  // namespace
}  // namespace sdip
