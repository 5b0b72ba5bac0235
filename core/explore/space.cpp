// Points of a space: grids in mixed radix, random draws from a counter-based generator.
#include "core/explore/space.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {
namespace {

bool changes_program(const Axis& axis) { return axis.row->effect == ParameterEffect::compile; }

std::uint64_t size_of(const Axis& axis) { return static_cast<std::uint64_t>(axis.values.size()); }

/// Finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A number that depends on all three and on nothing else. The modulus taken of it is at most most_points, so that
/// the values' odds differ by less than 2^-40.
std::uint64_t draw(std::uint64_t seed, std::int64_t i, std::uint64_t stream) {
  return mix(mix(mix(seed) ^ static_cast<std::uint64_t>(i)) ^ stream);
}

constexpr std::uint64_t combination_stream = ~std::uint64_t{0};

/// Product of the sizes of the axes that (do not) change the program; above most_points it stops growing.
std::int64_t combinations(const Space& space, bool compile_axes) {
  std::int64_t product = 1;
  for (const Axis& axis : space.axes) {
    if (changes_program(axis) != compile_axes) continue;
    product *= static_cast<std::int64_t>(std::min<std::size_t>(axis.values.size(), most_points + 1));
    product = std::min(product, most_points + 1);
  }
  return product;
}

/// Calls visit(axis, index of its value at point i) for each axis.
template <class Visit>
void each_digit(const Space& space, std::int64_t i, const Visit& visit) {
  std::int64_t rest = i;  // digits not yet taken off, fastest first
  const auto peel = [&](bool compile_axes) {
    for (std::size_t a = space.axes.size(); a-- > 0;) {
      const Axis& axis = space.axes[a];
      if (changes_program(axis) != compile_axes) continue;
      if (space.sampling == Sampling::random && !compile_axes) {
        visit(a, static_cast<std::size_t>(draw(space.seed, i, a) % size_of(axis)));
        continue;
      }
      const auto radix = static_cast<std::int64_t>(axis.values.size());
      visit(a, static_cast<std::size_t>(rest % radix));
      rest /= radix;
    }
  };
  peel(false);
  if (space.sampling == Sampling::random) {
    const std::int64_t strata = combinations(space, true);
    const std::uint64_t within = draw(space.seed, i, combination_stream) % static_cast<std::uint64_t>(strata);
    rest = (i * strata + static_cast<std::int64_t>(within)) / space.count;
  }
  peel(true);
}

}  // namespace

std::vector<const Axis*> digit_order(const Space& space) {
  std::vector<const Axis*> order;
  for (const Axis& axis : space.axes) order.push_back(&axis);
  std::stable_partition(order.begin(), order.end(), [](const Axis* axis) { return changes_program(*axis); });
  return order;
}

std::int64_t point_count(const Space& space) {
  if (space.sampling == Sampling::random) return space.count;
  return combinations(space, true) * combinations(space, false);
}

Machine point(const Space& space, std::int64_t i) {
  check(i >= 0 && i < point_count(space), "point: index outside the space");
  Machine machine = space.base;
  each_digit(space, i, [&](std::size_t a, std::size_t digit) {
    space.axes[a].row->write(machine, space.axes[a].values[digit]);
  });
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
  std::int64_t value = 0;
  each_digit(space, i, [&](std::size_t a, std::size_t digit) {
    if (a == axis) value = space.axes[a].values[digit];
  });
  return value;
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
  if (space.sampling == Sampling::random) {
    if (space.count < 1 || space.count > most)
      throw Error("value_out_of_range", "/count", "points to draw: expected 1 to " + std::to_string(most));
    if (combinations(space, true) > most)
      throw Error("too_large", "/axes",
                  "more than " + std::to_string(most) + " combinations of the axes that change the program");
    return;
  }
  // Each factor is at most most + 1, so the product fits.
  if (combinations(space, true) * combinations(space, false) > most)
    throw Error("too_large", "/axes", "the grid has more than " + std::to_string(most) + " points");
}

}  // namespace sdip
