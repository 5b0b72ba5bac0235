// Elementary effects and shares of variance.
#include "core/explore/screening.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/explore/space/sampling.h"

namespace sdip {
namespace {

/// A stream of its own for each point.
class UnitDraws {
 public:
  UnitDraws(std::uint64_t seed, std::int64_t point) : state_(drawn(seed, point, 0)) {}
  std::uint64_t next() { return state_ = mixed(state_); }
  std::size_t below(std::size_t end) { return as_size(next() % end); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Mean and sample standard deviation of those values that are numbers; the latter is none of fewer than two.
struct Moments {
  double mean = std::numeric_limits<double>::quiet_NaN(), deviation = mean;
  std::int64_t count = 0;
  double error() const { return deviation / std::sqrt(static_cast<double>(count)); }
};

Moments moments_of(std::span<const double> numbers) {
  Moments m;
  double sum = 0, squares = 0;
  for (const double x : numbers) {
    if (std::isnan(x)) continue;
    ++m.count;
    sum += x;
  }
  if (m.count == 0) return m;
  const auto count = static_cast<double>(m.count);
  m.mean = sum / count;
  for (const double x : numbers)
    if (!std::isnan(x)) squares += (x - m.mean) * (x - m.mean);
  if (m.count > 1) m.deviation = std::sqrt(squares / (count - 1));
  return m;
}

}  // namespace

MorrisDesign morris_design(std::size_t factors, std::int64_t trajectories, std::uint64_t seed) {
  constexpr std::int64_t step = morris_levels / 2;  // levels
  constexpr double highest = morris_levels - 1;
  MorrisDesign design;
  for (std::int64_t t = 0; t < trajectories; ++t) {
    UnitDraws draws(seed, t);
    std::vector<std::int64_t> levels;
    for (std::size_t k = 0; k < factors; ++k)
      levels.push_back(static_cast<std::int64_t>(draws.below(morris_levels)));
    std::vector<std::size_t> order(factors);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = factors; k > 1; --k) std::swap(order[k - 1], order[draws.below(k)]);
    const auto add = [&] {
      UnitPoint& point = design.points.emplace_back();
      for (const std::int64_t level : levels) point.push_back(static_cast<double>(level) / highest);
    };
    add();
    for (const std::size_t factor : order) {
      levels[factor] += levels[factor] < step ? step : -step;
      design.stepped.push_back(factor);
      add();
    }
  }
  return design;
}

std::vector<MorrisEffect> morris_effects(const MorrisDesign& design, std::span<const double> values) {
  check(values.size() == design.points.size() && !values.empty(), "morris_effects: a value of each point");
  const std::size_t factors = design.points[0].size();
  std::vector<std::vector<double>> effects(factors), sizes(factors);
  for (std::size_t s = 0; s < design.stepped.size(); ++s) {
    const std::size_t from = s + s / factors, factor = design.stepped[s];
    const double effect =
        (values[from + 1] - values[from]) / (design.points[from + 1][factor] - design.points[from][factor]);
    effects[factor].push_back(effect);
    sizes[factor].push_back(std::fabs(effect));
  }
  std::vector<MorrisEffect> found;
  for (std::size_t k = 0; k < factors; ++k) {
    const Moments m = moments_of(effects[k]);
    found.push_back({m.mean, moments_of(sizes[k]).mean, m.deviation, m.count});
  }
  return found;
}

std::vector<UnitPoint> sobol_design(std::size_t factors, std::int64_t samples, std::uint64_t seed) {
  std::vector<UnitPoint> points;
  for (std::int64_t j = 0; j < samples; ++j) {
    UnitDraws draws(seed, j);
    UnitPoint a, b;
    for (std::size_t k = 0; k < factors; ++k) {
      a.push_back(draws.unit());
      b.push_back(draws.unit());
    }
    points.push_back(a);
    points.push_back(b);
    for (std::size_t k = 0; k < factors; ++k) {
      points.push_back(a);
      points.back()[k] = b[k];
    }
  }
  return points;
}

std::vector<SobolIndex> sobol_indices(std::size_t factors, std::span<const double> values) {
  const std::size_t width = factors + 2, samples = values.size() / width;
  check(values.size() == samples * width, "sobol_indices: a value of each point");
  std::vector<double> independent;
  for (std::size_t j = 0; j < samples; ++j)
    for (std::size_t k = 0; k < 2; ++k) independent.push_back(values[j * width + k]);
  const Moments all = moments_of(independent);
  const double variance = all.deviation * all.deviation;
  std::vector<SobolIndex> indices;
  for (std::size_t k = 0; k < factors; ++k) {
    std::vector<double> firsts, totals;
    for (std::size_t j = 0; j < samples; ++j) {
      const double a = values[j * width], b = values[j * width + 1], both = values[j * width + 2 + k];
      firsts.push_back((b - all.mean) * (both - a) / variance);
      totals.push_back((a - both) * (a - both) / (2 * variance));
    }
    const Moments first = moments_of(firsts), total = moments_of(totals);
    indices.push_back({first.mean, first.error(), total.mean, total.error()});
  }
  return indices;
}

std::size_t place_in(std::size_t size, double u) {
  return std::min(size - 1, static_cast<std::size_t>(u * static_cast<double>(size)));
}

}  // namespace sdip
