// Validations as jobs: one runs at a time, beside the sweep that may run; their states live in the store.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "db/store.h"
#include "server/validation.h"

namespace sdip {

class ValidationJobs {
 public:
  /// Starts the runner; those that were queued when the process last ended are queued again, oldest first.
  /// `front_seconds`: for the front of a sweep that says none of its own; 0: such fronts are not validated.
  ValidationJobs(Store& store, const Catalog& catalog, std::int64_t front_seconds);
  /// Ends what runs, which is then interrupted.
  ~ValidationJobs();
  ValidationJobs(const ValidationJobs&) = delete;
  ValidationJobs& operator=(const ValidationJobs&) = delete;

  /// Throws Error unknown_model.
  std::int64_t submit(const ValidationRequest& request);
  /// Of a sweep that is done, unless its time is 0.
  void submit_front(std::int64_t sweep);
  /// Throws Error conflict when it has ended already, not_found.
  void cancel(std::int64_t id);
  /// One that waits no longer does.
  void forget(std::int64_t id);
  /// Of the one that runs; of any other, nullopt.
  std::optional<ValidationProgress> progress(std::int64_t id) const;

 private:
  void run();
  void run_one(std::int64_t id);
  void enqueue(std::int64_t id);

  Store& store_;
  const Catalog& catalog_;
  std::int64_t front_seconds_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::int64_t> queue_;
  std::int64_t running_ = 0;  // 0: none
  bool by_user_ = false;      // what cancels it: a user, not the end of the process
  bool ending_ = false;
  ValidationProgress progress_;
  std::atomic<bool> cancel_ = false;
  std::thread thread_;
};

}  // namespace sdip
