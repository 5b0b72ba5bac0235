// Accuracy of whole programs: exact where nothing is lost, worse with fewer bits, the same twice, ended when asked.
#include "core/exec/run/accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

struct Measured {
  AccuracyReport report;
  bool feasible = false;
};

Measured measured(const MadeNetwork& network, Machine machine, const AccuracyOptions& options) {
  Machine fitting = machine;
  const Application application = compiled_on(fitting, network, Role::network);
  if (!application.feasible) return {};
  const StoredTensors stored = [&](const Value& v) { return network.stored(v); };
  return {measured_accuracy(application, fitting, {stored}, options), true};
}

Machine with_formats(Machine machine, NumberFormat weights, NumberFormat activations) {
  machine.weight_format = weights;
  machine.activation_format = activations;
  machine.accumulator_format = NumberFormat::q15_16;  // sums as they are
  machine.sparsity = Sparsity::dense;
  machine.sparsity_group = 0;
  machine.fused_attention = FusedAttention::off;
  machine.scale_granularity = ScaleGranularity::channel;
  return machine;
}

TEST(accuracy, of_random_networks_falls_with_bits_and_is_exact_in_their_own_format) {
  constexpr NumberFormat formats[] = {NumberFormat::fp32, NumberFormat::int16, NumberFormat::int8,
                                      NumberFormat::int4};
  int networks = 0, falling = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed + 77);
    MadeNetwork network = random_network(draw, draw.between(4, 15));
    network.graph.outputs.resize(1);
    const Machine machine = random_machine(draw);
    std::vector<double> db;
    for (const NumberFormat format : formats) {
      const Measured one = measured(network, with_formats(machine, format, format), {});
      if (!one.feasible) break;
      EXPECT_TRUE(one.report.complete);
      db.push_back(one.report.output().sqnr_db());
    }
    if (db.size() < 4) continue;
    ++networks;
    EXPECT_GT(db[0], 110) << seed;  // fp32: the order of sums at most
    falling += db[0] > db[1] && db[1] > db[2] && db[2] > db[3] ? 1 : 0;
  }
  EXPECT_GT(networks, 30);
  EXPECT_GT(falling, networks * 8 / 10);
}

TEST(accuracy, a_layer_stands_for_each_result_in_memory_in_order_and_the_last_is_the_output) {
  Draw draw(5);
  MadeNetwork network = random_network(draw, 10);
  network.graph.outputs.resize(1);
  const Machine machine = with_formats(random_machine(draw), NumberFormat::int8, NumberFormat::int8);
  const Measured one = measured(network, machine, {});
  ASSERT_TRUE(one.feasible);
  const StageAccuracy& stage = one.report.stages[0];
  ASSERT_FALSE(stage.layers.empty());
  for (const LayerAccuracy& layer : stage.layers) EXPECT_GT(layer.deviation.elements, 0) << layer.instruction;
  EXPECT_EQ(stage.layers.back().deviation.noise, stage.output.noise);
  EXPECT_TRUE(stage.steps.empty());
  const Measured again = measured(network, machine, {});
  EXPECT_EQ(again.report.output().noise, one.report.output().noise);
  AccuracyOptions other;
  other.seed = 1;
  EXPECT_NE(measured(network, machine, other).report.output().noise, one.report.output().noise);
}

TEST(accuracy, ends_when_told_to_and_tells_how_far_it_is) {
  Draw draw(5);
  MadeNetwork network = random_network(draw, 10);
  network.graph.outputs.resize(1);
  const Machine machine = with_formats(random_machine(draw), NumberFormat::int8, NumberFormat::int8);
  std::vector<double> shares;
  AccuracyOptions options;
  options.go_on = [&](double share) {
    shares.push_back(share);
    return true;
  };
  EXPECT_TRUE(measured(network, machine, options).report.complete);
  ASSERT_GT(shares.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_GT(shares.back(), 0.9);
  for (std::size_t last = 1; last < shares.size(); ++last) {
    std::size_t calls = 0;
    options.go_on = [&](double) { return ++calls < last; };
    EXPECT_FALSE(measured(network, machine, options).report.complete) << last;
    EXPECT_EQ(calls, last);
  }
}

}  // namespace
}  // namespace sdip
