// Limits that a machine which runs an application may break all the same: of what can be built or bought. Internal
// to its room.
#pragma once

#include <cstdint>
#include <string>

#include "core/cost/price/stage.h"
#include "core/machine/machine.h"
#include "core/program/program.h"

namespace sdip {

/// Bytes of a core's results that leave the chip, up to the highest one that the program gives them. `activations`:
/// the format of those that have none of their own.
std::int64_t results_bytes(const Program& program, NumberFormat activations);

/// Bytes that DRAM keeps for a stage on the chip: weights that it streams, its program where larger than IMEM, and
/// what leaves the chip of each core. None where a host's memory has them. `words`: program_size() in bytes;
/// `results`: results_bytes().
std::int64_t dram_held_bytes(const CompiledStage& stage, std::int64_t words, std::int64_t results,
                             const Machine& machine);

/// Why a stage's words, of program_size(), do not fit in IMEM; empty where they do.
std::string lacking_imem(const CompiledStage& stage, const ProgramSize& size, const Machine& machine);

/// The limit that the machine breaks, with its value and what broke it; empty where it breaks none. Its counters
/// are as they are. `held_bytes`: dram_held_bytes() of all stages.
std::string broken_limit(const Machine& machine, std::int64_t held_bytes);

}  // namespace sdip
