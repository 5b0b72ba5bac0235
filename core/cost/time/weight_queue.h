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

  /// Frees the oldest tiles until `bytes` fit. Returns when the last of these is no longer used, 0 for none: from
  /// then on, and once all fetched before has come, more may be fetched.
  std::int64_t make_room(std::int64_t bytes) {
    std::int64_t time = 0;
    while (held_bytes_ + bytes > capacity_bytes_) {
      check(held_bytes_ > 0, "weights or words larger than their memory reached the timeline");
      time = std::max(time, free_first());
    }
    return time;
  }

  /// Puts a tile in that is fetched from `start`; what is no longer used by then goes.
  void add(std::int64_t bytes, std::int64_t start) {
    while (first_held_ < tiles_.size() && tiles_[first_held_].used_until <= start) free_first();
    held_bytes_ += bytes;
    tiles_.push_back({bytes});
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

  /// What the queue does next depends on this, relative to `now`: bytes of each tile, and until when it is used.
  std::vector<std::int64_t> state(std::int64_t now) const {
    std::vector<std::int64_t> values;
    values.reserve(2 * (tiles_.size() - first_held_));
    for (std::size_t j = first_held_; j < tiles_.size(); ++j) {
      const WeightTile& tile = tiles_[j];
      values.insert(values.end(), {tile.bytes, tile.used_until == in_use ? in_use : tile.used_until - now});
    }
    return values;
  }

  /// Everything happens `cycles` later.
  void shift(std::int64_t cycles) {
    for (std::size_t j = first_held_; j < tiles_.size(); ++j)
      if (tiles_[j].used_until != in_use) tiles_[j].used_until += cycles;
  }

  /// Gives memory back. Requires that begin_instruction() comes next.
  void forget_freed() {
    tiles_.erase(tiles_.begin(), tiles_.begin() + static_cast<std::ptrdiff_t>(first_held_));
    first_held_ = 0;
  }

 private:
  static constexpr std::int64_t in_use = std::int64_t{1} << 62;

  struct WeightTile {
    std::int64_t bytes = 0, used_until = 0;
  };

  /// Frees the oldest tile and returns until when it is used. One that its instruction still holds goes to the back
  /// of the queue, freeing nothing.
  std::int64_t free_first() {
    const WeightTile tile = tiles_[first_held_];
    if (first_held_++ == held_) {
      tiles_.push_back(tile);
      held_ = tiles_.size() - 1;
      return 0;
    }
    held_bytes_ -= tile.bytes;
    return tile.used_until;
  }

  std::int64_t capacity_bytes_, held_bytes_ = 0;
  std::vector<WeightTile> tiles_;  // oldest first; before first_held_ they are freed
  std::size_t first_held_ = 0, current_ = no_tile, held_ = no_tile;  // in use now, of streamed and of held weights
};

}  // namespace sdip
