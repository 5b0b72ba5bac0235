// A nest walked tile operation by tile operation: what each one loads of its operands that is not there, and when
// its partial sums leave the chip and come back. The datapath moves what a step says, the clock counts it.
//
// Example: 4 rows in tiles of 2, sums 2 in tiles of 1, rows innermost: (sums 0, rows 0-1) loads A and leaves its
// partial sums; (0, 2-3) loads the rows that A's tile before had not and leaves, too; (1, 0-1) loads A whole, the
// sums come back; (1, 2-3) likewise. B changes with the sums alone.
#pragma once

#include <optional>

#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// One tile operation, beside the one before it.
struct NestStep {
  TileOperation tile;
  TileOperation a, b, result;                    // of the loops those that index the operand, or the result
  bool loads_a = true, loads_b = true;           // its tile is another than the one before
  bool next_rows = false, next_columns = false;  // a line buffer has what the tile of A before had
  bool partials_come = false, partials_leave = false;
};

/// The part of a tile operation that says which tile of an operand it needs, or which of the result it makes.
TileOperation tile_of_a(const LoopNest& nest, bool weighted, const TileOperation& tile);
TileOperation tile_of_b(bool weighted, const TileOperation& tile);
TileOperation tile_of_result(const TileOperation& tile);

/// Which step follows one.
NestStep step_after(const std::optional<NestStep>& before, const LoopNest& nest, bool weighted,
                    const TileOperation& tile);

/// Calls `visit` with each step of these loops (tile_loops of that nest) in order.
template <class Visit>
void for_each_step(const LoopNest& nest, bool weighted, std::span<const TileLoop> loops, Visit&& visit) {
  std::optional<NestStep> step;  // is handed over when it is known what follows
  for_each_tile(loops, [&](const TileOperation& tile) {
    NestStep next = step_after(step, nest, weighted, tile);
    if (step) {
      step->partials_leave = !step->tile.last_sums && step->result != next.result;
      visit(std::as_const(*step));
    }
    step = next;
  });
  if (step) visit(std::as_const(*step));
}

}  // namespace sdip::exec
