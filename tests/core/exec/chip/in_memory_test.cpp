// Products in FeFET memories as the executor makes them: all sums of a tile at once, and the bits of integers.
#include <gtest/gtest.h>

#include <cmath>

#include "core/exec/chip/execute.h"
#include "core/exec/clock/nest_folds.h"
#include "tests/core/exec/random_graph.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

Machine exact_machine(InMemoryWeights weights) {
  Machine m;
  m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
  m.conv_lanes_in = m.linear_lanes_k = 1;
  m.in_memory_weights = weights;
  return m;
}

std::vector<double> run_of_one_node(const MadeNetwork& network, const Machine& m, const Mapping& mapping) {
  CompiledStage stage = stage_of_node(network, m);
  stage.program.classes[0].mapping = mapping;
  const Tensor result =
      execute(
          stage, m, network.inputs, [&](const Value& v) { return network.stored(v); }, ActivationScales{})
          .outputs[0];
  return result.floats.empty() ? std::vector<double>(result.ints.begin(), result.ints.end()) : result.floats;
}

/// The worked example of core/exec/clock/nest_folds.h: 3 rows by 2 channels of 5 sums.
TEST(in_memory_folds, take_a_row_with_all_its_sums_and_channels) {
  Machine m = exact_machine(InMemoryWeights::fefet);
  m.fefet_input_bits = 3;
  m.fefet_columns_per_converter = 2;
  m.dsram_port_bits = 16;
  InstructionClass c;
  c.work.family = Family::linear;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  exec::Needs needs;
  const exec::Ports ports(m, Role::network, Family::linear);
  const std::vector<exec::Count> results =
      exec::fold_product(c, m, ports, {8, 8, 32, false, true}, {3, 2, 1, 5, true, true}, needs).results;
  EXPECT_EQ(results, (std::vector<exec::Count>{2, 2, 2}));
  EXPECT_EQ(needs.compute, 18);
  EXPECT_EQ(needs[exec::Port::dsram_read], 3 * 3) << "5 x 8 bits a row through 16";
  EXPECT_EQ(needs[exec::Port::psram_read], 0);
}

/// 1, 0, e, e along kernel positions of one channel: one after the other each e is lost, at once they are not.
TEST(in_memory_sums, are_added_as_one_tree_over_kernel_positions_too) {
  const double small = std::ldexp(1.0, -24);
  Draw draw(4);
  NetworkMaker make(draw);
  const ValueId x = make.input({1, 1, 2, 2});
  MadeNetwork network = make.finish({make.node("Conv", {x, make.weight({1, 1, 2, 2}, 1)})}, false);
  for (auto& [name, weight] : network.weights) weight.floats.assign(weight.floats.size(), 1.0);
  network.inputs[0].floats = {1, 0, small, small};
  const Mapping whole{1, 1, 1, 1};
  EXPECT_EQ(run_of_one_node(network, exact_machine(InMemoryWeights::off), whole)[0], 1.0);
  EXPECT_EQ(run_of_one_node(network, exact_machine(InMemoryWeights::fefet), whole)[0], 1 + 2 * small);
}

TEST(in_memory_sums, of_two_activations_keep_the_order_of_their_lanes) {
  const double small = std::ldexp(1.0, -24);
  Draw draw(5);
  NetworkMaker make(draw);
  MadeNetwork network = make.finish({make.node("MatMul", {make.input({1, 4}), make.input({4, 1})})}, false);
  network.inputs[0].floats = {1, 0, small, small};
  network.inputs[1].floats = {1, 1, 1, 1};
  Machine m = exact_machine(InMemoryWeights::fefet);
  m.matmul_lanes_k = 1;
  EXPECT_EQ(run_of_one_node(network, m, {1, 1, 1, 4})[0], 1.0);
}

TEST(in_memory_sums, of_integers_are_those_of_any_lanes_and_tiles) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    NetworkMaker make(draw);
    const std::int64_t rows = draw.between(1, 6), depth = draw.between(1, 9), columns = draw.between(1, 7);
    const ValueId x = make.input({rows, depth}, ElementType::int32);
    const MadeNetwork network =
        make.finish({make.node("MatMul", {x, make.weight({depth, columns}, 1, ElementType::int32)})}, false);
    Machine off = exact_machine(InMemoryWeights::off), fefet = exact_machine(InMemoryWeights::fefet);
    off.accumulator_format = fefet.accumulator_format = NumberFormat::int32;
    const Mapping tiles{draw.between(1, rows), 1, draw.between(1, columns), depth};
    EXPECT_EQ(run_of_one_node(network, fefet, tiles), run_of_one_node(network, off, {rows, 1, columns, depth}));
  }
}

}  // namespace
}  // namespace sdip
