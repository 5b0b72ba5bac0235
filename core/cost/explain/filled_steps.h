// The steps of an instruction's tile operations in formulas: one of an operator alone, several of a compound or of
// what the host computes. Internal to its room.
//
// Worked example. Fused attention of 2 queries by 3 of 6 keys (docs/model/fusion.md#attention): scores,
// softmax, product; of the last key tile the division, too.
#pragma once

#include <vector>

#include "core/cost/explain/filled_busy.h"

namespace sdip {

/// Steps of one tile operation, one after the other.
using FilledSteps = std::vector<StepOf<Filled>>;

/// Steps of each of the cost's shapes, in their order; nothing where a formula does not come to the engine's
/// figure. Requires that `cost` is class_cost(c, r).
std::vector<FilledSteps> filled_steps(const InstructionClass& c, const Resolved& r, const ClassCost& cost);

/// Needs of all steps, summed; and how long they last.
FilledBusy sum_of(const FilledSteps& steps);
Filled duration_of(const FilledSteps& steps);

}  // namespace sdip
