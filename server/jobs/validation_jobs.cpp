// Running validations.
#include "server/jobs/validation_jobs.h"

#include <iostream>

#include "core/base/error.h"
#include "server/io/text.h"
#include "server/jobs/evaluations.h"
#include "server/jobs/found_text.h"
#include "server/jobs/validate_front.h"
#include "server/studies/validation_json.h"

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

namespace {

/// Validates what a request asks, or the points of a sweep's front; nothing where it was cancelled.
std::optional<FoundText> validated(const Catalog& catalog, const Json& request, const std::atomic<bool>* cancel,
                                   const ShowValidation& show) {
  if (request.contains("spec")) {
    const FrontValidation front = validate_front(catalog, spec_from_json(request.at("spec")),
                                                 request.at("points").get<std::vector<std::int64_t>>(),
                                                 request.at("seconds").get<std::int64_t>(), cancel, show);
    if (front.cancelled) return std::nullopt;
    return FoundText{json_text(front_summary_json(front)), json_text(front_validation_json(front))};
  }
  const Validation validation = validate(catalog, validation_request(request), cancel, show);
  if (validation.cancelled) return std::nullopt;
  return FoundText{json_text(validation_summary_json(validation)), json_text(validation_json(validation))};
}

/// Validates in a child, which is not believed: what it says is JSON of a bounded size, at least.
std::optional<FoundText> validated_apart(const Catalog& catalog, const Member& member, const ValidationRow& row,
                                         const Json& request, const std::atomic<bool>* cancel,
                                         const ShowValidation& show) {
  const auto take = [&](std::string_view text) {
    if (text.size() > 1000) throw no_valid_answer(member.name);
    const Json said = parse_json(text);
    if (show)
      show({said.at("doing").get<std::string>(), said.at("done").get<std::int64_t>(),
            said.at("total").get<std::int64_t>()});
  };
  try {
    return found_in_answer(
        catalog.apart(member, evaluation_named(row.sweep ? "front_validation" : "validation"), request,
                      {take, [&] { return cancel != nullptr && cancel->load(); }}, true),
        member.name);
  } catch (const Json::exception&) {
    throw no_valid_answer(member.name);
  } catch (const Error& error) {
    if (is_cancelled(error)) return std::nullopt;
    if (error.code == "json_invalid") throw no_valid_answer(member.name);
    throw;
  }
}

}  // namespace

std::string evaluate_validation(const Catalog& catalog, const Json& request, const EvaluationTurn& turn) {
  const auto show = [&](const ValidationProgress& progress) {
    if (turn.show)
      turn.show(json_text(Json{{"doing", progress.doing}, {"done", progress.done}, {"total", progress.total}}));
  };
  const auto found = validated(catalog, request, nullptr, show);
  return answer_of(*found);
}

std::string evaluate_validation_check(const Catalog& catalog, const Json& request, const EvaluationTurn&) {
  require_layers(catalog, validation_request(request));
  return "";
}

bool run_validation(Store& store, const Catalog& catalog, std::int64_t id, const std::atomic<bool>* cancel,
                    const ShowValidation& show) {
  store.set_validation_state(id, SweepState::running);
  const ValidationRow row = store.validation(id);
  try {
    Json request = Json::parse(row.request_json);
    if (row.sweep) {
      const SweepRecord sweep = sweep_record(store, *row.sweep);
      request["spec"] = Json::parse(sweep.row.spec_json);
      request["points"] = front_to_validate(store, sweep);
    }
    const auto member = row.sweep ? catalog.uploaded(catalog.mix(row.model, "model")) : catalog.uploaded(row.model);
    const auto found = member ? validated_apart(catalog, *member, row, request, cancel, show)
                              : validated(catalog, request, cancel, show);
    if (!found) return true;
    store.end_validation(id, found->summary, found->result);
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
  if (!request.layers.empty() || !request.formats.text.empty())
    evaluate(catalog_, "validation_check", request.model, Json(request_json(request)));
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
