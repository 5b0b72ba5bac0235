// A search as pagmo's algorithms see it: a box of numbers, an axis a dimension, and costs to be made small.
// Internal to its room.
//
// They know no conditions. So that machines that keep them come before all others, and these by how far they are
// from it, whether one dominates the other or has the less of a weighed greatest cost: the costs of a machine
// without a violation are logarithms, less than a thousand; all costs of any other are a million times 1 +
// violation.
#pragma once

#include <functional>
#include <pagmo/algorithm.hpp>
#include <pagmo/batch_evaluators/member_bfe.hpp>
#include <pagmo/bfe.hpp>

#include "core/explore/search/optimisers.h"

namespace sdip {

/// How places are numbers: whole ones, or any from the place up to the next.
enum class PlaceCoding { whole, real };

/// An algorithm of so many generations.
using MakeAlgorithm = std::function<pagmo::algorithm(unsigned generations, unsigned seed)>;

/// The living after generations_of_pagmo, or as many as the budget lets it. Nothing of an algorithm is kept from
/// step to step but the places of the living, so that a search can go on from these.
Brood evolved_by_pagmo(Searching& searching, const Population& living, SearchDraws& draws, PlaceCoding coding,
                       const MakeAlgorithm& make);
inline constexpr std::size_t generations_of_pagmo = 5;

/// The algorithm with the machines of a generation evaluated at once, on the threads.
template <class Algorithm>
pagmo::algorithm in_batches(Algorithm algorithm) {
  algorithm.set_bfe(pagmo::bfe(pagmo::member_bfe()));
  return pagmo::algorithm(std::move(algorithm));
}

}  // namespace sdip
