// Populations that evolve apart.
#include "core/explore/search/islands.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/explore/search/archive.h"
#include "core/explore/search/selection.h"

namespace sdip {

Population selected(Population all) {
  Population next;
  std::set<Placing> known;
  std::map<std::vector<std::int64_t>, std::size_t> of_program;
  for (const std::size_t i : selection_order(scores_of(all))) {
    if (next.size() == most_living) break;
    if (!known.insert(all[i].places).second) continue;
    if (++of_program[compile_key(all[i].machine)] > most_living / 4) continue;
    next.push_back(std::move(all[i]));
  }
  return next;
}

void absorb(const OptimiserRow& row, Brood&& brood, Population& island) {
  if (!row.replaces || brood.living.empty())
    island.insert(island.end(), std::make_move_iterator(brood.best.begin()),
                  std::make_move_iterator(brood.best.end()));
  else
    island = std::move(brood.living);
}

void migrate(const OptimiserRow& row, std::vector<Population>& islands) {
  if (islands.size() < 2) return;
  std::vector<std::vector<std::size_t>> orders;
  std::vector<Population> leaving;
  for (const Population& island : islands) {
    orders.push_back(selection_order(scores_of(island)));
    Population& copies = leaving.emplace_back();
    for (std::size_t k = 0; k < std::min(migrants, island.size() / 4); ++k)
      copies.push_back(island[orders.back()[k]]);
  }
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const std::size_t next = (i + 1) % islands.size();
    Population& island = islands[next];
    for (std::size_t k = 0; k < std::min(leaving[i].size(), island.size() / 4); ++k)
      island[orders[next][island.size() - 1 - k]] = std::move(leaving[i][k]);
    if (!row.replaces) island = selected(std::move(island));
  }
}

}  // namespace sdip
