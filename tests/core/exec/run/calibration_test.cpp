// Calibration: ranges by hand, several samples, masked scores, weights by channel.
#include "core/exec/run/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/encode.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

constexpr CalibrationRule by_minmax{CalibrationMethod::minmax, 99.9};
constexpr CalibrationRule by_80_percent{CalibrationMethod::percentile, 80};
constexpr CalibrationRule by_error{CalibrationMethod::mse, 99.9};

double squared_error(NumberFormat format, std::span<const float> numbers, const WeightScale& scale) {
  double error = 0;
  for (const float x : numbers) {
    const std::int64_t zero = scale.zero.value_or(0);
    const double off =
        static_cast<double>(x) -
        static_cast<double>(decoded(format, encoded(format, x, scale.scale, zero), scale.scale, zero));
    error += off * off;
  }
  return error;
}

TEST(calibration, ranges_are_those_of_the_worked_example) {
  const std::vector<float> numbers{1, 1, 2, 3, 7, 14};
  const auto range = [&](const CalibrationRule& rule) {
    const NumberRange found = calibrated_range(NumberFormat::int4, numbers, rule);
    EXPECT_EQ(found.least, -found.most);
    return found.most;
  };
  EXPECT_EQ(range(by_minmax), 14);
  EXPECT_EQ(range(by_80_percent), 7);
  EXPECT_NEAR(range(by_error), 13.3, 1e-12);
  EXPECT_EQ(squared_error(NumberFormat::int4, numbers, 2), 4);
  EXPECT_EQ(squared_error(NumberFormat::int4, numbers, 1), 49);
  EXPECT_NEAR(squared_error(NumberFormat::int4, numbers, 1.9F), 3.12, 1e-5);
}

TEST(calibration, of_unsigned_formats_ranges_have_two_ends_and_zero_between_them) {
  const std::vector<float> numbers{-10, -1, 0, 1, 2, 3, 4, 5, 6, 90};
  EXPECT_EQ(calibrated_range(NumberFormat::uint8, numbers, by_minmax), (NumberRange{-10, 90}));
  EXPECT_EQ(calibrated_range(NumberFormat::uint8, numbers, {CalibrationMethod::percentile, 90}),
            (NumberRange{-1, 6}));
  const std::vector<float> above{5, 6, 7};
  EXPECT_EQ(calibrated_range(NumberFormat::uint8, above, by_minmax), (NumberRange{0, 7}));
}

TEST(calibration, infinities_and_nan_say_nothing_and_nothing_is_a_range_of_none) {
  const std::vector<float> numbers{1, -INFINITY, NAN, 2};
  EXPECT_EQ(calibrated_range(NumberFormat::int8, numbers, by_minmax), (NumberRange{-2, 2}));
  EXPECT_EQ(calibrated_range(NumberFormat::int8, {}, by_error), (NumberRange{0, 0}));
}

TEST(calibration, by_error_is_never_worse_than_by_range_and_better_of_bell_curves_in_4_bits) {
  std::mt19937 random(3);
  for (const NumberFormat format :
       {NumberFormat::int4, NumberFormat::int8, NumberFormat::uint4, NumberFormat::uint8}) {
    int better = 0;
    for (int round = 0; round < 20; ++round) {
      std::vector<float> numbers;
      std::normal_distribution<float> bell(0, 1);
      for (int i = 0; i < 500; ++i) numbers.push_back(bell(random));
      const auto error = [&](const CalibrationRule& rule) {
        const NumberRange range = calibrated_range(format, numbers, rule);
        return squared_error(format, numbers, weight_scale(format, range.least, range.most));
      };
      EXPECT_LE(error(by_error), error(by_minmax));
      better += error(by_error) < 0.9 * error(by_minmax) ? 1 : 0;
    }
    EXPECT_GE(better, bits_of(format) == 4 ? 18 : 0);
  }
}

/// y = Softmax(x + mask), of rows of `row`; the first half of each row is masked.
struct MaskedScores {
  MadeNetwork network;
  ValueId sum = none;
};
MaskedScores masked_scores(std::int64_t rows, std::int64_t row, double masked) {
  MaskedScores made;
  Graph& graph = made.network.graph;
  const auto add = [&](const char* name, ValueKind kind) {
    Value value;
    value.name = name;
    value.kind = kind;
    value.operand.shape = {rows, row};
    graph.values.push_back(value);
    return static_cast<ValueId>(graph.values.size() - 1);
  };
  const ValueId x = add("x", ValueKind::input), mask = add("mask", ValueKind::weight),
                sum = add("sum", ValueKind::activation), y = add("y", ValueKind::activation);
  Tensor values = zero_tensor(ElementType::float32, {rows, row});
  for (std::size_t i = 0; i < values.floats.size(); ++i)
    if (static_cast<std::int64_t>(i) % row < row / 2) values.floats[i] = masked;
  graph.values[static_cast<std::size_t>(mask)].operand.value = values;
  for (const auto& [type, ins, out] :
       {std::tuple{"Add", std::vector{x, mask}, sum}, std::tuple{"Softmax", std::vector{sum}, y}}) {
    Node node;
    node.name = type;
    node.op = find_operator("", type);
    node.inputs = ins;
    node.outputs = {out};
    graph.nodes.push_back(std::move(node));
  }
  graph.inputs = {x};
  graph.outputs = {y};
  link(graph);
  Draw draw(4);
  Tensor input = zero_tensor(ElementType::float32, {rows, row});
  for (double& one : input.floats) one = rounded(ElementType::float32, 3 * draw.unit());
  made.network.inputs = {input};
  made.sum = sum;
  return made;
}

