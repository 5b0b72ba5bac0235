// Kinds of families and values, by their shape alone, as every reader of a program takes them for granted.
#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/program/program.h"

namespace sdip {

/// True for families whose work is a nest.
bool is_nest(Family family);

/// Whether a part of strips is a branch: a product that works on what the part before works on, and takes that
/// part's results beside.
bool is_branch(const Part& part);

/// Whether part `number` of strips works on operand A: the first, and branches behind it.
bool works_on_a(const std::vector<Part>& parts, std::size_t number);

/// Whether a node makes several results at once, so that instructions behind the first one's copy the others. Each
/// result of a Split is a part of the operand, copied on its own.
bool makes_several(const Node& node);

/// True for values that a general register or an immediate holds: one element, or an input of a few scalars.
bool is_scalar(const Value& value);

}  // namespace sdip
