// Sweeps as jobs: one runs at a time, on every core; their states live in the store.
#pragma once

#include <functional>

#include "core/explore/space/spec.h"
#include "db/store.h"
#include "server/http/job_queue.h"
#include "server/jobs/pace.h"
#include "server/models/catalog.h"

namespace sdip {

/// Keeps a sweep, checked against the catalog; `origin`: of which it was made. Throws Error unknown_model, value_*.
std::int64_t add_sweep(Store& store, const Catalog& catalog, const SweepSpec& spec,
                       const std::optional<SweepOrigin>& origin = std::nullopt);

struct Revision;

struct RunOptions {
  int threads = 1;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const Pace&)> on_batch = nullptr;
  /// These points alone, ascending; a sweep that then misses others is cancelled, not done. Nothing: all.
  std::optional<std::vector<IndexRange>> part{};
};

/// Queues a sweep that ended before its last point. Throws Error conflict, engine_changed, not_found.
void queue_again(Store& store, std::int64_t id);

/// Runs the missing points of a queued sweep; returns whether it was cancelled, with state still running: the
/// caller says whether that means cancelled or interrupted. What stops it is kept as its problem, state failed.
bool run_sweep(Store& store, const Catalog& catalog, std::int64_t id, const RunOptions& options);

/// The evaluation "sweep": shows batches of points (server/json/batch_bytes.h).
std::string evaluate_sweep(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);

class Jobs {
 public:
  /// Starts the runner; sweeps that were queued or interrupted when the process last ended are queued again, oldest
  /// first. `on_done` is called with each sweep that is done. At its end the points under way are finished, and the
  /// running sweep is interrupted.
  Jobs(Store& store, const Catalog& catalog, std::function<void(std::int64_t)> on_done = {});

  std::int64_t submit(const SweepSpec& spec);
  /// As add_revision.
  std::int64_t revise(std::int64_t parent, const Revision& revision);
  /// Throws Error conflict when the sweep has ended already, not_found.
  void cancel(std::int64_t id);
  /// Throws Error conflict when it is queued, running or done, engine_changed, not_found.
  void resume(std::int64_t id);
  /// The pace of the running sweep; nullopt for any other.
  std::optional<Pace> pace(std::int64_t id) const { return queue_.progress(id); }

 private:
  void run(std::int64_t id, const JobTurn<Pace>& turn);

  Store& store_;
  const Catalog& catalog_;
  std::function<void(std::int64_t)> on_done_;
  JobQueue<Pace> queue_;  // last: its thread uses all others
};

}  // namespace sdip
