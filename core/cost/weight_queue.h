// PSRAM as a queue of weight tiles, oldest first: when there is room for the next one. IMEM is one, too, of
// instructions' words.
//
// Worked example. 200 bytes; tiles of 100 are used until 14 and 24. A third one of 100 may be fetched at 14; it
// frees the first, and the second, too, if it is fetched at 24 or later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/error.h"

namespace sdip {

class WeightQueue {
 public:
  static constexpr std::size_t no_tile = ~std::size_t{0};

  explicit WeightQueue(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// When `bytes` fit: frees the oldest tiles, and returns when the last of them so freed is no longer used.
  std::int64_t make_room(std::int64_t bytes) {
    const std::int64_t over = held_bytes_ + bytes - capacity_bytes_;
    for (std::int64_t freed = 0; freed < over;) {
      check(held_bytes_ > 0, "weights or words larger than their memory reached the timeline");
      freed += free_first();
    }
    return space_time_;
  }

  /// Puts a tile in that is fetched from `start` and there at `until`; what is no longer used by then goes.
  void add(std::int64_t bytes, std::int64_t start, std::int64_t until) {
    while (first_held_ < tiles_.size() && tiles_[first_held_].used_until <= start) free_first();
    held_bytes_ += bytes;
    tiles_.push_back({bytes, until});
    current_ = tiles_.size() - 1;
  }

  /// The tile in use, streamed; no_tile when its weights are not in the queue.
  std::size_t current() const { return current_; }
  void leave_current() { current_ = no_tile; }
  void use_current(std::int64_t until) {
    if (current_ != no_tile) tiles_[current_].used_until = until;
  }

  /// The current tile stays to the instruction's end, whatever its age.
  void hold_current() {
    held_ = current_;
    current_ = no_tile;
    if (held_ != no_tile) tiles_[held_].used_until = in_use;
  }
  void release_held(std::int64_t until) {
    if (held_ != no_tile) tiles_[held_].used_until = until;
  }
  void begin_instruction() { held_ = current_ = no_tile; }

  std::int64_t held_bytes() const { return held_bytes_; }
  std::size_t size() const { return tiles_.size() - first_held_; }

  /// What the queue does next depends on this, relative to `now`.
  template <class Values>
  void append_state(std::int64_t now, Values& values) const {
    for (std::size_t j = first_held_; j < tiles_.size(); ++j) {
      values.push_back(tiles_[j].bytes);
      values.push_back(tiles_[j].used_until - (tiles_[j].used_until == in_use ? 0 : now));
    }
  }
  /// Within an instruction, of which the channel is free at `channel_free`, also this.
  template <class Values>
  void append_use(std::int64_t channel_free, Values& values) const {
    values.push_back(std::max<std::int64_t>(0, space_time_ - channel_free));
    values.push_back(current_ == no_tile ? 0 : static_cast<std::int64_t>(tiles_.size() - current_));
    values.push_back(held_ == no_tile ? 0 : static_cast<std::int64_t>(tiles_.size() - held_));
  }

  /// Everything happens `cycles` later.
  void shift(std::int64_t cycles) {
    space_time_ += cycles;
    for (std::size_t j = first_held_; j < tiles_.size(); ++j)
      if (tiles_[j].used_until != in_use) tiles_[j].used_until += cycles;
  }

  void forget_freed() {
    tiles_.erase(tiles_.begin(), tiles_.begin() + static_cast<std::ptrdiff_t>(first_held_));
    first_held_ = 0;
    held_ = current_ = no_tile;
  }

 private:
  static constexpr std::int64_t in_use = std::int64_t{1} << 62;

  struct WeightTile {
    std::int64_t bytes = 0, used_until = 0;
  };

  /// Frees the oldest tile. One that its instruction still holds goes to the back of the queue, freeing nothing.
  std::int64_t free_first() {
    const WeightTile tile = tiles_[first_held_];
    if (first_held_++ == held_) {
      tiles_.push_back(tile);
      held_ = tiles_.size() - 1;
      return 0;
    }
    held_bytes_ -= tile.bytes;
    space_time_ = std::max(space_time_, tile.used_until);
    return tile.bytes;
  }

  std::int64_t capacity_bytes_ = 0, held_bytes_ = 0, space_time_ = 0;
  std::vector<WeightTile> tiles_;  // oldest first; before first_held_ they are freed
  std::size_t first_held_ = 0, current_ = no_tile, held_ = no_tile;  // in use now, of streamed and of held weights
};

}  // namespace sdip
