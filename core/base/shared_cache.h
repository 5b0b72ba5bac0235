// A cache of results found so far, by key. Threads may share it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

namespace sdip {

/// A map of at most so many entries: when full it starts again. An entry must follow from its key, as others may
/// look for the same meanwhile.
template <class Map>
class SharedCache {
 public:
  using Key = typename Map::key_type;
  using Found = typename Map::mapped_type;

  explicit SharedCache(std::size_t most_entries) : most_entries_(most_entries) {}

  std::optional<Found> find(const Key& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = map_.find(key);
    return found == map_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(Key key, Found found) {
    const std::scoped_lock lock(mutex_);
    if (map_.size() >= most_entries_) map_.clear();
    map_.emplace(std::move(key), std::move(found));
  }

 private:
  const std::size_t most_entries_;
  mutable std::mutex mutex_;
  Map map_;
};

}  // namespace sdip
