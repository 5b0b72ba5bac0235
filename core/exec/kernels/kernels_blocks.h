// Products block by block: operands packed once, tiles shared by threads. Internal to its room.
//
// The blocks, outermost first: columns, then the depth, in order, since sums go on from what they hold, then rows.
// For each, the right operand's panels and the left one's rows are packed, and then tiles are added; between the
// two all threads meet. Example: 20 rows, 70 columns, depth 300 and tiles of 12 x 32: depth 0-255 then 256-299, in
// each 3 panels and 20 rows are packed and 2 x 3 tiles added.
#pragma once

#include "core/exec/kernels/kernels_tile.h"

namespace sdip::exec {

/// Part of the depth that is added at once: whole runs, or folds of one run, `run` the length of what folds end at.
struct DepthBlock {
  std::int64_t begin = 0, depth = 0, run = 0;
  friend bool operator==(const DepthBlock&, const DepthBlock&) = default;
};

/// The blocks of a sum, in order. Example: runs of 300, 16 lanes, at most 256: 256 and 44 of each run.
std::vector<DepthBlock> depth_blocks(const ProductShape& shape);

/// C += L x R by tiles of `kernel`, whose element type `Packed` is.
template <class Packed, class T, class S>
void multiply_by_tiles(const ProductShape& shape, const TileKernel& kernel, const Rounding* rounding,
                       const Matrix<T>& left, const Matrix<T>& right, const Sums<S>& sums,
                       const KernelOptions& options);

}  // namespace sdip::exec
