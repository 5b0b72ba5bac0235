// PSRAM of machines side by side: one queue of weight tiles, in which each machine has its own times.
//
// Where their capacities are equal tiles come and go for want of room in all machines alike, since their sizes are.
// When a tile that is used no longer goes by itself is each machine's own matter, and only to how full its memory
// was. Where they are not each machine has a queue of its own.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "core/base/error.h"
#include "core/cost/time/apart_queue.h"
#include "core/cost/time/lanes.h"

namespace sdip {

class LaneQueue {
 public:
  using EachBytes = std::array<std::int64_t, lane_count>;

  void clear(const EachBytes& capacity_bytes) {
    capacity_bytes_ = capacity_bytes.front();
    apart_ = std::ranges::adjacent_find(capacity_bytes, std::not_equal_to<>()) != capacity_bytes.end();
    if (apart_)
      for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].clear(capacity_bytes[lane]);
    held_bytes_ = all_bytes_ = least_peak_bytes_ = 0;
    gone_ = first_ = end_ = 0;
    has_current_ = has_held_ = false;
    std::ranges::fill(lane_first_, 0);
    std::ranges::fill(peak_bytes_, 0);
  }

  /// Frees the oldest tiles until `bytes` fit; `time` becomes when the last of these is no longer used.
  SDIP_EACH void make_room(std::int64_t bytes, Lanes& time) {
    if (apart_) {
      std::int64_t each[lane_count];
      store(time, each);
      make_room_apart(bytes, each);
      load(time, each);
      return;
    }
    while (held_bytes_ + bytes > capacity_bytes_) {
      check(first_ < end_, "weights larger than their memory reached the timeline");
      if (is_held(first_)) {  // its instruction still holds it: it goes to the back, freeing nothing
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
    has_current_ = true;
    if (apart_) {
      with_each(start, [&](const std::int64_t* each) { add_apart(bytes, each); });
      return;
    }
    while (first_ < end_ && everywhere(used_until(first_) <= start)) free_first();
    push(bytes);
    if (held_bytes_ > least_peak_bytes_) count_peaks(start);
  }

  /// Of the last tile added, if it is in use. Requires that no room was made since.
  SDIP_EACH bool has_current() const { return has_current_; }
  SDIP_EACH void leave_current() { has_current_ = false; }
  SDIP_EACH void use_current(const Lanes& until) {
    if (!has_current_) return;
    if (apart_) {
      with_each(until, [&](const std::int64_t* each) { use_apart(each); });
      return;
    }
    set_used_until(end_ - 1, until);
  }
  SDIP_EACH void hold_current() {
    has_held_ = has_current_;
    has_current_ = false;
    if (!has_held_) return;
    if (apart_) {
      hold_apart();
      return;
    }
    held_ = end_ - 1;
    set_used_until(held_, all_lanes(in_use));
  }
  SDIP_EACH void release_held(const Lanes& until) {
    if (!has_held_) return;
    if (apart_) {
      with_each(until, [&](const std::int64_t* each) { release_apart(each); });
      return;
    }
    set_used_until(held_, until);
  }
  /// Requires that what was held is released.
  SDIP_EACH void begin_instruction() { has_held_ = has_current_ = false; }

  /// What the queue does next, relative to `now`, where nothing is fetched before `channel`: which tiles it holds,
  /// and until when they are used. Tiles are kept until forget_before(), also those freed, with the times they had.
  struct Seen {
    std::size_t first{}, end{};
    Lanes last{}, channel{}, now{};                    // the last tile's time may still change
    std::array<ApartQueue::Seen, lane_count> apart{};  // of each machine's own queue
  };
  SDIP_EACH Seen see(const Lanes& now, const Lanes& channel) const {
    Seen seen{first_, end_, end_ > first_ ? used_until(end_ - 1) : Lanes{}, channel, now};
    if (apart_) see_apart(seen);
    return seen;
  }
  SDIP_EACH bool same(const Seen& a, const Seen& b) const {
    if (apart_) return same_apart(a, b);
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
    if (apart_) {
      with_each(cycles, [&](const std::int64_t* each) { shift_apart(each); });
      return;
    }
    const std::size_t first = first_, end = end_;
    for (std::size_t i = first; i < end; ++i) {
      const Lanes until = used_until(i);
      push(bytes_[i - gone_]);
      set_used_until(end_ - 1, is_held(i) ? until : until + cycles);
    }
    for (; first_ < end;) free_first();
    held_ += end - first;
  }

  /// The oldest tile held; and: none before `oldest`, which once was that, is asked for again.
  struct Oldest {
    std::size_t all{};
    std::array<std::size_t, lane_count> apart{};
  };
  Oldest oldest() const {
    Oldest found{first_, {}};
    if (apart_) std::ranges::transform(each_, found.apart.begin(), &ApartQueue::first);
    return found;
  }
  void forget_before(const Oldest& oldest) {
    std::size_t lane = 0;
    if (apart_)
      for (ApartQueue& queue : each_) queue.forget_before(oldest.apart[lane++]);
    const std::size_t place = oldest.all;
    if (place - gone_ < 4096) return;  // rarely enough
    const auto drop = [&](std::vector<std::int64_t>& values, std::size_t of_each) {
      values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>((place - gone_) * of_each));
    };
    drop(bytes_, 1);
    drop(before_, 1);
    drop(used_until_, lane_count);
    gone_ = place;
  }

  std::int64_t peak_bytes(std::size_t lane) const { return apart_ ? each_[lane].peak_bytes() : peak_bytes_[lane]; }

 private:
  static constexpr std::int64_t in_use = ApartQueue::in_use;

  template <class Work>
  SDIP_EACH static void with_each(const Lanes& lanes, const Work& work) {
    std::int64_t each[lane_count];
    store(lanes, each);
    work(each);
  }
  // Of each machine's own queue. That there is a current tile, and a held one, is the same in all.
  [[gnu::noinline]] void make_room_apart(std::int64_t bytes, std::int64_t* time) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) time[lane] = each_[lane].make_room(bytes, time[lane]);
  }
  [[gnu::noinline]] void add_apart(std::int64_t bytes, const std::int64_t* start) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].add(bytes, start[lane]);
  }
  [[gnu::noinline]] void use_apart(const std::int64_t* until) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].use_current(until[lane]);
  }
  [[gnu::noinline]] void hold_apart() {
    for (ApartQueue& queue : each_) queue.hold_current();
  }
  [[gnu::noinline]] void release_apart(const std::int64_t* until) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].release_held(until[lane]);
  }
  [[gnu::noinline]] void shift_apart(const std::int64_t* cycles) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].shift(cycles[lane]);
  }
  [[gnu::noinline]] void see_apart(Seen& seen) const {
    for (std::size_t lane = 0; lane < lane_count; ++lane) seen.apart[lane] = each_[lane].see();
  }
  [[gnu::noinline]] bool same_apart(const Seen& a, const Seen& b) const {
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (!each_[lane].same(a.apart[lane], a.now[lane], a.channel[lane], b.apart[lane], b.now[lane],
                            b.channel[lane]))
        return false;
    return true;
  }

  SDIP_EACH bool is_held(std::size_t tile) const { return has_held_ && tile == held_; }
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
    if (at == bytes_.size()) grow(at + 256);
    bytes_[at] = bytes;
    before_[at] = all_bytes_;
    all_bytes_ += bytes;
    held_bytes_ += bytes;
    ++end_;
  }
  [[gnu::noinline]] void grow(std::size_t tiles) {
    bytes_.resize(tiles);
    used_until_.resize(tiles * lane_count);
    before_.resize(tiles);
  }

  /// How full each machine's memory is, now that the last tile has come at `start`.
  [[gnu::noinline]] void count_peaks(const std::int64_t* start) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      std::size_t& first = lane_first_[lane];
      first = std::max(first, first_);
      while (first + 1 < end_ && used_until_[(first - gone_) * lane_count + lane] <= start[lane]) ++first;
      peak_bytes_[lane] = std::max(peak_bytes_[lane], all_bytes_ - before_[first - gone_]);
    }
    least_peak_bytes_ = *std::ranges::min_element(peak_bytes_);
  }
  SDIP_EACH void count_peaks(const Lanes& start) {
    std::int64_t each[lane_count];
    store(start, each);
    count_peaks(each);
  }

  std::int64_t capacity_bytes_{}, held_bytes_{}, least_peak_bytes_{};
  std::int64_t all_bytes_{};                      // of all tiles since clear(), and before each of them:
  std::vector<std::int64_t> before_;              // of tiles from gone_ on; before first_ they are freed
  std::vector<std::int64_t> bytes_, used_until_;  // of these, too
  std::size_t gone_{}, first_{}, end_{}, held_{};
  bool has_current_{}, has_held_{}, apart_{};
  std::size_t lane_first_[lane_count]{};
  std::int64_t peak_bytes_[lane_count]{};
  std::array<ApartQueue, lane_count> each_;
};

}  // namespace sdip
