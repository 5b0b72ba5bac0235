// Symbols of an explanation's formulas, where options change them. Internal to its room.
#pragma once

#include <string>

#include "core/cost/price/stage.h"

namespace sdip {

/// Compute of an instruction whose numbers are written out, for the numbers of filled_busy.
std::string compute_symbols(const InstructionClass& c, const Resolved& r, const ClassCost& cost);

/// Its least cycles.
std::string bound_symbols(const InstructionClass& c, const Resolved& r, const ClassCost& cost);

/// The least cycles of a stage's products, `arrays` those that have any.
std::string bound_symbols(const StageRun& run, const Machine& machine, const std::string& arrays);

}  // namespace sdip
