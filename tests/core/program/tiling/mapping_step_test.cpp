// Is a mapping the same in every room for which its search says so?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/program/form/form.h"
#include "core/program/tiling/draft.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

struct Tally {
  std::int64_t rooms = 0, wider = 0;  // asked, and those in which something else was asked for than at first
};

/// An end of the range, or what lies between; no more than a memory has.
std::int64_t drawn_in(const CapacityRange& range, GraphDice& dice) {
  const std::int64_t most = std::min<std::int64_t>(range.most, std::max<std::int64_t>(range.least, 0) + 100'000);
  return dice.one_in(3) ? range.least : dice.one_in(2) ? most : dice.between(range.least, most);
}

void expect_same_within(const InstructionClass& c, TileRoom room, GraphDice& dice, Tally& asked) {
  const MappingStep step = mapping_step(c, room);
  const bool sides = step.read_room.holds(room.read_bytes) && step.write_room.holds(room.write_bytes);
  ASSERT_TRUE(step.weight_room.holds(room.weight_bytes));
  for (int i = 0; i < 4; ++i) {
    TileRoom other = room;
    if (sides)
      other.read_bytes = drawn_in(step.read_room, dice), other.write_bytes = drawn_in(step.write_room, dice);
    if (room.weight_bytes > 0) other.weight_bytes = std::max<std::int64_t>(1, drawn_in(step.weight_room, dice));
    ASSERT_EQ(mapping_step(c, other).mapping, step.mapping)
        << "in " << other.read_bytes << " " << other.write_bytes << " " << other.weight_bytes << " as in "
        << room.read_bytes << " " << room.write_bytes << " " << room.weight_bytes;
    ++asked.rooms;
    asked.wider += other != room;
  }
}

/// Classes of random graphs in random rooms, of every way to search and goal.
Tally asked_of(std::uint64_t seeds, std::int64_t most_bytes,
               const std::function<void(TileRoom&, GraphDice&)>& set) {
  Tally asked;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    GraphDice dice(seed);
    Workload workload;
    workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(random_graph(dice)), {}});
    const Machine machine = random_compile_machine(dice);
    CompileOptions options;
    options.say_needed_bytes = false;
    for (const CompiledStage& stage : compile(workload, machine, options).stages)
      for (const InstructionClass& c : stage.program.classes) {
        TileRoom room = room_for(c, machine, weight_place(machine, stage.role));
        room.read_bytes = dice.between(0, most_bytes), room.write_bytes = dice.between(0, most_bytes);
        if (room.weight_bytes > 0) room.weight_bytes = dice.between(1, most_bytes);
        room.burst_bytes = dice.one_in(2) ? dice.between(1, 64) : 64;
        set(room, dice);
        expect_same_within(c, room, dice, asked);
        if (testing::Test::HasFatalFailure()) return asked;
      }
  }
  return asked;
}

TEST(mapping_step, is_the_same_in_all_rooms_of_its_ranges) {
  for (const std::int64_t most_bytes : {300, 3000, 30'000}) {
    const Tally asked = asked_of(150, most_bytes, [](TileRoom& room, GraphDice&) {
      room.search = TileSearch::exact, room.goal = TileGoal::bytes;
    });
    std::printf("%ld rooms, %ld of them others\n", static_cast<long>(asked.rooms), static_cast<long>(asked.wider));
    EXPECT_GT(asked.wider, asked.rooms / 2);
  }
}

TEST(mapping_step, is_the_same_however_it_is_searched_for) {
  const Tally asked = asked_of(100, 3000, [](TileRoom& room, GraphDice& dice) {
    room.search = dice.one_in(2) ? TileSearch::exact : dice.one_in(2) ? TileSearch::greedy : TileSearch::sampled;
    room.goal = dice.one_in(2) ? TileGoal::balanced : TileGoal::cycles;
  });
  EXPECT_GT(asked.wider, 1000);
}

}  // namespace
}  // namespace sdip
