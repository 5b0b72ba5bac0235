// NSGA-II: children of the better of pairs, and the best fronts of both generations (Deb et al., 2002).
#include <pagmo/algorithms/nsga2.hpp>

#include "core/explore/search/pagmo.h"

namespace sdip {

Brood step_of_nsga2(Searching& searching, const Population& living, std::size_t, SearchDraws& draws) {
  constexpr double crossover = 0.95, crossover_index = 10, mutation_index = 20;
  const double mutation = 1 / static_cast<double>(searching.space.axes.size());
  return evolved_by_pagmo(searching, living, draws, PlaceCoding::whole, [&](unsigned generations, unsigned seed) {
    return in_batches(pagmo::nsga2(generations, crossover, crossover_index, mutation, mutation_index, seed));
  });
}

}  // namespace sdip
