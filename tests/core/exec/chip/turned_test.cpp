// Results that are written in another order than they are made.
#include <gmock/gmock.h>

#include "core/exec/chip/execute.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

using Ints = std::vector<std::int64_t>;

/// y = 2 t with t = (x^2 W + 2 x) turned: 2 x waits while x^2 is made, and is read for the last time where t is
/// made. `shifted`: t + 3 in the place of t, so that an addition reads the sum turned.
MadeNetwork residual_turned(Draw& draw, bool shifted = false) {
  NetworkMaker make(draw);
  const ValueId x = make.input({1, 6, 5}, ElementType::int32);
  const ValueId a = make.node("Add", {x, x});
  const ValueId p = make.node("MatMul", {make.node("Mul", {x, x}), make.weight({5, 5}, 1, ElementType::int32)});
  ValueId t = make.node("Transpose", {make.node("Add", {p, a})}, {{"perm", Ints{0, 2, 1}}});
  if (shifted) t = make.node("Add", {t, make.weight({1}, 1, ElementType::int32)});
  return make.finish({make.node("Add", {t, t})}, false);
}

Machine turning() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::fp32;
  m.accumulator_format = NumberFormat::int32;
  m.activation_memory = ActivationMemory::unified;
  m.fusion = Fusion::pointwise;
  m.transposition = Transposition::static_transposition;
  return m;
}

/// Whatever the tiles of its third instruction.
void expect_any_tiles_compute(bool shifted, Machine machine, const std::string& third) {
  Draw draw(5);
  const MadeNetwork network = residual_turned(draw, shifted);
  Application application = compiled_on(machine, network, Role::network);
  ASSERT_TRUE(application.feasible) << application.reason;
  CompiledStage& stage = application.stages[0];
  ASSERT_EQ(stage.program.instructions.size(), 4U);
  ASSERT_EQ(stage.program.instructions[2].mnemonic, third);
  const auto stored = [&](const Value& v) { return network.stored(v); };
  const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
  for (const std::int64_t rows : {1, 2, 6})
    for (const std::int64_t channels : {1, 3, 5}) {
      SCOPED_TRACE(testing::Message() << rows << " x " << channels);
      InstructionClass& c =
          stage.program.classes.at(static_cast<std::size_t>(stage.program.instructions[2].instruction_class));
      c.mapping.tile_rows = rows;
      c.mapping.tile_channels = channels;
      EXPECT_EQ(execute(stage, machine, network.inputs, stored).outputs.at(0).ints, want.at(0).ints);
    }
}

TEST(turned, results_do_not_overwrite_an_operand_of_which_elements_are_still_to_be_read) {
  expect_any_tiles_compute(false, turning(), "matmul+add+transpose");
}

TEST(turned, what_joins_through_a_transposition_leaves_operands_before_it_where_they_are) {
  Machine machine = turning();
  machine.transposition = Transposition::dynamic_transposition;
  expect_any_tiles_compute(true, machine, "matmul+add+add");
}

}  // namespace
}  // namespace sdip
