// Results that are put where they go as they are made, piece by piece, by all threads.
#pragma once

#include <functional>
#include <span>

#include "core/exec/pointwise.h"
#include "core/exec/scratch.h"

namespace sdip::exec {

/// Whether pieces of the current instruction's result may be put while others are still to be read: no byte of it
/// is read by any operator but one of `by_elements`, which read what lies at a piece's own elements. What a result
/// is put over then is nothing that another piece needs. (Nor may it be summed or kept in a register.) Example: of
/// a residual sum over x, written where x lies, the sum may be put piece by piece; of a transposition no.
bool may_stream(Chip& chip, std::span<const Node* const> by_elements);

/// Makes `count` pieces: what `make` makes of each and `nodes` then do is the instruction's result at its elements.
/// The shadow knows of them when all are there. Requires may_stream(chip, nodes).
using PieceTask = std::function<TileValues(std::int64_t piece, Scratch& scratch)>;
void write_streamed(Chip& chip, std::span<const Node* const> nodes, std::int64_t count, const PieceTask& make);

}  // namespace sdip::exec
