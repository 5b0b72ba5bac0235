// MOEA/D: each machine is for other weights of the objectives, and learns from those whose weights are near (Li and
// Zhang, 2009). One machine is evaluated after the other: islands alone make use of threads.
#include <pagmo/algorithms/moead.hpp>

#include "core/explore/search/pagmo.h"

namespace sdip {

Brood step_of_moead(Searching& searching, const Population& living, std::size_t, SearchDraws& draws) {
  constexpr std::size_t neighbours = 20;
  constexpr double crossover = 1, difference = 0.5, mutation_index = 20, from_neighbours = 0.9;
  constexpr unsigned most_copies = 2;
  return evolved_by_pagmo(searching, living, draws, PlaceCoding::real, [&](unsigned generations, unsigned seed) {
    return pagmo::algorithm(pagmo::moead(generations, "low discrepancy", "tchebycheff", neighbours, crossover,
                                         difference, mutation_index, from_neighbours, most_copies, true, seed));
  });
}

}  // namespace sdip
