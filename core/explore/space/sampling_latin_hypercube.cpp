// Latin hypercube samples: each axis is cut into as many strata as there are points, and each holds one point.
#include <algorithm>

#include "core/explore/space/sampling.h"

namespace sdip {
namespace {

/// Which of `count` strata point i is in. The points are cut into `blocks` runs of equal length but for one point;
/// a run ascends in this axis, and its j-th point lies in one of the strata j * blocks, ..., j * blocks + blocks -
/// 1, which the runs share by a shuffle. So each stratum has one point, as in a sliced Latin hypercube (Qian, JASA
/// 107, 2012). One block: the points in order; as many as points: any permutation.
std::int64_t stratum(std::int64_t i, std::int64_t count, std::int64_t blocks, std::uint64_t key) {
  const std::int64_t block = i * blocks / count;
  const std::int64_t first = (block * count + blocks - 1) / blocks;
  const std::int64_t place = i - first, shortest = count / blocks;
  const std::uint64_t place_key = mixed(key ^ static_cast<std::uint64_t>(place));
  if (place < shortest) return place * blocks + shuffled(block, blocks, place_key);
  // The last point of a longer run: how many of those come before it?
  const std::int64_t longer = count - shortest * blocks;
  return shortest * blocks + shuffled(first - block * shortest, longer, place_key);
}

}  // namespace

// Axes that change the program nest: within the points that share the values of those listed before it such an axis
// ascends, so that neighbours share programs as far as there are more points than combinations.
void latin_hypercube_digits(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits) {
  const SampleDraw draw = draw_of(space, i);
  const std::int64_t count = draw.count;
  std::int64_t blocks = 1;  // combinations of the axes before that change the program, at most the points
  for (std::size_t a = 0; a < which.end; ++a) {
    const Axis& axis = space.axes[a];
    const auto values = static_cast<std::int64_t>(axis.values.size());
    const bool nested = changes_program(axis);
    if (a >= which.first) {
      std::uint64_t key = mixed(mixed(space.seed) ^ (a + 1));
      if (draw.number > 0) key = mixed(key ^ draw.number);
      const auto within = static_cast<std::int64_t>(drawn(space.seed, i, a) % static_cast<std::uint64_t>(values));
      digits[a] = as_size((stratum(i - draw.first, count, nested ? blocks : count, key) * values + within) / count);
    }
    if (nested) blocks = std::min(count, blocks * values);
  }
}

}  // namespace sdip
