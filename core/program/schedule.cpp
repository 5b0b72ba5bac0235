// pass `schedule`, its algorithm: parts between cuts searched exactly when they are small, else by sweeping windows
// over the given order and over a greedy one.
//
// Example: in -> p -> (a, b) -> q -> (c, d) -> out. p and q come after all before and before all after them: cuts.
// The parts {a, b} and {c, d} are put in order each for itself; the least peak is the larger of theirs.
#include "core/program/schedule.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/error.h"
#include "core/program/live_bytes.h"

namespace sdip {
namespace {

void renumber(Walk& walk, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) walk.position[walk.order[i]] = static_cast<std::int32_t>(i);
}

/// Puts a window in its best order and runs it. Returns whether that order is proven.
bool improve(Walk& walk, LiveBytes& live, std::size_t first, std::size_t count, std::int64_t states) {
  const WindowResult found = best_window(walk, first, count, live.now(), states);
  if (found.order) {
    std::ranges::copy(*found.order, walk.order.begin() + static_cast<std::ptrdiff_t>(first));
    renumber(walk, first, count);
  }
  return found.proven;
}

/// One sweep of windows that overlap by half over positions [first, end).
void sweep(Walk& walk, LiveBytes live, std::size_t first, std::size_t end, const ScheduleEffort& effort) {
  const auto window = as_size(effort.window);
  const std::size_t stride = std::max<std::size_t>(1, window / 2);
  for (std::size_t from = first; from < end; from += stride) {
    improve(walk, live, from, std::min(window, end - from), effort.states);
    if (from + window >= end) return;
    for (std::size_t i = from; i < from + stride; ++i) live.run(walk.order[i]);
  }
}

/// Takes of what is ready always the node that leaves least alive, of equals the one that needs least meanwhile, of
/// equals the earliest.
OperationOrder greedy(const ScheduleProblem& problem, const ValueUses& uses) {
  const std::size_t count = problem.operations.size();
  List<std::int32_t> waits(count, 0), ready;
  for (std::size_t n = 0; n < count; ++n)
    for (const std::int32_t v : problem.operations[n].reads) waits[n] += uses.maker[v] >= 0;
  for (std::size_t n = 0; n < count; ++n)
    if (waits[n] == 0) ready.push_back(static_cast<std::int32_t>(n));
  LiveBytes live(problem, uses);
  OperationOrder order;
  while (!ready.empty()) {
    const auto rank = [&](std::int32_t n) { return std::tuple{live.after(n), live.during(n), n}; };
    const auto best = std::ranges::min_element(ready, {}, rank);
    const std::int32_t n = *best;
    ready.erase(best);
    order.push_back(n);
    live.run(n);
    const std::int32_t made = problem.operations[n].result;
    if (made < 0) continue;
    for (const std::int32_t user : uses.users[made])
      if (--waits[user] == 0) ready.push_back(user);
  }
  check(order.size() == count, "a program in no valid order was scheduled");
  return order;
}

/// Parts [first, end) of an order, each between two cuts.
std::vector<std::pair<std::size_t, std::size_t>> parts_of(const ScheduleProblem& problem,
                                                          const OperationOrder& order) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  std::size_t first = 0;
  for (const std::size_t cut : cut_positions(problem, order)) {
    if (cut > first) parts.emplace_back(first, cut);
    first = cut + 1;
  }
  if (first < order.size()) parts.emplace_back(first, order.size());
  return parts;
}

Walk walk_of(const ScheduleProblem& problem, const ValueUses& uses, OperationOrder order, KnownWindows& known) {
  Walk walk{&problem, uses, std::move(order), std::vector<std::int32_t>(problem.operations.size()), &known};
  renumber(walk, 0, walk.order.size());
  return walk;
}

