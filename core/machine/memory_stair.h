// The machines of less memory whose programs memory_stair looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "core/machine/machine.h"

namespace sdip {

inline constexpr std::int64_t most_on_stair = 1500;

/// How many machines memory_stair() makes.
std::int64_t count_on_stair(const Machine& machine);

/// The machine itself first, and all that have less of PSRAM, DSRAM or STACKRAM: 64 KiB and its doublings, of
/// STACKRAM none, too; of PSRAM more than is pinned. They have no stair of their own.
std::vector<Machine> memory_stair(const Machine& machine);

}  // namespace sdip
