// Area, edge and power that a machine's DRAM takes of the die, beside the energy of its bits.
#pragma once

#include "core/machine/machine.h"
#include "core/machine/technology.h"

namespace sdip {

/// PHYs and controllers on the die, and the devices. docs/model/dram.md.
struct BuiltDram {
  double area_mm2 = 0, edge_mm = 0;
  double phy_w = 0, background_w = 0;  // standing, on the die and in the devices
};
/// Nothing where a host's memory takes its place; of an FPGA part, which has its PHYs, the devices alone.
BuiltDram built_dram(const Machine& machine, Bound bound = Bound::value);

/// Joules of a turn of the channels: each opens a row anew.
double dram_turn_j(const Machine& machine, Bound bound = Bound::value);

/// Joules of a byte on its way through the die's PHYs and controllers.
double dram_phy_byte_j(const Machine& machine, Bound bound = Bound::value);

}  // namespace sdip
