// The cost of sharing one instruction's groups over several cores. Internal to its room.
#pragma once

#include "core/cost/work/circuit.h"

namespace sdip {

/// The cost of a class with spread_cores > 1: one core's part, and what goes over the links before and after it
/// (docs/model/sharing.md#branches-on-several-cores).
ClassCost spread_cost(const InstructionClass& c, const Resolved& r);

}  // namespace sdip
