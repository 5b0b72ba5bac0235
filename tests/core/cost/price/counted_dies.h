// Dies of a machine and what it costs, from docs/model/dies.md alone: written apart from core/cost.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/program.h"

namespace sdip {

/// Dies that have a core when each takes as few as hold all.
std::int64_t counted_dies(const Machine& machine);

/// mm2 of one end of a link.
double counted_link_end_mm2(const Machine& machine);

/// mm2 of each die, in order.
std::vector<double> counted_die_mm2(const Application& application, const Machine& machine);

/// USD of dies of these areas in a package, with DRAM; NaN where one is larger than a scanner exposes.
double counted_price_usd(const std::vector<double>& dies_mm2, const Machine& machine);

}  // namespace sdip
