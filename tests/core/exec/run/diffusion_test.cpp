// Deviations, schedules of the samplers, and the way of a frame through stages.
#include "core/exec/run/diffusion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/exec/run/deviation.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

Tensor numbers(std::vector<double> floats) {
  return {ElementType::float32, {std::ssize(floats)}, {}, std::move(floats)};
}

TEST(deviation, is_that_of_the_worked_example) {
  const Deviation deviation = deviation_of(numbers({3, 5}), numbers({3, 4}));
  EXPECT_NEAR(deviation.sqnr_db(), 13.98, 0.005);
  EXPECT_NEAR(deviation.cosine(), 0.9947, 0.00005);
  EXPECT_EQ(deviation.elements, 2);
}

TEST(deviation, without_noise_is_infinite_and_with_what_is_no_number_none) {
  EXPECT_EQ(deviation_of(numbers({1, 2}), numbers({1, 2})).sqnr_db(), HUGE_VAL);
  EXPECT_EQ(deviation_of(numbers({1, 2}), numbers({0, 0})).sqnr_db(), -HUGE_VAL);
  EXPECT_EQ(deviation_of(numbers({0}), numbers({0})).cosine(), 1);
  const Deviation broken = deviation_of(numbers({NAN, 1}), numbers({1, 1}));
  EXPECT_TRUE(std::isnan(broken.sqnr_db()) && std::isnan(broken.cosine()));
  EXPECT_EQ(broken.not_finite, 1);
}

TEST(diffusion, two_steps_have_the_numbers_of_the_worked_example) {
  const auto ddim = step_numbers(Sampler::ddim, 2), ddpm = step_numbers(Sampler::ddpm, 2),
             euler = step_numbers(Sampler::euler, 2);
  EXPECT_EQ(ddim[0].t, 500);
  EXPECT_EQ(ddim[1].t, 0);
  EXPECT_NEAR(ddim[0].a, 1.901513, 1e-6);
  EXPECT_NEAR(ddim[0].b, -1.588436, 1e-6);
  EXPECT_NEAR(ddim[1].a, 1.000425, 1e-6);
  EXPECT_NEAR(ddim[1].b, -0.029167, 1e-6);
  EXPECT_EQ(ddpm[0].a, ddim[0].a);
  EXPECT_NEAR(ddpm[0].b, -1.617065, 1e-6);
  EXPECT_NEAR(ddpm[0].sigma, 0.029150, 1e-6);
  EXPECT_NEAR(ddpm[1].b, -0.029167, 1e-6);
  EXPECT_EQ(ddpm[1].sigma, 0);
  EXPECT_NEAR(euler[0].b, -1.589112, 1e-6);
  EXPECT_NEAR(euler[1].b, -0.029167, 1e-6);
  EXPECT_NEAR(first_noise_scale(Sampler::euler, 2), 1.618279, 1e-6);
  EXPECT_EQ(first_noise_scale(Sampler::ddim, 2), 1);
}

/// If the network always named the noise that is in the latent, each sampler would end at the frame without it:
/// x = sqrt(A) z + sqrt(1 - A) eps, in Euler's coordinates z + s eps.
TEST(diffusion, samplers_given_the_true_noise_end_at_the_frame) {
  const double z = 0.7, eps = -1.3;
  for (const std::int64_t steps : {1, 2, 7, 20, 50, 1000}) {
    const auto ddim = step_numbers(Sampler::ddim, steps), euler = step_numbers(Sampler::euler, steps);
    const double s = first_noise_scale(Sampler::euler, steps), left = 1 / (1 + s * s);
    double x = std::sqrt(left) * z + std::sqrt(1 - left) * eps, y = z + s * eps;
    for (const StepNumbers& step : ddim) x = step.a * x + step.b * eps;
    for (const StepNumbers& step : euler) y = step.a * y + step.b * eps;
    EXPECT_NEAR(x, z, 1e-9) << steps;
    EXPECT_NEAR(y, z, 1e-9) << steps;
  }
}

