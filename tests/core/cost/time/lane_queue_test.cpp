// Is PSRAM of machines side by side that of each alone?
#include "core/cost/time/lane_queue.h"

#include <gtest/gtest.h>

#include "tests/core/cost/random_program.h"
#include "tests/core/cost/time/plain_queue.h"

namespace sdip {
namespace {

LaneQueue::Seen seen_of(const LaneQueue& queue, const Lanes& now, const Lanes& channel) {
  LaneQueue::Seen seen{};
  queue.see(now, channel, seen);
  return seen;
}

/// Eight machines' queues, and the one that stands for all.
class Queues {
 public:
  explicit Queues(const LaneQueue::EachBytes& capacities) {
    for (const std::int64_t bytes : capacities) each_.emplace_back(bytes);
    together_.clear(capacities);
  }

  void fetch(Dice& dice, std::int64_t bytes) {
    const Lanes time = together_.make_room(bytes, channel_);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      ASSERT_EQ(each_[lane].make_room(bytes, channel_[lane]), time[lane]) << lane;
      each_[lane].add(bytes, time[lane]);
    }
    together_.add(bytes, time);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      ASSERT_EQ(together_.peak_bytes(lane), each_[lane].most_bytes());
      channel_[lane] = time[lane] + dice.between(1, 20);
    }
    ASSERT_TRUE(together_.has_current());
  }

  void use(Dice& dice) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      now_[lane] = std::max(now_[lane], channel_[lane]) + dice.between(1, 30);
      each_[lane].use(now_[lane]);
    }
    together_.use_current(now_);
  }

  void begin() {
    for (PlainQueue& queue : each_) queue.leave();
    together_.begin_instruction();
    ASSERT_FALSE(together_.has_current());
  }
  void hold() {
    for (PlainQueue& queue : each_) queue.hold();
    together_.hold_current();
    ASSERT_FALSE(together_.has_current());
  }
  void release() {
    for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].release(now_[lane]);
    together_.release_held(now_);
  }

  /// Everything `by` later.
  void shift(Dice& dice) {
    Lanes by{};
    for (std::size_t lane = 0; lane < lane_count; ++lane) by[lane] = dice.between(0, 1000);
    for (std::size_t lane = 0; lane < lane_count; ++lane) each_[lane].shift(by[lane]);
    const LaneQueue::Seen before = seen_of(together_, now_, channel_);
    together_.shift(by);
    now_ += by;
    channel_ += by;
    ASSERT_TRUE(together_.same(before, seen_of(together_, now_, channel_)));
  }

  LaneQueue& together() { return together_; }
  const Lanes& now() const { return now_; }
  const Lanes& channel() const { return channel_; }

 private:
  std::vector<PlainQueue> each_;
  LaneQueue together_;
  Lanes now_{}, channel_{};
};

LaneQueue::EachBytes equally(std::int64_t bytes) {
  LaneQueue::EachBytes each;
  each.fill(bytes);
  return each;
}

TEST(lane_queue, frees_and_fills_as_each_machine_does_alone) {
  for (std::uint64_t seed = 1; seed <= 120 && !testing::Test::HasFatalFailure(); ++seed) {
    Dice dice(seed);
    const std::int64_t capacity = 20 * dice.between(3, 40);
    LaneQueue::EachBytes capacities = equally(capacity);
    if (seed % 2 == 0)
      for (std::int64_t& bytes : capacities)
        bytes = dice.one_in(2) ? capacity : 20 * dice.between(3, 40) + dice.between(0, 9);
    Queues queues(capacities);
    for (int instruction = 0; instruction < 12; ++instruction) {
      queues.begin();
      const bool holds = dice.one_in(2);
      if (holds) {
        queues.fetch(dice, dice.between(1, 20));
        queues.hold();
      }
      for (std::int64_t tile = dice.between(0, 40); tile > 0; --tile) {
        queues.fetch(dice, dice.between(1, 20));
        queues.use(dice);
        if (!dice.one_in(12)) continue;
        queues.shift(dice);
        if (dice.one_in(2)) queues.use(dice);  // the last one goes on
      }
      if (holds) queues.use(dice);
      queues.release();
    }
  }
}

void see_what_differs(const LaneQueue::EachBytes& capacities) {
  LaneQueue queue;
  queue.clear(capacities);
  const Lanes channel = all_lanes<lane_count>(5);
  const auto add = [&](std::int64_t bytes, std::int64_t until) {
    queue.add(bytes, Lanes{});
    queue.use_current(all_lanes<lane_count>(until));
  };
  add(10, 20);
  add(20, 30);
  const LaneQueue::Seen first = seen_of(queue, all_lanes<lane_count>(7), channel);
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    EXPECT_EQ(capacities == equally(100) ? first.together.last[lane] : first.apart[lane].last, 30);
  EXPECT_TRUE(queue.same(first, first));
  EXPECT_FALSE(queue.same(first, seen_of(queue, all_lanes<lane_count>(8), channel)));
  EXPECT_TRUE(queue.same(first, seen_of(queue, all_lanes<lane_count>(7), all_lanes<lane_count>(20))));
  EXPECT_FALSE(queue.same(first, seen_of(queue, all_lanes<lane_count>(7), all_lanes<lane_count>(21))));
  queue.use_current(all_lanes<lane_count>(31));
  const LaneQueue::Seen later_used = seen_of(queue, all_lanes<lane_count>(7), channel);
  EXPECT_FALSE(queue.same(first, later_used));
  Lanes one = all_lanes<lane_count>(31);
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    Lanes until = one;
    until[lane] = 32;
    queue.use_current(until);
    EXPECT_FALSE(queue.same(later_used, seen_of(queue, all_lanes<lane_count>(7), channel))) << lane;
  }
  queue.use_current(one);
  add(10, 40);
  EXPECT_FALSE(queue.same(later_used, seen_of(queue, all_lanes<lane_count>(7), channel)));
  const Lanes time = queue.make_room(90, Lanes{});  // 10 and 20 go
  EXPECT_EQ(time[5], 31);
  const LaneQueue::Seen left = seen_of(queue, all_lanes<lane_count>(7), channel);
  EXPECT_FALSE(queue.same(later_used, left));
  LaneQueue empty;
  empty.clear(capacities);
  const LaneQueue::Seen none = seen_of(empty, Lanes{}, Lanes{});
  EXPECT_TRUE(empty.same(none, seen_of(empty, all_lanes<lane_count>(3), all_lanes<lane_count>(4))));
}

