// When instructions begin beside others, and what they own: the board by itself.
#include "core/cost/work/scoreboard.h"

#include <gtest/gtest.h>

#include "core/cost/work/circuit.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

constexpr Circuit any = Circuit::softmax, last = Circuit::host;

TEST(scoreboard, a_new_one_is_at_the_beginning) {
  const Scoreboard board;
  EXPECT_EQ(board.turn(any), 0);
  EXPECT_EQ(board.latest_end(), 0);
  EXPECT_EQ(board.running(), 0);
  EXPECT_EQ(board.waiting(), 0);
  EXPECT_EQ(board.begin(Owned().set(), {}), 0);
  Scoreboard issued;
  issued.issue(any, 0, 5);  // one sequencer for all
  EXPECT_EQ(issued.turn(last), 5);
}

TEST(scoreboard, a_pass_begins_when_all_before_has_retired) {
  for (const bool side_by_side : {false, true}) {
    Scoreboard board;
    board.begin_pass(100, side_by_side);
    for (const Circuit circuit : {Circuit::conv2d, last}) EXPECT_EQ(board.turn(circuit), 100);
    EXPECT_EQ(board.latest_end(), 100);
    for (const Owned& owned : {Owned(), Owned().set()}) EXPECT_EQ(board.begin(owned, {}), 100);
    board.issue(any, 100, 7);
    EXPECT_EQ(board.turn(any), 107);
    EXPECT_EQ(board.turn(last), side_by_side ? 100 : 107);
  }
}

/// What a pass finds is the time that it begins, whatever the one before left.
TEST(scoreboard, of_the_pass_before_nothing_is_left) {
  Scoreboard board;
  board.begin_pass(0, true);
  board.issue(any, 0, 500);
  board.retire(Owned().set(), 3, 600);
  board.begin_pass(650, true);
  EXPECT_EQ(board.turn(any), 650);
  EXPECT_EQ(board.latest_end(), 650);
  EXPECT_EQ(board.begin(Owned().set(), {}), 650);
  EXPECT_EQ(board.running(), 0);
  EXPECT_EQ(board.waiting(), 0);
  board.issue(any, 650, 1);
  board.retire(Owned(), 660, 670);
  EXPECT_EQ(board.begin(Owned(), std::vector<std::int32_t>{0}), 670);
  EXPECT_EQ(board.running(), 10);
  EXPECT_EQ(board.waiting(), 10);
}

TEST(scoreboard, each_place_owned_is_waited_for_the_first_and_the_last_too) {
  for (const std::size_t place : {std::size_t{0}, ownable_count - 1}) {
    Scoreboard board;
    board.begin_pass(0, false);
    board.issue(any, 0, 0);
    board.retire(Owned().set(place), 0, 30);
    EXPECT_EQ(board.begin(Owned().set(place), {}), 30);
    EXPECT_EQ(board.begin(Owned().set(place).flip(), {}), 0);
  }
}

InstructionClass owned_product() {
  InstructionClass c;
  c.work.family = Family::matmul;
  c.operand_a = Place::dsram;
  c.operand_b = Place::dram;
  return c;
}

TEST(owned, are_ports_over_which_a_beat_goes) {
  const Machine m;
  Busy busy;
  const Owned circuit = owned_by(owned_product(), busy, m);
  EXPECT_EQ(circuit.count(), 1u);
  for (const Resource port : {Resource::dsram_read, Resource::dsram_write, Resource::stackram_read,
                              Resource::stackram_write, Resource::psram_read}) {
    Busy one;
    one[port] = 1;
    EXPECT_EQ(owned_by(owned_product(), one, m).count(), 2u);
    EXPECT_TRUE((owned_by(owned_product(), one, m) & circuit) == circuit);
  }
}

Owned circuits(std::initializer_list<Circuit> all) {
  Owned owned;
  for (const Circuit circuit : all) owned.set(static_cast<std::size_t>(circuit));
  return owned;
}

TEST(owned, are_the_circuits_of_an_attention_and_of_its_product) {
  const Machine m;
  InstructionClass c = owned_product();
  c.compound = Compound::attention;
  c.parts.resize(3);
  c.parts[1].work.family = Family::softmax;
  c.parts[2].work.family = Family::linear;
  EXPECT_EQ(owned_by(c, {}, m), circuits({Circuit::matmul, Circuit::softmax, Circuit::linear}));
}

TEST(owned, are_the_circuits_of_each_part_of_strips) {
  const Machine m;
  InstructionClass c = owned_product();
  c.compound = Compound::strips;
  c.parts.resize(2);
  c.parts[0].work.family = Family::matmul;
  c.parts[1].work.family = Family::transpose;
  EXPECT_EQ(owned_by(c, {}, m), circuits({Circuit::matmul, Circuit::transpose}));
}

TEST(micro_operations, read_no_scalar_and_what_is_read_once_an_operation_but_once) {
  const Machine m;
  InstructionClass c;
  c.work.family = Family::softmax;
  c.work.passes = 1;
  c.work.rows = c.work.row_length = 4;
  c.mapping = {4, 1, 4, 1};
  const cost::TilePlan plan = cost::tile_plan(c);
  const Resolved r = resolve(c, m);
  const auto count = [&] { return micro_operations(c, r, plan, true, true); };
  const std::int64_t none = count();
  c.fetches = {{Place::scalar, 4, 1, false}};
  EXPECT_EQ(count(), none);
  c.fetches = {{Place::dsram, 4, 3, false}};
  EXPECT_EQ(count(), none + 1);
  c.fetches = {{Place::dsram, 4, 3, true}};
  EXPECT_EQ(count(), none + 3);
}

}  // namespace
}  // namespace sdip
