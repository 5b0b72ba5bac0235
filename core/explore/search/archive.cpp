// The best machines that a search has met.
#include "core/explore/search/archive.h"

#include "core/explore/front.h"
#include "core/explore/search/selection.h"

namespace sdip {

std::vector<Score> scores_of(std::span<const Candidate> candidates) {
  std::vector<Score> all;
  for (const Candidate& one : candidates) all.push_back(one.score);
  return all;
}

void Archive::add(std::span<const Candidate> candidates) {
  for (const Candidate& one : candidates) {
    if (one.score.violation > 0) {
      if (!nearest_ || one.score.violation < nearest_->score.violation) nearest_ = one;
    } else {
      best_.push_back(one);
    }
  }
  thin();
}

std::vector<Candidate> Archive::release() && {
  if (best_.empty() && nearest_) best_.push_back(std::move(*nearest_));
  return std::move(best_);
}

void Archive::thin() {
  constexpr std::size_t most_of_one = 32;
  if (best_.empty()) return;
  std::vector<std::size_t> order;
  const std::size_t width = best_[0].score.costs.size();
  if (width == 1) {
    order = selection_order(scores_of(best_));
  } else {
    std::vector<std::vector<double>> columns(width);
    for (const Candidate& one : best_)
      for (std::size_t k = 0; k < width; ++k) columns[k].push_back(one.score.costs[k]);
    const std::vector<std::span<const double>> spans(columns.begin(), columns.end());
    for (const std::int64_t i : pareto_front(spans, std::vector<Better>(width, Better::lower)))
      order.push_back(as_size(i));
  }
  std::vector<Candidate> left;
  for (const std::size_t i : order) {
    if (!left.empty() && left.back().score.costs == best_[i].score.costs) continue;
    if (width == 1 && left.size() == most_of_one) break;
    left.push_back(std::move(best_[i]));
  }
  best_ = std::move(left);
}

}  // namespace sdip
