// Where a report differs from what the executor's counts make of an application.
#pragma once

#include <string>

#include "tests/core/cost/counted_frame.h"

namespace sdip {

/// The first figure of a report that is another than the counted one, "what: told, counted"; empty when none is.
/// Sums of joules, areas and seconds may be rounded otherwise: they agree to one in 10^9.
std::string frame_difference(const Report& report, const CountedFrame& frame, const Machine& machine);

}  // namespace sdip
