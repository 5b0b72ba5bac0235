// The cost of a compound instruction that carries strips through a chain. Internal to its room.
#pragma once

#include "core/cost/work/circuit.h"

namespace sdip {

/// The sum of the parts' tile operations, a strip being one tile operation. Requires Compound::strips.
ClassCost strips_cost(const InstructionClass& c, const Resolved& r);

}  // namespace sdip
