// The Pareto front: the points that no other point beats.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/price/estimate.h"

namespace sdip {

/// Positions of the points that no other is at least as good as in every objective and better in one. `columns[k]`
/// holds objective k of every point, `better[k]` its direction. A point with a NaN is left out; equal points are
/// all kept. Best in the first objective first, ties by the next objective, then by position. With (throughput,
/// area) = (10, 5) (10, 4) (3, 1) (2, 2): the front is positions 1, 2. Requires columns of one length and no
/// Better::neither.
std::vector<std::int64_t> pareto_front(std::span<const std::span<const double>> columns,
                                       std::span<const Better> better);

}  // namespace sdip
