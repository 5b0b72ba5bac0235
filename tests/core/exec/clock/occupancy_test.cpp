// Do the activation memories hold, address by address, what the compiler says, and nothing that does not fit?
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "core/exec/clock/operations.h"
#include "core/exec/clock/rooms.h"
#include "core/exec/clock/step.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/program/built_in.h"

namespace sdip {
namespace {

/// Every instruction's occupancy, counted by what it opens, against what the program states.
void expect_stated_occupancy(const CompiledStage& stage, const Machine& machine) {
  exec::Rooms rooms(stage, machine);
  rooms.start_pass();
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    const Instruction& stated = stage.program.instructions[i];
    const exec::Occupancy counted = rooms.run(i);
    if (machine.activation_memory == ActivationMemory::unified) {
      EXPECT_EQ(counted.stackram, (stated.dsram_read_side + stated.dsram_write_side + stated.stackram).value)
          << "instruction " << i;
    } else {
      EXPECT_EQ(counted, (exec::Occupancy{stated.dsram_read_side.value, stated.dsram_write_side.value,
                                          stated.stackram.value}))
          << "instruction " << i << " " << stated.mnemonic << " of " << stage.name;
    }
  }
}

/// Where such an input waits for the end no instruction says.
bool returns_an_input(const Graph& graph) {
  return std::ranges::any_of(graph.outputs, [&](ValueId v) { return std::ranges::count(graph.inputs, v) > 0; });
}

void expect_counted_operations(const Program& program, const StepCounts& counts) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    EXPECT_EQ(counts.passes[1][i].tile_operations,
              exec::operation_count(
                  program.classes[static_cast<std::size_t>(program.instructions[i].instruction_class)]));
}

TEST(occupancy, of_random_networks_is_what_the_compiler_states) {
  std::int64_t unified = 0, pairs = 0, stacked = 0;
  for (std::uint64_t seed = 0; seed < pair_count(1000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const MadeNetwork network = random_network(draw, draw.between(4, 40));
    Machine machine = random_machine(draw);
    const Role role = draw.one_in(4) ? Role::core : Role::network;
    const Application application = compiled_on(machine, network, role);
    if (!application.feasible || returns_an_input(*application.stages[0].graph)) continue;
    expect_stated_occupancy(application.stages[0], machine);
    expect_counted_operations(application.stages[0].program,
                              step(application.stages[0], machine, Decimal{100}, 1, 2));
    unified += machine.activation_memory == ActivationMemory::unified;
    pairs += has_pairs(machine);
    for (const Instruction& i : application.stages[0].program.instructions) stacked += i.stackram.value > 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(unified, 100);
  EXPECT_GT(pairs, 100);
  EXPECT_GT(stacked, 2000);
}

/// A stage whose second instruction reads what the first made, both of 8 int8 numbers.
CompiledStage two_adds() {
  Draw draw(1);
  NetworkMaker maker(draw);
  const ValueId x = maker.input({1, 8}), once = maker.node("Relu", {x}), twice = maker.node("Abs", {once});
  const MadeNetwork network = maker.finish({twice}, false);
  Machine machine;
  machine.activation_format = NumberFormat::int8;
  Workload workload;
  workload.stages.push_back({Role::network, "two", std::make_shared<const Graph>(network.graph), {}});
  return compile(workload, machine).stages.at(0);
}

Machine of_int8() {
  Machine machine;
  machine.activation_format = NumberFormat::int8;
  return machine;
}

TEST(occupancy, follows_the_sides_as_in_the_worked_example) {
  const CompiledStage stage = two_adds();
  const StepCounts counts = step(stage, of_int8(), Decimal{100}, 1, 2);
  EXPECT_EQ(counts.peaks.dsram_read_bytes, 8);
  EXPECT_EQ(counts.peaks.dsram_write_bytes, 8);
  std::int64_t words = 0;
  for (const Instruction& i : stage.program.instructions) words += i.words;
  EXPECT_EQ(counts.peaks.imem_bytes, 32 * words);
}

TEST(occupancy, an_address_out_of_range_or_of_nothing_is_a_failure) {
  Machine machine = of_int8();
  CompiledStage stage = two_adds();
  const auto fails = [&] {
    try {
      step(stage, machine, Decimal{100}, 1, 1);
    } catch (const Error& error) {
      return error.code == "execution_failed";
    }
    return false;
  };
  EXPECT_FALSE(fails());
  stage.program.instructions[1].sources[0].address += Bytes(1);
  EXPECT_TRUE(fails());
  stage.program.instructions[1].sources[0].address -= Bytes(1);
  machine.dsram_bytes = 7;
  EXPECT_TRUE(fails());
}

}  // namespace
}  // namespace sdip
