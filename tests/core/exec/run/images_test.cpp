// A whole denoise in the pipeline: the same image, bit for bit, on any number of cores, and not the neighbour's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/cost/price/stage.h"
#include "core/exec/run/pipeline.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/exec/run/tiny_sd_line.h"

namespace sdip {
namespace {

/// Registers of DDIM (eta 0) on a linear schedule of 20 steps, from noise to image: x' = a x + b eps.
struct Ddim {
  static double kept(std::int64_t t) {  // product of 1 - beta up to and with t
    double product = 1;
    for (std::int64_t i = 0; i <= t; ++i) {
      const double root =
          std::sqrt(0.00085) + (std::sqrt(0.012) - std::sqrt(0.00085)) * static_cast<double>(i) / 999;
      product *= 1 - root * root;
    }
    return product;
  }
  static std::int64_t time(std::int64_t step) { return 950 - 50 * step; }
  static double a(std::int64_t step) { return std::sqrt(after(step) / kept(time(step))); }
  static double b(std::int64_t step) {
    return std::sqrt(1 - after(step)) - a(step) * std::sqrt(1 - kept(time(step)));
  }
  static double after(std::int64_t step) { return step == 19 ? kept(0) : kept(time(step + 1)); }
};

/// Noise and tokens from the frame's number, registers from the step.
Tensor given_input(std::int64_t frame, std::int64_t step, const Value& value) {
  Tensor tensor = zero_tensor(value.operand.type, value.operand.shape);
  if (element_count(value.operand.shape) == 1) {
    double x = static_cast<double>(Ddim::time(step));
    if (value.name.ends_with("a_t")) x = Ddim::a(step);
    if (value.name.ends_with("b_t")) x = Ddim::b(step);
    if (value.name.ends_with("guidance_scale")) x = 7.5;
    for (double& f : tensor.floats) f = rounded(value.operand.type, x);
    for (std::int64_t& i : tensor.ints) i = static_cast<std::int64_t>(x);
    return tensor;
  }
  Draw draw(static_cast<std::uint64_t>(frame) + 100);
  for (double& f : tensor.floats) f = rounded(value.operand.type, 2 * draw.unit());
  for (std::int64_t& i : tensor.ints) i = draw.between(0, 40);
  return tensor;
}

/// The image of a frame without any pipeline: stage after stage, step after step.
Tensor image_alone(const Application& line, const Machine& machine, const std::vector<StoredTensors>& weights,
                   std::int64_t frame) {
  const auto run = [&](std::size_t stage, const std::vector<Tensor>& inputs) {
    return execute(line.stages[stage], machine, inputs, weights[stage]).outputs.at(0);
  };
  const auto given = [&](std::size_t stage, std::size_t input, std::int64_t step) {
    const Graph& graph = *line.stages[stage].graph;
    return given_input(frame, step, graph.values[static_cast<std::size_t>(graph.inputs[input])]);
  };
  const Tensor context = run(0, {given(0, 0, 0)});
  Tensor latent = given(1, 0, 0);
  const std::size_t inputs = line.stages[1].graph->inputs.size();
  for (std::int64_t step = 0; step < machine.steps; ++step) {
    std::vector<Tensor> of_step{latent};
    for (std::size_t i = 1; i < inputs; ++i) {
      of_step.push_back(given(1, i, step));
      if (of_step.back().shape == context.shape) of_step.back() = context;
    }
    latent = run(1, of_step);
  }
  return run(2, {latent});
}

void expect_predicted_passes(const Application& line, const Machine& machine, const PipelineRun& run) {
  for (std::size_t s = 0; s < line.stages.size(); ++s) {
    const auto cost = run_stage(line.stages[s], machine, nullptr);
    ASSERT_TRUE(cost);
    const auto& predicted = cost->stream.passes;
    for (std::size_t i = 0; i < run.pass_cycles[s].size(); ++i)
      EXPECT_EQ(run.pass_cycles[s][i], predicted[std::min(i, predicted.size() - 1)].cycles)
          << "pass " << i << " of " << line.stages[s].name;
  }
  const std::size_t cores = 1;
  for (const PeriodCounts& period : run.periods)
    if (period.stage_cycles[cores] > 0) {
      EXPECT_EQ(period.slots, run.active_cores * run.steps_per_core);
      EXPECT_GE(period.cycles, period.stage_cycles[cores]);
    }
}

TEST(images, of_tiny_sd_in_twenty_steps_are_the_same_bits_on_any_number_of_cores) {
  Machine machine = find_preset("essay")->machine;
  machine.weight_format = machine.activation_format = NumberFormat::fp32;
  machine.steps = 20;
  machine.image_height_px = machine.image_width_px = 32;
  const Application line = tiny_sd_line(machine);
  ASSERT_TRUE(line.feasible) << line.reason;
  ASSERT_EQ(line.stages.size(), 3U);
  PipelineTensors tensors;
  tensors.stored = tiny_sd_weights(line, machine);
  tensors.input = [](std::size_t, std::int64_t frame, std::int64_t step, const Value& value) {
    return given_input(frame, step, value);
  };
  constexpr std::int64_t frames = 2;
  std::vector<Tensor> want{image_alone(line, machine, tensors.stored, 0)};  // the others: as on one core
  EXPECT_TRUE(std::ranges::all_of(want[0].floats, [](double x) { return std::isfinite(x); }));
  for (const std::int64_t cores : {1, 2, 4, 8}) {
    SCOPED_TRACE(std::to_string(cores) + " cores");
    machine.cores = cores;
    PipelineOptions options{.frames = frames};
    options.tensors = &tensors;
    const PipelineRun run = run_pipeline(line, machine, options);
    ASSERT_EQ(std::ssize(run.frames), frames);
    EXPECT_EQ(run.steps_per_core, ceil_div(20, cores));
    for (std::size_t frame = 0; frame < run.frames.size(); ++frame) {
      if (want.size() == frame) want.push_back(run.frames[frame].outputs.at(0));
      EXPECT_EQ(run.frames[frame].steps, 20);
      EXPECT_EQ(run.frames[frame].outputs.at(0).floats, want[frame].floats) << "frame " << frame;
    }
    expect_predicted_passes(line, machine, run);
  }
  EXPECT_NE(want[0].floats, want[1].floats);
}

TEST(images, of_frames_that_enter_over_a_crossbar_are_those_of_the_series) {
  Machine machine = find_preset("essay")->machine;
  machine.weight_format = machine.activation_format = NumberFormat::fp32;
  machine.steps = 5;
  machine.cores = 3;
  machine.image_height_px = machine.image_width_px = 32;
  const Application line = tiny_sd_line(machine);
  ASSERT_TRUE(line.feasible) << line.reason;
  PipelineTensors tensors;
  tensors.stored = tiny_sd_weights(line, machine);
  tensors.input = [](std::size_t, std::int64_t frame, std::int64_t step, const Value& value) {
    return given_input(frame, step, value);
  };
  PipelineOptions options{.frames = 4};  // three at once, and one alone
  options.tensors = &tensors;
  const PipelineRun series = run_pipeline(line, machine, options);
  for (const bool prompts : {false, true}) {
    machine.memory_hierarchy = MemoryHierarchy::crossbar;
    machine.prompt_per_frame = prompts;
    const PipelineRun crossed = run_pipeline(line, machine, options);
    ASSERT_EQ(crossed.frames.size(), 4U);
    EXPECT_EQ(crossed.steps_per_core, 5);
    EXPECT_EQ(crossed.active_cores, 3);
    for (std::size_t frame = 0; frame < 4; ++frame) {
      EXPECT_EQ(crossed.frames[frame].steps, 5);
      EXPECT_EQ(crossed.frames[frame].outputs.at(0).floats, series.frames.at(frame).outputs.at(0).floats) << frame;
    }
    expect_predicted_passes(line, machine, crossed);
  }
}

}  // namespace
}  // namespace sdip
