// List scheduling within the given order's peak of live bytes.
//
// An operation may come before others that stood before it when what it adds for good (its result, less operands
// that only it still reads), added to what is alive while each of those runs, stays within the peak: it cannot add
// more by running earlier. So the rest, run in the given order, never exceeds it, whatever was moved before.
//
// Example: x makes a by conv2d (10 cycles) and a makes b by norm (8); x makes c by linear (6) and c makes d by
// softmax (9); b and d make y by vector (1). In the order a b c d y, c begins when b does, at 10, and y ends at 26.
// Packed, c begins with a at 0, d before b: a c d b y ends at 19. Where a takes 4 B, d 2 B and all others 1 B, the
// peak is 6 B (x, a and b); d would be made while a (4) and c (1) are alive, then a, b and d be 7 B: a c b d y,
// which ends at 20.
#include "core/program/pack.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "core/base/error.h"
#include "core/program/live_bytes.h"
#include "core/program/program.h"

namespace sdip {
namespace {

/// Starts so far.
struct Starts {
  const ScheduleProblem& problem;
  std::span<const CircuitUse> uses;
  List<std::int64_t> made;  // by value: when; 0 for what is there from the start
  std::array<std::int64_t, pair_families> free{};
  std::int64_t started = 0, ended = 0;

  std::int64_t start_of(std::int32_t n) const {
    std::int64_t start = std::max(started, free.at(uses[at(n)].circuit));
    for (const std::int32_t v : problem.operations[n].reads) start = std::max(start, made[v]);
    return start;
  }
  void run(std::int32_t n) {
    started = start_of(n);
    const std::int64_t end = started + uses[at(n)].cycles;
    free.at(uses[at(n)].circuit) = end;
    if (problem.operations[n].result >= 0) made[problem.operations[n].result] = end;
    ended = std::max(ended, end);
  }
};

Starts no_starts(const ScheduleProblem& problem, std::span<const CircuitUse> uses) {
  return {problem, uses, std::vector<std::int64_t>(problem.values.size(), 0)};
}

/// For each operation, the cycles until everything that comes of it is made, itself included.
std::vector<std::int64_t> paths(const ScheduleProblem& problem, const ValueUses& uses,
                                std::span<const CircuitUse> circuits) {
  List<std::int64_t> path(problem.operations.size());
  for (std::size_t n = path.size(); n-- > 0;) {
    const std::int32_t made = problem.operations[n].result;
    if (made >= 0)
      for (const std::int32_t user : uses.users[made]) path[n] = std::max(path[n], path[user]);
    path[n] += circuits[n].cycles;
  }
  return path;
}

class ListScheduler {
 public:
  ListScheduler(const ScheduleProblem& problem, std::span<const CircuitUse> circuits, const OperationOrder& given,
                std::size_t window)
      : problem_(problem),
        window_(window),
        uses_(value_uses(problem)),
        path_(paths(problem, uses_, circuits)),
        live_(problem, uses_),
        starts_(no_starts(problem, circuits)),
        peak_(peak_live_bytes(problem, given)),
        waits_(problem.operations.size(), 0),
        left_(given) {
    for (std::size_t n = 0; n < waits_.size(); ++n)
      for (const std::int32_t v : problem.operations[n].reads) waits_[n] += uses_.maker[v] >= 0;
  }

  OperationOrder run() {
    OperationOrder order;
    while (first_ < left_.size()) {
      const std::size_t next = chosen();
      const std::int32_t n = left_[next];
      // All that stood before it moves up by one.
      for (std::size_t i = next; i > first_; --i) left_[i] = left_[i - 1];
      ++first_;
      order.push_back(n);
      live_.run(n);
      starts_.run(n);
      const std::int32_t made = problem_.operations[n].result;
      if (made < 0) continue;
      for (const std::int32_t user : uses_.users[made]) --waits_[user];
    }
    return order;
  }

 private:
  /// Position of the next operation.
  std::size_t chosen() {
    const std::size_t end = std::min(left_.size(), first_ + window_);
    std::vector<std::int64_t> alive;  // most bytes from the first one left to before each, once they are needed
    std::size_t best = first_;
    auto best_rank = rank_of(first_);
    for (std::size_t i = first_ + 1; i < end; ++i) {
      if (waits_[left_[i]] != 0) continue;
      const auto rank = rank_of(i);
      if (rank >= best_rank) continue;
      if (alive.empty()) alive = alive_before(end);
      const std::int64_t added = live_.after(left_[i]) - live_.now();
      if (std::max(alive[i - first_] + added, live_.during(left_[i])) > peak_) continue;
      best = i;
      best_rank = rank;
    }
    return best;
  }

  std::tuple<std::int64_t, std::int64_t> rank_of(std::size_t position) const {
    return {starts_.start_of(left_[position]), -path_[left_[position]]};
  }

  std::vector<std::int64_t> alive_before(std::size_t end) {
    std::vector<std::int64_t> alive{live_.now()}, before;
    for (std::size_t i = first_; i + 1 < end; ++i) {
      alive.push_back(std::max(alive.back(), live_.during(left_[i])));
      before.push_back(live_.now());
      live_.run(left_[i]);
    }
    for (std::size_t i = before.size(); i-- > 0;) live_.undo(left_[first_ + i], before[i]);
    return alive;
  }

  const ScheduleProblem& problem_;
  std::size_t window_;
  ValueUses uses_;
  List<std::int64_t> path_;
  LiveBytes live_;
  Starts starts_;
  std::int64_t peak_;
  List<std::int32_t> waits_;
  OperationOrder left_;  // from first_ on, in the given order
  std::size_t first_ = 0;
};

}  // namespace

std::int64_t packed_cycles(const ScheduleProblem& problem, std::span<const CircuitUse> uses,
                           const OperationOrder& order) {
  Starts starts = no_starts(problem, uses);
  for (const std::int32_t n : order) starts.run(n);
  return starts.ended;
}

OperationOrder packed_order(const ScheduleProblem& problem, std::span<const CircuitUse> uses, std::size_t window) {
  check(uses.size() == problem.operations.size(), "a circuit for each operation");
  OperationOrder given(problem.operations.size());
  std::iota(given.begin(), given.end(), 0);
  OperationOrder order = ListScheduler(problem, uses, given, window).run();
  return packed_cycles(problem, uses, order) < packed_cycles(problem, uses, given) ? order : given;
}

}  // namespace sdip
