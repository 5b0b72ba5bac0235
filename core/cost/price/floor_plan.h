// How far bits travel on the chip: weights to the cores, and beats across the macros of a memory. Internal to its
// room.
#pragma once

#include <array>

#include "core/cost/price/area.h"
#include "core/machine/machine.h"
#include "core/machine/technology.h"
#include "core/program/program.h"

namespace sdip {

/// Millimetres of wire that a bit drives.
struct FloorPlan {
  double broadcast_mm{};                                        // from PSRAM to all cores that it feeds
  double psram_port_mm{}, dsram_port_mm{}, stackram_port_mm{};  // from a bank to its memory's port
  double stack_way_mm{};                                        // from PSRAM to one of its cores, on average
  std::int64_t psram_bytes{};                                   // capacity, with the stacks that it holds
  std::array<double, pair_families> pair_port_mm{};             // of DSRAM pairs of sizes of their own, by family
};

/// The plan of a machine, by its own formats, for a stage's weights that feed `cores_fed` cores from a PSRAM of
/// `psram_bytes`.
///
/// Cores are squares of their area, control and what grows with lanes included, side by side: a tree along them is
/// one side long for each core that it reaches. Banks are squares, too, in a square whose port is in the middle of
/// one side: on average 3/4 of the side away, less what lies within the bank, which the price of an access has.
///
/// Worked example: 4 cores of 25 mm2 are fed by 4 x 5 = 20 mm. A memory of 16 mm2 in 16 banks: 3/4 x (4 - 1) = 2.25
/// mm; to one of them it is (4 + 1) / 2 x 5 = 12.5 mm on average.
FloorPlan floor_plan(const Machine& machine, std::int64_t cores_fed, std::int64_t psram_bytes,
                     Bound bound = Bound::value);
/// The same with `core` in place of the machine's own: a circuit made for a stage.
FloorPlan floor_plan(const Machine& machine, const CoreArea& core, std::int64_t cores_fed, std::int64_t psram_bytes,
                     Bound bound);

/// Cores that a beat of PSRAM reaches: all of them where weights are common, else one.
std::int64_t cores_fed(const CompiledStage& stage, const Machine& machine);

}  // namespace sdip
