// Mappings found so far.
#include "core/program/mapping_cache.h"

#include <algorithm>

namespace sdip {
namespace {

/// Whether a mapping depends on the room in DSRAM: of work whose operands are all whole on chip it does not.
bool needs_room(const InstructionClass& c) {
  return c.compound != Compound::single || c.to_dram || c.operand_a == Place::dram || c.operand_b == Place::dram ||
         std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
}

}  // namespace

std::optional<Mapping> MappingCache::mapping_of(const InstructionClass& c, const TileRoom& room) {
  Key key{room, c};
  if (!needs_room(c)) key.first.read_bytes = key.first.write_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.asked;
    if (const auto found = mappings_.find(key); found != mappings_.end()) return found->second;
  }
  const auto mapping = choose_mapping(c, room);  // others may search meanwhile, even for the same
  const std::lock_guard lock(mutex_);
  ++counts_.searched;
  if (mappings_.size() >= most_entries_) mappings_.clear();
  mappings_.emplace(std::move(key), mapping);
  return mapping;
}

MappingCache::Counts MappingCache::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.kept = mappings_.size();
  return counts;
}

}  // namespace sdip
