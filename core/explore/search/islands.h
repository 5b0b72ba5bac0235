// Populations that evolve apart, and what goes from one to another. Internal to its room.
#pragma once

#include <vector>

#include "core/explore/search/optimisers.h"

namespace sdip {

/// Who lives on: the best of them, each machine once, and no more than a quarter of one program.
Population selected(Population all);

/// Makes what a step found part of the island, or the island.
void absorb(const OptimiserRow& row, Brood&& brood, Population& island);

/// Copies of each island's best take the places of the next one's last, around a ring; of small islands fewer than
/// so many.
void migrate(const OptimiserRow& row, std::vector<Population>& islands);
inline constexpr std::size_t migrants = 4;

}  // namespace sdip
