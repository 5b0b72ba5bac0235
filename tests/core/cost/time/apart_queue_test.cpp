// Is PSRAM of one machine beside others what the rules alone make of it?
#include "core/cost/time/apart_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// Each tile's bytes, and until when it is used relative to now; nothing while it is held.
using Held = std::vector<std::pair<std::int64_t, std::optional<std::int64_t>>>;

/// A machine's own queue by the rules alone: what it holds, oldest first.
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
    most_bytes_ = std::max(most_bytes_, held_bytes());
  }
  void use(std::int64_t until) { holds_.back().until = until; }
  void hold() { holds_.back().held = true; }
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
};

/// What was seen of both.
struct Moment {
  ApartQueue::Seen seen;
  std::int64_t now, channel;
  Held plain;
};

/// Few sizes and times, so that states come again.
void compare_both(Dice& dice, ApartQueue& queue, std::array<std::int64_t, 2>& found) {
  const std::int64_t capacity = dice.between(36, 70), sizes = dice.between(1, 3), most = dice.between(0, 2);
  queue.clear(capacity);
  PlainQueue plain(capacity);
  std::vector<Moment> moments;
  bool holds = false;
  std::int64_t now = 0;
  for (int step = 0; step < 60; ++step) {
    const std::int64_t bytes = 6 * dice.between(1, sizes), later = now + dice.between(0, most);
    const std::int64_t start = queue.make_room(bytes, now);
    ASSERT_EQ(start, plain.make_room(bytes, now));
    now = start + dice.between(0, most);
    queue.add(bytes, now), plain.add(bytes, now);
    ASSERT_EQ(queue.peak_bytes(), plain.most_bytes());
    if (!holds && dice.one_in(6)) {
      queue.hold_current(), plain.hold();
      holds = true;
    } else if (!dice.one_in(9)) {
      queue.use_current(later + 5), plain.use(later + 5);
    }
    const std::int64_t channel = now + dice.between(0, most);
    moments.push_back({queue.see(), now, channel, plain.state(now, channel)});
    for (const Moment& m : moments) {
      const Moment& last = moments.back();
      const bool same = queue.same(m.seen, m.now, m.channel, last.seen, last.now, last.channel);
      ASSERT_EQ(same, m.plain == last.plain) << step;
      if (&m != &last) ++found.at(same ? 1 : 0);
    }
    if (dice.one_in(5)) {
      queue.shift(later), plain.shift(later);
      now += later;
    }
    if (holds && dice.one_in(6)) {
      moments.clear();  // what was held then is no more
      queue.release_held(later), plain.release(later);
      holds = false;
    }
    if (dice.one_in(8)) {
      std::size_t oldest = queue.first();
      for (const Moment& m : moments) oldest = std::min(oldest, m.seen.first);
      queue.forget_before(oldest);
    }
  }
}

TEST(apart_queue, goes_by_the_rules) {
  ApartQueue queue;
  std::array<std::int64_t, 2> found{};  // states that differ, and that are the same
  for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    compare_both(dice, queue, found);
  }
  EXPECT_GT(found[0], 10000);
  EXPECT_GT(found[1], 200);
}

TEST(apart_queue, of_the_worked_example) {
  ApartQueue queue;
  queue.clear(200);
  for (const std::int64_t until : {14, 24}) {
    queue.add(100, 0);
    queue.use_current(until);
  }
  EXPECT_EQ(queue.make_room(100, 10), 14);
  queue.add(100, 14);
  EXPECT_EQ(queue.peak_bytes(), 200);
}

}  // namespace
}  // namespace sdip
