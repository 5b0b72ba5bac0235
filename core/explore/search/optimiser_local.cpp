// Local search along the front: single changes of its machines, those with the most room about them first (Paquete,
// Chiarandini, Stützle, Pareto local optimum sets, 2004; here some neighbours at a time, so that one machine with
// many rows does not use the budget up).
#include <algorithm>

#include "core/explore/search/optimisers.h"

namespace sdip {

Brood step_of_local(Searching& searching, const Population& living, std::size_t part, SearchDraws& draws) {
  const std::size_t one = std::min(draws.below(living.size()), draws.below(living.size()));
  const bool compiles = part % 2 == 1 && !searching.compile_axes.empty();
  std::vector<Placing> around =
      neighbours_of(searching.space, compiles ? searching.compile_axes : searching.cost_axes, living[one].places);
  const std::size_t most = std::min({around.size(), searching.most_of_family, searching.members});
  for (std::size_t i = 0; i < most; ++i) std::swap(around[i], around[i + draws.below(around.size() - i)]);
  around.resize(most);
  Brood brood;
  brood.best = evaluated_at(searching, around, 1);
  brood.evaluated = std::ssize(brood.best);
  brood.feasible = std::ranges::count_if(brood.best, [](const Candidate& c) { return c.outcome.feasible; });
  return brood;
}

}  // namespace sdip
