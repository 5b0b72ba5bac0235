// The staircase of a nest: the best tiling of one memory as a function of its size, built once, looked up often.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/tiling/tiling.h"

namespace sdip {

/// From `capacity` words on, `moved` words, until the next stair.
struct Stair {
  std::int64_t capacity = 0, moved = 0;
  Mapping mapping;
};

/// Ascending in capacity, each moving fewer words than the one before; the last moves nothing twice. Costs as much
/// as some thousand searches. Worked example: a product of 2 x 1 by 1 x 2 has stairs at 3 words (1 x 1 tiles, one
/// operand twice: 2 + 4 + 4 = 10 moved) and, with one operand whole, at 5 words: 1 + 2 + 2 on chip, 2 + 2 + 4 = 8
/// moved.
std::vector<Stair> staircase(const Nest& nest);

/// The stair that holds at `capacity`, or nullptr below the first.
const Stair* stair_at(const std::vector<Stair>& stairs, std::int64_t capacity);

}  // namespace sdip
