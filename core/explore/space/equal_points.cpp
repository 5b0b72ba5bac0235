// Equal points, by the hash of the values of their axes.
#include "core/explore/space/equal_points.h"

#include <algorithm>

#include "core/explore/space/sampling.h"

namespace sdip {
namespace {

std::uint64_t hash_of(std::span<const std::int64_t> key) {
  std::uint64_t hash = key.size();
  for (const std::int64_t value : key) hash = mixed(hash ^ static_cast<std::uint64_t>(value));
  return hash;
}

std::size_t place_of_row(const Space& space, const ParameterRow* row) {
  const auto axis = std::ranges::find(space.axes, row, &Axis::row);
  return axis == space.axes.end() ? no_place : as_size(axis - space.axes.begin());
}

/// Whether the points that both have are of one number: the axes are equal, and a sample goes on where one ends.
bool same_numbers(const Space& a, const Space& b) {
  if (a.axes != b.axes || a.sampling != b.sampling) return false;
  if (!row_of(a.sampling).draws) return true;
  const auto draws = [](const Space& space) {
    return space.draws.empty() ? std::vector{space.count} : space.draws;
  };
  const std::vector<std::int64_t> before = draws(a), after = draws(b);
  return a.seed == b.seed && std::ranges::mismatch(before, after).in1 == before.end();
}

}  // namespace

PointIndex::PointIndex(const Space& from, std::span<const IndexRange> ranges, const Space& to)
    : from_(from), to_(to), same_(same_numbers(from, to)), ranges_(ranges.begin(), ranges.end()) {
  if (same_) return;
  std::vector<const ParameterRow*> rows;
  for (const Space* space : {&from, &to})
    for (const Axis& axis : space->axes)
      if (std::ranges::find(rows, axis.row) == rows.end()) rows.push_back(axis.row);
  for (const ParameterRow* row : rows) {
    base_.push_back(row->read(from.base));
    from_axes_.push_back(place_of_row(from, row));
    to_axes_.push_back(place_of_row(to, row));
  }
  for (const IndexRange& range : ranges_)
    for (std::int64_t i = range.first; i < range.end; ++i)
      entries_.push_back({hash_of(key(from_, from_axes_, i)), i});
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.index < b.index;
  });
}

std::vector<std::int64_t> PointIndex::key(const Space& space, std::span<const std::size_t> places,
                                          std::int64_t i) const {
  const std::vector<std::int64_t> values = axis_values(space, i);
  std::vector<std::int64_t> key = base_;
  for (std::size_t r = 0; r < key.size(); ++r)
    if (places[r] != no_place) key[r] = values[places[r]];
  return key;
}

std::optional<std::int64_t> PointIndex::find(std::int64_t i) const {
  if (same_) {
    const auto range = std::ranges::upper_bound(ranges_, i, {}, &IndexRange::end);
    return range != ranges_.end() && range->first <= i ? std::optional(i) : std::nullopt;
  }
  const std::vector<std::int64_t> wanted = key(to_, to_axes_, i);
  const std::uint64_t hash = hash_of(wanted);
  for (auto entry = std::ranges::lower_bound(entries_, hash, {}, &Entry::hash);
       entry != entries_.end() && entry->hash == hash; ++entry)
    if (key(from_, from_axes_, entry->index) == wanted) return entry->index;
  return std::nullopt;
}

std::size_t AxisValuesHash::operator()(const std::vector<std::int64_t>& values) const { return hash_of(values); }

bool SeenPoints::pays(const Space& space) {
  if (!row_of(space.sampling).draws) return false;
  double machines = 1;
  for (const Axis& axis : space.axes) machines *= static_cast<double>(axis.values.size());
  // When n points are drawn evenly from m, about n / 2m of them were drawn before, while that is small. A look-up
  // takes 6 % of the time of a point that shares its program with its neighbours.
  constexpr double least_share = 0.1;
  return static_cast<double>(space.count) >= 2 * least_share * machines;
}

}  // namespace sdip
