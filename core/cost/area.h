// Area of MACs, lanes and memories.
#pragma once

#include "core/cost/estimate.h"

namespace sdip {

/// Chips' worth of cores that carry SRAM and arithmetic: the diffusion cores, and one each for encoder and decoder
/// when these are cores of the same kind.
std::int64_t built_cores(const Application& application, const Machine& machine);

/// Copies of PSRAM: one for the cores, one each for encoder and decoder on chip; none where all weights that it
/// would hold are hard-coded.
std::int64_t built_psrams(const Application& application, const Machine& machine);

/// mm2 by block, floor-plan factors included. Not in it: wires, control, registers of the sequencer, pads, DRAM
/// PHY.
Breakdown area_of(const Application& application, const Machine& machine);

/// SRAM bytes on the chip.
std::int64_t sram_bytes(const Application& application, const Machine& machine);

}  // namespace sdip
