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
/// 6(2), 2002). Among equals the earlier comes first.
std::vector<std::size_t> selection_order(std::span<const Score> scores);

}  // namespace sdip
