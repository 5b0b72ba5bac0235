// Compiled programs compute what their graphs say: random networks on random machines.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "core/base/error.h"
#include "core/exec/execute.h"
#include "tests/core/exec/random_graph.h"

namespace sdip {
namespace {

/// Pairs a test looks at; ./test --full looks at ten times as many.
std::uint64_t pair_count(std::uint64_t usual) { return std::getenv("SDIP_FULL") != nullptr ? 10 * usual : usual; }

/// Memories so small that most networks must be cut, spilled and stacked; every option drawn; fp32 throughout.
Machine random_machine(Draw& draw) {
  Machine m;
  m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
  m.dsram_bytes = draw.between(100, 1500);
  m.stackram_bytes = draw.one_in(3) ? 0 : draw.between(0, 6000);
  m.psram_bytes = draw.between(200, 4000);
  const auto either = [&](auto a, auto b) { return draw.one_in(2) ? a : b; };
  m.weight_buffering = either(Buffering::single_buffer, Buffering::double_buffer);
  m.tile_buffering = either(Buffering::single_buffer, Buffering::double_buffer);
  m.activation_memory = either(ActivationMemory::separate, ActivationMemory::unified);
  m.stack_discipline = either(StackDiscipline::stack, StackDiscipline::allocator);
  m.fusion = either(Fusion::no_fusion, Fusion::pointwise);
  m.transposition = either(Transposition::explicit_instruction, Transposition::dynamic_transposition);
  m.skip_handling = draw.one_in(4) ? SkipHandling::spill : SkipHandling::hold;
  if (draw.one_in(6)) m.weight_storage = WeightStorage::hard_coded;
  return m;
}

Application compiled_on(Machine& machine, const MadeNetwork& network, Role role) {
  Workload workload;
  workload.stages.push_back({role, "net", std::make_shared<const Graph>(network.graph), {}});
  Application application = compile(workload, machine);
  for (int i = 0; i < 6 && !application.feasible; ++i) {  // the least that one tile needs
    machine.dsram_bytes *= 2;
    machine.psram_bytes *= 2;
    application = compile(workload, machine);
  }
  return application;
}

/// Any tiles in any order for every nest: what a mapping search might choose, and what none would.
void draw_mappings(Draw& draw, CompiledStage& stage) {
  for (InstructionClass& c : stage.program.classes) {
    const Family family = c.work.family;
    if (family != Family::conv2d && family != Family::linear && family != Family::matmul) continue;
    const LoopNest& n = c.work.nest;
    const bool weighted = c.operand_b == Place::psram;
    const auto part = [&](std::int64_t size) { return draw.one_in(3) ? size : draw.between(1, size); };
    c.mapping.tile_rows = part(n.out_h);
    c.mapping.tile_columns = part(n.out_w);
    c.mapping.tile_channels =
        weighted && draw.one_in(2) ? n.out_channels * draw.between(1, n.groups) : part(n.out_channels);
    c.mapping.tile_sums = part(n.in_channels);
    for (std::size_t i = 4; i-- > 1;)
      std::swap(c.mapping.order[i],
                c.mapping.order[static_cast<std::size_t>(draw.between(0, static_cast<std::int64_t>(i)))]);
  }
}

/// Largest difference in units of the last place of fp32 at the reference's largest magnitude.
double ulps_apart(const Tensor& got, const Tensor& want) {
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < want.floats.size(); ++i) {
    largest = std::max(largest, std::fabs(want.floats[i]));
    apart = std::max(apart, std::fabs(got.floats[i] - want.floats[i]));
  }
  return largest == 0 ? apart : apart / std::ldexp(largest, -23);
}

TEST(random, lossless_programs_compute_their_graphs) {
  RunCounts total;
  double worst = 0;
  std::uint64_t run = 0;
  const std::uint64_t pairs = pair_count(2500);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const MadeNetwork network = random_network(draw, draw.between(4, 40));
    Machine machine = random_machine(draw);
    const Role role = draw.one_in(4) ? Role::core : Role::network;
    Application application = compiled_on(machine, network, role);
    if (!application.feasible) continue;
    if (draw.one_in(2)) draw_mappings(draw, application.stages[0]);
    ++run;
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
    sdip::Run got;
    try {
      got = execute(application.stages[0], machine, network.inputs, stored);
    } catch (const Error& error) {
      ADD_FAILURE() << error.code << ": " << error.what() << "\n" << graph_text(application.stages[0]);
      continue;
    }
    ASSERT_EQ(got.outputs.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got.outputs[i].shape, want[i].shape);
      const double apart = ulps_apart(got.outputs[i], want[i]);
      worst = std::max(worst, apart);
      EXPECT_LE(apart, 64) << graph_text(application.stages[0]);
    }
    total.tile_operations += got.counts.tile_operations;
    total.instructions += got.counts.instructions;
    total.partial_tiles += got.counts.partial_tiles;
  }
  EXPECT_GT(run, pairs * 3 / 4);
  EXPECT_GT(total.tile_operations, 2 * total.instructions);
  EXPECT_GT(total.partial_tiles, total.instructions / 10);
  std::cout << worst << " ulps, " << total.instructions << " instructions, " << total.tile_operations << " tiles, "
            << total.partial_tiles << " partial\n";
  RecordProperty("worst_ulps", std::to_string(worst));
  RecordProperty("instructions", std::to_string(total.instructions));
  RecordProperty("tile_operations", std::to_string(total.tile_operations));
}

TEST(random, integer_programs_compute_their_graphs_bit_for_bit) {
  const std::uint64_t pairs = pair_count(1000);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 7777);
    const MadeNetwork network = random_integer_network(draw, draw.between(3, 16));
    Machine machine = random_machine(draw);
    Application application = compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    if (draw.one_in(2)) draw_mappings(draw, application.stages[0]);
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
    const sdip::Run got = execute(application.stages[0], machine, network.inputs, stored);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(got.outputs[i].ints, want[i].ints) << graph_text(application.stages[0]);
  }
}

}  // namespace
}  // namespace sdip
