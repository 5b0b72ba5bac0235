// Validations as jobs: one runs at a time, beside the sweep that may run; their states live in the store.
#pragma once

#include <optional>

#include "db/store.h"
#include "server/http/job_queue.h"
#include "server/jobs/sweep_json.h"
#include "server/studies/validation.h"

namespace sdip {

/// Keeps a validation of a sweep's front, queued; nothing when its time is 0 or no point is feasible. `seconds`:
/// where the sweep says none of its own.
std::optional<std::int64_t> add_front_validation(Store& store, const SweepRecord& sweep, std::int64_t seconds);

using ShowValidation = std::function<void(const ValidationProgress&)>;

/// The evaluations "validation" and "front_validation", which show how far they are, and "validation_check".
std::string evaluate_validation(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);
std::string evaluate_validation_check(const Catalog& catalog, const Json& request, const EvaluationTurn& turn);

/// Runs a queued validation and keeps its result, or as its problem what stops it. True: it was cancelled, its
/// state is still running, and the caller says whether that means cancelled or interrupted.
bool run_validation(Store& store, const Catalog& catalog, std::int64_t id, const std::atomic<bool>* cancel,
                    const ShowValidation& show = {});

class ValidationJobs {
 public:
  /// Starts the runner; those that were queued when the process last ended are queued again, oldest first.
  /// `front_seconds`: for the front of a sweep that says none of its own; 0: such fronts are not validated. At its
  /// end what runs is interrupted.
  ValidationJobs(Store& store, const Catalog& catalog, std::int64_t front_seconds);

  /// Throws Error unknown_model, and what require_layers does.
  std::int64_t submit(const ValidationRequest& request);
  /// Validates the front of a sweep that is done, unless its time is 0.
  void submit_front(std::int64_t sweep);
  /// Throws Error conflict when it has ended already, not_found.
  void cancel(std::int64_t id);
  /// One that waits no longer does.
  void forget(std::int64_t id) { queue_.drop(id); }
  /// How far the running validation is; nullopt for any other.
  std::optional<ValidationProgress> progress(std::int64_t id) const { return queue_.progress(id); }

 private:
  void run(std::int64_t id, const JobTurn<ValidationProgress>& turn);

  Store& store_;
  const Catalog& catalog_;
  std::int64_t front_seconds_;
  JobQueue<ValidationProgress> queue_;  // last: its thread uses all others
};

}  // namespace sdip
