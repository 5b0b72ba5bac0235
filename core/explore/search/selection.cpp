// Non-dominated sorting and crowding.
#include "core/explore/search/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/explore/front.h"

namespace sdip {
namespace {

using Places = std::vector<std::size_t>;

/// Fronts of the scores at these places, best first.
std::vector<Places> fronts_of(std::span<const Score> scores, Places places) {
  std::vector<Places> fronts;
  const std::size_t width = scores[places[0]].costs.size();
  const std::vector<Better> lower(width, Better::lower);
  while (!places.empty()) {
    const auto columns = columns_of(
        places, width, [&](std::size_t i) -> const auto& { return scores[i].costs; });
    List<bool> taken(places.size());
    Places& front = fronts.emplace_back();
    for (const std::int64_t position : pareto_front(spans_of(columns), lower)) {
      front.push_back(places[at(position)]);
      taken[position] = true;
    }
    Places rest;
    for (std::size_t i = 0; i < places.size(); ++i)
      if (!taken[i]) rest.push_back(places[i]);
    places = std::move(rest);
  }
  return fronts;
}

/// Those that stand farthest from their neighbours first.
void by_crowding(std::span<const Score> scores, Places& front) {
  const std::size_t width = scores[front[0]].costs.size();
  std::vector<double> distance(front.size());
  Places order(front.size());
  for (std::size_t k = 0; k < width; ++k) {
    const auto at = [&](std::size_t i) { return log_cost(scores[front[i]].costs[k]); };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return at(a) < at(b); });
    const double range = at(order.back()) - at(order.front());
    distance[order.front()] = distance[order.back()] = std::numeric_limits<double>::infinity();
    if (!(range > 0)) continue;
    for (std::size_t i = 1; i + 1 < order.size(); ++i)
      distance[order[i]] += (at(order[i + 1]) - at(order[i - 1])) / range;
  }
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return distance[a] > distance[b]; });
  Places sorted;
  for (const std::size_t i : order) sorted.push_back(front[i]);
  front = std::move(sorted);
}

}  // namespace

std::vector<std::size_t> selection_order(std::span<const Score> scores) {
  Places kept, broken;
  for (std::size_t i = 0; i < scores.size(); ++i) (scores[i].violation > 0 ? broken : kept).push_back(i);
  Places order;
  if (!kept.empty() && scores[kept[0]].costs.size() == 1) {
    std::ranges::stable_sort(kept,
                             [&](std::size_t a, std::size_t b) { return scores[a].costs[0] < scores[b].costs[0]; });
    order = std::move(kept);
  } else if (!kept.empty()) {
    for (Places& front : fronts_of(scores, std::move(kept))) {
      by_crowding(scores, front);
      order.insert(order.end(), front.begin(), front.end());
    }
  }
  std::ranges::stable_sort(broken,
                           [&](std::size_t a, std::size_t b) { return scores[a].violation < scores[b].violation; });
  order.insert(order.end(), broken.begin(), broken.end());
  return order;
}

}  // namespace sdip
