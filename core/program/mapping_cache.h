// Mappings found so far, shared by compilations.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "core/program/draft.h"

namespace sdip {

/// What choose_mapping says of classes in rooms (which hold the options of the search, too), kept. A mapping
/// depends on nothing else, so that it is the same whichever compilation found it first, and in whatever order.
/// Threads may share it. When it is full it starts again.
class MappingCache {
 public:
  explicit MappingCache(std::size_t most_entries = std::size_t{1} << 15) : most_entries_(most_entries) {}

  /// choose_mapping(c, room), found once.
  std::optional<Mapping> mapping_of(const InstructionClass& c, const TileRoom& room);

  /// How often a mapping was asked for, and how often it was searched for.
  struct Counts {
    std::size_t asked = 0, searched = 0, kept = 0;
  };
  Counts counts() const;

 private:
  using Key = std::pair<TileRoom, InstructionClass>;

  const std::size_t most_entries_;
  mutable std::mutex mutex_;
  std::map<Key, std::optional<Mapping>> mappings_;
  Counts counts_;
};

}  // namespace sdip
