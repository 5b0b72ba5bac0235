// The key of all that a mapping depends on. Internal to its room.
#pragma once

#include <boost/container/small_vector.hpp>

#include "core/program/tiling/draft.h"

namespace sdip {

/// A room of which no more is left than can be of use to the class.
TileRoom room_asked(const InstructionClass& c, const TileRoom& room);

/// A class and a room of which all that mapping_step does not read has one value: classes that differ in that alone
/// ask one question. What mapping_step says of it is what it says of the class; so it is for all room beyond what
/// whole operands take twice.
struct MappingQuestion {
  InstructionClass c;
  TileRoom room;
};
MappingQuestion mapping_question(const InstructionClass& c, const TileRoom& room);

/// The question as numbers: equal ones of equal questions alone, but for the sizes of the room; of that for weights
/// they say whether there is any. Both require a room of room_asked.
using MappingKey = boost::container::small_vector<std::int64_t, 80>;
MappingKey mapping_key(const InstructionClass& c, const TileRoom& room);

}  // namespace sdip
