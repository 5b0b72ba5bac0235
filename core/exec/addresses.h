// Where each operand and result of a program lies.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "core/program/program.h"

namespace sdip::exec {

/// A value in one kind of memory.
using Slot = std::pair<ValueId, Place>;

/// Byte address of every value in every memory that it is ever in, and how large these must be.
struct Addresses {
  std::map<Slot, std::int64_t> at;
  std::int64_t dsram_bytes = 0;     // of each side; unified: of the one memory
  std::int64_t stackram_bytes = 0;  // unified: 0
  std::int64_t dram_bytes = 0;
};

/// DSRAM: results at 0 of the side that is written, inputs one behind the other. STACKRAM, and DSRAM too when
/// unified: first fit over the lives that the instructions show. DRAM: one behind the other.
/// Example: on STACKRAM x (16 B) lives over instructions 0 to 2, y (8 B) 1 to 1, z (4 B) 2 to 3: addresses 0,
/// 16, 16.
Addresses addresses_of(const CompiledStage& stage, const Machine& machine, const std::vector<ValueId>& outputs);

}  // namespace sdip::exec
