// Does stepping say how far it is, and do stepping, executing and computing stop inside an instruction when they
// are told to?
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/exec/clock/step.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

constexpr std::int64_t tall = 128, broad = 64, many = tall * broad;  // tile operations of a product
static_assert(asked_operations < many && many <= 2 * asked_operations);
constexpr std::int64_t asked_in_a_pass = 2, asked_before = 1;  // of the one class

MadeNetwork one_product() {
  Draw draw(1);
  NetworkMaker make(draw);
  return make.finish({make.node("MatMul", {make.input({tall, 2}), make.weight({2, broad})})}, false);
}

CompiledStage product_in_many_tiles(const Machine& machine) {
  CompiledStage stage = stage_of_node(one_product(), machine);
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

/// How often `work` asks on its way to its end. At each of some of these questions it ends when told so, and asks
/// no more.
template <class Work>
std::int64_t questions_of(const Work& work) {
  std::int64_t all = 0;
  work([&] { return ++all == 0; });
  for (std::int64_t last = 1; last <= all; last += all / 5 + 1) {
    std::int64_t asked = 0;
    try {
      work([&] { return ++asked >= last; });
      ADD_FAILURE() << "went on after question " << last << " of " << all;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "cancelled");
    }
    EXPECT_EQ(asked, last);
  }
  return all;
}

/// The same of an execution, which tells nothing of an instruction that it ended in.
std::int64_t questions_of_execution(const MadeNetwork& network, const CompiledStage& stage, const Machine& machine,
                                    ExecuteOptions options) {
  std::int64_t told = 0, runs = 0;
  options.progress = [&](std::size_t, std::size_t) { ++told; };
  const std::int64_t asked = questions_of([&](const Stop& stop) {
    ++runs;
    options.stop = stop;
    execute(
        stage, machine, network.inputs, [&](const Value& v) { return network.stored(v); }, options);
  });
  EXPECT_GT(runs, 1);
  EXPECT_EQ(told, 1) << "of the run that went to its end";
  return asked;
}

TEST(stopped, an_execution_asks_before_each_tile_operation) {
  Machine machine;
  machine.activation_format = machine.weight_format = machine.accumulator_format = NumberFormat::fp32;
  const MadeNetwork network = one_product();
  const CompiledStage stage = product_in_many_tiles(machine);
  for (const bool noted : {false, true}) {
    ExecuteOptions options;
    if (noted) options.moved = [](std::size_t, const InstructionTransfers&) {};  // tile by tile
    EXPECT_GE(questions_of_execution(network, stage, machine, options), many) << noted;
  }
}

TEST(stopped, an_execution_asks_within_a_tile_operation_too) {
  using enum NumberFormat;
  Draw draw(2);
  NetworkMaker make(draw);
  const MadeNetwork network =
      make.finish({make.node("MatMul", {make.input({600, 300}), make.weight({300, 600})})}, false);
  for (const NumberFormat accumulator : {fp32, q7_8}) {  // by tiles of a kernel, and by plain loops
    Machine machine;
    machine.activation_format = machine.weight_format = accumulator;
    machine.accumulator_format = accumulator;
    machine.dsram_bytes = machine.psram_bytes = 1 << 26;
    CompiledStage stage = stage_of_node(network, machine);
    stage.program.classes[0].mapping = {600, 1, 600, 300};
    ExecuteOptions options;
    options.moved = [](std::size_t, const InstructionTransfers&) {};
    EXPECT_GT(questions_of_execution(network, stage, machine, options), 4);
  }
}

TEST(stopped, computing_a_graph_asks_before_each_row_of_its_products_and_each_place_of_its_convolutions) {
  const auto questions = [](NetworkMaker& make, ValueId result) {
    const MadeNetwork network = make.finish({result}, false);
    return questions_of([&](const Stop& stop) {
      compute(
          network.graph, network.inputs, [&](const Value& v) { return network.stored(v); }, stop);
    });
  };
  Draw draw(3);
  NetworkMaker product(draw), convolution(draw), back(draw), sums(draw);
  EXPECT_GE(questions(product, product.node("MatMul", {product.input({40, 3}), product.weight({3, 5})})), 40);
  EXPECT_GE(questions(convolution, convolution.node("Conv", {convolution.input({1, 2, 6, 7}),  // 5 x 6 places
                                                             convolution.weight({3, 2, 2, 2})})),
            30);
  EXPECT_GE(questions(back, back.node("ConvTranspose", {back.input({1, 2, 6, 7}), back.weight({2, 3, 2, 2})})), 42);
  EXPECT_GE(questions(sums, sums.node("Einsum", {sums.input({30, 4}), sums.input({4, 30})},
                                      {{"equation", std::string("ab,bc->ac")}})),
            900 / 64);
}

}  // namespace
}  // namespace sdip
