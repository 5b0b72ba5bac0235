// Narrow products side by side in a wide MAC are summed, and counted, as those of so many more lanes.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/exec/clock/step.h"
#include "core/exec/walk/resolve.h"
#include "core/program/kinds.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

/// Every layer in that format.
Application compiled_in(const Machine& machine, const MadeNetwork& network, NumberFormat format) {
  FormatRule rule;
  rule.pattern = "*";
  rule.weights = rule.activations = format;
  CompileOptions options;
  options.format_rules = {rule};
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(network.graph), {}});
  return compile(workload, machine, options);
}

Machine with_lanes(Machine m, std::int64_t lanes, ComposableMacs composable) {
  m.conv_lanes_in = m.linear_lanes_k = m.matmul_lanes_k = lanes;
  m.composable_macs = composable;
  return m;
}

TEST(split_macs, sum_and_count_as_so_many_more_lanes) {
  using enum NumberFormat;
  std::uint64_t compared = 0, other_bits = 0, other_cycles = 0;
  for (std::uint64_t seed = 0; seed < pair_count(60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 700000);
    const MadeNetwork network = random_network(draw, draw.between(3, 12));
    Machine machine = random_machine(draw);
    machine.in_memory_weights = InMemoryWeights::off;
    machine.weight_format = machine.activation_format = fp32;
    machine.accumulator_format = draw.of(std::vector{fp32, fp16, bf16});
    if (bits_of(machine.accumulator_format) < 32) machine.activation_format = machine.weight_format = fp16;
    const bool whole = machine.weight_format == fp32;
    const NumberFormat format = whole ? draw.of(std::vector{fp16, bf16, fp8_e4m3}) : fp8_e4m3;
    const std::int64_t products = whole && bits_of(format) == 8 ? 4 : 2, lanes = draw.between(1, 3);
    const Machine split = with_lanes(machine, lanes, ComposableMacs::on),
                  wide = with_lanes(machine, products * lanes, ComposableMacs::off),
                  plain = with_lanes(machine, lanes, ComposableMacs::off);
    Application application;
    try {
      application = compiled_in(plain, network, format);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "format_unmatched");  // views alone
      continue;
    }
    if (!application.feasible) continue;
    const CompiledStage& stage = application.stages[0];
    const auto other = [&](const InstructionClass& c) {  // what it reads is in a format that no rule changes
      return is_nest(c.work.family) && exec::resolve(c, split).conv_lanes_in != wide.conv_lanes_in;
    };
    if (std::ranges::any_of(stage.program.classes, other)) continue;
    ++compared;
    const auto counts = [&](const Machine& m) { return step(stage.program, m, Decimal{100}, 1, 2).passes; };
    EXPECT_TRUE(counts(split) == counts(wide));
    other_cycles += counts(split) != counts(plain);
    const auto run = [&](const Machine& m) {
      return execute(stage, m, network.inputs, [&](const Value& v) { return network.stored(v); });
    };
    const sdip::Run got = run(split), want = run(wide), before = run(plain);
    bool differs = false;
    for (std::size_t i = 0; i < want.outputs.size(); ++i) {
      EXPECT_EQ(got.outputs[i].floats, want.outputs[i].floats);
      differs |= got.outputs[i].floats != before.outputs[i].floats;
    }
    other_bits += differs;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, pair_count(60) / 2);
  EXPECT_GT(other_bits, compared / 20) << "the order of sums is another";
  EXPECT_GT(other_cycles, compared / 4);
}

}  // namespace
}  // namespace sdip
