// The sweep: workers take batches of consecutive points and share compiled programs.
#include "core/explore/sweep.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/cost/batch.h"

namespace sdip {
namespace {

std::string text_of(const Error& error) {
  return error.where.empty() ? error.what() : error.where + ": " + error.what();
}

/// A compile key's programs, or why there are none.
struct Compiled {
  std::shared_ptr<const Application> application;  // nullptr: refused
  std::string reason;
};

/// The least recently used programs, bounded; whoever asks for a key that is being compiled waits for it.
class Programs {
 public:
  Programs(const CompileFunction& compile_machine, std::size_t capacity)
      : compile_(compile_machine), capacity_(capacity) {}

  std::shared_ptr<const Compiled> find(const std::vector<std::int64_t>& key, const Machine& machine) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto entry = entries_.find(key);
      if (entry == entries_.end()) break;
      if (entry->second.compiled) {
        recent_.splice(recent_.begin(), recent_, entry->second.place);
        return entry->second.compiled;
      }
      ready_.wait(lock);
    }
    entries_.emplace(key, Entry{});
    ++compiled_;
    lock.unlock();
    std::shared_ptr<const Compiled> compiled;
    try {
      compiled = std::make_shared<const Compiled>(compile_now(machine));
    } catch (...) {
      lock.lock();
      entries_.erase(key);
      ready_.notify_all();
      throw;
    }
    lock.lock();
    Entry& entry = entries_.at(key);
    entry.compiled = compiled;
    recent_.push_front(key);
    entry.place = recent_.begin();
    while (recent_.size() > capacity_) {
      entries_.erase(recent_.back());
      recent_.pop_back();
    }
    ready_.notify_all();
    return compiled;
  }

  std::int64_t compiled() const { return compiled_; }

 private:
  struct Entry {
    std::shared_ptr<const Compiled> compiled;  // nullptr: being compiled
    std::list<std::vector<std::int64_t>>::iterator place;
  };

  Compiled compile_now(const Machine& machine) const {
    try {
      Compiled compiled{compile_(machine), ""};
      check(compiled.application != nullptr, "sweep: the compile function gave nothing");
      return compiled;
    } catch (const Error& error) {
      return {nullptr, text_of(error)};
    }
  }

  const CompileFunction& compile_;
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::map<std::vector<std::int64_t>, Entry> entries_;
  std::list<std::vector<std::int64_t>> recent_;  // compiled keys, latest use first
  std::int64_t compiled_ = 0;
};

/// What the workers of one sweep share.
struct Shared {
  const Space& space;
  const MakeEvaluator& make_evaluator;
  const SweepOptions& options;
  const BatchSink& sink;
  std::vector<IndexRange> batches;
  Programs programs;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex delivery;
  SweepEnd end;
  std::exception_ptr failure;

  bool stopped() const {
    return stop.load(std::memory_order_relaxed) || (options.cancel != nullptr && options.cancel->load());
  }
};

Outcome infeasible(std::string reason) {
  Outcome outcome;
  outcome.reason = std::move(reason);
  return outcome;
}

/// The programs a worker used last, so that neighbours need no lock, and what it knows of them.
struct Last {
  std::vector<std::int64_t> key;
  std::shared_ptr<const Compiled> compiled;
  Evaluator evaluator;
};

/// Machines next to each other that share their programs, and where their outcomes go.
struct Neighbours {
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
  std::vector<std::size_t> places;
};

/// Each by itself where one of them is refused.
void evaluate_neighbours(const Evaluator& evaluator, Neighbours& neighbours, std::vector<Outcome>& outcomes) {
  const std::size_t count = neighbours.machines.size();
  if (count == 0) return;
  neighbours.outcomes.resize(count);
  const std::span<const Machine> machines(neighbours.machines);
  try {
    evaluator(machines, neighbours.outcomes);
  } catch (const Error&) {
    for (std::size_t i = 0; i < count; ++i) try {
        evaluator(machines.subspan(i, 1), std::span(neighbours.outcomes).subspan(i, 1));
      } catch (const Error& error) {
        neighbours.outcomes[i] = infeasible(text_of(error));
      }
  }
  for (std::size_t i = 0; i < count; ++i) outcomes[neighbours.places[i]] = std::move(neighbours.outcomes[i]);
  neighbours.machines.clear();
  neighbours.places.clear();
}

