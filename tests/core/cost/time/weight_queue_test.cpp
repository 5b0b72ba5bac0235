// PSRAM as a queue: what is freed when, what stays, and what of it later passes depend on.
#include "core/cost/time/weight_queue.h"

#include <gtest/gtest.h>

namespace sdip {
namespace {

using State = std::vector<std::int64_t>;

TEST(weight_queue, frees_the_oldest_until_there_is_room) {
  WeightQueue q(200);
  EXPECT_EQ(q.make_room(100), 0);
  q.add(100, 0);
  q.use_current(14);
  EXPECT_EQ(q.make_room(100), 0);
  q.add(100, 10);
  q.use_current(24);
  EXPECT_EQ(q.held_bytes(), 200);
  EXPECT_EQ(q.state(4), (State{100, 10, 100, 20}));
  EXPECT_EQ(q.make_room(100), 14);
  EXPECT_EQ(q.state(4), (State{100, 20}));
  q.add(100, 23);
  EXPECT_EQ(q.held_bytes(), 200);
  q.use_current(34);
  EXPECT_EQ(q.make_room(200), 34);
  EXPECT_EQ(q.held_bytes(), 0);
}

TEST(weight_queue, what_is_no_longer_used_goes_when_the_next_is_fetched) {
  WeightQueue q(300);
  q.add(100, 0);
  q.use_current(14);
  q.add(100, 13);
  q.use_current(24);
  EXPECT_EQ(q.held_bytes(), 200);
  q.add(100, 24);
  EXPECT_EQ(q.held_bytes(), 100);
  EXPECT_EQ(q.make_room(200), 0);
}

TEST(weight_queue, of_a_new_instruction_no_tile_is_in_use) {
  WeightQueue q(200);
  EXPECT_EQ(q.current(), WeightQueue::no_tile);
  q.release_held(9);
  q.use_current(9);
  q.add(100, 0);
  EXPECT_EQ(q.current(), 0u);
  q.begin_instruction();
  EXPECT_EQ(q.current(), WeightQueue::no_tile);
  q.use_current(9);
  q.release_held(9);
  EXPECT_EQ(q.state(0), (State{100, 0}));
  q.add(50, -1);
  EXPECT_EQ(q.current(), 1u);
  q.leave_current();
  EXPECT_EQ(q.current(), WeightQueue::no_tile);
  q.use_current(9);
  EXPECT_EQ(q.state(0), (State{100, 0, 50, 0}));
}

/// 100 bytes are held while tiles of 50 come and go: each time it is the oldest it goes to the back.
TEST(weight_queue, a_held_tile_stays_to_the_end_of_its_instruction) {
  WeightQueue q(200);
  q.begin_instruction();
  q.add(100, 0);
  q.hold_current();
  EXPECT_EQ(q.current(), WeightQueue::no_tile);
  q.use_current(5);
  const std::int64_t in_use = q.state(1000)[1];
  EXPECT_EQ(q.state(0), (State{100, in_use}));  // at any time
  EXPECT_GT(in_use, std::int64_t{1} << 60);
  q.add(50, 6);
  q.use_current(10);
  q.add(50, 9);
  q.use_current(20);
  EXPECT_EQ(q.make_room(50), 10);
  EXPECT_EQ(q.state(0), (State{50, 20, 100, in_use}));
  q.add(50, 10);
  q.use_current(30);
  q.shift(1000);
  EXPECT_EQ(q.state(0), (State{50, 1020, 100, in_use, 50, 1030}));
  q.release_held(1040);
  EXPECT_EQ(q.state(40), (State{50, 980, 100, 1000, 50, 990}));
  q.begin_instruction();
  EXPECT_EQ(q.make_room(200), 1040);
  EXPECT_EQ(q.held_bytes(), 0);
}

TEST(weight_queue, all_that_is_there_is_shifted) {
  WeightQueue q(200);
  q.add(100, 0);
  q.use_current(14);
  q.shift(3);
  EXPECT_EQ(q.state(0), (State{100, 17}));
}

TEST(weight_queue, to_pass_over_the_held_tile_takes_no_time) {
  WeightQueue q(200);
  q.begin_instruction();
  q.add(100, -9);
  q.hold_current();
  q.add(100, -8);
  q.use_current(0);
  EXPECT_EQ(q.make_room(100), 0);
}

TEST(weight_queue, nothing_that_is_held_is_forgotten) {
  WeightQueue q(200);
  q.add(100, 0);
  q.use_current(10);
  q.add(60, 10);
  q.use_current(20);
  q.forget_freed();
  q.begin_instruction();
  EXPECT_EQ(q.state(0), (State{60, 20}));
  q.add(40, 15);
  EXPECT_EQ(q.current(), 1u);
  EXPECT_EQ(q.held_bytes(), 100);
}

/// Nothing was held before: the first instruction's own is no tile of the queue's.
TEST(weight_queue, the_instruction_before_holds_nothing_any_more) {
  WeightQueue q(100);
  q.begin_instruction();
  q.add(60, 0);
  q.hold_current();
  q.release_held(7);
  q.begin_instruction();
  EXPECT_EQ(q.make_room(100), 7);
  q.release_held(9);
  EXPECT_EQ(q.held_bytes(), 0);
}

}  // namespace
}  // namespace sdip
