// Is PSRAM of one machine beside others what the rules alone make of it?
#include "core/cost/apart_queue.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// A machine's own queue by the rules alone: what it holds, oldest first, and all that it ever held by number.
class PlainQueue {
 public:
  explicit PlainQueue(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  std::int64_t make_room(std::int64_t bytes, std::int64_t time) {
    for (; held_bytes() + bytes > capacity_bytes_; holds_.pop_front()) {
      const std::size_t oldest = holds_.front();
      if (all_[oldest].held)
        put_in(all_[oldest]);
      else
        time = std::max(time, all_[oldest].until);
    }
    return time;
  }
  void add(std::int64_t bytes, std::int64_t start) {
    while (!holds_.empty() && !all_[holds_.front()].held && all_[holds_.front()].until <= start) holds_.pop_front();
    put_in({bytes, 0, false});
    most_bytes_ = std::max(most_bytes_, held_bytes());
  }
  void use(std::int64_t until) { all_.back().until = until; }
  void hold() { all_.back().held = true; }
  void release(std::int64_t until) {
    for (const std::size_t number : holds_)
      if (all_[number].held) all_[number] = {all_[number].bytes, until, false};
  }
  void shift(std::int64_t cycles) {
    for (std::size_t left = holds_.size(); left > 0; --left) {
      Tile tile = all_[holds_.front()];
      holds_.pop_front();
      tile.until += cycles;
      put_in(tile);
    }
  }

  void compare(const ApartQueue& queue, std::size_t from) const {
    const std::size_t first = holds_.empty() ? all_.size() : holds_.front();
    ASSERT_EQ(queue.first(), first);
    ASSERT_EQ(queue.end(), all_.size());
    ASSERT_EQ(queue.last_used_until(), holds_.empty() ? 0 : until(all_.back()));
    ASSERT_EQ(queue.peak_bytes(), most_bytes_);
    for (std::size_t tile = from; tile < all_.size(); ++tile) {
      ASSERT_EQ(queue.bytes_of(tile), all_[tile].bytes) << tile;
      if (tile >= first) {
        ASSERT_EQ(queue.used_until(tile), until(all_[tile])) << tile;
      }
    }
  }

 private:
  struct Tile {
    std::int64_t bytes, until;
    bool held;
  };
  static std::int64_t until(const Tile& tile) { return tile.held ? std::int64_t{1} << 62 : tile.until; }
  std::int64_t held_bytes() const {
    std::int64_t bytes = 0;
    for (const std::size_t number : holds_) bytes += all_[number].bytes;
    return bytes;
  }
  void put_in(const Tile tile) {
    holds_.push_back(all_.size());
    all_.push_back(tile);
  }

  std::int64_t capacity_bytes_, most_bytes_ = 0;
  std::deque<std::size_t> holds_;
  std::vector<Tile> all_;
};

TEST(apart_queue, goes_by_the_rules) {
  ApartQueue queue;
  for (std::uint64_t seed = 1; seed <= 30 && !testing::Test::HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const std::int64_t capacity = dice.between(40, 200);
    queue.clear(capacity);
    PlainQueue plain(capacity);
    plain.compare(queue, 0);
    bool holds = false;
    std::size_t known = 0, oldest = 0;
    std::int64_t now = 0;
    for (int step = 0; step < 60 && !testing::Test::HasFatalFailure(); ++step) {
      const std::int64_t bytes = dice.between(1, 20), later = now + dice.between(0, 9);
      const std::int64_t start = queue.make_room(bytes, now);
      ASSERT_EQ(start, plain.make_room(bytes, now));
      now = start + dice.between(0, 4);
      queue.add(bytes, now), plain.add(bytes, now);
      plain.compare(queue, known);
      if (!holds && dice.one_in(6)) {
        queue.hold_current(), plain.hold();
        holds = true;
      } else if (!dice.one_in(9)) {
        queue.use_current(later + 9), plain.use(later + 9);
      }
      if (dice.one_in(5)) queue.shift(later), plain.shift(later);
      if (holds && dice.one_in(6)) {
        queue.release_held(later), plain.release(later);
        holds = false;
      }
      plain.compare(queue, known);
      if (!dice.one_in(4)) continue;
      queue.forget_before(known = oldest);
      ASSERT_EQ(queue.oldest_known(), known);
      oldest = queue.first();
    }
  }
}

}  // namespace
}  // namespace sdip
