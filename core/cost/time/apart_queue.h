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
    held_bytes_ = peak_bytes_ = late_ = 0;
    gone_ = first_ = end_ = 0;
  }

  /// Frees the oldest tiles until `bytes` fit. Returns the later of `time` and when the last of these is no longer
  /// used.
  std::int64_t make_room(std::int64_t bytes, std::int64_t time) {
    const std::int64_t most = capacity_bytes_ - bytes;
    while (held_bytes_ > most) {
      check(first_ < end_, "weights larger than their memory reached the timeline");
      const Tile tile = tiles_[first_++];
      if (tile.used_until == in_use) {  // its instruction still holds it: it goes to the back, freeing nothing
        held_ = end();
        push(tile);
      } else {
        time = std::max(time, tile.used_until + late_);
        held_bytes_ -= tile.bytes;
      }
    }
    return time;
  }

  /// Puts a tile in that is fetched from `start`; what is no longer used by then goes.
  void add(std::int64_t bytes, std::int64_t start) {
    std::int64_t held_bytes = held_bytes_;
    start -= late_;
    const Tile* tile = tiles_.data() + first_;
    for (const Tile* const end = tiles_.data() + end_; tile < end && tile->used_until <= start; ++tile)
      held_bytes -= tile->bytes;
    first_ = static_cast<std::size_t>(tile - tiles_.data());
    push({bytes, -late_});
    held_bytes_ = held_bytes + bytes;
    peak_bytes_ = std::max(peak_bytes_, held_bytes_);
  }

  /// Of the last tile added. Requires that no room was made since.
  void use_current(std::int64_t until) { tiles_[end_ - 1].used_until = until - late_; }
  void hold_current() {
    held_ = end() - 1;
    tiles_[end_ - 1].used_until = in_use;
  }
  void release_held(std::int64_t until) { tiles_[held_ - gone_].used_until = until - late_; }

  /// Everything happens `cycles` later; what was seen before stays as it was.
  void shift(std::int64_t cycles) { late_ += cycles; }

  /// Tiles are numbered from 0 on, in the order in which they are put in or moved behind.
  std::size_t first() const { return gone_ + first_; }
  std::size_t end() const { return gone_ + end_; }
  std::int64_t peak_bytes() const { return peak_bytes_; }

  /// What the queue holds. Tiles are kept until forget_before(), also those freed, with the times they had.
  struct Seen {
    std::size_t first{}, end{};
    std::int64_t last{}, late{};  // the last tile's time may still change
  };
  Seen see() const { return {first(), end(), end_ > 0 ? tiles_[end_ - 1].used_until : 0, late_}; }

  /// Whether the same tiles are held for as long, relative to `now`, where nothing is fetched before `channel`.
  bool same(const Seen& a, std::int64_t a_now, std::int64_t a_channel, const Seen& b, std::int64_t b_now,
            std::int64_t b_channel) const {
    check(std::min(a.first, b.first) >= gone_, "tiles that are compared are not forgotten");
    if (a.end - a.first != b.end - b.first) return false;
    if (a.first == a.end) return true;
    const auto relative = [](std::int64_t until, std::int64_t now, std::int64_t channel) {
      return until >= in_use ? in_use : std::max(until, channel) - now;
    };
    // Times without the delay of each, which only what is in use does not have.
    const std::int64_t a_from = a_channel - a.late, b_from = b_channel - b.late;
    const std::int64_t a_to = a_now - a.late, b_to = b_now - b.late;
    const Tile *x = &tiles_[a.first - gone_], *y = &tiles_[b.first - gone_];
    for (const Tile* const last = x + (a.end - a.first - 1); x < last; ++x, ++y)
      if (x->bytes != y->bytes || relative(x->used_until, a_to, a_from) != relative(y->used_until, b_to, b_from))
        return false;
    return x->bytes == y->bytes && relative(a.last, a_to, a_from) == relative(b.last, b_to, b_from);
  }

  void forget_before(std::size_t place) {
    const auto oldest = tiles_.begin() + static_cast<std::ptrdiff_t>(place - gone_);
    std::copy(oldest, tiles_.begin() + static_cast<std::ptrdiff_t>(end_), tiles_.begin());
    first_ -= place - gone_;
    end_ -= place - gone_;
    gone_ = place;
  }

  static constexpr std::int64_t in_use = std::int64_t{1} << 62;  // stands for later than anything

 private:
  struct Tile {
    std::int64_t bytes{}, used_until{};
  };

  void push(const Tile& tile) {
    if (end_ == tiles_.size())
      tiles_.push_back(tile);
    else
      tiles_[end_] = tile;
    ++end_;
  }

  std::int64_t capacity_bytes_{}, held_bytes_{}, peak_bytes_{}, late_{};
  std::vector<Tile> tiles_;      // number gone_ is the first, and what stands from end_ on is none
  std::size_t first_{}, end_{};  // places in tiles_; before first_ they are freed
  std::size_t gone_{}, held_{};  // numbers
};

}  // namespace sdip
