// Which weights share a scale.
#pragma once

#include "core/machine/machine.h"

namespace sdip {

/// Consecutive weights along the sums of a channel, at one kernel position, that share a scale: of a block format
/// its block, of integers of at most 8 bits what scale_granularity says; 0: more than those.
std::int64_t scale_group_of(NumberFormat weights, ScaleGranularity granularity);
inline std::int64_t scale_group_of(const Machine& machine) {
  return scale_group_of(machine.weight_format, machine.scale_granularity);
}

/// Bits of a group's scale, with the zero point of unsigned formats; 0 without groups.
std::int64_t scale_group_bits(const Machine& machine);

/// Whether such a scale is a power of two, by which nothing need be multiplied.
bool scales_by_shifts(NumberFormat weights);

}  // namespace sdip
