// Bytes alive while operations are done one after the other. Internal to its room.
#pragma once

#include "core/base/index.h"
#include "core/program/schedule.h"

namespace sdip {

/// Who uses and who makes each value: by value, operations in the given order.
struct ValueUses {
  List<std::vector<std::int32_t>> users;
  List<std::int32_t> maker;  // -1: none
};
ValueUses value_uses(const ScheduleProblem& problem);

/// How many bytes are alive after some operations. The bytes that an operation adds while it runs (`during`) and
/// for good (`after`) shrink or stay as others are done before it: each of them can only let operands die.
class LiveBytes {
 public:
  LiveBytes(const ScheduleProblem& problem, const ValueUses& uses);
  std::int64_t now() const { return live_; }
  /// Bytes alive while `operation` runs next, and after it.
  std::int64_t during(std::int32_t operation) const;
  std::int64_t after(std::int32_t operation) const;
  void run(std::int32_t operation);
  /// Takes back the run of `operation`, the last one, before which `live_bytes` were alive.
  void undo(std::int32_t operation, std::int64_t live_bytes);

 private:
  bool dies(std::int32_t value) const { return uses_left_[value] == 1 && !problem_.values[value].kept; }
  const ScheduleProblem& problem_;
  const ValueUses& uses_;
  List<std::int32_t> uses_left_;
  std::int64_t live_ = 0;
};

/// An order being changed. `position` of each operation in it.
struct Walk {
  const ScheduleProblem* problem = nullptr;
  ValueUses uses;
  OperationOrder order;
  List<std::int32_t> position;
  KnownWindows* known = nullptr;
};

/// The `count` operations from position `first` in the order of least peak, when there is a better one than theirs.
/// `live_bytes` are alive before the first. `proven`: nothing better than what is returned (or than the present
/// order, when nothing is) exists; otherwise the states did not suffice. Requires count <= 64.
struct WindowResult {
  std::optional<OperationOrder> order;
  bool proven = false;
};
WindowResult best_window(const Walk& walk, std::size_t first, std::size_t count, std::int64_t live_bytes,
                         std::int64_t most_states);

}  // namespace sdip
