// The input positions that results read along rows or columns of a nest.
//
// Example: kernel 3, pad 1, 4 positions: results 0 and 1 read positions 0 to 2, results 2 and 3 read 1 to 3, of
// which 3 alone is fresh. Kernel 1, stride 3: results 1 and 2 read 3 and 6, two runs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// Rows or columns of a nest.
struct InputAxis {
  std::int64_t results = 1, in = 1, stride = 1, kernel = 1, dilation = 1, pad = 0;
  /// From the first to the last position that one result reads.
  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
};
InputAxis rows_of(const LoopNest& nest);
InputAxis columns_of(const LoopNest& nest);

/// Positions, ascending: runs that do not touch.
using Runs = std::vector<Extent>;
std::int64_t positions_in(const Runs& runs);

/// The positions that these results read, from the first to the last, inside the input; where the stride leaves
/// gaps between them, a run for each result.
Runs positions_read(const InputAxis& axis, const Extent& results);

/// Those of `now` that `had` has not.
Runs fresh_positions(const Runs& now, const Runs& had);

/// From the first to the last of them, clipped to the input: maybe none, somewhere inside.
Extent hull_read(const InputAxis& axis, const Extent& results);

/// Whether more of these tiles than the model clips reach beyond an edge of the input: it then takes all of them as
/// in an input without edges (docs/model/tiling.md). Tiles smaller than the first are not counted.
bool clips_too_many(const InputAxis& axis, const std::vector<Extent>& tiles);

}  // namespace sdip::exec
