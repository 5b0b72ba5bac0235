// Measurements of accuracy as jobs: one at a time, in the order asked, at a lower priority than requests; kept
// until the process ends. Fronts of finished sweeps wait behind all of them. Internal to its room.
#pragma once

#include <map>
#include <mutex>

#include "server/http/job_queue.h"
#include "server/models/apart.h"
#include "server/studies/accuracy.h"

namespace sdip {

/// The evaluations "accuracy_check", of what a job would take, and "accuracy", which shows the share that is done.
std::string evaluate_accuracy_check(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);
std::string evaluate_accuracy(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);

class AccuracyJobs {
 public:
  /// At its end what runs is left unfinished.
  AccuracyJobs(Store& store, const Catalog& catalog);

  /// Compiles the body of POST /accuracies, and measures it later; returns the job's number. When many jobs are
  /// finished the oldest are forgotten. Throws Error limit_exceeded, infeasible, busy (too many wait), and what
  /// reading the body and compiling throw.
  std::int64_t submit(const Json& body, const Stop& stop = {});
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
    Json request;
    std::string state = "queued";
    OrderedJson result, problem;
  };
  using Turn = JobTurn<double>;  // the share that is done
  void run(std::int64_t id, const Turn& turn);
  void run_front(std::int64_t sweep, const Turn& turn);
  void forget_oldest();
  /// A sweep's front in the queue: jobs are numbered from 1, so fronts are the numbers below.
  static std::int64_t front_id(std::int64_t sweep) { return -sweep; }

  Store& store_;
  const Catalog& catalog_;
  mutable std::mutex mutex_;  // of the jobs; the queue has its own
  std::map<std::int64_t, Job> jobs_;
  std::int64_t last_ = 0;
  JobQueue<double> queue_;  // last: its thread uses all others
};

}  // namespace sdip
