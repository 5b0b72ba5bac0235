// Compiled programs compute what their graphs say: random networks on random machines.
#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/program/form/parse.h"
#include "core/program/kinds.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

/// Online softmax divides at the end: bits differ from a softmax of its own.
bool has_attention(const CompiledStage& stage) {
  return std::ranges::any_of(stage.program.classes,
                             [](const InstructionClass& c) { return c.compound == Compound::attention; });
}

/// Programs whose strips have a norm inside, make one's sums alone, or stream weights.
struct StripKinds {
  int norms = 0, sums = 0, streams = 0;
  void count(const CompiledStage& stage) {
    bool norm = false, sum = false, stream = false;
    for (const InstructionClass& c : stage.program.classes) {
      if (c.compound != Compound::strips) continue;
      sum |= c.out_elements == 0;
      for (const Part& part : c.parts) {
        norm |= part.prologue_passes > 0;
        stream |= part.streamed_channels > 0;
      }
    }
    norms += norm, sums += sum, streams += stream;
  }
};

std::int64_t turned_classes(const CompiledStage& stage) {
  return std::ranges::count_if(stage.program.classes, [](const InstructionClass& c) { return c.turned_run > 0; });
}

TEST(random, lossless_programs_compute_their_graphs) {
  RunCounts total;

  double worst = 0;
  std::uint64_t run = 0;
  std::int64_t turned = 0, turned_attentions = 0;
  const std::uint64_t pairs = pair_count(2500);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const MadeNetwork network = random_network(draw, draw.between(4, 40));
    Machine machine = random_machine(draw);
    if (draw.one_in(6)) machine.low_rank = LowRank::on;
    const Role role = draw.one_in(4) ? Role::core : Role::network;
    Application application = compiled_on(machine, network, role);
    if (!application.feasible) continue;
    if (draw.one_in(2)) draw_mappings(draw, application.stages[0], machine);
    ++run;
    turned += turned_classes(application.stages[0]);
    turned_attentions += std::ranges::count_if(application.stages[0].program.classes, [](const auto& c) {
      return c.turned_run > 0 && c.compound == Compound::attention;
    });
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const bool factored = machine.low_rank == LowRank::on;  // A * B stands in the graph that was compiled
    const Graph& graph = factored ? *application.stages[0].graph : network.graph;
    const std::vector<Tensor> want = compute(graph, network.inputs, stored);
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
      if (machine.accumulator_format == NumberFormat::int32 && !has_attention(application.stages[0])) {
        EXPECT_EQ(got.outputs[i].floats, want[i].floats) << apart << " ulps\n" << graph_text(application.stages[0]);
      }
      EXPECT_LE(apart, 64) << graph_text(application.stages[0]);
    }
    total.tile_operations += got.counts.tile_operations;
    total.instructions += got.counts.instructions;
    total.partial_tiles += got.counts.partial_tiles;
  }
  EXPECT_GT(run, pairs * 3 / 4);
  EXPECT_GT(turned, static_cast<std::int64_t>(pairs / 10));
  EXPECT_GT(turned_attentions, static_cast<std::int64_t>(pairs / 250));
  RecordProperty("turned", std::to_string(turned));
  RecordProperty("turned_attentions", std::to_string(turned_attentions));
  EXPECT_GT(total.tile_operations, 2 * total.instructions);
  EXPECT_GT(total.partial_tiles, total.instructions / 10);
  RecordProperty("worst_ulps", std::to_string(worst));
  RecordProperty("instructions", std::to_string(total.instructions));
  RecordProperty("tile_operations", std::to_string(total.tile_operations));
}

TEST(random, feed_forwards_in_chains_and_apart_compute_their_graphs) {
  std::uint64_t run = 0, equal = 0;
  std::int64_t chains = 0, branches = 0, streamed = 0, attentions = 0, residuals = 0;
  const std::uint64_t pairs = pair_count(700);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 800000);
    const MadeNetwork network = random_feed_forwards(draw);
    Machine machine = random_machine(draw);
    machine.fused_chains = FusedChains::on;
    machine.split_products = draw.one_in(4) ? SplitProducts::off : SplitProducts::on;
    machine.fusion = draw.one_in(4) ? Fusion::no_fusion : draw.one_in(2) ? Fusion::pointwise : Fusion::norm;
    if (machine.fusion != Fusion::norm) machine.norm_statistics = NormStatistics::own_pass;
    if (!draw.one_in(4)) machine.transposition = Transposition::dynamic_transposition;
    machine.psram_bytes = draw.between(150, 1500);
    machine.dsram_bytes = 2 * draw.between(150, 800);
    const Application application = compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    ++run;
    for (const InstructionClass& c : application.stages[0].program.classes) {
      if (c.compound != Compound::strips) continue;
      ++chains;
      branches += std::ranges::count_if(c.parts, is_branch);
      attentions += std::ranges::count(c.parts, Family::softmax, [](const Part& part) { return part.work.family; });
      for (const Part& part : c.parts) residuals += part.rows_beside + part.a_beside;
      streamed += std::ranges::any_of(c.parts, [](const Part& part) { return part.streamed_channels > 0; });
    }
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
    const sdip::Run got = execute(application.stages[0], machine, network.inputs, stored);
    EXPECT_LE(ulps_apart(got.outputs[0], want[0]), 64) << graph_text(application.stages[0]);
    equal += got.outputs[0].floats == want[0].floats;
    const CompiledStage parsed = parse_graph_text(graph_text(application.stages[0]));
    EXPECT_EQ(graph_text(parsed), graph_text(application.stages[0]));
  }
  EXPECT_GT(run, pairs / 2);
  EXPECT_GT(chains, static_cast<std::int64_t>(pairs / 4));
  EXPECT_GT(branches, static_cast<std::int64_t>(pairs / 10));
  EXPECT_GT(streamed, static_cast<std::int64_t>(pairs / 40));
  EXPECT_GT(attentions, static_cast<std::int64_t>(pairs / 20));
  EXPECT_GT(residuals, static_cast<std::int64_t>(pairs / 30));
  RecordProperty("equal", std::to_string(equal));
  std::cout << run << " programs, " << chains << " chains, " << branches << " branches, " << attentions
            << " attentions and " << residuals << " residuals inside, " << streamed << " that stream weights, "
            << equal << " equal bit for bit\n";
}

