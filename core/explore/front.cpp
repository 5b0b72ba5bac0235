// The Pareto front in any number of objectives: sort, then keep what nothing kept before beats. Knees by the
// distance from the plane of the ends, and hypervolume.
#include "core/explore/front.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/index.h"

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

  // Points that beat another sort before it, so only kept points need looking at, and an equal point is the last
  // kept. With two objectives the last kept point has the least second value so far and decides alone.
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

namespace {

using FrontColumns = std::span<const std::span<const double>>;

constexpr double tiny_cost = 1e-300;

using Stairs = std::vector<std::array<double, 2>>;  // points in two costs, by the first

/// The area that the points beat, up to the reference.
double area_under(const Stairs& stairs, std::span<const double> reference) {
  double area = 0, least = reference[1];
  for (const auto& stair : stairs)
    if (stair[1] < least) {
      area += (reference[0] - stair[0]) * (least - stair[1]);
      least = stair[1];
    }
  return area;
}

/// The volume that points inside the reference cover, by slices along the last of `width` costs.
double volume(std::vector<std::vector<double>>& points, std::span<const double> reference, std::size_t width) {
  if (points.empty()) return 0;
  if (width == 1) return reference[0] - (*std::ranges::min_element(points))[0];
  const std::size_t last = width - 1;
  std::ranges::sort(points, {}, [&](const auto& point) { return width == 2 ? point[0] : point[last]; });
  Stairs stairs;  // of the points so far
  const auto add = [&](const std::vector<double>& point) {
    stairs.insert(std::ranges::upper_bound(stairs, point[0], {}, [](const auto& one) { return one[0]; }),
                  {point[0], point[1]});
  };
  if (width == 2) {
    std::ranges::for_each(points, add);
    return area_under(stairs, reference);
  }
  double sum = 0;
  std::vector<std::vector<double>> below;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (width == 3) add(points[i]);
    if (width > 3) below.push_back(points[i]);
    const double end = i + 1 < points.size() ? points[i + 1][last] : reference[last];
    if (end <= points[i][last]) continue;
    auto slice = below;
    sum += (end - points[i][last]) * (width == 3 ? area_under(stairs, reference) : volume(slice, reference, last));
  }
  return sum;
}

bool all_finite(FrontColumns columns, std::size_t i) {
  return std::ranges::all_of(columns, [&](const auto& column) { return std::isfinite(column[i]); });
}

double plain_cost(Better better, double value) { return better == Better::higher ? -value : value; }

/// 1 or -1 where all are above or below 0.
int common_sign(std::span<const double> costs) {
  if (std::ranges::all_of(costs, [](double cost) { return cost > 0; })) return 1;
  return std::ranges::all_of(costs, [](double cost) { return cost < 0; }) ? -1 : 0;
}

/// From each height down to the lowest place before a greater one, looking back; `equal`: an equal one is greater.
std::vector<double> lowest_before(std::span<const double> heights, bool equal) {
  struct GreaterHeight {
    double height, lowest;
  };
  std::vector<GreaterHeight> greater;
  std::vector<double> lowest;
  for (const double height : heights) {
    double low = height;
    while (!greater.empty() && (greater.back().height < height || (!equal && greater.back().height == height))) {
      low = std::min(low, greater.back().lowest);
      greater.pop_back();
    }
    greater.push_back({height, low});
    lowest.push_back(low);
  }
  return lowest;
}

/// How far each stands above the higher of the two lowest places between it and a greater one; the first of equals.
std::vector<double> prominences(std::vector<double> heights) {
  const std::vector<double> before = lowest_before(heights, true);
  std::ranges::reverse(heights);
  std::vector<double> behind = lowest_before(heights, false);
  std::ranges::reverse(behind);
  std::ranges::reverse(heights);
  for (std::size_t i = 0; i < heights.size(); ++i) heights[i] -= std::max(before[i], behind[i]);
  return heights;
}

}  // namespace

double log_cost(double cost) {
  const double size = std::log(std::max(std::abs(cost), tiny_cost));
  return cost < 0 ? -size : size;
}

