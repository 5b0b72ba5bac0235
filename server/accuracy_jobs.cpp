// Measurements of accuracy as jobs.
#include "server/accuracy_jobs.h"

#include <algorithm>
#include <iostream>

#include "core/base/error.h"
#include "server/accuracy_front.h"
#include "server/http.h"

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

std::int64_t AccuracyJobs::submit(const AccuracyRequest& request) {
  AccuracyPlan plan = accuracy_plan(catalog_, request);
  if (!plan.application.feasible) throw Error("infeasible", "/machine", plan.application.reason);
  require_measurable(plan);
  const std::lock_guard lock(mutex_);
  const auto waiting =
      std::ranges::count_if(jobs_, [](const auto& entry) { return entry.second.state == "queued"; });
  if (waiting >= most_waiting) throw Error("busy", "", "too many measurements wait; try again later");
  forget_oldest();
  Job& job = jobs_[++last_];
  job.model = request.model;
  job.plan = std::move(plan);
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
  AccuracyPlan plan;
  {
    const std::lock_guard lock(mutex_);
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return;  // removed
    job->second.state = "running";
    plan = std::move(job->second.plan);
  }
  OrderedJson result, problem;
  plan.request.options.go_on = [&](double share) {
    turn.show(share);
    return !turn.cancel;
  };
  try {
    const AccuracyReport report = measure(catalog_, plan);
    if (!report.complete) return;  // removed, or the process ends
    result = accuracy_json(plan, report);
  } catch (const Error& error) {
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
