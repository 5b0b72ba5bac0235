// A product of one tile, fold by fold: what its array of lanes reads, sums and writes.
//
// Worked example: 3 rows by 2 channels of 5 sums on lanes of 2 x 2 x 4, one kernel position: row folds of 2 and 1,
// one channel fold, sum folds of 4 and 1: 4 cycles; results are made in folds of 4 and 2 elements. In a weight
// memory each row is a fold, with both channels and all 5 sums: 8 bits of activation, 3 at once, and 2 columns a
// converter are 3 x 2 cycles a row, 18 in all.
#pragma once

#include <vector>

#include "core/exec/clock/port_beats.h"

namespace sdip::exec {

/// What all tiles of a nest have in common. `in_memory`: the weight memory multiplies, row by row.
struct NestWidths {
  Count activation_bits = 0, b_bits = 0, partial_bits = 0;
  bool partials_to_stack = false, in_memory = false;
};

/// A tile's product: its sizes, and its place among the sums tiles of its results.
struct TileProduct {
  Count rows = 1, channels = 1, kernels = 1, sum = 1;
  bool first = true, last = true;
};

/// Adds to `needs` the folds of one product; returns the elements of each fold of results, none before the last
/// sums tile.
std::vector<Count> fold_product(const InstructionClass& c, const Machine& machine, const Ports& ports,
                                const NestWidths& widths, const TileProduct& product, Needs& needs);

}  // namespace sdip::exec
