// Measurements of accuracy as jobs: one at a time, in the order asked, at a lower priority than requests; kept
// until the process ends. Fronts of finished sweeps wait behind them.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "server/accuracy.h"

namespace sdip {

class AccuracyJobs {
 public:
  AccuracyJobs(Store& store, const Catalog& catalog);
  /// Ends what runs, unfinished.
  ~AccuracyJobs();
  AccuracyJobs(const AccuracyJobs&) = delete;
  AccuracyJobs& operator=(const AccuracyJobs&) = delete;

  /// Compiles now and measures later; returns the job's number. Of many finished jobs the oldest are forgotten.
  /// Throws Error limit_exceeded, infeasible, busy (too many wait), and what compiling throws.
  std::int64_t submit(const AccuracyRequest& request);
  /// GET /accuracies/{id}. Throws Error not_found.
  OrderedJson job(std::int64_t id) const;
  /// Ends it when it runs, and forgets it. Throws Error not_found.
  void remove(std::int64_t id);

  /// Measures the front of a finished sweep when nothing else waits.
  void measure_front_of(std::int64_t sweep);
  /// Whether a sweep's front waits for that, or is being measured.
  bool measures_front_of(std::int64_t sweep) const;

 private:
  struct Job {
    std::string model;
    AccuracyPlan plan;  // until it runs
    std::string state = "queued";
    double share = 0;
    OrderedJson result, problem;
  };
  void run();
  void run_job(std::int64_t id, AccuracyPlan plan);
  void forget_oldest();

  Store& store_;
  const Catalog& catalog_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::int64_t, Job> jobs_;
  std::deque<std::int64_t> queue_, fronts_;
  std::int64_t last_ = 0, front_ = 0;  // front_: the sweep that is being measured, 0: none
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sdip
