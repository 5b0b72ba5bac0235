// Resources of an FPGA part that a machine uses.
#pragma once

#include <optional>
#include <string_view>

#include "core/cost/price/estimate.h"

namespace sdip {

/// The limit of a machine whose weights lie in FeFET memories: no part has any.
inline constexpr std::string_view no_fefet = "fefet";

/// The first stage whose weights would lie in FeFET memories; null where none do.
const CompiledStage* stage_in_fefet(const Application& application, const Machine& machine);

/// Blocks and LUTs that a machine needs of its part; nothing for a machine that is not on one.
///
/// A memory takes max(bits / bits of a block, port bits / 72) blocks, each rounded up: of UltraRAM where the part
/// still has as many, the largest memories first, else of block RAM. A lane takes DSP blocks and LUTs by its
/// format.
///
/// Worked example: 4 KiB behind a port of 32 bits takes one block RAM, behind 512 bits eight; 64 KiB takes fifteen.
std::optional<FpgaUse> fpga_use(const Application& application, const Machine& machine);

}  // namespace sdip
