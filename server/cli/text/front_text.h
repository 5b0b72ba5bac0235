// Fronts of sweeps as text for people.
#pragma once

#include <string>

#include "server/jobs/fronts.h"

namespace sdip {

/// "knee", "local knee", or nothing.
std::string knee_cell(Knee knee);

/// "cores 8 to 10: throughput_fps 12.3 % less, area_mm2 20.1 % less", beside the row before; of the first it says
/// so.
std::string neighbour_text(const SweepsFront& front, const FrontRow& row);

}  // namespace sdip
