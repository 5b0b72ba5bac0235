// Mappings found so far.
#include "core/program/mapping_cache.h"

#include <algorithm>
#include <array>

namespace sdip {
namespace {

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

}  // namespace

std::optional<Mapping> MappingCache::mapping_of(const InstructionClass& c, const TileRoom& room) {
  const Key exact{room, c};
  Key any_room = exact;
  if (room.search == TileSearch::exact && !moves_tiles(c))
    any_room.first.read_bytes = any_room.first.write_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.asked;
    for (const Key* key : std::array<const Key*, 2>{&any_room, &exact})
      if (const auto found = mappings_.find(*key); found != mappings_.end()) return found->second;
  }
  const auto mapping = choose_mapping(c, room);  // others may search meanwhile, even for the same
  const bool needs_room = !mapping || has_buffers(c, *mapping, room);
  const std::lock_guard lock(mutex_);
  ++counts_.searched;
  if (mappings_.size() >= most_entries_) mappings_.clear();
  mappings_.emplace(needs_room ? exact : any_room, mapping);
  return mapping;
}

MappingCache::Counts MappingCache::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.kept = mappings_.size();
  return counts;
}

}  // namespace sdip
