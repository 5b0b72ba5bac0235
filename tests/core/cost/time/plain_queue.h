// A weight memory by the rules alone: what it holds, oldest first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace sdip {

/// Each tile's bytes, and until when it is used relative to now; nothing while it is held.
using Held = std::vector<std::pair<std::int64_t, std::optional<std::int64_t>>>;

class PlainQueue {
 public:
  explicit PlainQueue(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  std::int64_t make_room(std::int64_t bytes, std::int64_t time) {
    for (; held_bytes() + bytes > capacity_bytes_; holds_.pop_front()) {
      const Tile oldest = holds_.front();
      if (oldest.held)
        holds_.push_back(oldest);
      else
        time = std::max(time, oldest.until);
    }
    return time;
  }
  void add(std::int64_t bytes, std::int64_t start) {
    while (!holds_.empty() && !holds_.front().held && holds_.front().until <= start) holds_.pop_front();
    holds_.push_back({bytes, 0, false});
    current_ = true;
    most_bytes_ = std::max(most_bytes_, held_bytes());
  }
  /// The last tile added, unless it was left.
  void use(std::int64_t until) {
    if (current_) holds_.back().until = until;
  }
  void leave() { current_ = false; }
  void hold() {
    holds_.back().held = true;
    current_ = false;
  }
  void release(std::int64_t until) {
    for (Tile& tile : holds_)
      if (tile.held) tile = {tile.bytes, until, false};
  }
  void shift(std::int64_t cycles) {
    for (Tile& tile : holds_) tile.until += cycles;
  }

  /// What it holds at `now`, where nothing is fetched before `channel`.
  Held state(std::int64_t now, std::int64_t channel) const {
    Held all;
    for (const Tile& tile : holds_) {
      all.emplace_back(tile.bytes, std::nullopt);
      if (!tile.held) all.back().second = std::max(tile.until, channel) - now;
    }
    return all;
  }
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  struct Tile {
    std::int64_t bytes, until;
    bool held;
  };
  std::int64_t held_bytes() const {
    std::int64_t bytes = 0;
    for (const Tile& tile : holds_) bytes += tile.bytes;
    return bytes;
  }

  std::int64_t capacity_bytes_, most_bytes_ = 0;
  std::deque<Tile> holds_;
  bool current_ = false;
};

}  // namespace sdip