TEST(diffusion, random_numbers_follow_from_seed_and_name_and_are_spread_as_asked) {
  const Operand operand{ElementType::float32, {40000}, {}, {}, false};
  const Tensor a = random_numbers(operand, "x", 1, Distribution::normal);
  EXPECT_EQ(a.floats, random_numbers(operand, "x", 1, Distribution::normal).floats);
  EXPECT_NE(a.floats, random_numbers(operand, "x", 2, Distribution::normal).floats);
  EXPECT_NE(a.floats, random_numbers(operand, "y", 1, Distribution::normal).floats);
  double sum = 0, squares = 0, beyond = 0;
  for (const double x : a.floats) {
    sum += x;
    squares += x * x;
    beyond += std::fabs(x) > 1.96 ? 1 : 0;
  }
  EXPECT_NEAR(sum / 40000, 0, 0.02);
  EXPECT_NEAR(squares / 40000, 1, 0.03);
  EXPECT_NEAR(beyond / 40000, 0.05, 0.006);
  for (const double x : random_numbers(operand, "x", 1, Distribution::uniform).floats) EXPECT_LE(std::fabs(x), 1);
}

Graph graph_of(const std::vector<std::pair<std::string, Shape>>& inputs, const std::string& output, Shape shape) {
  Graph graph;
  for (const auto& [name, of_input] : inputs) {
    Value value;
    value.name = name;
    value.kind = ValueKind::input;
    value.operand.shape = of_input;
    graph.inputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back(value);
  }
  Value value;
  value.name = output;
  value.operand.shape = std::move(shape);
  graph.outputs.push_back(static_cast<ValueId>(graph.values.size()));
  graph.values.push_back(value);
  return graph;
}

CompiledStage stage_like(Role role, Graph graph) {
  CompiledStage stage;
  stage.role = role;
  stage.graph = std::make_shared<const Graph>(std::move(graph));
  return stage;
}

TEST(diffusion, a_frame_takes_what_the_stages_before_made_and_a_core_its_own_result) {
  const std::vector<CompiledStage> stages{
      stage_like(Role::text_encoder, graph_of({{"ids", {2}}}, "text", {2, 3, 4})),
      stage_like(Role::core, graph_of({{"sample", {1, 4, 2}},
                                       {"timestep", {1}},
                                       {"context", {1, 3, 4}},
                                       {"context/second", {1, 3, 4}},
                                       {"step/a_t", {}},
                                       {"step/random", {1, 4, 2}}},
                                      "out", {1, 4, 2})),
      stage_like(Role::decoder, graph_of({{"out_of_nowhere", {1, 4, 2}}}, "image", {1}))};
  std::vector<std::vector<Tensor>> core, rest;
  const auto filled = [](const Shape& shape, double x) {
    Tensor tensor = zero_tensor(ElementType::float32, shape);
    for (double& one : tensor.floats) one = x++;
    return tensor;
  };
  const bool whole = walk(stages, Sampler::ddpm, 3, 5, [&](const StageUse& use, const std::vector<Tensor>& inputs) {
    (use.stage == 1 ? core : rest).push_back(inputs);
    const Shape shape = use.stage == 0 ? Shape{2, 3, 4} : use.stage == 1 ? Shape{1, 4, 2} : Shape{1};
    return std::optional(std::vector{filled(shape, 100 * static_cast<double>(use.step))});
  });
  EXPECT_TRUE(whole);
  ASSERT_EQ(core.size(), 3U);
  const auto steps = step_numbers(Sampler::ddpm, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (i > 0) {
      EXPECT_EQ(core[i][0].floats, filled({1, 4, 2}, 100 * static_cast<double>(i - 1)).floats);
    }
    EXPECT_EQ(core[i][1].floats, std::vector<double>{steps[i].t});
    EXPECT_EQ(core[i][2].floats, filled({1, 3, 4}, 0).floats);
    EXPECT_EQ(core[i][3].floats, filled({1, 3, 4}, 12).floats);
    EXPECT_EQ(core[i][4].floats, std::vector<double>{rounded(ElementType::float32, steps[i].a)});
  }
  EXPECT_NE(core[0][5].floats, core[1][5].floats);  // fresh noise
  EXPECT_EQ(rest[1][0].floats, filled({1, 4, 2}, 200).floats);
  EXPECT_FALSE(walk(stages, Sampler::ddim, 3, 5, [](const StageUse&, const std::vector<Tensor>&) {
    return std::optional<std::vector<Tensor>>();
  }));
}

}  // namespace
}  // namespace sdip
