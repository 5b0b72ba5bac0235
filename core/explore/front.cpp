// The Pareto front in any number of objectives: sort, then keep what nothing kept before beats.
#include "core/explore/front.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"

namespace sdip {
namespace {

/// Points as rows of values to be made small, without those that have a NaN.
struct Table {
  std::size_t width = 0;
  std::vector<double> values;          // a row a point
  std::vector<std::int64_t> position;  // of the point among all
  const double* row(std::size_t i) const { return values.data() + i * width; }
};

Table table_of(std::span<const std::span<const double>> columns, std::span<const Better> better) {
  Table table;
  table.width = columns.size();
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
    if (std::ranges::any_of(columns, [&](const auto& column) { return std::isnan(column[i]); })) continue;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const double value = columns[k][i] + 0.0;  // -0 becomes 0: they are equal
      table.values.push_back(better[k] == Better::higher ? -value : value);
    }
    table.position.push_back(static_cast<std::int64_t>(i));
  }
  return table;
}

/// Whether `a` is nowhere worse than `b`: when they differ, `a` beats `b`.
bool nowhere_worse(const double* a, const double* b, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k)
    if (a[k] > b[k]) return false;
  return true;
}

/// Points kept so far, and the least value of each objective over every 16 of them, every 16 of those, and so on:
/// where the least values do not beat a candidate, none of the points under them does, and they are not looked at.
class Kept {
 public:
  explicit Kept(std::size_t width) : width_(width) {}

  void add(const double* point) {
    std::size_t place = size_++;
    for (std::size_t level = 0;; ++level, place /= fan) {
      if (level == levels_.size()) levels_.emplace_back(level == 0 ? std::vector<double>() : first_node(level - 1));
      std::vector<double>& nodes = levels_[level];
      if (nodes.size() < (place + 1) * width_) nodes.insert(nodes.end(), point, point + width_);
      double* const node = nodes.data() + place * width_;
      for (std::size_t k = 0; k < width_; ++k) node[k] = std::min(node[k], point[k]);
      if (nodes.size() <= fan * width_ && level + 1 == levels_.size()) return;
    }
  }

  /// Whether a kept point is nowhere worse than the candidate.
  bool beats(const double* candidate) const {
    if (levels_.empty()) return false;
    const std::size_t top = levels_.size() - 1;
    for (std::size_t i = levels_[top].size() / width_; i-- > 0;)
      if (beats(top, i, candidate)) return true;
    return false;
  }

 private:
  static constexpr std::size_t fan = 16;

  bool beats(std::size_t level, std::size_t i, const double* candidate) const {
    if (!nowhere_worse(levels_[level].data() + i * width_, candidate, width_)) return false;
    if (level == 0) return true;
    const std::size_t end = std::min((i + 1) * fan, levels_[level - 1].size() / width_);
    for (std::size_t child = end; child-- > i * fan;)
      if (beats(level - 1, child, candidate)) return true;
    return false;
  }

  /// The least values over the first nodes of a level, when a level is put on top of it.
  std::vector<double> first_node(std::size_t level) const {
    std::vector<double> least(levels_[level].begin(), levels_[level].begin() + static_cast<std::ptrdiff_t>(width_));
    for (std::size_t i = 1; i < fan; ++i)
      for (std::size_t k = 0; k < width_; ++k) least[k] = std::min(least[k], levels_[level][i * width_ + k]);
    return least;
  }

  std::size_t width_;
  std::size_t size_ = 0;
  std::vector<std::vector<double>> levels_;  // the points, then the least values over 16, over 256, ...
};

}  // namespace

std::vector<std::int64_t> pareto_front(std::span<const std::span<const double>> columns,
                                       std::span<const Better> better) {
  check(!columns.empty() && columns.size() == better.size(), "pareto_front: a direction for each objective");
  for (const auto& column : columns)
    check(column.size() == columns[0].size(), "pareto_front: columns of one length");
  for (const Better direction : better)
    check(direction != Better::neither, "pareto_front: an objective is better one way");

  const Table table = table_of(columns, better);
  const std::size_t width = table.width;
  std::vector<std::size_t> order(table.position.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const double* const left = table.row(a);
    const double* const right = table.row(b);
    for (std::size_t k = 0; k < width; ++k)
      if (left[k] != right[k]) return left[k] < right[k];
    return table.position[a] < table.position[b];
  });

  // What beats a point sorts before it, so only kept points need looking at, and an equal point is the last kept.
  // With two objectives the last kept point has the least second value so far and decides alone.
  Kept kept(width);
  std::vector<std::int64_t> front;
  const double* last = nullptr;
  for (const std::size_t i : order) {
    const double* const candidate = table.row(i);
    const bool equal = last != nullptr && std::equal(last, last + width, candidate);
    if (!equal) {
      const bool beaten_by_last = last != nullptr && nowhere_worse(last, candidate, width);
      if (beaten_by_last || (width > 2 && kept.beats(candidate))) continue;
      if (width > 2) kept.add(candidate);
      last = candidate;
    }
    front.push_back(table.position[i]);
  }
  return front;
}

}  // namespace sdip
