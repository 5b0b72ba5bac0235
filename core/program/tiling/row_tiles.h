// Tiles of row-wise work. Internal to its room.
#pragma once

#include <algorithm>

#include "core/program/tiling/draft.h"

namespace sdip {

inline bool fetches_from_dram(const InstructionClass& c) {
  return std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
}
inline bool writes_tiles(const InstructionClass& c) { return c.to_dram && !c.to_dsram; }

/// Rows of a tile, or, of one row, a part of its length: of those tried the first that moves fewest bytes; nothing
/// where none fits.
MappingStep choose_rowwise(InstructionClass c, const TileRoom& room);

}  // namespace sdip
