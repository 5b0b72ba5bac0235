// Searches for the best machine as jobs: one runs at a time, on every core; their states live in the store.
// Internal to its room.
#pragma once

#include "db/store.h"
#include "server/http/job_queue.h"
#include "server/models/apart.h"
#include "server/studies/best.h"

namespace sdip {

/// The evaluation "search", of {"request","threads"}, which shows how far it is: a summary and a result, a line
/// each.
std::string evaluate_search(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);

class SearchJobs {
 public:
  /// Starts the runner; those that were queued or interrupted when the process last ended go on, oldest first,
  /// those of uploads from their beginning. At its end what runs is interrupted.
  SearchJobs(Store& store, const Catalog& catalog);

  /// Throws Error unknown_model.
  std::int64_t submit(const BestRequest& request);
  /// Ends a search. The best machine of one that runs is kept, unless its model is an upload. Throws Error conflict
  /// when it has ended already, not_found.
  void cancel(std::int64_t id);
  /// One that waits no longer does.
  void forget(std::int64_t id) { queue_.drop(id); }
  /// How far the running search is; nullopt for any other.
  std::optional<BestProgress> progress(std::int64_t id) const { return queue_.progress(id); }

 private:
  void run(std::int64_t id, const JobTurn<BestProgress>& turn);

  Store& store_;
  const Catalog& catalog_;
  JobQueue<BestProgress> queue_;  // last: its thread uses all others
};

}  // namespace sdip
