// Numbers of parts that work may be cut into. Internal to its room.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"

namespace sdip {

/// Numbers of parts of `size` that are all filled, up to `most`: for each size of a part the fewest that hold the
/// whole. Requires size >= 1. Example: 10 up to 4: 1, 2, 3 (of 4, 4, 2), 4 (of 3, 3, 3, 1).
inline std::vector<std::int64_t> filled_parts(std::int64_t size, std::int64_t most) {
  std::vector<std::int64_t> parts;
  for (std::int64_t part = size;;) {
    const std::int64_t filled = ceil_div(size, part);
    if (filled > most) return parts;
    parts.push_back(filled);
    if (part == 1) return parts;
    part = ceil_div(size, ceil_div(size, part - 1));  // the next smaller one that needs more of them
  }
}

}  // namespace sdip
