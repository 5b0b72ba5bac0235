// Points of a space, as its sampling takes them.
#include "core/explore/space.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/explore/sampling.h"

namespace sdip {
namespace {

std::vector<std::size_t> digits_of(const Space& space, std::int64_t i, AxisRange which) {
  std::vector<std::size_t> digits(space.axes.size());
  row_of(space.sampling).digits(space, i, which, digits);
  return digits;
}

}  // namespace

std::vector<const Axis*> digit_order(const Space& space) {
  std::vector<const Axis*> order;
  for (const Axis& axis : space.axes) order.push_back(&axis);
  std::stable_partition(order.begin(), order.end(), [](const Axis* axis) { return changes_program(*axis); });
  return order;
}

std::int64_t point_count(const Space& space) {
  if (row_of(space.sampling).draws) return space.count;
  return combinations(space, true) * combinations(space, false);
}

Machine point(const Space& space, std::int64_t i) {
  check(i >= 0 && i < point_count(space), "point: index outside the space");
  Machine machine = space.base;
  const auto digits = digits_of(space, i, {0, space.axes.size()});
  for (std::size_t a = 0; a < digits.size(); ++a)
    space.axes[a].row->write(machine, space.axes[a].values[digits[a]]);
  return machine;
}

CapacityRange psram_rooms(const Space& space) {
  for (const Axis& axis : space.axes)
    if (axis.row->name == "psram_bytes" && axis.values.size() >= many_capacities)
      return {std::ranges::min(axis.values), std::ranges::max(axis.values)};
  return no_capacity;
}

std::int64_t axis_value(const Space& space, std::size_t axis, std::int64_t i) {
  check(axis < space.axes.size() && i >= 0 && i < point_count(space), "axis_value: outside the space");
  return space.axes[axis].values[digits_of(space, i, {axis, axis + 1})[axis]];
}

void check_space(const Space& space) {
  if (space.axes.empty()) throw Error("value_invalid", "/axes", "a sweep needs at least one axis");
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    const Axis& axis = space.axes[a];
    const std::string where = "/axes/" + std::to_string(a);
    for (std::size_t b = 0; b < a; ++b)
      if (space.axes[b].row == axis.row)
        throw Error("value_invalid", where + "/parameter",
                    std::string(axis.row->name) + " is swept twice: axis " + std::to_string(b) + " has it already");
    if (axis.values.empty()) throw Error("value_invalid", where + "/values", "an axis needs at least one value");
    std::vector<std::int64_t> sorted = axis.values;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
      throw Error("value_invalid", where + "/values",
                  std::string(axis.row->name) + " = " + value_text(*axis.row, *twice) + " is listed twice");
  }
  const std::int64_t most = most_points;
  const SamplingRow& row = row_of(space.sampling);
  if (row.draws) {
    if (space.count < 1 || space.count > most)
      throw Error("value_out_of_range", "/count", "points to draw: expected 1 to " + std::to_string(most));
    if (row.bounds_programs && combinations(space, true) > most)
      throw Error("too_large", "/axes",
                  "more than " + std::to_string(most) + " combinations of the axes that change the program");
    return;
  }
  // Each factor is at most most + 1, so the product fits.
  if (combinations(space, true) * combinations(space, false) > most)
    throw Error("too_large", "/axes", "the grid has more than " + std::to_string(most) + " points");
}

}  // namespace sdip
