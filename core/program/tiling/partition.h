// A network cut into parts in series, one a core, each with its own weights (core_weights=per_core).
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/program.h"

namespace sdip {

/// Where to cut a row of nodes into `parts`: ascending positions, the node before which each later part begins. The
/// longest part is as short as can be; then each link in turn carries as little as it can (`crossing[p]`: what a
/// cut before node p carries; on ties the latest). Every part has a node at least. Requires 1 <= parts <= number of
/// nodes.
std::vector<std::size_t> balanced_cuts(const std::vector<std::int64_t>& cycles,
                                       const std::vector<std::int64_t>& crossing, std::size_t parts);

/// The stage itself, or with core_weights=per_core as many parts of a network as there are cores, at most one a
/// node, balanced by MACs and elements at reference lanes. Values that cross a cut travel over the link.
std::vector<Stage> partition(const Stage& stage, const Machine& machine);

/// Gives each part in series its share of the DRAM channel, in proportion to what it moves in a steady pass:
/// weights not kept in PSRAM, and the network's input and result. Worked example: 300, 100 and 0 bytes are 748, 250
/// and 1 thousandths.
void share_channel(std::vector<CompiledStage>& stages);

}  // namespace sdip
