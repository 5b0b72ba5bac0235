// The best machines that a search has met.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/explore/search/families.h"

namespace sdip {

std::vector<Score> scores_of(std::span<const Candidate> candidates);

/// Keeps the best machines found. With one objective these are the best, each value once; with several the front;
/// where none keeps the conditions, the nearest to them.
class Archive {
 public:
  void add(std::span<const Candidate> candidates);

  const std::vector<Candidate>& all() const { return best_; }
  /// The first; nothing while none keeps the conditions.
  const Candidate* best() const { return best_.empty() ? nullptr : best_.data(); }
  const std::optional<Candidate>& nearest() const { return nearest_; }
  std::vector<Candidate> release() &&;

 private:
  void thin();

  std::vector<Candidate> best_;
  std::optional<Candidate> nearest_;
};

}  // namespace sdip
