// Needs of a tile operation, of its circuit and of each SRAM port, with the numbers filled in: the formulas of
// core/cost/work/formulas.h and host.h, written out. Internal to its room.
#pragma once

#include <vector>

#include "core/cost/explain/filled.h"
#include "core/cost/work/ports.h"

namespace sdip {

using FilledBusy = BusyOf<Filled>;

/// Cycles of the DSRAM read port that is busy longest.
Filled longest_dsram_read(const FilledBusy& busy);
/// The largest of the needs, each worked out: "max(768, 256)".
Filled longest_worked_out(const FilledBusy& busy);

/// Whether the formulas come to the engine's figures.
bool agrees(const FilledBusy& filled, const Busy& busy);

/// An operation of an instruction that stands for one operator, on the chip.
FilledBusy filled_busy(const InstructionClass& c, const Resolved& r, const cost::TilePlan& plan,
                       const TileShape& tile);

/// The steps of an operation on the host, one after the other: operands in, its work, results out.
///
/// Worked example. The softmax of host.h: compute is "ceil(10 x 8/32)", "ceil(10 x 3 x 150/100)", "ceil(10 x
/// 8/32)".
std::vector<StepOf<Filled>> filled_host(const InstructionClass& c, const Resolved& r, const cost::TilePlan& plan,
                                        const TileShape& tile);

}  // namespace sdip