/// The order improved part by part. Sets `proven` when every part's is.
OperationOrder improved(const ScheduleProblem& problem, const ValueUses& uses, OperationOrder order,
                        const ScheduleEffort& effort, KnownWindows& known, bool& proven) {
  Walk walk = walk_of(problem, uses, std::move(order), known);
  LiveBytes live(problem, uses);
  std::size_t done = 0;
  proven = true;
  for (const auto& [first, end] : parts_of(problem, walk.order)) {
    for (; done < first; ++done) live.run(walk.order[done]);
    const bool exact = end - first <= 64 && improve(walk, live, first, end - first, effort.states);
    if (exact) continue;
    proven = false;
    for (std::int32_t round = 0; round < effort.rounds; ++round) sweep(walk, live, first, end, effort);
  }
  return walk.order;
}

}  // namespace

std::vector<std::size_t> cut_positions(const ScheduleProblem& problem, const OperationOrder& order) {
  // An operation comes after all before it when of these only it has no user among them: everything leads to some
  // operation without a user. From the back likewise: everything comes from some operation that needs none.
  const ValueUses uses = value_uses(problem);
  const std::size_t count = order.size();
  std::vector<std::int32_t> open_makers(count), open_readers(count);
  List<char> has_user(count, 0);
  std::int32_t open = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ++open;
    for (const std::int32_t v : problem.operations[order[i]].reads)
      if (const std::int32_t maker = uses.maker[v]; maker >= 0 && has_user[maker] == 0) {
        has_user[maker] = 1;
        --open;
      }
    open_makers[i] = open;
  }
  List<char> has_need(count, 0);
  open = 0;
  for (std::size_t i = count; i-- > 0;) {
    ++open;
    const std::int32_t made = problem.operations[order[i]].result;
    if (made >= 0)
      for (const std::int32_t user : uses.users[made])
        if (has_need[user] == 0) {
          has_need[user] = 1;
          --open;
        }
    open_readers[i] = open;
  }
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < count; ++i)
    if (open_makers[i] == 1 && open_readers[i] == 1) cuts.push_back(i);
  return cuts;
}

ScheduleChoices schedule_choices(const ScheduleProblem& problem, const ScheduleEffort& effort,
                                 KnownWindows& known) {
  check(effort.window >= 1 && effort.window <= 64, "a window of 1 to 64 operations");
  OperationOrder given(problem.operations.size());
  std::iota(given.begin(), given.end(), 0);
  ScheduleChoices choices{{given}, peak_live_bytes(problem, given), given.size() <= 1};
  if (given.size() <= 1 || given.size() > most_scheduled_operations) return choices;
  const ValueUses uses = value_uses(problem);
  for (const OperationOrder& start : {given, greedy(problem, uses)}) {
    bool exact = false;
    OperationOrder other = improved(problem, uses, start, effort, known, exact);
    const std::int64_t peak = peak_live_bytes(problem, other);
    choices.proven = choices.proven || (exact && peak <= choices.peak_bytes);
    if (peak < choices.peak_bytes) choices.orders.clear();
    choices.peak_bytes = std::min(choices.peak_bytes, peak);
    if (peak == choices.peak_bytes && std::ranges::find(choices.orders, other) == choices.orders.end())
      choices.orders.push_back(std::move(other));
  }
  return choices;
}

const OperationOrder& chosen_order(const ScheduleProblem& problem, const ScheduleChoices& choices,
                                   std::int64_t capacity_bytes) {
  if (choices.orders.size() == 1) return choices.orders.front();
  return *std::ranges::min_element(
      choices.orders, {}, [&](const OperationOrder& order) { return moved_bytes(problem, order, capacity_bytes); });
}

Schedule least_live_schedule(const ScheduleProblem& problem, std::int64_t capacity_bytes,
                             const ScheduleEffort& effort) {
  KnownWindows known;
  return least_live_schedule(problem, capacity_bytes, effort, known);
}

Schedule least_live_schedule(const ScheduleProblem& problem, std::int64_t capacity_bytes,
                             const ScheduleEffort& effort, KnownWindows& known) {
  const ScheduleChoices choices = schedule_choices(problem, effort, known);
  const OperationOrder& order = chosen_order(problem, choices, capacity_bytes);
  return {order, choices.peak_bytes, moved_bytes(problem, order, capacity_bytes), choices.proven};
}

}  // namespace sdip
