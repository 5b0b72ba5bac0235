// PSRAM of machines side by side: one queue where their room is the same, else one of each machine. Internal to
// its room.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <type_traits>

#include "core/cost/time/queue.h"

namespace sdip {

/// A Queue for Lanes whose capacities may differ.
class LaneQueue {
 public:
  using EachBytes = std::array<std::int64_t, lane_count>;

  void clear(const EachBytes& capacity_bytes) {
    apart_ = std::ranges::adjacent_find(capacity_bytes, std::not_equal_to<>()) != capacity_bytes.end();
    together_.clear(capacity_bytes.front());
    for (std::size_t lane = 0; apart_ && lane < lane_count; ++lane) each_[lane].clear(capacity_bytes[lane]);
    has_current_ = false;
  }

  SDIP_EACH Lanes make_room(std::int64_t bytes, const Lanes& time) {
    if (!apart_) return together_.make_room(bytes, time);
    EachBytes each;
    store(time, each.data());
    make_room_apart(bytes, each);
    return loaded<lane_count>(each.data());
  }
  SDIP_EACH void add(std::int64_t bytes, const Lanes& start) {
    has_current_ = true;
    if (!apart_) {
      together_.add(bytes, start);
      return;
    }
    apart(start, [bytes](Queue<1>& queue, std::int64_t from) { queue.add(bytes, from); });
  }
  SDIP_EACH bool has_current() const { return has_current_; }
  SDIP_EACH void leave_current() {
    has_current_ = false;
    together_.leave_current();
  }
  SDIP_EACH void use_current(const Lanes& until) {
    if (!has_current_) return;
    if (!apart_) {
      together_.use_current(until);
      return;
    }
    apart(until, [](Queue<1>& queue, std::int64_t time) { queue.use_current(time); });
  }
  SDIP_EACH void hold_current() {
    has_current_ = false;
    if (!apart_) {
      together_.hold_current();
      return;
    }
    apart(Lanes{}, [](Queue<1>& queue, std::int64_t) { queue.hold_current(); });
  }
  SDIP_EACH void release_held(const Lanes& until) {
    if (!apart_) {
      together_.release_held(until);
      return;
    }
    apart(until, [](Queue<1>& queue, std::int64_t time) { queue.release_held(time); });
  }
  SDIP_EACH void begin_instruction() {
    has_current_ = false;
    if (!apart_) {
      together_.begin_instruction();
      return;
    }
    apart(Lanes{}, [](Queue<1>& queue, std::int64_t) { queue.begin_instruction(); });
  }
  SDIP_EACH void shift(const Lanes& cycles) {
    if (!apart_) {
      together_.shift(cycles);
      return;
    }
    apart(cycles, [](Queue<1>& queue, std::int64_t by) { queue.shift(by); });
  }

  struct Seen {  // one of both is used
    Queue<lane_count>::Seen together;
    std::array<Queue<1>::Seen, lane_count> apart;
  };
  SDIP_EACH void see(const Lanes& now, const Lanes& channel, Seen& seen) const {
    if (apart_)
      see_apart(now, channel, seen);
    else
      together_.see(now, channel, seen.together);
  }
  SDIP_EACH bool same(const Seen& a, const Seen& b) const {
    return apart_ ? same_apart(a, b) : together_.same(a.together, b.together);
  }

  struct Oldest {
    std::size_t together{};
    std::array<std::size_t, lane_count> apart{};
  };
  Oldest oldest() const {
    Oldest found{together_.oldest(), {}};
    std::ranges::transform(each_, found.apart.begin(), &Queue<1>::oldest);
    return found;
  }
  void forget_before(const Oldest& oldest) {
    together_.forget_before(oldest.together);
    for (std::size_t lane = 0; apart_ && lane < lane_count; ++lane) each_[lane].forget_before(oldest.apart[lane]);
  }

  std::int64_t peak_bytes(std::size_t lane) const {
    return apart_ ? each_[lane].peak_bytes(0) : together_.peak_bytes(lane);
  }

 private:
  /// Does the same to each machine's own queue, with its own count.
  template <class Work>
  SDIP_EACH void apart(const Lanes& counts, const Work& work) {
    EachBytes each;
    store(counts, each.data());
    apart_each(each, work);
  }
  template <class Work>
  [[gnu::noinline]] void apart_each(const EachBytes& counts, const Work& work) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) work(each_[lane], counts[lane]);
  }
  [[gnu::noinline]] void make_room_apart(std::int64_t bytes, EachBytes& times) {
    std::size_t lane = 0;
    for (std::int64_t& time : times) time = each_[lane++].make_room(bytes, time);
  }
  [[gnu::noinline]] void see_apart(const Lanes& now, const Lanes& channel, Seen& seen) const {
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      each_[lane].see(now[lane], channel[lane], seen.apart[lane]);
  }
  [[gnu::noinline]] bool same_apart(const Seen& a, const Seen& b) const {
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (!each_[lane].same(a.apart[lane], b.apart[lane])) return false;
    return true;
  }

  bool apart_{}, has_current_{};
  Queue<lane_count> together_;
  std::array<Queue<1>, lane_count> each_;
};

/// The weight memory of one machine, or of several.
template <std::size_t machines>
using WeightMemory = std::conditional_t<machines == 1, Queue<1>, LaneQueue>;

}  // namespace sdip
