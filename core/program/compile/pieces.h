// Pieces that Split, Slice and Gather take of their operand, where they are along one axis. Internal to its room.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// [begin, end) along an axis of an operand, in its order, and the value that is this.
struct Piece {
  ValueId value = none;
  std::size_t axis = 0;
  std::int64_t begin = 0, end = 0;
};

/// The pieces into which a Split cuts its first operand, where all sizes can be seen; what a Slice of one axis in
/// steps of 1 keeps (from opset 10 on, of constants); of a Gather the one place that a constant names. None of
/// other nodes.
std::vector<Piece> pieces_of_operand(const Graph& graph, const Node& node);

}  // namespace sdip
