// Measurements of accuracy as jobs.
#include "server/accuracy_jobs.h"

#include <algorithm>
#include <iostream>

#include "core/base/error.h"
#include "server/accuracy_front.h"
#include "server/http.h"
#include "server/jobs.h"

namespace sdip {
namespace {

constexpr std::size_t most_waiting = 16, most_kept = 64;

[[noreturn]] void no_job(std::int64_t id) {
  throw Error("not_found", "accuracy " + std::to_string(id),
              "no such measurement: it was never asked for, or long ago");
}

}  // namespace

AccuracyJobs::AccuracyJobs(Store& store, const Catalog& catalog) : store_(store), catalog_(catalog) {
  thread_ = std::thread([this] { run(); });
}

AccuracyJobs::~AccuracyJobs() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::int64_t AccuracyJobs::submit(const AccuracyRequest& request) {
  AccuracyPlan plan = accuracy_plan(catalog_, request);
  if (!plan.application.feasible) throw Error("infeasible", "/machine", plan.application.reason);
  require_measurable(plan);
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= most_waiting) throw Error("busy", "", "too many measurements wait; try again later");
  forget_oldest();
  Job& job = jobs_[++last_];
  job.model = request.model;
  job.plan = std::move(plan);
  queue_.push_back(last_);
  wake_.notify_all();
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
  return {{"id", id},           {"state", job.state},   {"progress", job.share},
          {"model", job.model}, {"error", job.problem}, {"result", job.result}};
}

void AccuracyJobs::remove(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  if (jobs_.erase(id) == 0) no_job(id);  // one that runs finds itself gone, and ends
  std::erase(queue_, id);
}

void AccuracyJobs::measure_front_of(std::int64_t sweep) {
  const std::lock_guard lock(mutex_);
  fronts_.push_back(sweep);
  wake_.notify_all();
}

bool AccuracyJobs::measures_front_of(std::int64_t sweep) const {
  const std::lock_guard lock(mutex_);
  return front_ == sweep || std::ranges::find(fronts_, sweep) != fronts_.end();
}

void AccuracyJobs::run_job(std::int64_t id, AccuracyPlan plan) {
  OrderedJson result, problem;
  plan.request.options.go_on = [&](double share) {
    const std::lock_guard lock(mutex_);
    const auto job = jobs_.find(id);
    if (job != jobs_.end()) job->second.share = share;
    return !ending_ && job != jobs_.end();
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
  job->second.state = problem.is_null() ? "done" : "failed";
  job->second.result = std::move(result);
  job->second.problem = std::move(problem);
  job->second.share = 1;
}

void AccuracyJobs::run() {
  give_way();
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ending_ || !queue_.empty() || !fronts_.empty(); });
    if (ending_) return;
    if (!queue_.empty()) {
      const std::int64_t id = queue_.front();
      queue_.pop_front();
      Job& job = jobs_.at(id);
      job.state = "running";
      AccuracyPlan plan = std::move(job.plan);
      lock.unlock();
      run_job(id, std::move(plan));
    } else {
      const std::int64_t sweep = front_ = fronts_.front();
      fronts_.pop_front();
      lock.unlock();
      try {
        measure_front(store_, catalog_, sweep, front_accuracy_s, [this] {
          const std::lock_guard hold(mutex_);
          return !ending_;
        });
      } catch (const Error&) {
        // The sweep is gone.
      } catch (const std::exception& bug) {
        std::cerr << "sdip: internal: accuracy of sweep " << sweep << ": " << printable(bug.what()) << std::endl;
      }
    }
    lock.lock();
    front_ = 0;
  }
}

}  // namespace sdip
