// Sweeps as jobs: one runs at a time, on every core; their states live in the store.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "core/explore/spec.h"
#include "db/store.h"
#include "server/catalog.h"

namespace sdip {

/// The calling thread, and those it starts, give way to requests: they run at a lower priority; `more` than 0 also
/// to others that give way.
void give_way(int more = 0);

/// How far the sweep that runs now has come since it was (re)started.
struct Pace {
  std::int64_t done = 0;  // stored in all
  double points_per_second = 0, eta_s = 0;
};

/// Keeps a sweep, checked against the catalog. Throws Error unknown_model, value_*.
std::int64_t add_sweep(Store& store, const Catalog& catalog, const SweepSpec& spec);

struct RunOptions {
  int threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const Pace&)> on_batch = nullptr;
};

/// Runs the missing points of a queued sweep; returns whether it was cancelled, with state still running: the
/// caller says whether that means cancelled or interrupted. What stops it is kept as its problem, state failed.
bool run_sweep(Store& store, const Catalog& catalog, std::int64_t id, const RunOptions& options);

class Jobs {
 public:
  /// Starts the runner; sweeps that were queued when the process last ended are queued again, oldest first.
  /// `on_done` is called with each sweep that is done.
  Jobs(Store& store, const Catalog& catalog, std::function<void(std::int64_t)> on_done = {});
  /// Finishes the batches under way, marks the running sweep interrupted, and ends.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  std::int64_t submit(const SweepSpec& spec);
  /// Throws Error conflict when the sweep has ended already, not_found.
  void cancel(std::int64_t id);
  /// Throws Error conflict when it is queued, running or done, not_found.
  void resume(std::int64_t id);
  /// Of the running sweep; of any other, nullopt.
  std::optional<Pace> pace(std::int64_t id) const;

 private:
  void run();
  void enqueue(std::int64_t id);

  Store& store_;
  const Catalog& catalog_;
  std::function<void(std::int64_t)> on_done_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::int64_t> queue_;
  std::int64_t running_ = 0;  // 0: none
  bool cancelled_ = false;    // by a user, not by the end of the process
  bool ending_ = false;
  Pace pace_;
  std::atomic<bool> cancel_ = false;
  std::thread thread_;
};

}  // namespace sdip
