// A queue of jobs with a thread: one runs at a time; any can be cancelled; the one that runs says how far it is.
//
// What a job is, where its state is kept and what its progress looks like is its kind's affair: the queue knows
// numbers. Example (a test repeats it): 1, 2 and 3 are added, 9 behind all; 1 runs, 3 is cancelled: 2 runs next,
// then 9; 3 never.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "core/base/index.h"

namespace sdip {

enum class JobKind { sweep, validation, accuracy, search };

struct JobKindRow {
  std::string_view name;  // as the log calls one
  int gives_way;          // to whom its thread gives way: 0, requests; above, kinds of less, too
  std::chrono::milliseconds
      cancel_wait;  // how long `cancel` waits for one that runs to end, so that the answer shows it
};
/// They end within that: a batch, some thousand tile operations, a row of a product, a layer that is mapped are
/// much shorter.
inline constexpr JobKindRow job_kinds[] = {
    {"sweep", 0, std::chrono::milliseconds(1000)},
    {"validation", 2, std::chrono::milliseconds(1000)},
    {"accuracy", 0, std::chrono::milliseconds(0)},  // nothing shows one that was removed
    {"search", 1, std::chrono::milliseconds(1000)},
};

/// The calling thread, and those it starts, give way to requests: they run at a lower priority; `more` than 0 also
/// to others that give way.
void give_way(int more);

/// Says on standard error that a job threw: the store failed, or what it was about is gone.
void log_job(const JobKindRow& kind, std::int64_t id, const std::exception& problem);

/// The means of a running job to see its end and to show its progress.
template <class Progress>
struct JobTurn {
  const std::atomic<bool>& cancel;  // true: it is to end
  std::function<void(const Progress&)> show;
  std::function<bool()> by_user;  // whether that was by `cancel`, not by the end of the process
};

template <class Progress>
class JobQueue {
 public:
  using Run = std::function<void(std::int64_t id, const JobTurn<Progress>&)>;

  /// Starts the thread, which calls `run` with each, those of `waiting` first. What `run` throws is logged. It may
  /// call the queue, but not `cancel` itself.
  JobQueue(JobKind kind, std::deque<std::int64_t> waiting, Run run)
      : kind_(job_kinds[at(kind)]), run_(std::move(run)), queue_(std::move(waiting)) {
    thread_ = std::thread([this] { work(); });
  }
  /// Ends the one that runs, and starts no other.
  ~JobQueue() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      cancel_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  void add(std::int64_t id) { put(queue_, id); }
  /// It runs when no other waits.
  void add_behind(std::int64_t id) { put(behind_, id); }

  /// Tells a job to end. True when it was running: it has ended, or the first who told it has waited long enough.
  /// Else it waits no longer: false.
  bool cancel(std::int64_t id) {
    std::unique_lock lock(mutex_);
    drop_waiting(id);
    if (running_ != id) return false;
    const bool told = by_user_;
    by_user_ = true;
    cancel_ = true;
    if (!told) wake_.wait_for(lock, kind_.cancel_wait, [&] { return running_ != id || ending_; });
    return true;
  }

  /// One that waits no longer does; one that runs goes on.
  void drop(std::int64_t id) {
    const std::lock_guard lock(mutex_);
    drop_waiting(id);
  }
  /// Whether it waits or runs.
  bool has(std::int64_t id) const {
    const std::lock_guard lock(mutex_);
    return running_ == id || std::ranges::find(queue_, id) != queue_.end() ||
           std::ranges::find(behind_, id) != behind_.end();
  }
  /// How far the running job is; nullopt for any other.
  std::optional<Progress> progress(std::int64_t id) const {
    const std::lock_guard lock(mutex_);
    return running_ == id ? std::optional(progress_) : std::nullopt;
  }

 private:
  void put(std::deque<std::int64_t>& queue, std::int64_t id) {
    const std::lock_guard lock(mutex_);
    queue.push_back(id);
    wake_.notify_all();
  }

  void drop_waiting(std::int64_t id) {
    std::erase(queue_, id);
    std::erase(behind_, id);
  }

  void work() {
    give_way(kind_.gives_way);
    const JobTurn<Progress> turn{cancel_,
                                 [this](const Progress& progress) {
                                   const std::lock_guard lock(mutex_);
                                   progress_ = progress;
                                 },
                                 [this] {
                                   const std::lock_guard lock(mutex_);
                                   return by_user_;
                                 }};
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return ending_ || !queue_.empty() || !behind_.empty(); });
      if (ending_) return;
      std::deque<std::int64_t>& next = queue_.empty() ? behind_ : queue_;
      const std::int64_t id = next.front();
      next.pop_front();
      running_ = id;
      progress_ = {};
      by_user_ = cancel_ = false;
      lock.unlock();
      try {
        run_(id, turn);
      } catch (const std::exception& problem) {
        log_job(kind_, id, problem);
      }
      lock.lock();
      running_.reset();
      wake_.notify_all();
    }
  }

  const JobKindRow& kind_;
  Run run_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::int64_t> queue_, behind_;
  std::optional<std::int64_t> running_;
  Progress progress_{};
  bool by_user_ = false, ending_ = false;
  std::atomic<bool> cancel_ = false;
  std::thread thread_;
};

}  // namespace sdip
