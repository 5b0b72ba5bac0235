// The order in which operations run: one that keeps few bytes alive. Plain numbers in, an order out.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/index.h"
#include "core/base/number_hash.h"
#include "core/base/shared_cache.h"

namespace sdip {

struct ScheduledValue {
  std::int64_t bytes = 0;
  bool kept = false;  // alive to the end: a result that waits on chip, an input that is needed again
};

/// The values that one operation reads and makes; `replaceable` are operands that its result may take the place of
/// when they die here and are as large. A value that no operation makes is there from the start.
struct ScheduledOperation {
  std::vector<std::int32_t> reads;  // values, each once
  std::int32_t result = -1;
  std::vector<std::int32_t> replaceable;
};

struct ScheduleProblem {
  List<ScheduledOperation> operations;  // in a valid order
  List<ScheduledValue> values;
};

using OperationOrder = std::vector<std::int32_t>;

/// Most bytes alive while an operation runs, its operands and result included. Requires a valid order.
std::int64_t peak_live_bytes(const ScheduleProblem& problem, const OperationOrder& order);

/// Bytes that go to DRAM and come back when only `capacity_bytes` may be alive and what is needed latest leaves
/// first. Requires a valid order.
std::int64_t moved_bytes(const ScheduleProblem& problem, const OperationOrder& order, std::int64_t capacity_bytes);

/// How hard to look. `states`: sets of operations done that the exact search may visit in one window.
struct ScheduleEffort {
  std::int64_t states = 256;
  std::int32_t window = 24;  // operations put in order at once; at most 64
  std::int32_t rounds = 1;   // sweeps of windows over a long program
};
inline constexpr ScheduleEffort usual_schedule_effort{256, 24, 1};
inline constexpr ScheduleEffort highest_schedule_effort{1 << 13, 48, 3};

/// Beyond this many operations the given order is kept.
inline constexpr std::int32_t most_scheduled_operations = 20'000;

/// Positions in the window in a better order than the present one, if there is one, and whether that is proven.
struct SearchedWindow {
  std::optional<std::vector<std::int32_t>> positions;
  bool proven = false;
};

/// Windows of operations searched so far, by all that their best order depends on: of programs that are alike in
/// part the rest alone is searched.
struct KnownWindows : SharedCache<std::unordered_map<std::vector<std::int64_t>, SearchedWindow, NumberHash>> {
  KnownWindows() : SharedCache(std::size_t{1} << 14) {}
};

struct Schedule {
  OperationOrder order;
  std::int64_t peak_bytes = 0, moved_bytes = 0;
  bool proven = false;  // no order has a lower peak
};

/// An order of least peak, of those found with equal peaks one that moves fewer bytes at `capacity_bytes`, else the
/// one nearest the given order. Never worse than the given order in (peak, moved bytes). Programs are cut where
/// every operation comes before or after one; each part of at most 64 operations is searched exactly while the
/// effort lasts. Requires problem.operations in a valid order.
Schedule least_live_schedule(const ScheduleProblem& problem, std::int64_t capacity_bytes,
                             const ScheduleEffort& effort);
Schedule least_live_schedule(const ScheduleProblem& problem, std::int64_t capacity_bytes,
                             const ScheduleEffort& effort, KnownWindows& known);

/// The orders that least_live_schedule chooses from, whatever the capacity: different orders of the least peak
/// found, in the order in which the first of equals wins.
struct ScheduleChoices {
  std::vector<OperationOrder> orders;
  std::int64_t peak_bytes = 0;
  bool proven = false;
};
ScheduleChoices schedule_choices(const ScheduleProblem& problem, const ScheduleEffort& effort, KnownWindows& known);
/// The one of these that moves the fewest bytes.
const OperationOrder& chosen_order(const ScheduleProblem& problem, const ScheduleChoices& choices,
                                   std::int64_t capacity_bytes);

/// Positions in `order` at which an operation stands that comes after all before it and before all after it.
std::vector<std::size_t> cut_positions(const ScheduleProblem& problem, const OperationOrder& order);

}  // namespace sdip
