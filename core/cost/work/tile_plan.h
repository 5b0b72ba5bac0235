// Into which tiles an instruction is cut, how many of which size, and what one of them reads, makes and fetches of
// its weights: docs/model/tiling.md for the estimate, in closed form. The compiler, which chooses mappings,
// and the executor, which walks them, count for themselves.
//
// Worked example: 10 rows by 4 are 2 full tiles and an edge of 2. 2 frames of 5 rows and 6 channels, 3 groups of
// them, in tiles of 2 rows and 12 channels: rows are 2 full and 1 of 1, runs of 2 groups and of 1, and frames are
// taken one at a time: 2 x 3 x 2 = 12 operations.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/program/program.h"
#include "core/program/weight_form.h"

namespace sdip::cost {

/// A dimension cut into `full` equal tiles and, if it is not 0, a last one of `edge`; or one tile.
struct Cut {
  std::int64_t full = 1, edge = 0;
  constexpr std::int64_t count() const { return edge == 0 ? full : full + 1; }
};
/// Requires a tile of at most `size`: there is a full one.
constexpr Cut cut(std::int64_t size, std::int64_t tile) { return {size / tile, size - size / tile * tile}; }

/// The loops of an instruction (docs/model/tiling.md). `multiplicity`: copies of rows and columns that one tile
/// covers; `repeats`: those that it does not, or rows that are gone through one by one; `passes_apart`: over the
/// chunks of a row, of which the last writes.
struct TilePlan {
  bool nest = false;
  std::int64_t repeats = 1, multiplicity = 1, passes_apart = 1;
  Cut rows, columns, groups, channels, sums;
  std::int64_t tile_rows{}, tile_columns{}, tile_channels{}, tile_sums{};  // of a full tile, of loops that it has
  /// Operations but for sums and passes apart: of a single instruction those that write.
  std::int64_t result_tiles() const {
    return repeats * rows.count() * columns.count() * groups.count() * channels.count();
  }
};
/// One tile, whatever the sizes.
inline constexpr Mapping one_tile{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, rows_outermost};
/// The plan of a class that is not a compound.
TilePlan tile_plan(const InstructionClass& c);

/// The part of a nest that one tile operation covers.
struct TileExtent {
  std::int64_t rows, columns, channels, sums;
};

/// Whether a result tile is left before its last sums tile: rule 3.
bool partials_leave(const InstructionClass& c, const TilePlan& plan);

/// Rows or columns of a nest: results, inputs, and which inputs each result reads.
struct Axis {
  std::int64_t results, inputs, kernel, stride, dilation, pad;
  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
};
Axis rows_of(const LoopNest& nest);
Axis columns_of(const LoopNest& nest);

/// Input positions that results first ... first + count - 1 read: rule 4.
std::int64_t window(const Axis& axis, std::int64_t first, std::int64_t count);
/// Those of a tile of `count` results inside an input without edges, at most all that are read.
std::int64_t held_window(const Axis& axis, std::int64_t count);

/// Elements that an operation has of operand A, for so many output channels, of so many input channels, at so many
/// positions of its input; of B; of its results.
std::int64_t tile_a_elements(const InstructionClass& c, const TilePlan& plan, std::int64_t channels,
                             std::int64_t sums, std::int64_t positions);
std::int64_t tile_b_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile);
std::int64_t tile_out_elements(const TilePlan& plan, const TileExtent& tile);

/// Elements of a weight in so many output channels and input channels.
struct WeightTile {
  std::int64_t elements, channels, biases;  // biases: of a channel, where they come with it
  bool first_sums;                          // biases and scales come with the first
  std::int64_t sums = 1;                    // input channels, in groups of which weights stay
};
/// How many of `sums` consecutive weights stay: ceil(density group) of each whole group, of the last as many as it
/// has. Worked example: 2 of 4 of 9: 2 + 2 + 1.
std::int64_t kept_in_groups(std::int64_t sums, std::int64_t group, std::int64_t density_hundredths);
/// W of docs/model/tiling.md, as PSRAM holds it: `kept` elements, the mask or their places, biases and scales.
std::int64_t weight_bytes(const WeightTile& tile, const WeightForm& form);
/// Bytes of one tile of a nest's weights.
std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, std::int64_t sums, bool first,
                               const WeightForm& form);
/// Weights of row-wise work and fused operators, which stand in DRAM as they do in PSRAM. Not of strips.
std::int64_t held_weight_bytes(const InstructionClass& c, const WeightForm& form);
/// As DRAM has a tile: from 1,024 bytes on compressed.
std::int64_t stored_bytes(std::int64_t psram_bytes, const WeightForm& form);

}  // namespace sdip::cost
