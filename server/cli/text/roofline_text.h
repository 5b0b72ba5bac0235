// The layers of an explanation under their roofs, as text for people. Internal to its room.
#pragma once

#include <ostream>

#include "core/cost/explain/explain.h"
#include "server/studies/analysis.h"

namespace sdip {

inline constexpr std::size_t most_roofline_rows = 10;

/// Prints, for the kinds of layers whose products are made on lanes and that take most cycles of a frame, MACs a
/// byte and a cycle, the roof over them, which is the lower of what DRAM and their array allow, and how far below
/// it they are.
void print_roofline(std::ostream& out, const Analysis& analysis, const Explanation& explanation, bool colour);

}  // namespace sdip
