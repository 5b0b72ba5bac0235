// An order in which independent operations on different circuits stand next to each other. Plain numbers in, an
// order out.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/program/schedule.h"

namespace sdip {

/// The circuit that an operation works on, and about how long.
struct CircuitUse {
  std::size_t circuit = 0;  // below pair_families
  std::int64_t cycles = 0;
};

/// When the last operation ends if each starts once the one before it in the order has started, what it reads is
/// made and its circuit is free. Requires a valid order.
std::int64_t packed_cycles(const ScheduleProblem& problem, std::span<const CircuitUse> uses,
                           const OperationOrder& order);

/// The given order (0, 1, 2, ...), or, where that ends sooner, one by list scheduling: next comes, of the first
/// `window` operations left, what can start first, of equals what has the longest path of cycles before it ends.
/// None comes early by which more bytes would be alive than the given order's peak. Requires the given order to be
/// valid.
OperationOrder packed_order(const ScheduleProblem& problem, std::span<const CircuitUse> uses, std::size_t window);
/// Tried in this order: what comes early from far away can be what then finds no room on chip.
inline constexpr std::array<std::size_t, 2> pack_windows{32, 4};

}  // namespace sdip
