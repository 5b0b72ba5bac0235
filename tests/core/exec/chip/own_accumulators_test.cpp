// Accumulators of layers: a rule for all of them is a machine that has them, to the bit and to the cycle.
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "core/exec/chip/execute.h"
#include "core/exec/clock/step.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

Application compiled_as_said(const Machine& machine, const MadeNetwork& network,
                             std::optional<NumberFormat> accumulators) {
  FormatRule rule;
  rule.pattern = "*";
  rule.accumulators = accumulators;
  CompileOptions options;
  if (accumulators) options.format_rules = {rule};
  Workload workload;
  workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(network.graph), {}});
  return compile(workload, machine, options);
}

/// But for the words of the program, which say the formats.
void expect_equal_counts(const Application& said, const Machine& a, const Application& built, const Machine& b) {
  const auto counts = [](const Application& application, const Machine& machine) {
    return step(application.stages[0], machine, Decimal{100}, 1, 2).passes;
  };
  EXPECT_EQ(counts(said, a), counts(built, b));
  const Report one = estimate(said, a), other = estimate(built, b);
  ASSERT_EQ(one.outcome.feasible, other.outcome.feasible) << one.outcome.reason << other.outcome.reason;
  if (!one.outcome.feasible) return;
  EXPECT_EQ(one.stages[0].cold_cycles, other.stages[0].cold_cycles);
  EXPECT_EQ(one.stages[0].steady_cycles, other.stages[0].steady_cycles);
  const auto dram = static_cast<std::size_t>(Metric::dram_bytes_per_frame);
  EXPECT_EQ(one.outcome.values[dram], other.outcome.values[dram]);
  // Layers with formats of their own are priced apart: their sum is rounded elsewhere.
  for (std::size_t part = 0; part < energy_part_count; ++part) {
    if (part == static_cast<std::size_t>(EnergyPart::control)) continue;  // reads the words
    const bool by_area = part == static_cast<std::size_t>(EnergyPart::ports) ||
                         part == static_cast<std::size_t>(EnergyPart::broadcast) ||
                         part == static_cast<std::size_t>(EnergyPart::clock) ||
                         part == static_cast<std::size_t>(EnergyPart::die_links) ||  // words cross links
                         part == static_cast<std::size_t>(EnergyPart::leakage);
    if (by_area) continue;  // sums as wide as the machine's own have larger lanes
    const double joules = other.stages[0].energy_parts[part];
    EXPECT_NEAR(one.stages[0].energy_parts[part], joules, 1e-12 * joules);
  }
}

TEST(own_accumulators, of_every_layer_are_those_of_a_machine_that_has_them) {
  using enum NumberFormat;
  std::set<std::pair<NumberFormat, NumberFormat>> seen;
  std::uint64_t compared = 0, differ = 0;
  for (std::uint64_t seed = 0; seed < pair_count(150); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 900000);
    const MadeNetwork network = random_network(draw, draw.between(3, 15));
    Machine built = random_machine(draw);
    built.in_memory_weights = InMemoryWeights::off;  // rules of layers say floats
    built.activation_format = fp16;
    built.accumulator_format = draw.of(std::vector{fp32, fp16, bf16, int32, int16, q15_16, q7_8});
    const Application whole = compiled_on(built, network, Role::network);
    Machine other = built;
    other.accumulator_format = draw.of(std::vector{fp32, bf16, int32, int16});
    Application said;
    try {
      said = compiled_as_said(other, network, built.accumulator_format);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "format_unmatched");  // views alone
      continue;
    }
    EXPECT_EQ(said.feasible, whole.feasible) << said.reason << whole.reason;
    if (!said.feasible || !whole.feasible) continue;
    ++compared;
    seen.emplace(built.accumulator_format, other.accumulator_format);
    expect_equal_counts(said, other, whole, built);
    const auto stored = [&](const Value& v) { return network.stored(v); };
    const sdip::Run want = execute(whole.stages[0], built, network.inputs, stored);
    const sdip::Run got = execute(said.stages[0], other, network.inputs, stored);
    const Application plain = compiled_as_said(other, network, std::nullopt);
    const bool differs =
        plain.feasible &&
        execute(plain.stages[0], other, network.inputs, stored).outputs[0].floats != want.outputs[0].floats;
    differ += differs ? 1U : 0U;
    for (std::size_t i = 0; i < want.outputs.size(); ++i) {
      EXPECT_EQ(got.outputs[i].floats, want.outputs[i].floats);
      EXPECT_EQ(got.outputs[i].ints, want.outputs[i].ints);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, pair_count(150) / 2);
  EXPECT_GT(differ, compared / 20) << "the machine's own would be others";
  EXPECT_GT(seen.size(), 18U);
}

}  // namespace
}  // namespace sdip
