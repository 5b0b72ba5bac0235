// Batches of evaluated points.
#include "core/explore/space/points.h"

#include <algorithm>
#include <limits>

namespace sdip {

void append(PointBatch& batch, const Outcome& outcome) {
  const std::string reason = outcome.feasible ? "" : outcome.reason;
  // Few reasons differ within a batch, and neighbours mostly share theirs.
  const auto found = std::find(batch.reasons.rbegin(), batch.reasons.rend(), reason);
  if (found == batch.reasons.rend()) {
    batch.reason.push_back(static_cast<std::uint32_t>(batch.reasons.size()));
    batch.reasons.push_back(reason);
  } else {
    batch.reason.push_back(static_cast<std::uint32_t>(batch.reasons.rend() - found - 1));
  }
  batch.feasible.push_back(outcome.feasible ? 1 : 0);
  for (std::size_t m = 0; m < metric_count; ++m) {
    const double value = outcome.feasible ? outcome.values[m] : std::numeric_limits<double>::quiet_NaN();
    batch.values[m].push_back(value);
  }
}

Outcome outcome_at(const PointBatch& batch, std::size_t place) {
  Outcome outcome{.feasible = batch.feasible[place] != 0, .reason = batch.reasons[batch.reason[place]]};
  for (std::size_t m = 0; m < metric_count; ++m) outcome.values[m] = batch.values[m][place];
  return outcome;
}

}  // namespace sdip
