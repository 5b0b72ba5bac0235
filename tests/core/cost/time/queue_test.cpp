// Is PSRAM of one machine what the rules alone make of it?
#include "core/cost/time/queue.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "tests/core/cost/random_program.h"
#include "tests/core/cost/time/plain_queue.h"

namespace sdip {
namespace {

/// What was seen of both.
struct Moment {
  Queue<1>::Seen seen;
  Held plain;
};

/// Few sizes and times, so that states come again.
void compare_both(Dice& dice, Queue<1>& queue, std::array<std::int64_t, 2>& found) {
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
    ASSERT_EQ(queue.peak_bytes(0), plain.most_bytes());
    if (!holds && dice.one_in(6)) {
      queue.hold_current(), plain.hold();
      holds = true;
    } else if (!dice.one_in(9)) {
      queue.use_current(later + 5), plain.use(later + 5);
    }
    const std::int64_t channel = now + dice.between(0, most);
    moments.push_back({{}, plain.state(now, channel)});
    queue.see(now, channel, moments.back().seen);
    for (const Moment& m : moments) {
      const Moment& last = moments.back();
      const bool same = queue.same(m.seen, last.seen);
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
      std::size_t oldest = queue.oldest();
      for (const Moment& m : moments) oldest = std::min(oldest, m.seen.first);
      queue.forget_before(oldest);
    }
  }
}

TEST(queue, goes_by_the_rules) {
  Queue<1> queue;
  std::array<std::int64_t, 2> found{};  // states that differ, and that are the same
  for (std::uint64_t seed = 1; seed <= 200 && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    compare_both(dice, queue, found);
  }
  EXPECT_GT(found[0], 10000);
  EXPECT_GT(found[1], 200);
}

TEST(queue, of_the_worked_example) {
  Queue<1> queue;
  queue.clear(200);
  for (const std::int64_t until : {14, 24}) {
    queue.add(100, 0);
    queue.use_current(until);
  }
  EXPECT_EQ(queue.make_room(100, 10), 14);
  queue.add(100, 14);
  EXPECT_EQ(queue.peak_bytes(0), 200);
}

}  // namespace
}  // namespace sdip
