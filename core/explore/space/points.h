// Evaluated points of a sweep, a column each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cost/price/estimate.h"

namespace sdip {

/// Points first, first + 1, ..., end - 1.
struct IndexRange {
  std::int64_t first = 0, end = 0;
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// Consecutive points. All vectors but `reasons` have one entry a point; an infeasible point's metrics are NaN.
struct PointBatch {
  std::int64_t first = 0;
  std::vector<std::uint8_t> feasible;               // 0 or 1
  std::vector<std::uint32_t> reason;                // index into reasons
  std::vector<std::string> reasons;                 // distinct, in order of first use; feasible points: ""
  Array<std::vector<double>, metric_count> values;  // by Metric

  std::int64_t count() const { return static_cast<std::int64_t>(feasible.size()); }
  IndexRange range() const { return {first, first + count()}; }
};

/// Adds the next point.
void append(PointBatch& batch, const Outcome& outcome);
/// The outcome that is in this place of a batch.
Outcome outcome_at(const PointBatch& batch, std::size_t place);

}  // namespace sdip
