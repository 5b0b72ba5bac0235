// Points that are the same machine: of another space, or drawn again within one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/shared_cache.h"
#include "core/explore/space/points.h"
#include "core/explore/space/space.h"

namespace sdip {

/// Finds the points of one space in another, by the hash of what their axes are worth; 16 bytes a point that is
/// looked for among. Requires that bases and links of both are equal, and that each outlives it. May be asked by
/// several threads.
class PointIndex {
 public:
  /// Points of `ranges` are looked for among those of `from`.
  PointIndex(const Space& from, std::span<const IndexRange> ranges, const Space& to);
  /// The point of `from` that is the same machine as point i of `to`: the first of several.
  std::optional<std::int64_t> find(std::int64_t i) const;

 private:
  std::vector<std::int64_t> key(const Space& space, std::span<const std::size_t> places, std::int64_t i) const;

  struct Entry {
    std::uint64_t hash = 0;
    std::int64_t index = 0;
  };
  const Space &from_, &to_;
  bool same_ = false;  // a point of `to` is that of its number
  std::vector<IndexRange> ranges_;
  std::vector<std::int64_t> base_;                // of each axis of either what the base is worth
  std::vector<std::size_t> from_axes_, to_axes_;  // of each of them its place, `no_place` where it is no axis
  std::vector<Entry> entries_;                    // ascending
};

struct AxisValuesHash {
  std::size_t operator()(const std::vector<std::int64_t>& values) const;
};

/// Outcomes of a sweep's points, by the values of their axes, so that a machine that is drawn again is not
/// evaluated again.
struct SeenPoints : SharedCache<std::unordered_map<std::vector<std::int64_t>, Outcome, AxisValuesHash>> {
  SeenPoints() : SharedCache(1 << 16) {}  // some 40 MB; neighbours share what is drawn again

  /// Whether so many points of a drawn sample are the same machine that looking for them takes less than it saves.
  static bool pays(const Space& space);
};

}  // namespace sdip
