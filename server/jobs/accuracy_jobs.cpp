// Measurements of accuracy as jobs.
#include "server/jobs/accuracy_jobs.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include "core/base/error.h"
#include "server/http/http.h"
#include "server/jobs/accuracy_front.h"
#include "server/jobs/evaluations.h"
#include "server/jobs/found_text.h"

namespace sdip {
namespace {

constexpr std::ptrdiff_t most_waiting = 16;
constexpr std::size_t most_kept = 64;

[[noreturn]] void no_job(std::int64_t id) {
  throw Error("not_found", "accuracy " + std::to_string(id),
              "no such measurement: it was never asked for, or long ago");
}

}  // namespace

AccuracyJobs::AccuracyJobs(Store& store, const Catalog& catalog)
    : store_(store), catalog_(catalog), queue_(JobKind::accuracy, {}, [this](std::int64_t id, const Turn& turn) {
        id > 0 ? run(id, turn) : run_front(-id, turn);
      }) {}

std::string evaluate_accuracy_check(const Catalog& catalog, const Json& request, const EvaluationTurn& turn) {
  const AccuracyPlan plan = accuracy_plan(catalog, accuracy_request(request), turn.stop);
  if (!plan.application.feasible) throw Error("infeasible", "/machine", plan.application.reason);
  require_measurable(plan);
  return "";
}

std::string evaluate_accuracy(const Catalog& catalog, const Json& request, const EvaluationTurn& turn) {
  AccuracyPlan plan = accuracy_plan(catalog, accuracy_request(request), turn.stop);
  plan.request.options.go_on = [&](double share) {
    if (turn.show) turn.show(std::to_string(share));
    return !turn.stop || !turn.stop();
  };
  const AccuracyReport report = measure(catalog, plan);
  if (!report.complete) throw Error("cancelled", plan.request.model, "the measurement was ended");
  return json_text(accuracy_json(plan, report));
}

std::int64_t AccuracyJobs::submit(const Json& body, const Stop& stop) {
  const AccuracyRequest request = accuracy_request(body);
  evaluate(catalog_, "accuracy_check", request.model, body, {{}, stop});
  const std::lock_guard lock(mutex_);
  const auto waiting =
      std::ranges::count_if(jobs_, [](const auto& entry) { return entry.second.state == "queued"; });
  if (waiting >= most_waiting) throw Error("busy", "", "too many measurements wait; try again later");
  forget_oldest();
  Job& job = jobs_[++last_];
  job.model = request.model;
  job.request = body;
  queue_.add(last_);
  return last_;
}

void AccuracyJobs::forget_oldest() {
  for (auto job = jobs_.begin(); job != jobs_.end() && jobs_.size() >= most_kept;) {
    const bool ended = job->second.state == "done" || job->second.state == "failed";
    job = ended ? jobs_.erase(job) : std::next(job);
  }
}

OrderedJson AccuracyJobs::job(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) no_job(id);
  const Job& job = found->second;
  const double ended = job.state == "done" || job.state == "failed" ? 1 : 0;
  return {{"id", id},           {"state", job.state},   {"progress", queue_.progress(id).value_or(ended)},
          {"model", job.model}, {"error", job.problem}, {"result", job.result}};
}

void AccuracyJobs::remove(std::int64_t id) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.erase(id) == 0) no_job(id);
  }
  queue_.cancel(id);
}

void AccuracyJobs::measure_front_of(std::int64_t sweep) { queue_.add_behind(front_id(sweep)); }

bool AccuracyJobs::measures_front_of(std::int64_t sweep) const { return queue_.has(front_id(sweep)); }

void AccuracyJobs::run(std::int64_t id, const Turn& turn) {
  Json request;
  std::string model;
  {
    const std::lock_guard lock(mutex_);
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return;  // removed
    job->second.state = "running";
    request = job->second.request;
    model = job->second.model;
  }
  OrderedJson result, problem;
  const auto show = [&](std::string_view text) {
    double share = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, share).ptr != end || !(share >= 0 && share <= 1))
      throw no_valid_answer(model);
    turn.show(share);
  };
  try {
    result = bounded_json(
        evaluate(catalog_, "accuracy", model, request, {show, [&] { return turn.cancel.load(); }}, true));
  } catch (const Error& error) {
    if (is_cancelled(error) && turn.cancel) return;  // removed, or the process ends
    problem = problem_json(error.code, error.where, error.what());
  } catch (const std::exception& bug) {
    std::cerr << "sdip: internal: accuracy " << id << ": " << printable(bug.what()) << std::endl;
    problem = problem_json("internal", "", "a bug of ours; the log has more");
  }
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  turn.show(1);
  job->second.state = problem.is_null() ? "done" : "failed";
  job->second.result = std::move(result);
  job->second.problem = std::move(problem);
}

void AccuracyJobs::run_front(std::int64_t sweep, const Turn& turn) {
  try {
    measure_front(store_, catalog_, sweep, front_accuracy_s, [&] { return !turn.cancel; });
  } catch (const Error& error) {
    if (error.code != "not_found") throw;  // else the sweep is gone
  }
}

}  // namespace sdip
