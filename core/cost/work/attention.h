// What fused attention's tile operations cost: their steps one after the other.
#pragma once

#include "core/cost/work/circuit.h"

namespace sdip {

/// The cost of a class of Compound::attention (docs/model/fusion.md#attention): shapes of row tiles by key
/// tiles, the last key tile apart.
ClassCost attention_cost(const InstructionClass& c, const Machine& m, Role role);

}  // namespace sdip
