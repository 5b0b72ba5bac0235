// Row-wise work walked tile operation by tile operation, by the clock and by the datapath: tiles of whole rows, all
// passes in one; of rows longer than a tile, chunks, gone through once for each pass, of which the last writes.
//
// Example: one row of 5 in chunks of 2, three passes: elements 0-1, 2-3, 4 three times; the last three operations
// write the first, second and third part of the results.
#pragma once

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// The loops of row-wise work of a mapping. Requires rows and passes, and a mapping of at least one row and
/// element.
struct RowLoops {
  std::int64_t rows = 1, length = 1, passes = 1, tile_rows = 1, chunk = 1;
  bool chunked = false;
  std::int64_t tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  std::int64_t chunks() const { return (length + chunk - 1) / chunk; }
  /// Operations that write, and all of them.
  std::int64_t writing() const { return tiles() * chunks(); }
  std::int64_t operations() const { return writing() * (chunked ? passes : 1); }
};
inline RowLoops row_loops(std::int64_t rows, std::int64_t length, std::int64_t passes, const Mapping& mapping) {
  const bool chunked = mapping.tile_channels < length;
  const RowLoops loops{
      rows, length, passes, chunked ? 1 : mapping.tile_rows, chunked ? mapping.tile_channels : length, chunked};
  check(loops.tile_rows > 0 && loops.chunk > 0, "tiles of at least one row and one element");
  return loops;
}

/// One tile operation: passes `first_pass` to `last_pass` over these elements of these rows.
struct RowStep {
  Extent rows, part;
  std::int64_t first_pass = 0, last_pass = 0;
  bool writes = true;
};

/// Calls `visit` with each tile operation in order.
template <class Visit>
void for_each_row_step(const RowLoops& loops, Visit&& visit) {
  RowStep step;
  for (std::int64_t row = 0; row < loops.rows; row += loops.tile_rows)
    for (std::int64_t pass = 0; pass < (loops.chunked ? loops.passes : 1); ++pass)
      for (std::int64_t i = 0; i < loops.length; i += loops.chunk) {
        step.rows = {row, std::min(loops.rows, row + loops.tile_rows)};
        step.part = {i, std::min(loops.length, i + loops.chunk)};
        step.first_pass = pass;
        step.last_pass = loops.chunked ? pass : loops.passes - 1;
        step.writes = step.last_pass + 1 == loops.passes;
        visit(std::as_const(step));
      }
}

/// The results, of so many, that an operation writes: its share of the elements that are gone through. Example: 5
/// results of rows 0-1 and 2 are 0 to 3 and 4.
inline Extent results_of(const RowLoops& loops, const RowStep& step, std::int64_t results) {
  const std::int64_t all = loops.rows * loops.length, before = step.rows.begin * loops.length + step.part.begin;
  const auto share = [&](std::int64_t elements) { return (results * elements + all - 1) / all; };
  return {share(before), share(before + step.rows.size() * step.part.size())};
}

}  // namespace sdip::exec
