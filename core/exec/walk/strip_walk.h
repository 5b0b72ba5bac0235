// Strips walked tile operation by tile operation, by the clock and by the datapath: frames, in each strips of the
// last part's rows, in each the parts one behind the other: of a part first the channels whose weights are held,
// then each tile of those that come again.
//
// Example: 6 rows in strips of 4, part 0 of 4 channels, part 1 of 8 of which 5 are streamed in tiles of 2. A strip
// has the pieces (0, channels 0-3), (1, 0-2), (1, 3-4 with tile 0), (1, 5-6, tile 1), (1, 7, tile 2), each a tile
// operation: rows 0-3 five, rows 4-5 five. Were all held, a strip would have the pieces (0, 0-3) and (1, 0-7) in
// one operation.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// Channels of one part, made at once for all rows of a strip. `weight_tile`: the number in the strip of the tile
/// of weights that comes for it, or -1: they are held.
struct StripPiece {
  std::size_t part = 0;
  Extent channels;
  std::int64_t weight_tile = -1, of_part = 1;  // the part has so many pieces in a strip
  bool first() const { return channels.begin == 0; }
  friend bool operator==(const StripPiece&, const StripPiece&) = default;
};
std::vector<StripPiece> strip_pieces(const InstructionClass& c);

/// Elements of a row of a part's operand.
inline std::int64_t elements_of_row(const Part& part) {
  const LoopNest& n = part.work.nest;
  return n.in_w * n.in_channels * n.groups;
}

/// Second activations of a part's products, of all frames, that come from DRAM: a frame's are held by its strips.
std::int64_t second_elements(const Part& part);

/// Rows that a strip is charged (docs/model/fusion.md#strips): of each part those made and those
/// of its operand under them, of A those loaded.
struct StripRows {
  struct OfPart {
    std::int64_t made = 0, under = 0;
  };
  std::vector<OfPart> parts;
  std::int64_t loaded = 0;
};
StripRows strip_rows(const InstructionClass& c, std::int64_t rows);

/// One tile operation: these pieces of rows `rows` of the last part's results; the strip's operation `number`,
/// whose first one loads A.
struct StripStep {
  std::int64_t frame = 0;
  Extent rows;
  std::size_t number = 0;
  std::span<const StripPiece> pieces;
};

/// Calls `visit` with each tile operation in order. Requires parts, and strips of at least one row.
template <class Visit>
void for_each_strip_step(const InstructionClass& c, Visit&& visit) {
  const std::vector<StripPiece> pieces = strip_pieces(c);
  const bool together = std::ranges::all_of(pieces, [](const StripPiece& p) { return p.weight_tile < 0; });
  const std::size_t size = together ? pieces.size() : 1;
  const std::int64_t height = c.parts.back().work.nest.out_h;
  StripStep step;
  for (step.frame = 0; step.frame < c.parts[0].work.nest.batch; ++step.frame)
    for (std::int64_t row = 0; row < height; row += c.mapping.tile_rows) {
      step.rows = {row, std::min(height, row + c.mapping.tile_rows)};
      for (step.number = 0; step.number * size < pieces.size(); ++step.number) {
        step.pieces = std::span(pieces).subspan(step.number * size, size);
        visit(std::as_const(step));
      }
    }
}

}  // namespace sdip::exec
