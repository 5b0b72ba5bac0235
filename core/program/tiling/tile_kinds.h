// Sizes of tiles along one loop, alike ones together. Internal to its room.
#pragma once

#include <boost/container/small_vector.hpp>

#include "core/program/tiling/tiles.h"
#include "core/program/traffic.h"

namespace sdip {

/// A size, and how many tiles have it.
struct Kind {
  std::int64_t size, count;
};
using Kinds = boost::container::small_vector<Kind, 6>;

/// The whole tiles, of that size, and the last, of so many units.
Kinds kinds_of(const Cut& cut, std::int64_t tile, std::int64_t unit = 1);

/// Positions that tiles along an axis load: each its window, or, where they slide, all but the first what the one
/// before had not.
Kinds loads_along(const NestAxis& axis, const Cut& cut, std::int64_t tile, bool slides);

}  // namespace sdip
