// Running validations.
#include "server/validation_jobs.h"

#include <iostream>

#include "core/base/error.h"
#include "server/stages.h"
#include "server/validate_front.h"
#include "server/validation_json.h"

namespace sdip {
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
      summary = validation_summary_json(validation);
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

namespace {

std::deque<std::int64_t> queued_validations(const Store& store) {
  std::deque<std::int64_t> ids;
  for (const ValidationRow& row : store.queued_validations()) ids.push_back(row.id);
  return ids;
}

}  // namespace

ValidationJobs::ValidationJobs(Store& store, const Catalog& catalog, std::int64_t front_seconds)
    : store_(store),
      catalog_(catalog),
      front_seconds_(front_seconds),
      queue_(JobKind::validation, queued_validations(store),
             [this](std::int64_t id, const JobTurn<ValidationProgress>& turn) { run(id, turn); }) {}

std::int64_t ValidationJobs::submit(const ValidationRequest& request) {
  catalog_.require(request.model, "/model");
  require_layers(catalog_, request);
  ValidationRow row;
  row.model = request.model;
  row.request_json = json_text(request_json(request));
  row.created = time_text();
  const std::int64_t id = store_.add_validation(row);
  queue_.add(id);
  return id;
}

void ValidationJobs::submit_front(std::int64_t sweep) {
  if (const auto id = add_front_validation(store_, sweep_record(store_, sweep), front_seconds_)) queue_.add(*id);
}

void ValidationJobs::cancel(std::int64_t id) {
  if (!queue_.cancel(id)) store_.set_validation_state(id, SweepState::cancelled);
}

void ValidationJobs::run(std::int64_t id, const JobTurn<ValidationProgress>& turn) {
  if (run_validation(store_, catalog_, id, &turn.cancel, turn.show))
    store_.set_validation_state(id, turn.by_user() ? SweepState::cancelled : SweepState::interrupted);
}

}  // namespace sdip
