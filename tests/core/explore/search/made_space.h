// A space small enough to visit whole, with a machine that is worth what a few lines say.
#pragma once

#include <memory>
#include <vector>

#include "core/explore/search/search.h"

namespace sdip {

/// Six rows of which two are compiled: 92,160 machines.
SearchSpace made_space();
/// Without a fusion of norms nothing fits in less than 4 KiB.
std::shared_ptr<const Application> compile_made(const Machine& machine);
/// A machine with a best of its own: cores that wait for memory and lanes that wait for each other, at an area.
Outcome evaluate_made(const Application& application, const Machine& machine);
SearchResult search_made(const SearchGoal& goal, SearchOptions options);

/// All machines of the space that are feasible, scored.
std::vector<Score> visited(const SearchGoal& goal);
/// What costs of throughput_fps and area_mm2 beat.
double volume_of(const std::vector<std::vector<double>>& costs);
/// Everything that a search says, but for how often it compiled.
std::vector<std::vector<double>> said(const SearchResult& result);

}  // namespace sdip