std::vector<Outcome> outcomes_of(Shared& shared, const IndexRange& range, Last& last) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(range.end - range.first));
  Neighbours neighbours;
  for (std::int64_t i = range.first; i < range.end; ++i) {
    const auto place = static_cast<std::size_t>(i - range.first);
    try {
      const Machine machine = point(shared.space, i);
      check_machine(machine);
      std::vector<std::int64_t> key = compile_key(machine);
      if (!last.compiled || key != last.key) {
        evaluate_neighbours(last.evaluator, neighbours, outcomes);
        last.compiled = shared.programs.find(key, machine);
        last.key = std::move(key);
        last.evaluator = {};
        if (last.compiled->application) last.evaluator = shared.make_evaluator(*last.compiled->application);
      }
      if (!last.evaluator) {
        outcomes[place] = infeasible(last.compiled->reason);
        continue;
      }
      neighbours.machines.push_back(machine);
      neighbours.places.push_back(place);
    } catch (const Error& error) {
      outcomes[place] = infeasible(text_of(error));
    }
  }
  evaluate_neighbours(last.evaluator, neighbours, outcomes);
  return outcomes;
}

void work(Shared& shared) {
  Last last;
  while (!shared.stopped()) {
    const std::size_t taken = shared.next.fetch_add(1);
    if (taken >= shared.batches.size()) return;
    const IndexRange range = shared.batches[taken];
    PointBatch batch;
    batch.first = range.first;
    for (const Outcome& outcome : outcomes_of(shared, range, last)) append(batch, outcome);
    const auto feasible = std::ranges::count(batch.feasible, 1);
    const std::scoped_lock lock(shared.delivery);
    if (shared.stop) return;  // the sink has failed: it is not called again
    try {
      shared.sink(std::move(batch));
    } catch (...) {
      shared.stop = true;  // while nobody else may call it
      throw;
    }
    shared.end.done += range.end - range.first;
    shared.end.feasible += feasible;
  }
}

void work_safely(Shared& shared) {
  try {
    work(shared);
  } catch (...) {
    shared.stop = true;
    const std::scoped_lock lock(shared.delivery);
    if (!shared.failure) shared.failure = std::current_exception();
  }
}

std::vector<IndexRange> batches_of(std::span<const IndexRange> ranges, std::int64_t batch_points,
                                   std::int64_t total) {
  std::vector<IndexRange> batches;
  std::int64_t least = 0;
  for (const IndexRange& range : ranges) {
    check(range.first >= least && range.first <= range.end && range.end <= total,
          "sweep: ranges are ascending, disjoint and inside the space");
    least = range.end;
    for (std::int64_t first = range.first; first < range.end;) {
      const std::int64_t end = std::min(range.end, (first / batch_points + 1) * batch_points);
      batches.push_back({first, end});
      first = end;
    }
  }
  return batches;
}

}  // namespace

Evaluator side_by_side(const Application& application) {
  const auto known = std::make_shared<BatchEvaluator>(application);
  return [known](std::span<const Machine> machines, std::span<Outcome> outcomes) {
    known->evaluate(machines, outcomes);
  };
}

MakeEvaluator one_by_one(EvaluateFunction evaluate_point) {
  return [evaluate_point = std::move(evaluate_point)](const Application& application) -> Evaluator {
    return [evaluate_point, &application](std::span<const Machine> machines, std::span<Outcome> outcomes) {
      for (std::size_t i = 0; i < machines.size(); ++i) outcomes[i] = evaluate_point(application, machines[i]);
    };
  };
}

SweepEnd sweep(const Space& space, std::span<const IndexRange> ranges, const CompileFunction& compile_machine,
               const MakeEvaluator& make_evaluator, const SweepOptions& options, const BatchSink& sink) {
  check(options.threads >= 1 && options.batch_points >= 1 && options.programs >= 1,
        "sweep: options are at least 1");
  check_space(space);
  Shared shared{.space = space,
                .make_evaluator = make_evaluator,
                .options = options,
                .sink = sink,
                .batches = batches_of(ranges, options.batch_points, point_count(space)),
                .programs = Programs(compile_machine, options.programs),
                .delivery = {},
                .end = {},
                .failure = {}};
  {
    std::vector<std::jthread> workers;
    for (int i = 1; i < options.threads; ++i) workers.emplace_back([&shared] { work_safely(shared); });
    work_safely(shared);
  }
  if (shared.failure) std::rethrow_exception(shared.failure);
  shared.end.compiled = shared.programs.compiled();
  std::int64_t asked = 0;
  for (const IndexRange& batch : shared.batches) asked += batch.end - batch.first;
  shared.end.cancelled = shared.end.done < asked;
  return shared.end;
}

}  // namespace sdip
