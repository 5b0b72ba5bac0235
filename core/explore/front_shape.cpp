// Knees by the distance from the plane of the ends, and hypervolume.
#include "core/explore/front_shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/index.h"

namespace sdip {
namespace {

using FrontColumns = std::span<const std::span<const double>>;

constexpr double tiny_cost = 1e-300;

/// Of points inside the reference, by slices along the last of `width` costs.
double volume(std::vector<std::vector<double>>& points, std::span<const double> reference, std::size_t width) {
  if (points.empty()) return 0;
  if (width == 1) return reference[0] - (*std::ranges::min_element(points))[0];
  const std::size_t last = width - 1;
  std::ranges::sort(points,
                    [&](const auto& a, const auto& b) { return width == 2 ? a[0] < b[0] : a[last] < b[last]; });
  if (width == 2) {
    double area = 0, least = reference[1];
    for (const auto& point : points)
      if (point[1] < least) {
        area += (reference[0] - point[0]) * (least - point[1]);
        least = point[1];
      }
    return area;
  }
  double sum = 0;
  std::vector<std::vector<double>> below;
  for (std::size_t i = 0; i < points.size(); ++i) {
    below.push_back(points[i]);
    const double end = i + 1 < points.size() ? points[i + 1][last] : reference[last];
    if (end <= points[i][last]) continue;
    auto slice = below;
    sum += (end - points[i][last]) * volume(slice, reference, last);
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
  const double width = static_cast<double>(axes.size()), count = static_cast<double>(points[0].size());
  if (axes.size() > 2 && std::pow(count, width - 1) > most_volume_work) return std::nullopt;
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
