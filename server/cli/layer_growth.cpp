// Time to evaluate a machine as a network grows in layers, and in kinds of layers.
#include "server/cli/layer_growth.h"

#include <algorithm>
#include <span>

#include "core/cost/price/batch.h"
#include "server/cli/sweep_rate.h"

namespace sdip {
namespace {

InstructionClass convolution(std::int64_t in_channels) {
  InstructionClass c;
  c.work.family = Family::conv2d;
  c.work.nest = {.out_channels = 64,
                 .in_channels = in_channels,
                 .out_h = 64,
                 .out_w = 64,
                 .in_h = 64,
                 .in_w = 64,
                 .kernel_h = 3,
                 .kernel_w = 3,
                 .pad_top = 1,
                 .pad_left = 1,
                 .pad_bottom = 1,
                 .pad_right = 1};
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = 9 * in_channels;
  c.out_elements = std::int64_t{64} * 64 * 64;
  c.mapping = {64, 64, 32, 64, rows_outermost};
  return c;
}

Application convolutions(std::int64_t layers, std::int64_t classes) {
  Application application;
  Program& program = application.stages.emplace_back().program;
  for (std::int64_t kind = 0; kind < classes; ++kind) program.classes.push_back(convolution(64 + kind));
  program.instructions.resize(as_size(layers));
  for (std::int64_t i = 0; i < layers; ++i)
    program.instructions[i].instruction_class = static_cast<std::int32_t>(i % classes);
  application.feasible = true;
  return application;
}

/// Seconds to evaluate one of many machines, which differ in the softmax's lanes, that no layer uses, and in the
/// channel's rate if so wished.
double seconds_a_machine(const Application& application, bool own_times) {
  std::vector<Machine> machines(4096);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    machines[i].imem_bytes = std::int64_t{1} << 30;
    machines[i].cores = 1;
    machines[i].softmax_lanes = static_cast<std::int64_t>(i + 1);
    if (own_times) machines[i].dram_rate_mtps = static_cast<std::int64_t>(2000 + i);
  }
  std::vector<Outcome> outcomes(machines.size());
  BatchEvaluator batch(application);
  batch.evaluate(std::span(machines).first(8), std::span(outcomes).first(8));  // makes what belongs to the program
  const double seconds =
      seconds_of([&] { batch.evaluate(std::span(machines).subspan(8), std::span(outcomes).subspan(8)); });
  return seconds / static_cast<double>(machines.size() - 8);
}

LayerGrowth growth_of(std::int64_t layers, std::int64_t classes) {
  const Application application = convolutions(layers, classes);
  const auto least = [&](bool own_times) {
    double best = seconds_a_machine(application, own_times);
    for (int run = 0; run < 4; ++run) best = std::min(best, seconds_a_machine(application, own_times));
    return best;
  };
  const double shared = least(false);
  return {layers, classes, shared, least(true) - shared};
}

}  // namespace

std::vector<LayerGrowth> layer_growth() {
  std::vector<LayerGrowth> growth;
  for (std::int64_t layers = 1; layers <= 10'000; layers *= 10) growth.push_back(growth_of(layers, 1));
  return growth;
}

std::vector<LayerGrowth> class_growth() {
  std::vector<LayerGrowth> growth;
  for (std::int64_t classes = 1; classes <= 1'000; classes *= 10) growth.push_back(growth_of(1'000, classes));
  return growth;
}

}  // namespace sdip
