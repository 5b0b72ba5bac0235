// Operators that move elements and compute nothing: transposition, concatenation, splitting. Internal to its room.
#pragma once

#include "core/exec/operators/operators.h"

namespace sdip::exec {

/// Runs the current instruction, one of these with its result `result`, in `tiles`: each element is read where it
/// lies. False when its operator is none of them.
bool run_moves(Chip& chip, const Operators& operators, const std::vector<Elements>& tiles, ValueId result);

/// Part of a piece: elements `at` of value `from`.
struct Moved {
  ValueId from = none;
  Elements at{};
};

/// Where elements `at` of a node's output `result` come from, in order. Requires a Transpose, Concat or Split.
/// Example: Concat of [2,1] and [2,2] along axis 1: elements 0 to 2 of the result are element 0 of the first, then
/// 0 and 1 of the second.
std::vector<Moved> moved_elements(const Graph& graph, const Node& node, ValueId result, const Elements& at);

}  // namespace sdip::exec
