// The memories of the core that runs a stage, and what they can hold.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/program/program.h"

namespace sdip {

/// The memories of a core; `unified` in place of the first three where they are one. With a DSRAM pair for each
/// family, side 0 and 1 of conv2d's, of linear's, ... stand in place of the first two.
enum class MemoryName : std::int8_t { dsram0, dsram1, stackram, unified, psram, first_of_pairs };
inline constexpr std::size_t memory_names = at(MemoryName::first_of_pairs) + 2 * pair_families;
constexpr MemoryName pair_side(Family family, std::int64_t side) {
  return static_cast<MemoryName>(static_cast<std::int64_t>(MemoryName::first_of_pairs) +
                                 2 * static_cast<std::int64_t>(family) + side);
}
/// "DSRAM0", ..., "DSRAM0 of conv2d".
std::string_view memory_text(MemoryName memory);

/// How much a memory of a stage's core can hold.
struct MemoryCapacity {
  MemoryName memory = MemoryName::dsram0;
  Bytes bytes{};
};
/// Capacities of the memories of the core that runs the stage; of families' pairs only those that it uses.
std::vector<MemoryCapacity> memory_capacities(const CompiledStage& stage, const Machine& machine);

}  // namespace sdip
