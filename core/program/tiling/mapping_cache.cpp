// Mappings found so far.
#include "core/program/tiling/mapping_cache.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::int64_t ample_bytes = std::int64_t{1} << 44;  // more than any memory has

/// Whether what a mapping moves depends on the room in DSRAM: of work whose operands are all whole on chip it does
/// not, unless its results are made in part.
bool moves_tiles(const InstructionClass& c) {
  return c.compound != Compound::single || c.to_dram || c.operand_a == Place::dram || c.operand_b == Place::dram ||
         std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
}

bool has_buffers(InstructionClass c, const Mapping& mapping, const TileRoom& room) {
  c.mapping = mapping;
  const TileBuffers buffers = tile_buffers(c, room);
  return buffers.read_bytes > 0 || buffers.write_bytes > 0;
}

/// Where nothing is known of a side, its mapping is known for its room alone.
MappingStep known_step(MappingStep step, const TileRoom& room) {
  if (!step.read_room.holds(room.read_bytes)) step.read_room = {room.read_bytes, room.read_bytes};
  if (!step.write_room.holds(room.write_bytes)) step.write_room = {room.write_bytes, room.write_bytes};
  return step;
}

}  // namespace

const MappingStep* MappingCache::find(const MappingKey& key, const TileRoom& room) const {
  const auto of_class = steps_.find(key);
  if (of_class == steps_.end()) return nullptr;
  const auto step = std::ranges::find_if(of_class->second, [&](const MappingStep& s) { return s.holds(room); });
  return step == of_class->second.end() ? nullptr : &*step;
}

MappingStep MappingCache::step_of(const InstructionClass& c, const TileRoom& room) {
  if (room.search == TileSearch::exact && !moves_tiles(c)) {
    // A mapping that is best where nothing lacks room, and takes none, is best in any room.
    TileRoom any = room;
    any.read_bytes = any.write_bytes = ample_bytes;
    const MappingStep step = kept_or_searched(c, any);
    if (step.mapping && !has_buffers(c, *step.mapping, any)) return step;
  }
  return kept_or_searched(c, room);
}

MappingStep MappingCache::kept_or_searched(const InstructionClass& c, const TileRoom& any_room) {
  const TileRoom room = room_asked(c, any_room);
  const MappingKey key = mapping_key(c, room);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.asked;
    if (const MappingStep* found = find(key, room)) return *found;
  }
  // Others may search meanwhile, even for the same.
  const MappingQuestion question = mapping_question(c, room);
  const MappingStep step = known_step(mapping_step(question.c, room), room);
  const std::lock_guard lock(mutex_);
  ++counts_.searched;
  if (counts_.kept == most_entries_) steps_.clear(), counts_.kept = 0;
  ++counts_.kept;
  steps_[key].push_back(step);
  return step;
}

MappingCache::Counts MappingCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace sdip
