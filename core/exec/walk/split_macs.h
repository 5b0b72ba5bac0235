// What instructions find where MACs split (composable_macs=on): written from docs/model/numbers.md alone.
#pragma once

#include <cstdint>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip::exec {

/// Formats of the multipliers that a product goes to, and of its own operands.
struct Multiplier {
  NumberFormat a, b;
};

/// Narrow multipliers that work side by side in a MAC built for `wide`, on operands of `narrow`.
std::int64_t multipliers_side_by_side(Multiplier wide, Multiplier narrow);

/// The machine that an instruction finds: its formats those of the class, its arrays as long along the sums as the
/// multipliers that its products find there. Formats of its results stand in its class.
Machine machine_of(const InstructionClass& c, const Machine& machine);

}  // namespace sdip::exec
