// The sweep: workers take batches of consecutive points and share compiled programs.
#include "core/explore/sweep.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/cost/price/batch.h"
#include "core/explore/space/equal_points.h"

namespace sdip {
namespace {

/// The state that the workers of one sweep share.
struct Shared {
  const Space& space;
  const MakeEvaluator& make_evaluator;
  const SweepOptions& options;
  const BatchSink& sink;
  std::vector<IndexRange> batches;
  ProgramCache programs;
  std::unique_ptr<SeenPoints> seen;  // null where too few are equal
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex delivery;
  SweepEnd end;
  std::exception_ptr failure;

  bool stopped() const {
    return stop.load(std::memory_order_relaxed) || (options.cancel != nullptr && options.cancel->load());
  }
  double now() const { return options.seconds ? options.seconds() : 0; }
};

/// The programs a worker used last, so that neighbours need no lock, and what it knows of them.
struct Last {
  std::vector<std::int64_t> key;  // but for PSRAM
  CapacityRange psram_bytes = no_capacity;
  std::shared_ptr<const CompiledMachine> compiled;
  Evaluator evaluator;
};

/// Machines next to each other that share their programs, and where their outcomes go.
struct Neighbours {
  std::vector<Machine> machines;
  std::vector<Outcome> outcomes;
  std::vector<std::size_t> places;
};

void evaluate_neighbours(const Evaluator& evaluator, Neighbours& neighbours, std::vector<Outcome>& outcomes) {
  const std::size_t count = neighbours.machines.size();
  neighbours.outcomes.resize(count);
  evaluate_each(evaluator, neighbours.machines, neighbours.outcomes);
  for (std::size_t i = 0; i < count; ++i) outcomes[neighbours.places[i]] = std::move(neighbours.outcomes[i]);
  neighbours.machines.clear();
  neighbours.places.clear();
}

/// Which points of a range are evaluated elsewhere: known before, or equal to one that was.
class Elsewhere {
 public:
  Elsewhere(const Shared& shared, const IndexRange& range) : shared_(shared), range_(range) {
    if (shared.options.known) known_ = shared.options.known(range);
  }

  /// Whether the outcome of the next point is there, or will be at the end.
  bool has(std::int64_t i, std::vector<Outcome>& outcomes) {
    const auto place = at(i - range_.first);
    if (!known_.empty() && known_[place]) {
      outcomes[place] = std::move(*known_[place]);
      return true;
    }
    if (!shared_.seen) return false;
    SeenPoints::Key key = axis_values(shared_.space, i);
    if (auto seen = shared_.seen->find(key)) {
      outcomes[place] = std::move(*seen);
      return true;
    }
    const auto [first, fresh] = places_.emplace(std::move(key), place);
    if (!fresh) twins_.emplace_back(place, first->second);
    return !fresh;
  }

  /// When all others are evaluated.
  void end(std::vector<Outcome>& outcomes) const {
    for (const auto& [place, first] : twins_) outcomes[place] = outcomes[first];
    for (const auto& [key, place] : places_) shared_.seen->keep(key, outcomes[place]);
  }

