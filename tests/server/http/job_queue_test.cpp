// Do jobs run one at a time in the order asked, and end when they are told to?
#include "server/http/job_queue.h"

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>

namespace sdip::test {
namespace {

using testing::ElementsAre;

/// A queue whose jobs show their number, then run until `opened` or cancelled, and what became of them.
struct Gate {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  std::vector<std::int64_t> begun;
  std::vector<std::string> ended;
  std::unique_ptr<JobQueue<std::int64_t>> queue;

  explicit Gate(std::deque<std::int64_t> waiting = {}) {
    queue = std::make_unique<JobQueue<std::int64_t>>(
        JobKind::sweep, std::move(waiting),
        [this](std::int64_t id, const JobTurn<std::int64_t>& turn) { run(id, turn); });
  }

  void run(std::int64_t id, const JobTurn<std::int64_t>& turn) {
    turn.show(10 * id);
    std::unique_lock lock(mutex);
    begun.push_back(id);
    changed.notify_all();
    if (id == 13) throw std::runtime_error("thirteen");
    while (!open && !turn.cancel) changed.wait_for(lock, std::chrono::milliseconds(1));
    ended.push_back(std::to_string(id) + (!turn.cancel ? "" : turn.by_user() ? " cancelled" : " interrupted"));
    changed.notify_all();
  }
  void wait_until(const std::function<bool()>& there) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), there));
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
};

TEST(job_queue, runs_the_worked_example_in_its_order) {
  Gate gate({1});
  gate.queue->add_behind(9);
  gate.queue->add(2);
  gate.queue->add(3);
  gate.wait_until([&] { return !gate.begun.empty(); });
  EXPECT_TRUE(gate.queue->has(1) && gate.queue->has(2) && gate.queue->has(9));
  EXPECT_FALSE(gate.queue->cancel(3)) << "it only waited";
  EXPECT_FALSE(gate.queue->has(3));
  gate.let_go();
  gate.wait_until([&] { return gate.ended.size() == 3; });
  EXPECT_THAT(gate.ended, ElementsAre("1", "2", "9"));
}

TEST(job_queue, shows_the_progress_of_the_one_that_runs_alone) {
  Gate gate({4, 5});
  gate.wait_until([&] { return !gate.begun.empty(); });
  EXPECT_EQ(gate.queue->progress(4), 40);
  EXPECT_EQ(gate.queue->progress(5), std::nullopt);
}

TEST(job_queue, waits_for_one_that_is_cancelled_and_goes_on_with_the_next) {
  Gate gate({6, 7});
  gate.wait_until([&] { return !gate.begun.empty(); });
  gate.queue->drop(6);  // it runs, and goes on
  EXPECT_TRUE(gate.queue->cancel(6));
  EXPECT_FALSE(gate.queue->has(6));
  gate.let_go();
  gate.wait_until([&] { return gate.ended.size() == 2; });
  EXPECT_THAT(gate.ended, ElementsAre("6 cancelled", "7"));
}

TEST(job_queue, goes_on_behind_one_that_throws) {
  Gate gate({13, 8});
  gate.wait_until([&] { return gate.begun.size() == 2; });
  EXPECT_THAT(gate.begun, ElementsAre(13, 8));
}

TEST(job_queue, that_ends_interrupts_the_one_that_runs_and_starts_no_other) {
  Gate gate({1, 2});
  gate.wait_until([&] { return !gate.begun.empty(); });
  gate.queue.reset();
  EXPECT_THAT(gate.ended, ElementsAre("1 interrupted"));
}

}  // namespace
}  // namespace sdip::test