TEST(calibration, a_mask_sets_no_scale_and_masked_scores_still_weigh_nothing) {
  for (const double masked : {-1e4, -3.4e38, -HUGE_VAL}) {
    const MaskedScores made = masked_scores(8, 16, masked);
    Machine machine;
    machine.activation_format = NumberFormat::int8;
    machine.weight_format = NumberFormat::fp32;
    const auto stored = [](const Value&) { return std::nullopt; };
    const ActivationScales scales = activation_scales(made.network.graph, machine, made.network.inputs, stored);
    const auto step = static_cast<double>(scales.at(made.sum).scale);
    const double depth = std::log(2.0 * 127 * 16);  // below the row's maximum
    EXPECT_LT(step * 127, 3 + depth);
    EXPECT_GT(step * 127, 3);
    // Held in those steps, what is masked weighs less than half a step of the result, all of it together.
    const Tensor& x = made.network.inputs[0];
    for (std::size_t r = 0; r < 8; ++r) {
      double of_masked = 0, sum = 0;
      for (std::size_t i = 0; i < 16; ++i) {
        const double score = i < 8 ? -128 * step : std::nearbyint(x.floats[16 * r + i] / step) * step;
        sum += std::exp(score);
        of_masked += i < 8 ? std::exp(score) : 0.0;
      }
      EXPECT_LT(of_masked / sum, 0.75 / 127);  // of the rounded maximum: a little above a half
    }
  }
}

TEST(calibration, what_others_read_too_counts_with_its_mask) {
  MaskedScores made = masked_scores(2, 4, -1e4);
  made.network.graph.outputs.push_back(made.sum);
  Machine machine;
  machine.activation_format = NumberFormat::int8;
  const auto stored = [](const Value&) { return std::nullopt; };
  const ActivationScales scales = activation_scales(made.network.graph, machine, made.network.inputs, stored);
  EXPECT_GT(scales.at(made.sum).scale * 127, 9e3F);
}

TEST(calibration, of_several_samples_the_range_holds_all) {
  const MaskedScores made = masked_scores(8, 16, 0);
  Machine machine;
  machine.activation_format = NumberFormat::uint8;
  std::vector<std::vector<Tensor>> samples(3, made.network.inputs);
  samples[1][0].floats[5] = -20;
  samples[2][0].floats[7] = 31;
  const auto stored = [](const Value&) { return std::nullopt; };
  const WeightScale scale =
      calibrated_scales(made.network.graph, machine, samples, stored, by_minmax).at(made.network.graph.inputs[0]);
  EXPECT_EQ(scale.scale, 51.0F / 255);
  EXPECT_EQ(scale.zero, 100);
}

TEST(calibration, weights_are_kept_within_the_range_of_their_channel) {
  Draw draw(9);
  MadeNetwork network = random_network(draw, 12);
  network.graph.outputs.resize(1);
  Machine machine = random_machine(draw);
  machine.weight_format = NumberFormat::int4;
  machine.sparsity = Sparsity::dense;
  machine.sparsity_group = 0;
  const auto stored = [&](const Value& v) { return network.stored(v); };
  int seen = 0, changed = 0;
  for (const ScaleGranularity granularity : {ScaleGranularity::tensor, ScaleGranularity::channel}) {
    machine.scale_granularity = granularity;
    const Application application = compiled_on(machine, network, Role::network);
    ASSERT_TRUE(application.feasible) << application.reason;
    const CompiledStage& stage = application.stages[0];
    EXPECT_EQ(calibrated_weights(stage, machine, stored, by_minmax).stage.graph, stage.graph);
    const CalibratedWeights calibrated = calibrated_weights(stage, machine, stored, by_80_percent);
    for (const Value& value : calibrated.stage.graph->values) {
      if (value.kind != ValueKind::weight || !value.bytes || !network.weights.contains(value.name)) continue;
      const Tensor before = *stored(value), after = *calibrated.stored(value);
      if (before.floats.empty()) continue;
      ++seen;
      changed += before.floats != after.floats ? 1 : 0;
      for (std::size_t i = 0; i < before.floats.size(); ++i)
        EXPECT_TRUE(after.floats[i] == before.floats[i] ||
                    std::fabs(after.floats[i]) < std::fabs(before.floats[i]));
    }
  }
  EXPECT_GT(seen, 0);
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace sdip
