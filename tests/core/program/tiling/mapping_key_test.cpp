// Does a mapping depend on nothing but what it is kept by?
#include "core/program/tiling/mapping_key.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

/// The machine's room, but for sides of DSRAM and bursts, which are drawn.
TileRoom drawn_room(const InstructionClass& c, const Machine& machine, Role role, GraphDice& dice) {
  TileRoom room = room_for(c, machine, weight_place(machine, role));
  room.read_bytes = dice.between(0, 3000), room.write_bytes = dice.between(0, 3000);
  room.burst_bytes = dice.one_in(2) ? dice.between(1, 64) : 64;
  room.weights_stay = dice.one_in(4);
  return room;
}

std::set<std::vector<std::int64_t>> kept_by;

void expect_same_answer(const InstructionClass& c, const TileRoom& any_room) {
  const TileRoom room = room_asked(c, any_room);
  EXPECT_EQ(mapping_step(c, any_room).mapping, mapping_step(c, room).mapping);
  const MappingQuestion question = mapping_question(c, room);
  const MappingKey key = mapping_key(c, room);
  EXPECT_EQ(mapping_key(question.c, question.room), key);
  const MappingStep of_class = mapping_step(c, room), of_question = mapping_step(question.c, question.room);
  EXPECT_EQ(of_class.mapping, of_question.mapping);
  EXPECT_TRUE(of_question.weight_room.holds(room.weight_bytes));
  EXPECT_LE(of_question.weight_room.least, of_class.weight_room.least);
  EXPECT_GE(of_question.weight_room.most, of_class.weight_room.most);
  kept_by.insert({key.begin(), key.end()});
}

TEST(mapping_key, holds_all_that_a_mapping_depends_on) {
  std::size_t asked = 0;
  kept_by.clear();
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    GraphDice dice(seed);
    Workload workload;
    workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(random_graph(dice)), {}});
    const Machine machine = random_compile_machine(dice);
    CompileOptions options;
    options.say_needed_bytes = false;
    const Application application = compile(workload, machine, options);
    for (const CompiledStage& stage : application.stages)
      for (const InstructionClass& c : stage.program.classes)
        for (int i = 0; i < 3; ++i, ++asked) expect_same_answer(c, drawn_room(c, machine, stage.role, dice));
  }
  std::printf("%zu questions of %zu\n", kept_by.size(), asked);
  EXPECT_GT(asked, 1000U);
  EXPECT_LT(kept_by.size(), asked);
}

}  // namespace
}  // namespace sdip
