// Evolution in two levels: programs, and what a program's machines cost.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/explore/search/optimisers.h"

namespace sdip {
namespace {

constexpr std::size_t near_families = 12, climbing_families = 8;  // the first of a generation

/// The better of two.
const Candidate& drawn_parent(const Population& population, SearchDraws& draws) {
  const std::size_t a = draws.below(population.size()), b = draws.below(population.size());
  return population[std::min(a, b)];
}

/// Indices of so many of the living, at most: the best by these weights, best first.
std::vector<std::size_t> best_by(const Population& population, const Weights& weights, std::size_t most) {
  std::vector<double> sums;
  for (const Candidate& one : population) sums.push_back(weighed(one.score, weights));
  std::vector<std::size_t> order(population.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sums[a] < sums[b]; });
  order.resize(std::min(order.size(), most));
  return order;
}

/// First members around a machine: itself, and what only costs of `mate`'s, each time another.
template <class Mate>
std::vector<Placing> members_around(const Searching& searching, const Placing& program, const Mate& mate,
                                    SearchDraws& draws) {
  std::vector<Placing> first = {program};
  while (first.size() < searching.members) {
    Placing places = program;
    cross(searching.cost_axes, mate().places, 0.5, places, draws);
    if (draws.chance(0.7)) change_some(searching.space, searching.cost_axes, 4, places, draws);
    first.push_back(std::move(places));
  }
  return first;
}

/// One of the objectives, or where there are several some way between them.
Weights drawn_weights(std::size_t costs, SearchDraws& draws) {
  Weights weights;
  for (std::size_t k = 0; k < costs; ++k) weights.push_back(-std::log(1 - draws.share()));
  if (weights.size() == 1) weights[0] = 1;
  return weights;
}

/// Around one of the best by some weights, whose mates are those that these weights like as well.
Brood family_near_the_best(Searching& searching, const Population& population, std::size_t f, SearchDraws& draws) {
  constexpr std::size_t elite = 6, mates = 16;
  const Weights weights = drawn_weights(searching.costs(), draws);
  const std::vector<std::size_t> near = best_by(population, weights, mates);
  const std::size_t top = std::min(elite, near.size());
  Placing places = population[near[std::min(draws.below(top), draws.below(top))]].places;
  const bool whole = searching.members == most_members, climbs = searching.goal.objectives.size() == 1;
  if (climbs && f == 0) return climbed(searching, places, whole ? climbing_rounds : 1);
  change_some(searching.space, searching.compile_axes, f + 2 < near_families ? 1 : 2, places, draws);
  if (climbs && whole && f % 2 == 0 && f < climbing_families) return climbed(searching, places, 1);
  const auto mate = [&]() -> const Candidate& { return population[near[draws.below(near.size())]]; };
  return raised(searching, members_around(searching, places, mate, draws), searching.rounds, draws, population);
}

}  // namespace

Brood step_of_families(Searching& searching, const Population& population, std::size_t f, SearchDraws& draws) {
  if (f < near_families) return family_near_the_best(searching, population, f, draws);
  Placing places = drawn_parent(population, draws).places;
  if (draws.chance(0.65)) {
    const Placing& other = drawn_parent(population, draws).places;
    cross(searching.compile_axes, other, 0.5, places, draws);
    change_some(searching.space, searching.compile_axes, 3, places, draws);
  }
  const auto mate = [&]() -> const Candidate& { return drawn_parent(population, draws); };
  return raised(searching, members_around(searching, places, mate, draws), searching.rounds, draws, population);
}

}  // namespace sdip
