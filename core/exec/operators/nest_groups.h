// Products by weights that share scales by groups. Internal to its room.
//
// At each kernel position a result's sum goes group after group of its tile's input channels. The products of a
// group are summed from 0, in the order of sums and the accumulators' format, of elements without their scale. The
// partial sum times the scale, and what that adds to the sum, are each rounded to the accumulators' format.
//
// Example: fp32, one lane, elements 3 and -2 of scale 0.5, activations 1 and 4, and 1 of scale 2, activation 5:
// 0 + 3 x 1 - 2 x 4 = -5; 0 - 5 x 0.5 = -2.5; -2.5 + 5 x 2 = 7.5.
#pragma once

#include "core/exec/chip/chip.h"
#include "core/exec/operators/nest_tile.h"

namespace sdip::exec {

/// Consecutive weights along the sums that share a scale in the weight that a node multiplies by; nullptr: it has
/// none of groups.
struct GroupedWeight {
  const HeldWeight* weight = nullptr;
  std::int64_t group = 0;
};
GroupedWeight grouped_weight(Chip& chip, const Node& node, bool weighted);

/// The product of one copy, added to `sums`; `a` is its first element of the tile that was loaded. Requires a
/// floating accumulator.
void add_grouped_products(const TileShape& shape, const Copy& copy, const float* a, const TileStrides& a_at,
                          const GroupedWeight& b, float* sums, const Arithmetic& arithmetic);

}  // namespace sdip::exec
