// Running validations.
#include "server/validation_jobs.h"

#include <algorithm>
#include <iostream>

#include "core/base/error.h"
#include "server/jobs.h"
#include "server/stages.h"
#include "server/validate_front.h"
#include "server/validation_json.h"

namespace sdip {
namespace {

/// What a list of validations shows of one.
OrderedJson summary_json(const Validation& validation) {
  return {{"feasible", validation.feasible},
          {"reason", validation.reason},
          {"passed", passes(validation)},
          {"seconds", validation.seconds},
          {"first_difference", first_difference_json(validation)},
          {"coverage", coverage_json(coverage_of(validation))}};
}

}  // namespace

std::optional<std::int64_t> add_front_validation(Store& store, const SweepRecord& sweep, std::int64_t seconds) {
  seconds = sweep.spec.validate_seconds.value_or(seconds);
  if (seconds == 0 || sweep.row.feasible == 0) return std::nullopt;
  ValidationRow row;
  row.sweep = sweep.row.id;
  row.model = sweep.spec.model;
  row.request_json = json_text(OrderedJson{{"seconds", seconds}});
  row.created = time_text();
  return store.add_validation(row);
}

bool run_validation(Store& store, const Catalog& catalog, std::int64_t id, const std::atomic<bool>* cancel,
                    const std::function<void(const ValidationProgress&)>& show) {
  store.set_validation_state(id, SweepState::running);
  const ValidationRow row = store.validation(id);
  try {
    bool cancelled = false;
    OrderedJson summary, result;
    if (row.sweep) {
      const auto seconds = Json::parse(row.request_json).at("seconds").get<std::int64_t>();
      const FrontValidation front = validate_front(store, catalog, *row.sweep, seconds, cancel, show);
      cancelled = front.cancelled;
      summary = front_summary_json(front);
      result = front_validation_json(front);
    } else {
      const ValidationRequest request = validation_request(Json::parse(row.request_json));
      const Validation validation = validate(catalog, request, cancel, show);
      cancelled = validation.cancelled;
      summary = summary_json(validation);
      result = validation_json(validation);
    }
    if (cancelled) return true;
    store.end_validation(id, json_text(summary), json_text(result));
  } catch (const Error& error) {
    store.set_validation_state(id, SweepState::failed, Problem{error.code, error.where, error.what()});
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: validation " << id << ": " << printable(bug.what()) << std::endl;
    store.set_validation_state(id, SweepState::failed, Problem{"internal", "", "a bug of ours; the log has more"});
  }
  return false;
}

ValidationJobs::ValidationJobs(Store& store, const Catalog& catalog, std::int64_t front_seconds)
    : store_(store), catalog_(catalog), front_seconds_(front_seconds) {
  for (const ValidationRow& row : store.queued_validations()) queue_.push_back(row.id);
  thread_ = std::thread([this] { run(); });
}

ValidationJobs::~ValidationJobs() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    cancel_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ValidationJobs::enqueue(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(id);
  wake_.notify_all();
}

std::int64_t ValidationJobs::submit(const ValidationRequest& request) {
  catalog_.require(request.model, "/model");
  ValidationRow row;
  row.model = request.model;
  row.request_json = json_text(request_json(request));
  row.created = time_text();
  const std::int64_t id = store_.add_validation(row);
  enqueue(id);
  return id;
}

void ValidationJobs::submit_front(std::int64_t sweep) {
  if (const auto id = add_front_validation(store_, sweep_record(store_, sweep), front_seconds_)) enqueue(*id);
}

void ValidationJobs::cancel(std::int64_t id) {
  std::unique_lock lock(mutex_);
  if (running_ == id) {
    by_user_ = true;
    cancel_ = true;
    // The answer shows it as it then is: a stage's counters or a layer's tensors take a second or a few.
    wake_.wait_for(lock, std::chrono::seconds(10), [&] { return running_ != id || ending_; });
    return;
  }
  std::erase(queue_, id);
  store_.set_validation_state(id, SweepState::cancelled);
}

void ValidationJobs::forget(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase(queue_, id);
}

std::optional<ValidationProgress> ValidationJobs::progress(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  return running_ == id ? std::optional(progress_) : std::nullopt;
}

/// Ends it in the state that it then has.
void ValidationJobs::run_one(std::int64_t id) {
  const auto show = [this](const ValidationProgress& progress) {
    const std::lock_guard hold(mutex_);
    progress_ = progress;
  };
  if (!run_validation(store_, catalog_, id, &cancel_, show)) return;
  const std::lock_guard hold(mutex_);
  store_.set_validation_state(id, by_user_ ? SweepState::cancelled : SweepState::interrupted);
}

void ValidationJobs::run() {
  give_way(2);  // to sweeps, too
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty(); });
    if (ending_) return;
    const std::int64_t id = running_ = queue_.front();
    queue_.pop_front();
    by_user_ = false;
    cancel_ = false;
    progress_ = {};
    lock.unlock();
    try {
      run_one(id);
    } catch (const std::exception& problem) {  // the store itself failed, or the sweep was removed meanwhile
      std::cerr << "sdip: validation " << id << ": " << printable(problem.what()) << std::endl;
    }
    lock.lock();
    running_ = 0;
    wake_.notify_all();
  }
}

}  // namespace sdip
