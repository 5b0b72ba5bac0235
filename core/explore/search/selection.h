// Which of some machines live on: feasibility first, then fronts, then what stands alone on its front.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/explore/search/goal.h"

namespace sdip {

/// Indices of all scores, best first: those without a violation before all others and these by it; among the first
/// by fronts (none beats another of its front), and on a front by crowding distance over the logarithms of the
/// costs, greatest first (Deb et al., "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE TEC
/// 6(2), 2002). Of equals the earlier first.
std::vector<std::size_t> selection_order(std::span<const Score> scores);

/// A cost on a scale where equal ratios are equal steps; of one below 0 likewise, the greater size the less.
double log_cost(double cost);

/// Volume of what the points beat, up to the reference: minimised costs, one row a point. Points beyond the
/// reference in a cost add nothing. In two dimensions in n log n; else by slices along the last cost (While et al.,
/// "A faster algorithm for calculating hypervolume", IEEE TEC 10(1), 2006).
///
/// Worked example. (1, 3) and (2, 1) to (4, 4): 2 columns: 3 x 1 of the first and 2 x 3 of the second less what is
/// in both: 3 + 6 - 2 = 7.
double hypervolume(std::vector<std::vector<double>> points, std::span<const double> reference);

}  // namespace sdip