/// Convolutions one behind the other, most with a norm and an activation before them.
MadeNetwork chain_of_convolutions(Draw& draw) {
  NetworkMaker make(draw);
  std::int64_t channels = 2 * draw.between(1, 3);
  ValueId x = make.input({draw.between(1, 2), channels, draw.between(6, 20), draw.between(4, 8)});
  for (std::int64_t i = draw.between(2, 5); i > 0; --i) {
    if (draw.one_in(2)) {
      const std::vector<ValueId> operands{x, make.weight({channels}, 1), make.weight({channels}, 1)};
      x = make.nodes("sdip", "GroupNorm", operands, {{"num_groups", std::int64_t{2}}, {"epsilon", 0.01}})[0];
      if (draw.one_in(2)) x = make.nodes("sdip", "Silu", {x})[0];
    }
    const std::int64_t out = draw.one_in(2) ? channels : 2 * draw.between(1, 4);
    const std::vector<std::int64_t> pads(4, 1);
    const ValueId before = x;
    x = make.node("Conv", {x, make.weight({out, channels, 3, 3}, channels * 9)}, {{"pads", pads}});
    if (draw.one_in(3)) x = make.node("Relu", {x});
    if (out == channels && draw.one_in(5)) x = make.node("Add", {x, before});
    channels = out;
  }
  return make.finish({x}, false);
}

TEST(random, chains_with_norms_in_strips_compute_their_graphs) {
  StripKinds strips;
  const std::uint64_t pairs = pair_count(700);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 50000);
    const MadeNetwork network = chain_of_convolutions(draw);
    Machine machine = random_machine(draw);
    machine.fusion = Fusion::norm;
    machine.norm_statistics = draw.of(std::vector<NormStatistics>{
        NormStatistics::own_pass, NormStatistics::producer, NormStatistics::recompute, NormStatistics::recompute});
    machine.strips = draw.one_in(2) ? Strips::halo_recompute : Strips::line_buffers;
    machine.weight_storage = WeightStorage::streamed;
    machine.psram_bytes = draw.between(300, 3000);
    Application application = compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    if (draw.one_in(2)) draw_mappings(draw, application.stages[0], machine);
    strips.count(application.stages[0]);
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
    sdip::Run got;
    try {
      got = execute(application.stages[0], machine, network.inputs, stored);
    } catch (const Error& error) {
      ADD_FAILURE() << error.code << ": " << error.what() << "\n" << graph_text(application.stages[0]);
      continue;
    }
    const double apart = ulps_apart(got.outputs[0], want[0]);
    EXPECT_LE(apart, 64) << graph_text(application.stages[0]);
    if (machine.accumulator_format == NumberFormat::int32) {
      EXPECT_EQ(got.outputs[0].floats, want[0].floats) << apart << " ulps\n" << graph_text(application.stages[0]);
    }
  }
  std::cout << strips.norms << " programs with norms in strips, " << strips.sums << " that make sums again, "
            << strips.streams << " that stream weights\n";
  EXPECT_GT(strips.norms, 50);
  EXPECT_GT(strips.sums, 20);
  EXPECT_GT(strips.streams, 20);
}

TEST(random, integer_programs_compute_their_graphs_bit_for_bit) {
  const std::uint64_t pairs = pair_count(1000);
  std::int64_t turned = 0;
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 7777);
    const MadeNetwork network = random_integer_network(draw, draw.between(3, 16));
    Machine machine = random_machine(draw);
    Application application = compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    turned += turned_classes(application.stages[0]);
    if (draw.one_in(2)) draw_mappings(draw, application.stages[0], machine);
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const std::vector<Tensor> want = compute(network.graph, network.inputs, stored);
    const sdip::Run got = execute(application.stages[0], machine, network.inputs, stored);
    for (std::size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(got.outputs[i].ints, want[i].ints) << graph_text(application.stages[0]);
  }
  EXPECT_GT(turned, static_cast<std::int64_t>(pairs / 50));
}

}  // namespace
}  // namespace sdip