TEST(lane_queue, sees_what_differs) {
  see_what_differs(equally(100));
  see_what_differs({100, 100, 100, 100, 100, 100, 100, 101});
}

/// A tile of 10 bytes used for 13 cycles more, then one of `bytes`: whether that is seen as the same.
bool alike(const LaneQueue::EachBytes& capacities, std::int64_t bytes) {
  LaneQueue queue;
  queue.clear(capacities);
  queue.add(10, Lanes{});
  queue.use_current(all_lanes<lane_count>(20));
  const LaneQueue::Seen ten = seen_of(queue, all_lanes<lane_count>(7), all_lanes<lane_count>(5));
  const Lanes time = queue.make_room(95, Lanes{});
  queue.add(bytes, time);
  queue.use_current(all_lanes<lane_count>(40));
  return queue.same(ten, seen_of(queue, all_lanes<lane_count>(27), all_lanes<lane_count>(25)));
}

TEST(lane_queue, sees_how_large_tiles_are) {
  const LaneQueue::EachBytes apart = {100, 100, 100, 100, 100, 100, 100, 101};
  for (const LaneQueue::EachBytes& capacities : {equally(100), apart}) {
    EXPECT_TRUE(alike(capacities, 10));
    EXPECT_FALSE(alike(capacities, 11));
  }
}

/// 5000 tiles of 40 bytes, of which each machine holds as many as it can.
void put_tiles(LaneQueue& queue, const LaneQueue::EachBytes& capacities) {
  queue.clear(capacities);
  for (int tile = 0; tile < 5000; ++tile) {
    queue.make_room(40, Lanes{});
    queue.add(40, Lanes{});
    queue.use_current(all_lanes<lane_count>(9));
  }
}

TEST(lane_queue, names_the_oldest_tile_and_forgets_those_before_it) {
  LaneQueue queue;
  put_tiles(queue, {40, 80, 120, 160, 200, 240, 280, 320});
  LaneQueue::Oldest oldest = queue.oldest();
  EXPECT_EQ(oldest.together, 0u);
  EXPECT_EQ(oldest.apart, (std::array<std::size_t, lane_count>{4999, 4998, 4997, 4996, 4995, 4994, 4993, 4992}));
  queue.forget_before(oldest);
  const LaneQueue::Seen seen = seen_of(queue, all_lanes<lane_count>(9), all_lanes<lane_count>(9));
  EXPECT_TRUE(queue.same(seen, seen));
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    LaneQueue::Seen before = seen;
    --before.apart[lane].first;
    EXPECT_THROW(queue.same(before, seen), Bug) << lane;
    EXPECT_THROW(queue.same(seen, before), Bug) << lane;
  }
  put_tiles(queue, equally(120));
  oldest = queue.oldest();
  EXPECT_EQ(oldest.together, 4997u);
}

void fill_and_forget(const LaneQueue::EachBytes& capacities, int tiles) {
  Dice dice(1);
  Queues queues(capacities);
  queues.begin();
  for (int tile = 0; tile < tiles && !testing::Test::HasFatalFailure(); ++tile) {
    LaneQueue& together = queues.together();
    const LaneQueue::Oldest oldest = together.oldest();
    const LaneQueue::Seen seen = seen_of(together, queues.now(), queues.channel());
    queues.fetch(dice, dice.between(1, 1 + 90 * tile / tiles));  // fuller and fuller
    queues.use(dice);
    if (tile % 500 == 0) queues.shift(dice);
    if (tile % 300 == 0) {
      queues.release();
      queues.begin();
      queues.fetch(dice, 1);
      queues.hold();
    }
    together.forget_before(oldest);
    if (tile % 100 == 0) {
      EXPECT_TRUE(together.same(seen, seen));
    }
  }
}

TEST(lane_queue, goes_on_when_it_forgets) { fill_and_forget(equally(3000), 18'000); }

TEST(lane_queue, goes_on_when_each_machine_forgets) {
  fill_and_forget({3000, 3000, 2000, 4000, 3000, 3001, 500, 2999}, 4000);
}

TEST(lane_queue, is_as_new_when_cleared) {
  Dice dice(2);
  LaneQueue queue;
  for (const std::int64_t capacity : {300, 40}) {
    queue.clear(equally(capacity));
    EXPECT_EQ(queue.oldest().together, 0u);
    EXPECT_FALSE(queue.has_current());
    queue.release_held(all_lanes<lane_count>(3));
    Lanes time{};
    for (int tile = 0; tile < 400; ++tile) {
      time = queue.make_room(20, time);
      EXPECT_EQ(time[1], tile < capacity / 20 ? 0 : 10 * (tile - capacity / 20 + 1));
      queue.add(20, Lanes{});
      queue.use_current(all_lanes<lane_count>(10 * (tile + 1)));
      EXPECT_EQ(queue.peak_bytes(7), std::min<std::int64_t>(capacity, 20 * (tile + 1)));
    }
  }
}

}  // namespace
}  // namespace sdip
