// PSRAM of one machine among machines side by side whose capacities differ: its own queue of weight tiles.
//
// Worked example. 200 bytes; tiles of 100 are used until 14 and 24. Asked for room for 100 at 10 it frees the first
// and says 14; it holds 200 again once the third has come, and that peak stays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"

namespace sdip {

class ApartQueue {
 public:
  void clear(std::int64_t capacity_bytes) {
    capacity_bytes_ = capacity_bytes;
    held_bytes_ = peak_bytes_ = 0;
    tiles_.clear();
    gone_ = first_ = 0;
  }

  /// Frees the oldest tiles until `bytes` fit. Returns the later of `time` and when the last of these is no longer
  /// used.
  std::int64_t make_room(std::int64_t bytes, std::int64_t time) {
    while (held_bytes_ + bytes > capacity_bytes_) {
      check(first_ < end(), "weights larger than their memory reached the timeline");
      const Tile tile = at(first_);
      if (tile.used_until == in_use) {  // its instruction still holds it: it goes to the back, freeing nothing
        ++first_;
        tiles_.push_back(tile);
        held_ = end() - 1;
      } else {
        time = std::max(time, tile.used_until);
        free_first();
      }
    }
    return time;
  }

  /// Puts a tile in that is fetched from `start`; what is no longer used by then goes.
  void add(std::int64_t bytes, std::int64_t start) {
    while (first_ < end() && at(first_).used_until <= start) free_first();
    tiles_.push_back({bytes, 0});
    held_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, held_bytes_);
  }

  /// Of the last tile added. Requires that no room was made since.
  void use_current(std::int64_t until) { tiles_.back().used_until = until; }
  void hold_current() {
    held_ = end() - 1;
    use_current(in_use);
  }
  void release_held(std::int64_t until) { at(held_).used_until = until; }

  /// Tiles are numbered from 0 on, in the order in which they are put in, moved behind, or shifted.
  std::size_t first() const { return first_; }
  std::size_t end() const { return gone_ + tiles_.size(); }
  std::size_t oldest_known() const { return gone_; }
  std::int64_t last_used_until() const { return first_ < end() ? tiles_.back().used_until : 0; }
  std::int64_t bytes_of(std::size_t tile) const { return tiles_[tile - gone_].bytes; }
  std::int64_t used_until(std::size_t tile) const { return tiles_[tile - gone_].used_until; }
  std::int64_t peak_bytes() const { return peak_bytes_; }

  /// Everything happens `cycles` later; what was seen before stays as it was.
  void shift(std::int64_t cycles) {
    const std::size_t tiles = end() - first_;
    for (std::size_t i = 0; i < tiles; ++i) {
      Tile tile = at(first_++);
      if (tile.used_until != in_use) tile.used_until += cycles;
      tiles_.push_back(tile);
    }
    held_ += tiles;
  }

  void forget_before(std::size_t place) {
    tiles_.erase(tiles_.begin(), tiles_.begin() + static_cast<std::ptrdiff_t>(place - gone_));
    gone_ = place;
  }

  static constexpr std::int64_t in_use = std::int64_t{1} << 62;

 private:
  struct Tile {
    std::int64_t bytes{}, used_until{};
  };

  Tile& at(std::size_t tile) { return tiles_[tile - gone_]; }
  void free_first() { held_bytes_ -= at(first_++).bytes; }

  std::int64_t capacity_bytes_{}, held_bytes_{}, peak_bytes_{};
  std::vector<Tile> tiles_;  // from gone_ on; before first_ they are freed
  std::size_t gone_{}, first_{}, held_{};
};

}  // namespace sdip
