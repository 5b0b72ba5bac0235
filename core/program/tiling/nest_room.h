// The room that mappings of a nest take, and what a search for one learns of it. Internal to its room.
#pragma once

#include <algorithm>
#include <optional>

#include "core/program/tiling/draft.h"

namespace sdip {

inline constexpr std::int64_t bit_parts = 100;  // rooms and prices are in hundredths of a bit, as densities

/// The machine as the search sees it: memories 0 reading side, 1 PSRAM, 2 writing side.
TileTerms terms_of(const InstructionClass& c, const Nest& nest, const TileRoom& room, std::int64_t weight_buffers);

/// The room that a mapping takes on the sides of DSRAM and in PSRAM.
struct RoomTaken {
  std::int64_t read_bytes = 0, write_bytes = 0, weight_bytes = 0;
  bool within(const RoomTaken& room) const {
    return read_bytes <= room.read_bytes && write_bytes <= room.write_bytes && weight_bytes <= room.weight_bytes;
  }
  void include(const RoomTaken& other) {
    read_bytes = std::max(read_bytes, other.read_bytes), write_bytes = std::max(write_bytes, other.write_bytes);
    weight_bytes = std::max(weight_bytes, other.weight_bytes);
  }
};

/// The room that a class with its mapping takes. `weight_bytes`: 0 where they lie in place.
RoomTaken taken_by(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers);

/// Whether a class with its mapping fits: missing_bytes would be none.
bool fits_in(const InstructionClass& c, const TileRoom& room, const AskedRoom& asked, std::int64_t weight_buffers);

/// The least room in which a search that found a class's mapping finds it again, all else being as it is; nothing
/// where that is not known.
std::optional<RoomTaken> needed_by(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers);

/// Takes the ranges for which all that a search asked of a room, of itself and of the capacities for tiles, has the
/// same answers. `within`: the room that it searched; parts of it that are less than the room's are so in every
/// room from there on.
void narrow_rooms(MappingStep& step, const InstructionClass& c, const TileRoom& room, const TileRoom& within,
                  const AskedRoom& asked, const TileTerms& terms, std::int64_t weight_buffers);

/// Takes those of another step that was asked for.
inline void narrow_rooms(MappingStep& step, const MappingStep& other) {
  step.weight_room.narrow(other.weight_room);
  step.read_room.narrow(other.read_room);
  step.write_room.narrow(other.write_room);
}

}  // namespace sdip
