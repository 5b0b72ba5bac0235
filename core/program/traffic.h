// The words that the tile loops of a nest move between memory and chip, exactly and in closed form.
//
// The rule. A nest has four tile loops: rows, columns, channels, sums (Mapping). They run in the mapping's order,
// with two more between them that are never split:
//   - groups of a weighted nest of several groups: the channels loop is a loop over groups (or runs of whole
//     groups) and, just inside it, one over the tiles of a group's channels. A tile of channels is at most one
//     group's, or a run of whole groups;
//   - repeats. A weighted nest repeats over the frames of the batch, just outside the outer loop of rows and
//     columns; when both are whole there is no such loop and a tile covers all frames (`multiplicity`). A product
//     of two activations repeats over all batch x groups products, outermost; when rows, columns and channels are
//     whole, a tile covers all of them.
// Activations A are indexed by repeats, groups, rows, columns, sums; B by groups, channels, sums (of a product also
// by repeats); results by all but sums. Then
//   1. A tile of A or B is loaded when the one needed differs from the one before it in the order of the loops.
//   2. Exception, the line buffer: when that A tile and the one before differ by one step forward of the rows loop
//      and by nothing else, and windows of neighbouring tiles share rows, only the rows that the one before had
//      not are loaded. Likewise columns. (So: rows, or columns, is the innermost of the loops of more than one
//      tile that index A; its first tile is loaded whole each time that the loop begins again.)
//   3. A result tile is made on chip. When the next operation works on another one, it leaves: as a result if its
//      last sums tile is done, else as partial sums, which come back when its next sums tile is worked on.
//   4. The window of a tile is what its results read, clipped to the input: padding is no word. Along an axis it is
//      the smallest run that holds all positions read; where the stride is larger than the reach of the kernel,
//      one run a result.
// On chip lie one tile of each: of A the window as it would be inside an input without edges, at most all that is
// read.
//
// Worked example: 3x3, pad 1, 4 x 4 input and result, one channel each. Tiles of 2 rows: windows of rows 0 to 2 and
// 1 to 3. Rows as the only loop: 3 x 4 words, then 1 x 4 (line buffer), 16 in all; with columns of 2 inside rows,
// the columns slide: 3 x 4 words for either row tile, 24. On chip 4 x 4 words for 2 whole rows.
#pragma once

#include <cstdint>

#include "core/ops/operator.h"
#include "core/program/program.h"

namespace sdip {

/// Rows or columns of a nest.
struct NestAxis {
  std::int64_t out = 1, in = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;  // pad: before the first
  std::int64_t reach() const { return (kernel - 1) * dilation + 1; }
};
NestAxis row_axis(const LoopNest& nest);
NestAxis column_axis(const LoopNest& nest);

/// Input positions that results [first, first + count) read, clipped: rule 4.
std::int64_t window(const NestAxis& axis, std::int64_t first, std::int64_t count);
/// The sum of `window` over the tiles of `tile` results, the last maybe smaller.
std::int64_t window_sum(const NestAxis& axis, std::int64_t tile);
/// Positions that the chip holds for a tile of `tile` results.
std::int64_t held_window(const NestAxis& axis, std::int64_t tile);

/// How often each loop runs: tiles of rows and columns, runs of groups, tiles of channels within such a run, tiles
/// of sums; and how many frames (products) a tile covers.
struct TileCounts {
  std::int64_t repeats = 1, rows = 1, columns = 1, groups = 1, channels = 1, sums = 1;
  std::int64_t multiplicity = 1;
  std::int64_t operations() const { return repeats * rows * columns * groups * channels * sums; }
};

/// A nest and what kind of operand B is: weights shared by all frames, or the second activations of a product.
struct Nest {
  LoopNest loops;
  bool weighted = true;
  std::int64_t channels() const { return weighted ? loops.groups * loops.out_channels : loops.out_channels; }
};

/// True when every size is at least 1 and at most its loop's, `order` has each loop once, and a channels tile keeps
/// to groups as the rule says.
bool is_valid(const Nest& nest, const Mapping& mapping);

/// Requires is_valid.
TileCounts tile_counts(const Nest& nest, const Mapping& mapping);

/// Elements of one tile of each operand.
struct TileWords {
  std::int64_t a = 0, b = 0, out = 0;
  std::int64_t all() const { return a + b + out; }
};

/// Words moved by an instruction, one core. Bias is left out.
struct Traffic {
  std::int64_t a = 0, b = 0, out = 0;  // loaded, loaded, written at last
  std::int64_t partials_written = 0, partials_read = 0;
  TileWords footprint;  // single-buffered
  std::int64_t words() const { return a + b + out + partials_written + partials_read; }
};

/// Counts beyond this are given as this.
inline constexpr std::int64_t most_words = std::int64_t{1} << 60;

/// How often the tiles of each operand come round again because of loops that do not index it (of results: how many
/// times each is worked on before it is done), and the axis along which A slides. Requires is_valid.
struct TileRounds {
  std::int64_t a = 1, b = 1, out = 1;
  bool rows_slide = false, columns_slide = false;
};
TileRounds tile_rounds(const Nest& nest, const Mapping& mapping, const TileCounts& counts);

/// Requires is_valid.
Traffic traffic(const Nest& nest, const Mapping& mapping);

/// Elements on chip of full tiles. Requires is_valid.
TileWords tile_words(const Nest& nest, const Mapping& mapping);

/// Words that any mapping moves: what is read of A, once; B and the result, once.
struct Compulsory {
  std::int64_t a = 0, b = 0, out = 0;
  std::int64_t words() const { return a + b + out; }
};
Compulsory compulsory(const Nest& nest);

}  // namespace sdip
