// What a machine that runs an application may break all the same: limits of what can be built or bought.
#pragma once

#include <cstdint>
#include <string>

#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// Bytes that DRAM keeps: weights that stages on the chip stream, programs larger than IMEM, and results of each
/// core that leave the chip, where the programs put them. None where a host's memory has them.
std::int64_t dram_held_bytes(const Application& application, const Machine& machine);

/// The limit that the machine breaks, with its value and what broke it; empty where it breaks none. Its counters
/// are as they are. `held_bytes`: dram_held_bytes(application, machine).
std::string broken_limit(const Machine& machine, std::int64_t held_bytes);

}  // namespace sdip
