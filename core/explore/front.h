// The Pareto front: the points that no other point beats; its knees, and the volume that it covers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/cost/price/estimate.h"

namespace sdip {

/// Columns as the functions below take them.
inline std::vector<std::span<const double>> spans_of(const std::vector<std::vector<double>>& columns) {
  return {columns.begin(), columns.end()};
}
/// Column k holds number k of what `numbers` says of each row.
template <class Rows, class Numbers>
std::vector<std::vector<double>> columns_of(const Rows& rows, std::size_t width, const Numbers& numbers) {
  std::vector<std::vector<double>> columns(width);
  for (const auto& row : rows)
    for (std::size_t k = 0; k < width; ++k) columns[k].push_back(numbers(row)[k]);
  return columns;
}

/// Positions of the points that no other is at least as good as in every objective and better in one. `columns[k]`
/// holds objective k of every point, `better[k]` its direction. A point with a NaN is left out; equal points are
/// all kept. Best in the first objective first, ties by the next objective, then by position. With (throughput,
/// area) = (10, 5) (10, 4) (3, 1) (2, 2): the front is positions 1, 2. Requires columns of one length and no
/// Better::neither.
std::vector<std::int64_t> pareto_front(std::span<const std::span<const double>> columns,
                                       std::span<const Better> better);

/// A cost on a scale where equal ratios are equal steps; of one below 0 likewise, the greater size the less.
double log_cost(double cost);

/// Volume of what the points beat, up to the reference: minimised costs, one row a point. Points beyond the
/// reference in a cost add nothing. It takes n log n in two dimensions, else goes by slices along the last cost
/// (While et al., "A faster algorithm for calculating hypervolume", IEEE TEC 10(1), 2006).
///
/// Worked example. (1, 3) and (2, 1) to (4, 4): 2 columns: 3 x 1 of the first and 2 x 3 of the second less what is
/// in both: 3 + 6 - 2 = 7.
double hypervolume(std::vector<std::vector<double>> points, std::span<const double> reference);

/// Whether that takes too long: of more than two objectives, where points to the power of (objectives - 1) are more
/// than most_volume_work.
bool volume_takes_too_long(std::size_t points, std::size_t objectives);
inline constexpr double most_volume_work = 1e6;

/// How an objective of a front becomes a cost, the less the better: in logarithms to base 10 where all of the
/// front's values have one sign, else as it is.
struct CostAxis {
  Better better = Better::lower;
  int sign = 0;                // of all costs of the front; 0: they have no one sign, and are taken as they are
  double least = 0, most = 0;  // of the front, as costs on this scale

  /// The cost of a value on this scale.
  double cost(double value) const;
  /// The value whose cost is `at`, on this scale.
  double value(double at) const;
  /// The worst of the front made a tenth worse, on this scale: of costs as they are by a tenth of their range, 1
  /// where that is 0.
  double reference() const;
};

/// The axis of each objective of a front in the form that pareto_front takes. Points with a value that is not
/// finite do not count; without any other, all is 0.
std::vector<CostAxis> cost_axes(std::span<const std::span<const double>> front, std::span<const Better> better);

/// A knee: little is gained in one cost by giving up much in another.
enum class Knee : std::uint8_t { plain, local, greatest };
/// "none", "local", "greatest"
std::string_view knee_text(Knee knee);

/// How far a knee that is not the greatest stands out: so far the distance falls on both sides of it before it
/// rises to a greater one.
inline constexpr double least_knee = 0.05;

/// Says of each point of a front whether it is a knee. Costs are those of cost_axes, scaled so that the front's
/// least is 0 and its greatest 1. With n costs that differ at all, a point's distance is (n - 1 - its costs' sum) /
/// root of n: of two costs from the line through the ends (0, 1) and (1, 0), of more from the plane through the
/// places that have the least of one cost and the greatest of all others. The greatest distance above 0 makes the
/// greatest knee; with two costs, those greater than all between them and the next greater one on either side are
/// local knees, where it falls by least_knee in between. Among equals it is the first, by the first cost that
/// differs.
///
/// Worked example. Costs (1, 1000), (10, 10), (1000, 1) are (0, 1), (1/3, 1/3), (1, 0): the second is the knee,
/// (1 - 2/3) / root of 2 = 0.24 from the line.
std::vector<Knee> front_knees(std::span<const std::span<const double>> front, std::span<const Better> better);

/// The volume that points cover up to the axes' references, in the axes' units (decades of ratios) multiplied;
/// points beyond them, or with a value that is not finite, add nothing. Nothing where it takes too long. Requires
/// as many columns as axes.
std::optional<double> front_volume(std::span<const CostAxis> axes, std::span<const std::span<const double>> points);

}  // namespace sdip
