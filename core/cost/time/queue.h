// PSRAM as a queue of weight tiles, oldest first: when there is room for the next one. IMEM is one, too, of
// instructions' words. Internal to its room.
//
// It serves one machine, or several side by side with the same room: tiles then come and go for want of room in all
// machines alike, since their sizes are. The moment when a tile that is used no longer goes by itself is each
// machine's own, and matters only to how full its memory was.
//
// Worked example. 200 bytes; tiles of 100 are used until 14 and 24. A third one of 100 may be fetched at 14; it
// frees the first, and the second, too, if it is fetched at 24 or later.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/cost/time/lanes.h"

namespace sdip {

template <std::size_t machines>
class Queue {
 public:
  using Count = CountOf<machines>;

  void clear(std::int64_t capacity_bytes) {
    capacity_bytes_ = capacity_bytes;
    late_ = Count{};
    gone_ = first_ = end_ = 0;
    sum_of_bytes_[0] = 0;
    has_current_ = has_held_ = false;
    least_peak_bytes_ = 0;
    lane_first_ = {};
    peak_bytes_ = {};
  }

  /// Frees the oldest tiles until `bytes` fit. Returns when the last of these is no longer used, or `time` if that
  /// is later. One that its instruction still holds goes to the back of the queue, freeing nothing.
  SDIP_EACH Count make_room(std::int64_t bytes, Count time) {
    const std::int64_t most = capacity_bytes_ - bytes;
    while (held_bytes() > most) {
      check(first_ < end_, "what is larger than its memory reached the timeline");
      if (has_held_ && first_ == held_) {
        push(bytes_of(first_++), all_lanes<machines>(in_use));
        held_ = end_ - 1;
      } else {
        time = later(time, used_until(first_++) + late_);
      }
    }
    return time;
  }

  /// Puts a tile in that is fetched from `start`; what is no longer used by then goes.
  SDIP_EACH void add(std::int64_t bytes, const Count& start) {
    const Count from = start - late_;
    while (first_ < end_ && everywhere(used_until(first_) <= from)) ++first_;
    push(bytes, -late_);
    has_current_ = true;
    if (held_bytes() > least_peak_bytes_) note_peaks(from);
  }

  /// The last tile added, if it is in use. Requires that no room was made since.
  SDIP_EACH bool has_current() const { return has_current_; }
  SDIP_EACH void leave_current() { has_current_ = false; }
  SDIP_EACH void use_current(const Count& until) {
    if (has_current_) set_used_until(end_ - 1, until - late_);
  }
  /// It stays to the instruction's end, whatever its age.
  SDIP_EACH void hold_current() {
    has_held_ = has_current_;
    has_current_ = false;
    if (!has_held_) return;
    held_ = end_ - 1;
    set_used_until(held_, all_lanes<machines>(in_use));
  }
  SDIP_EACH void release_held(const Count& until) {
    if (has_held_) set_used_until(held_, until - late_);
    has_held_ = false;
  }
  /// Requires that what was held is released.
  SDIP_EACH void begin_instruction() { has_current_ = false; }

  /// The queue's next steps, relative to `now`, where nothing is fetched before `channel`: which tiles it holds,
  /// and until when they are used. Tiles are kept until forget_before(), also those freed, with the times they had.
  struct Seen {
    std::size_t first, end;
    Count last, late, channel, now;  // the last tile's time may still change
  };
  SDIP_EACH void see(const Count& now, const Count& channel, Seen& seen) const {
    seen = {first_, end_, first_ < end_ ? used_until(end_ - 1) : Count{}, late_, channel, now};
  }
  SDIP_EACH bool same(const Seen& a, const Seen& b) const {
    check(std::min(a.first, b.first) >= gone_, "tiles that are compared are not forgotten");
    const std::size_t tiles = a.end - a.first;
    if (b.end - b.first != tiles) return false;
    for (std::size_t i = 0; i < tiles; ++i)
      if (bytes_of(a.first + i) != bytes_of(b.first + i)) return false;
    for (std::size_t i = 0; i < tiles; ++i)
      if (any(relative(a, a.first + i) ^ relative(b, b.first + i))) return false;
    return true;
  }

