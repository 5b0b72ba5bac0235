// A product of one tile, fold by fold: what its array of lanes reads, sums and writes. Internal to its room.
//
// Worked example: 3 rows by 2 channels of 5 sums on lanes of 2 x 2 x 4, one kernel position: row folds of 2 and 1,
// one channel fold, sum folds of 4 and 1: 4 cycles; results are made in folds of 4 and 2 elements. In a weight
// memory each row is a fold, with both channels and all 5 sums: 8 bits of activation, 3 at once, and 2 columns a
// converter are 3 x 2 cycles a row, 18 in all. With accumulators of two row folds and two weight registers, a beat
// a load: one run of two row folds goes through sum fold 4, then 1; each loads one beat while the other works: 1 +
// 2 + 2 cycles, 2 beats of weights, 2 x 6 sums written, 6 read again.
#pragma once

#include <vector>

#include "core/exec/clock/port_beats.h"

namespace sdip::exec {

/// The numbers that all tiles of a nest have in common. `in_memory`: the weight memory multiplies, row by row.
struct NestWidths {
  Count activation_bits = 0, b_bits = 0, partial_bits = 0;
  bool partials_to_stack = false, in_memory = false;
  Count group = 0, scale_bits = 0;  // weights along the sums that share a scale, and its bits
};

/// A tile's product: its sizes, and its place among the sums tiles of its results.
struct TileProduct {
  Count rows = 1, channels = 1, kernels = 1, sum = 1;
  bool first = true, last = true;
};

/// The result of folding a product: the elements of each fold of results, none before the last sums tile; and the
/// cycles of its first load, which stands before an operation where it is the first of all.
struct FoldedProduct {
  std::vector<Count> results;
  Count first_load = 0;
};

/// Adds to `needs` the folds of one product, its first load apart.
FoldedProduct fold_product(const InstructionClass& c, const Machine& machine, const Ports& ports,
                           const NestWidths& widths, const TileProduct& product, Needs& needs);

}  // namespace sdip::exec