double hypervolume(std::vector<std::vector<double>> points, std::span<const double> reference) {
  std::erase_if(points, [&](const std::vector<double>& point) {
    for (std::size_t k = 0; k < reference.size(); ++k)
      if (!(point[k] < reference[k])) return true;
    return false;
  });
  return volume(points, reference, reference.size());
}

bool volume_takes_too_long(std::size_t points, std::size_t objectives) {
  return objectives > 2 &&
         std::pow(static_cast<double>(points), static_cast<double>(objectives) - 1) > most_volume_work;
}

double CostAxis::cost(double value) const {
  const double plain = plain_cost(better, value);
  return sign == 0 ? plain : sign * std::log10(std::max(sign * plain, tiny_cost));
}

double CostAxis::value(double at) const {
  return plain_cost(better, sign == 0 ? at : sign * std::pow(10, sign * at));
}

double CostAxis::reference() const {
  constexpr double worse = 0.1;
  if (sign != 0) return most + std::log10(1 + worse);
  return most + (most > least ? worse * (most - least) : 1);
}

std::vector<CostAxis> cost_axes(FrontColumns front, std::span<const Better> better) {
  check(front.size() == better.size(), "cost_axes: a direction for each objective");
  std::vector<CostAxis> axes;
  for (std::size_t k = 0; k < front.size(); ++k) {
    CostAxis axis{.better = better[k]};
    std::vector<double> costs;
    for (std::size_t i = 0; i < front[k].size(); ++i)
      if (all_finite(front, i)) costs.push_back(plain_cost(better[k], front[k][i]));
    if (!costs.empty()) {
      axis.sign = common_sign(costs);
      const auto [least, most] = std::ranges::minmax(costs);
      axis.least = axis.cost(plain_cost(better[k], least));
      axis.most = axis.cost(plain_cost(better[k], most));
    }
    axes.push_back(axis);
  }
  return axes;
}

std::string_view knee_text(Knee knee) {
  static constexpr Array<std::string_view, 3> texts = {{"none", "local", "greatest"}};
  return texts[knee];
}

std::vector<Knee> front_knees(FrontColumns front, std::span<const Better> better) {
  check(!front.empty(), "front_knees: an objective");
  std::vector<Knee> knees(front[0].size(), Knee::plain);
  const std::vector<CostAxis> all = cost_axes(front, better);
  std::vector<std::size_t> differing;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].most > all[k].least) differing.push_back(k);
  if (differing.size() < 2) return knees;
  const auto scaled = [&](std::size_t k, std::size_t i) {
    return (all[k].cost(front[k][i]) - all[k].least) / (all[k].most - all[k].least);
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < knees.size(); ++i)
    if (all_finite(front, i)) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return scaled(differing[0], i); });
  const double count = static_cast<double>(differing.size());
  std::vector<double> distances;
  for (const std::size_t i : order) {
    double sum = 0;
    for (const std::size_t k : differing) sum += scaled(k, i);
    distances.push_back((count - 1 - sum) / std::sqrt(count));
  }
  constexpr double rounding = 1e-9;
  const auto greatest = std::ranges::max_element(distances);
  if (!(*greatest > rounding)) return knees;
  if (differing.size() == 2) {
    const std::vector<double> above = prominences(distances);
    for (std::size_t i = 0; i < order.size(); ++i)
      if (distances[i] > rounding && above[i] >= least_knee) knees[order[i]] = Knee::local;
  }
  knees[order[as_size(greatest - distances.begin())]] = Knee::greatest;
  return knees;
}

std::optional<double> front_volume(std::span<const CostAxis> axes, FrontColumns points) {
  check(!axes.empty() && axes.size() == points.size(), "front_volume: a column for each axis");
  if (volume_takes_too_long(points[0].size(), axes.size())) return std::nullopt;
  std::vector<double> reference;
  for (const CostAxis& axis : axes) reference.push_back(axis.reference());
  std::vector<std::vector<double>> costs;
  for (std::size_t i = 0; i < points[0].size(); ++i) {
    if (!all_finite(points, i)) continue;
    std::vector<double>& row = costs.emplace_back();
    for (std::size_t k = 0; k < axes.size(); ++k) row.push_back(axes[k].cost(points[k][i]));
  }
  return hypervolume(std::move(costs), reference);
}

}  // namespace sdip