  /// Everything happens `cycles` later; what was seen before stays as it was.
  SDIP_EACH void shift(const Count& cycles) { late_ += cycles; }

  /// The oldest tile held, by a number that it keeps; and: none before it is asked for again.
  std::size_t oldest() const { return first_; }
  void forget_before(std::size_t tile) {
    if (tile - gone_ < 4096) return;  // rarely enough
    const auto drop = [&](std::vector<std::int64_t>& values, std::size_t of_each) {
      values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>((tile - gone_) * of_each));
    };
    drop(sum_of_bytes_, 1);
    drop(used_until_, machines);
    room_ -= tile - gone_;
    gone_ = tile;
  }

  SDIP_EACH std::int64_t held_bytes() const { return sum_of_bytes_[end_ - gone_] - sum_of_bytes_[first_ - gone_]; }
  std::int64_t peak_bytes(std::size_t lane) const { return peak_bytes_[lane]; }

 private:
  static constexpr std::int64_t in_use = std::int64_t{1} << 62;  // stands for later than anything

  SDIP_EACH std::int64_t bytes_of(std::size_t tile) const {
    return sum_of_bytes_[tile - gone_ + 1] - sum_of_bytes_[tile - gone_];
  }
  SDIP_EACH Count used_until(std::size_t tile) const {
    return loaded<machines>(&used_until_[(tile - gone_) * machines]);
  }
  SDIP_EACH void set_used_until(std::size_t tile, const Count& until) {
    store(until, &used_until_[(tile - gone_) * machines]);
  }
  SDIP_EACH Count relative(const Seen& seen, std::size_t tile) const {
    const Count until = tile + 1 == seen.end ? seen.last : used_until(tile);
    return until == all_lanes<machines>(in_use) ? until : later(until + seen.late, seen.channel) - seen.now;
  }

  SDIP_EACH void push(std::int64_t bytes, const Count& until) {
    const std::size_t at = end_ - gone_;
    if (at == room_) grow();
    sum_of_bytes_[at + 1] = sum_of_bytes_[at] + bytes;
    set_used_until(end_++, until);
  }
  [[gnu::noinline]] void grow() {
    room_ += 256;
    sum_of_bytes_.resize(room_ + 1);
    used_until_.resize(room_ * machines);
  }

  /// How full each machine's memory is, now that the last tile has come at `start`.
  SDIP_EACH void note_peaks(const Count& start) {
    if constexpr (machines == 1) {  // all that is used no longer has gone
      least_peak_bytes_ = peak_bytes_[0] = held_bytes();
      return;
    }
    std::array<std::int64_t, machines> each;
    store(start, each.data());
    note_peaks_of(each);
  }
  [[gnu::noinline]] void note_peaks_of(const std::array<std::int64_t, machines>& start) {
    for (std::size_t lane = 0; lane < machines; ++lane) {
      std::size_t& first = lane_first_[lane];
      first = std::max(first, first_);
      while (first + 1 < end_ && used_until_[(first - gone_) * machines + lane] <= start[lane]) ++first;
      peak_bytes_[lane] = std::max(peak_bytes_[lane], sum_of_bytes_[end_ - gone_] - sum_of_bytes_[first - gone_]);
    }
    least_peak_bytes_ = *std::ranges::min_element(peak_bytes_);
  }

  std::int64_t capacity_bytes_{}, least_peak_bytes_{};
  Count late_{};                                   // what is kept of times is without it
  std::vector<std::int64_t> sum_of_bytes_ = {0};   // before each tile from gone_ on, and behind the last
  std::vector<std::int64_t> used_until_;           // of these tiles, machine by machine
  std::size_t room_{};                             // for tiles from gone_ on
  std::size_t gone_{}, first_{}, end_{}, held_{};  // before first_ they are freed
  bool has_current_{}, has_held_{};
  std::array<std::size_t, machines> lane_first_{};
  std::array<std::int64_t, machines> peak_bytes_{};
};

}  // namespace sdip
