// PSRAM of machines side by side: one queue of weight tiles, in which each machine has its own times.
//
// Tiles come and go for want of room in all machines alike, since their sizes are. When a tile that is used no
// longer goes by itself is each machine's own matter, and only to how full its memory was.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/cost/lanes.h"

namespace sdip {

class LaneQueue {
 public:
  static constexpr std::size_t no_tile = ~std::size_t{0};

  void clear(std::int64_t capacity_bytes) {
    capacity_bytes_ = capacity_bytes;
    held_bytes_ = least_peak_bytes_ = 0;
    gone_ = first_ = end_ = 0;
    current_ = held_ = no_tile;
    std::ranges::fill(lane_first_, 0);
    std::ranges::fill(peak_bytes_, 0);
    if (bytes_.empty()) grow(256);
    before_[0] = 0;
  }

  /// Frees the oldest tiles until `bytes` fit; `time` becomes when the last of these is no longer used.
  SDIP_EACH void make_room(std::int64_t bytes, Lanes& time) {
    while (held_bytes_ + bytes > capacity_bytes_) {
      check(first_ < end_, "weights larger than their memory reached the timeline");
      if (first_ == held_) {  // its instruction still holds it: it goes to the back, freeing nothing
        held_bytes_ -= bytes_[first_ - gone_];
        push(bytes_[first_ - gone_]);
        held_ = end_ - 1;
        set_used_until(held_, all_lanes(in_use));
        ++first_;
      } else {
        time = later(time, used_until(first_));
        free_first();
      }
    }
  }

  /// Puts a tile in that is fetched from `start`; what is no longer used by then goes.
  SDIP_EACH void add(std::int64_t bytes, const Lanes& start) {
    while (first_ < end_ && everywhere(used_until(first_) <= start)) free_first();
    push(bytes);
    current_ = end_ - 1;
    if (held_bytes_ > least_peak_bytes_) count_peaks(start);
  }

  SDIP_EACH bool has_current() const { return current_ != no_tile; }
  SDIP_EACH void leave_current() { current_ = no_tile; }
  SDIP_EACH void use_current(const Lanes& until) {
    if (current_ != no_tile) set_used_until(current_, until);
  }
  SDIP_EACH void hold_current() {
    held_ = current_;
    current_ = no_tile;
    if (held_ != no_tile) set_used_until(held_, all_lanes(in_use));
  }
  SDIP_EACH void release_held(const Lanes& until) {
    if (held_ != no_tile) set_used_until(held_, until);
  }
  SDIP_EACH void begin_instruction() { held_ = current_ = no_tile; }

  /// What the queue does next, relative to `now`, where nothing is fetched before `channel`: which tiles it holds,
  /// and until when they are used. Tiles are kept until forget_before(), also those freed, with the times they had.
  struct Seen {
    std::size_t first = 0, end = 0;
    Lanes last{}, channel{}, now{};  // the last tile's time may still change
  };
  SDIP_EACH Seen see(const Lanes& now, const Lanes& channel) const {
    return {first_, end_, end_ > first_ ? used_until(end_ - 1) : Lanes{}, channel, now};
  }
  SDIP_EACH bool same(const Seen& a, const Seen& b) const {
    check(std::min(a.first, b.first) >= gone_, "tiles that are compared are not forgotten");
    const std::size_t tiles = a.end - a.first;
    if (b.end - b.first != tiles) return false;
    for (std::size_t i = 0; i < tiles; ++i)
      if (bytes_[a.first + i - gone_] != bytes_[b.first + i - gone_]) return false;
    for (std::size_t i = 0; i < tiles; ++i)
      if (any(relative(a, a.first + i) ^ relative(b, b.first + i))) return false;
    return true;
  }

  /// Everything happens `cycles` later.
  SDIP_EACH void shift(const Lanes& cycles) {
    const std::size_t first = first_, end = end_;
    for (std::size_t i = first; i < end; ++i) {
      const Lanes until = used_until(i);
      push(bytes_[i - gone_]);
      set_used_until(end_ - 1, i == held_ ? until : until + cycles);
    }
    for (; first_ < end;) free_first();
    for (std::size_t* tile : {&current_, &held_})
      if (*tile != no_tile) *tile += end - first;
  }

  /// The oldest tile held; and: none before `place`, which was once the oldest, is asked for again.
  std::size_t first() const { return first_; }
  void forget_before(std::size_t place) {
    if (place - gone_ < 4096) return;  // rarely enough
    const auto drop = [&](std::vector<std::int64_t>& values, std::size_t of_each) {
      values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>((place - gone_) * of_each));
    };
    drop(bytes_, 1);
    drop(before_, 1);
    drop(used_until_, lane_count);
    gone_ = place;
  }

  std::int64_t peak_bytes(std::size_t lane) const { return peak_bytes_[lane]; }

 private:
  static constexpr std::int64_t in_use = std::int64_t{1} << 62;

  SDIP_EACH Lanes used_until(std::size_t tile) const {
    Lanes until;
    load(until, &used_until_[(tile - gone_) * lane_count]);
    return until;
  }
  SDIP_EACH void set_used_until(std::size_t tile, const Lanes& until) {
    store(until, &used_until_[(tile - gone_) * lane_count]);
  }
  SDIP_EACH Lanes relative(const Seen& seen, std::size_t tile) const {
    const Lanes until = tile + 1 == seen.end ? seen.last : used_until(tile);
    return until == all_lanes(in_use) ? until : later(until, seen.channel) - seen.now;
  }
  SDIP_EACH void free_first() { held_bytes_ -= bytes_[first_++ - gone_]; }

  SDIP_EACH void push(std::int64_t bytes) {
    const std::size_t at = end_ - gone_;
    if (at == bytes_.size()) grow(2 * at);
    bytes_[at] = bytes;
    before_[at + 1] = before_[at] + bytes;
    held_bytes_ += bytes;
    ++end_;
  }
  [[gnu::noinline]] void grow(std::size_t tiles) {
    bytes_.resize(tiles);
    used_until_.resize(tiles * lane_count);
    before_.resize(tiles + 1);
  }

  /// How full each machine's memory is, now that the last tile has come at `start`.
  [[gnu::noinline]] void count_peaks(const std::int64_t* start) {
    least_peak_bytes_ = INT64_MAX;
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      std::size_t& first = lane_first_[lane];
      first = std::max(first, first_);
      while (first + 1 < end_ && used_until_[(first - gone_) * lane_count + lane] <= start[lane]) ++first;
      peak_bytes_[lane] = std::max(peak_bytes_[lane], before_[end_ - gone_] - before_[first - gone_]);
      least_peak_bytes_ = std::min(least_peak_bytes_, peak_bytes_[lane]);
    }
  }
  SDIP_EACH void count_peaks(const Lanes& start) {
    std::int64_t each[lane_count];
    store(start, each);
    count_peaks(each);
  }

  std::int64_t capacity_bytes_ = 0, held_bytes_ = 0, least_peak_bytes_ = 0;
  std::vector<std::int64_t> bytes_, used_until_;  // of tiles from gone_ on; before first_ they are freed
  std::vector<std::int64_t> before_ = {};         // bytes of all tiles before each
  std::size_t gone_ = 0, first_ = 0, end_ = 0, current_ = no_tile, held_ = no_tile;
  std::size_t lane_first_[lane_count] = {};
  std::int64_t peak_bytes_[lane_count] = {};
};

}  // namespace sdip
