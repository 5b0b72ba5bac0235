// Loads what a stage brings with it before processing: the words of each instruction, operation by operation where
// these are instructions, and weights packed into `.weight`. No formula of core/cost is used. Internal to its
// room.
#pragma once

#include <cstdint>

#include "core/machine/machine.h"
#include "core/program/program.h"
#include "core/program/weights/weights.h"

namespace sdip {

/// Bytes that went into each memory: into IMEM, into DRAM, and into the FeFET memories of all cores at once.
struct LoadedBytes {
  std::int64_t imem = 0, dram = 0, fefet = 0;
  LoadedBytes& operator+=(const LoadedBytes& other);
  friend bool operator==(const LoadedBytes&, const LoadedBytes&) = default;
};

/// Loads a stage that has a graph. Throws what write_weight_file throws.
LoadedBytes load_stage(const CompiledStage& stage, const Machine& machine, const WeightSource& weights);

}  // namespace sdip
