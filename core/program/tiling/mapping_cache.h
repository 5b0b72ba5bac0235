// Mappings found so far, shared by compilations.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/base/number_hash.h"
#include "core/program/tiling/mapping_key.h"

namespace sdip {

/// Answers of mapping_step for classes in rooms (which hold the options of the search, too), kept for the boxes of
/// rooms in which it holds. A mapping depends on nothing else, so that it is the same whichever compilation found
/// it first, and in whatever order; how far its step is known to reach may not be. Threads may share it. When it is
/// full it starts again.
class MappingCache {
 public:
  static constexpr std::size_t usual_entries = std::size_t{1} << 17;
  explicit MappingCache(std::size_t most_entries = usual_entries) : most_entries_(most_entries) {}

  /// A mapping as choose_mapping(c, room) has it, found once for its step.
  MappingStep step_of(const InstructionClass& c, const TileRoom& room);

  /// How often a mapping was asked for, how often it was searched for, and how many steps are kept.
  struct Counts {
    std::size_t asked = 0, searched = 0, kept = 0;
  };
  Counts counts() const;

 private:
  MappingStep kept_or_searched(const InstructionClass& c, const TileRoom& room);
  const MappingStep* find(const MappingKey& key, const TileRoom& room) const;

  const std::size_t most_entries_;
  mutable std::mutex mutex_;
  std::unordered_map<MappingKey, std::vector<MappingStep>, NumberHash> steps_;
  Counts counts_;
};

}  // namespace sdip
