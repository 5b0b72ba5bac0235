// Fronts of sweeps as text for people.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "server/jobs/fronts.h"

namespace sdip {

/// "cores 8 to 10: throughput_fps 12.3 % less, area_mm2 20.1 % less", beside the row before; of the first it says
/// so.
std::string neighbour_text(const SweepsFront& front, const FrontRow& row);

/// A row a point, with its sweep where there are several, and how many of them each sweep has; the note last.
void print_joint_front(std::ostream& out, const SweepsFront& front, std::string_view note, bool colour);

}  // namespace sdip
