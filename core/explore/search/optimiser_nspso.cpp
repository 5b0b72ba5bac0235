// NSPSO: a swarm drawn to those of the best that stand alone, in the manner of NSGA-II (Li, 2003).
#include <pagmo/algorithms/nspso.hpp>

#include "core/explore/search/pagmo.h"

namespace sdip {

Brood step_of_nspso(Searching& searching, const Population& living, std::size_t, SearchDraws& draws) {
  constexpr double inertia = 0.6, to_own_best = 2, to_leader = 2, constriction = 1, fastest = 0.5;
  constexpr unsigned leaders = 2;
  return evolved_by_pagmo(searching, living, draws, PlaceCoding::real, [&](unsigned generations, unsigned seed) {
    return in_batches(pagmo::nspso(generations, inertia, to_own_best, to_leader, constriction, fastest, leaders,
                                   "crowding distance", false, seed));
  });
}

}  // namespace sdip
