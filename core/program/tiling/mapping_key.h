// What a mapping depends on. Internal to the cache of mappings.
#pragma once

#include <boost/container/small_vector.hpp>

#include "core/program/tiling/draft.h"

namespace sdip {

/// A class and a room of which all that mapping_step does not read has one value: classes that differ in that alone
/// ask one question. What mapping_step says of it is what it says of the class; so it is for all room beyond what
/// whole operands take twice.
struct MappingQuestion {
  InstructionClass c;
  TileRoom room;
};
MappingQuestion mapping_question(const InstructionClass& c, const TileRoom& room);

/// The question as numbers: equal ones of equal questions alone, of whose room for weights it says whether there is
/// any.
using MappingKey = boost::container::small_vector<std::int64_t, 80>;
MappingKey mapping_key(const InstructionClass& c, const TileRoom& room);

}  // namespace sdip