 private:
  const Shared& shared_;
  IndexRange range_;
  std::vector<std::optional<Outcome>> known_;
  std::unordered_map<SeenPoints::Key, std::size_t, AxisValuesHash> places_;  // that are evaluated here
  std::vector<std::pair<std::size_t, std::size_t>> twins_;                   // and those equal to them
};

/// Outcomes of the first points of a range: of at least one, and of no more than there is time for.
std::vector<Outcome> outcomes_of(Shared& shared, const IndexRange& range, Last& last) {
  constexpr std::size_t most_neighbours = 64;  // then the time is asked for again
  const double begun = shared.now();
  std::vector<Outcome> outcomes;
  Neighbours neighbours;
  Elsewhere elsewhere(shared, range);
  for (std::int64_t i = range.first; i < range.end; ++i) {
    if (i > range.first && (shared.stopped() || shared.now() - begun >= shared.options.most_seconds)) break;
    const auto place = at(i - range.first);
    outcomes.emplace_back();
    if (elsewhere.has(i, outcomes)) continue;
    try {
      const Machine machine = point(shared.space, i);
      check_machine(machine);
      std::vector<std::int64_t> key = key_but_psram(machine);
      if (!last.psram_bytes.holds(machine.psram_bytes) || key != last.key) {
        evaluate_neighbours(last.evaluator, neighbours, outcomes);
        last.psram_bytes = no_capacity;
        last.compiled = shared.programs.find(key, machine);
        last.psram_bytes = psram_range(*last.compiled, machine.psram_bytes);
        last.key = std::move(key);
        last.evaluator = {};
        const Programs& programs = last.compiled->programs;
        if (!programs.of.empty()) last.evaluator = evaluator_of(programs, shared.make_evaluator);
      }
      if (!last.evaluator) {
        outcomes[place] = {.reason = last.compiled->reason};
        continue;
      }
      neighbours.machines.push_back(machine);
      neighbours.places.push_back(place);
      if (neighbours.machines.size() == most_neighbours) evaluate_neighbours(last.evaluator, neighbours, outcomes);
    } catch (const Error& error) {
      if (is_cancelled(error)) throw;
      outcomes[place] = {.reason = text_of(error)};
    }
  }
  evaluate_neighbours(last.evaluator, neighbours, outcomes);
  elsewhere.end(outcomes);
  return outcomes;
}

void deliver(Shared& shared, PointBatch&& batch) {
  const std::int64_t count = batch.count();
  const auto feasible = std::ranges::count(batch.feasible, 1);
  const std::scoped_lock lock(shared.delivery);
  if (shared.stop) return;  // the sink has failed: it is not called again
  try {
    shared.sink(std::move(batch));
  } catch (...) {
    shared.stop = true;  // while nobody else may call it
    throw;
  }
  shared.end.done += count;
  shared.end.feasible += feasible;
}

void work(Shared& shared) {
  Last last;
  while (!shared.stopped()) {
    const std::size_t taken = shared.next.fetch_add(1);
    if (taken >= shared.batches.size()) return;
    for (IndexRange left = shared.batches[taken]; left.first < left.end && !shared.stopped();) {
      PointBatch batch;
      batch.first = left.first;
      for (const Outcome& outcome : outcomes_of(shared, left, last)) append(batch, outcome);
      left.first = batch.range().end;
      deliver(shared, std::move(batch));
    }
  }
}

void work_safely(Shared& shared) {
  try {
    work(shared);
  } catch (const Error& error) {
    shared.stop = true;
    if (is_cancelled(error)) return;  // its batch is dropped, as those that have not begun are
    const std::scoped_lock lock(shared.delivery);
    if (!shared.failure) shared.failure = std::current_exception();
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

void evaluate_each(const Evaluator& evaluator, std::span<const Machine> machines, std::span<Outcome> outcomes) {
  if (machines.empty()) return;
  try {
    evaluator(machines, outcomes);
  } catch (const Error& refused) {
    if (is_cancelled(refused)) throw;
    for (std::size_t i = 0; i < machines.size(); ++i) try {
        evaluator(machines.subspan(i, 1), outcomes.subspan(i, 1));
      } catch (const Error& error) {
        outcomes[i] = {.reason = text_of(error)};
        outcomes[i].values.fill(std::numeric_limits<double>::quiet_NaN());
      }
  }
}

Evaluator evaluator_of(const Programs& programs, const MakeEvaluator& make_evaluator) {
  if (programs.of.size() == 1) return make_evaluator(*programs.of[0]);
  std::vector<Evaluator> each;
  for (const auto& application : programs.of) each.push_back(make_evaluator(*application));
  return [each = std::move(each), &programs](std::span<const Machine> machines, std::span<Outcome> outcomes) {
    std::vector<std::vector<Outcome>> found;  // by workload
    for (const Evaluator& one : each) one(machines, found.emplace_back(machines.size()));
    std::vector<Outcome> of_machine(each.size());
    for (std::size_t i = 0; i < machines.size(); ++i) {
      for (std::size_t w = 0; w < each.size(); ++w) of_machine[w] = std::move(found[w][i]);
      outcomes[i] = mixed(programs.mix, of_machine);
    }
  };
}

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
                .programs = ProgramCache(compile_machine, options.programs),
                .seen = SeenPoints::pays(space) ? std::make_unique<SeenPoints>() : nullptr,
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
