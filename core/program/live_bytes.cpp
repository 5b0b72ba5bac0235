// Bytes alive while operations are done one after the other, and what leaves the chip when they are too many.
#include "core/program/live_bytes.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

namespace sdip {
ValueUses value_uses(const ScheduleProblem& problem) {
  ValueUses uses;
  uses.users.resize(problem.values.size());
  uses.maker.assign(problem.values.size(), -1);
  for (std::size_t n = 0; n < problem.operations.size(); ++n) {
    const ScheduledOperation& operation = problem.operations[n];
    for (const std::int32_t v : operation.reads) uses.users[v].push_back(static_cast<std::int32_t>(n));
    if (operation.result >= 0) uses.maker[operation.result] = static_cast<std::int32_t>(n);
  }
  return uses;
}

LiveBytes::LiveBytes(const ScheduleProblem& problem, const ValueUses& uses) : problem_(problem), uses_(uses) {
  uses_left_.reserve(problem.values.size());
  for (std::size_t v = 0; v < problem.values.size(); ++v) {
    uses_left_.push_back(static_cast<std::int32_t>(uses.users[v].size()));
    const bool waits = uses.maker[v] < 0 && (uses_left_[v] > 0 || problem.values[v].kept);
    if (waits) live_ += problem.values[v].bytes;
  }
}

std::int64_t LiveBytes::during(std::int32_t operation) const {
  const ScheduledOperation& one = problem_.operations[operation];
  if (one.result < 0) return live_;
  const std::int64_t made = problem_.values[one.result].bytes;
  const bool in_place = std::ranges::any_of(
      one.replaceable, [&](std::int32_t v) { return dies(v) && problem_.values[v].bytes == made; });
  return in_place ? live_ : live_ + made;
}

std::int64_t LiveBytes::after(std::int32_t operation) const {
  const ScheduledOperation& one = problem_.operations[operation];
  std::int64_t bytes = live_;
  if (one.result >= 0) {
    const ScheduledValue& made = problem_.values[one.result];
    if (made.kept || !uses_.users[one.result].empty()) bytes += made.bytes;
  }
  for (const std::int32_t v : one.reads)
    if (dies(v)) bytes -= problem_.values[v].bytes;
  return bytes;
}

void LiveBytes::run(std::int32_t operation) {
  live_ = after(operation);
  for (const std::int32_t v : problem_.operations[operation].reads) --uses_left_[v];
}

void LiveBytes::undo(std::int32_t operation, std::int64_t live_bytes) {
  for (const std::int32_t v : problem_.operations[operation].reads) ++uses_left_[v];
  live_ = live_bytes;
}

std::int64_t peak_live_bytes(const ScheduleProblem& problem, const OperationOrder& order) {
  const ValueUses uses = value_uses(problem);
  LiveBytes live(problem, uses);
  std::int64_t peak = live.now();
  for (const std::int32_t n : order) {
    peak = std::max(peak, live.during(n));
    live.run(n);
  }
  return peak;
}

std::int64_t moved_bytes(const ScheduleProblem& problem, const OperationOrder& order, std::int64_t capacity_bytes) {
  constexpr std::int32_t never = std::numeric_limits<std::int32_t>::max();
  List<std::vector<std::int32_t>> positions(problem.values.size());  // of uses, the last one first
  for (std::size_t i = order.size(); i-- > 0;)
    for (const std::int32_t v : problem.operations[order[i]].reads)
      positions[v].push_back(static_cast<std::int32_t>(i));
  const auto next = [&](std::int32_t v) { return positions[v].empty() ? never : positions[v].back(); };
  std::set<std::tuple<std::int32_t, std::int64_t, std::int32_t>> on_chip;  // next use, bytes, value
  std::int64_t live = 0, moved = 0;
  const auto put = [&](std::int32_t v, std::int64_t sign) {
    const std::tuple entry{next(v), problem.values[v].bytes, v};
    if (sign > 0 ? !on_chip.insert(entry).second : on_chip.erase(entry) == 0) return;
    live += sign * problem.values[v].bytes;
  };
  const auto make_room = [&](std::int32_t now) {
    while (live > capacity_bytes && !on_chip.empty() && std::get<0>(*on_chip.rbegin()) > now) {
      const std::int32_t farthest = std::get<2>(*on_chip.rbegin());
      moved += 2 * problem.values[farthest].bytes;
      put(farthest, -1);
    }
  };
  const ValueUses uses = value_uses(problem);
  for (std::size_t v = 0; v < problem.values.size(); ++v)
    if (uses.maker[v] < 0 && (problem.values[v].kept || !uses.users[v].empty()))
      put(static_cast<std::int32_t>(v), 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ScheduledOperation& one = problem.operations[order[i]];
    for (const std::int32_t v : one.reads) put(v, 1);
    make_room(static_cast<std::int32_t>(i));
    for (const std::int32_t v : one.reads) {
      put(v, -1);
      positions[v].pop_back();
      if (!positions[v].empty() || problem.values[v].kept) put(v, 1);
    }
    if (one.result >= 0 && (problem.values[one.result].kept || !positions[one.result].empty())) put(one.result, 1);
    make_room(static_cast<std::int32_t>(i));
  }
  return moved;
}

}  // namespace sdip
