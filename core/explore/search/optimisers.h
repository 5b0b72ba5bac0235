// The optimisers of a search: each is a row, and a file of its own. Internal to its room.
#pragma once

#include <string_view>

#include "core/explore/search/families.h"

namespace sdip {

/// The living of an island, best first where `selected` chose them.
using Population = std::vector<Candidate>;

/// Part of a step of an island, whose machines say what it is to be like.
using OptimiserStep = Brood (*)(Searching& searching, const Population& living, std::size_t part,
                                SearchDraws& draws);

struct OptimiserRow {
  Optimiser optimiser{};
  std::string_view name;
  OptimiserStep step = nullptr;
  std::size_t parts = 1;  // of a step, side by side
  std::size_t least_objectives = 1;
  bool replaces = false;  // a step's `living` are the next; else its best join the living, and `selected` decides
};
const OptimiserRow& row_of(Optimiser optimiser);

Brood step_of_families(Searching& searching, const Population& living, std::size_t part, SearchDraws& draws);
Brood step_of_nsga2(Searching& searching, const Population& living, std::size_t part, SearchDraws& draws);
Brood step_of_moead(Searching& searching, const Population& living, std::size_t part, SearchDraws& draws);
Brood step_of_nspso(Searching& searching, const Population& living, std::size_t part, SearchDraws& draws);
Brood step_of_local(Searching& searching, const Population& living, std::size_t part, SearchDraws& draws);

inline constexpr std::size_t parts_of_families = 16, parts_of_local = 8;

}  // namespace sdip
