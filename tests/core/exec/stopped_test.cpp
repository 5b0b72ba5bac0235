// Does stepping say how far it is, and does it stop inside an instruction when it is told to?
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/exec/step.h"
#include "tests/core/exec/random_graph.h"

namespace sdip {
namespace {

constexpr std::int64_t tall = 128, broad = 64, many = tall * broad;  // tile operations of a product
static_assert(asked_operations < many && many <= 2 * asked_operations);
constexpr std::int64_t asked_in_a_pass = 2, asked_before = 1;  // of the one class

CompiledStage product_in_many_tiles(const Machine& machine) {
  Draw draw(1);
  NetworkMaker make(draw);
  const ValueId product = make.node("MatMul", {make.input({tall, 2}), make.weight({2, broad})});
  CompiledStage stage = stage_of_node(make.finish({product}, false), machine);
  stage.program.classes[0].mapping = {1, 1, 1, 2};
  stage.program.instructions[0].read_tiles.bytes = stage.program.instructions[0].write_tiles.bytes = Bytes(64);
  return stage;
}

TEST(stopped, stepping_asks_inside_an_instruction_and_tells_each_that_is_done) {
  const Machine machine;
  const CompiledStage stage = product_in_many_tiles(machine);
  std::vector<std::int64_t> told;
  std::int64_t asked = 0;
  const StepCounts counts = step(stage, machine, Decimal{100}, 1, 3,
                                 {[&](std::int64_t done) { told.push_back(done); }, [&] { return ++asked == 0; }});
  EXPECT_EQ(counts.passes[0][0].tile_operations, many);
  EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(asked, asked_before + 3 * asked_in_a_pass);
  EXPECT_EQ(counts.passes, step(stage, machine, Decimal{100}, 1, 3).passes);
}

TEST(stopped, stepping_ends_at_whichever_question_says_so) {
  const Machine machine;
  const CompiledStage stage = product_in_many_tiles(machine);
  for (std::int64_t last = 1; last <= asked_before + 3 * asked_in_a_pass; ++last) {
    std::int64_t asked = 0, done = 0;
    const StepOptions options{[&](std::int64_t now) { done = now; }, [&] { return ++asked == last; }};
    try {
      step(stage, machine, Decimal{100}, 1, 3, options);
      ADD_FAILURE() << "went on after question " << last;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "cancelled");
    }
    EXPECT_EQ(asked, last);
    EXPECT_EQ(done, std::max<std::int64_t>(0, (last - asked_before - 1) / asked_in_a_pass));
  }
}

}  // namespace
}  // namespace sdip
