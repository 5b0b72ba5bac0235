// Built-in models end to end: what the presets' programs compute is what the graphs say.
#include <gtest/gtest.h>

#include <cstring>

#include "core/exec/chip/execute.h"
#include "core/onnx/import.h"
#include "core/workload/workload.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/exec/written_out.h"

namespace sdip {
namespace {

/// A built-in model with random weights and inputs, in its role: a core's with guidance and sampler.
MadeNetwork built_in(const char* name, Role role, const Machine& machine) {
  const std::string bytes = write_model(name, {.batch = role == Role::core ? 2 : 1});
  std::string weights;
  write_weights(bytes, 7, [&](std::span<const std::byte> piece) {
    weights.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  MadeNetwork network;
  network.graph = import_onnx(std::as_bytes(std::span(bytes)));
  rewrite(network.graph);
  if (role == Role::core) append_step(network.graph, machine);
  for (const Value& value : network.graph.values) {
    if (!value.bytes) continue;
    const std::string& file = value.bytes->file.empty() ? bytes : weights;
    Tensor tensor = zero_tensor(value.operand.type, value.operand.shape);
    const char* from = file.data() + value.bytes->offset;
    for (double& element : tensor.floats) {
      float x = 0;
      std::memcpy(&x, from, sizeof(x));
      from += sizeof(x);
      element = static_cast<double>(x);
    }
    if (!tensor.ints.empty()) std::memcpy(tensor.ints.data(), from, 8 * tensor.ints.size());
    network.weights[value.name] = std::move(tensor);
  }
  Draw draw(3);
  for (const ValueId v : network.graph.inputs) {
    const Operand& operand = network.graph.values[static_cast<std::size_t>(v)].operand;
    Tensor tensor = zero_tensor(operand.type, operand.shape);
    for (double& x : tensor.floats) x = rounded(operand.type, draw.unit());
    for (std::int64_t& x : tensor.ints) x = draw.between(0, 9);
    network.inputs.push_back(std::move(tensor));
  }
  return network;
}

struct Model {
  const char* name;
  Role role;
};
constexpr Model models[] = {{"tiny-sd-text", Role::text_encoder},
                            {"tiny-sd-vae-encoder", Role::encoder},
                            {"tiny-sd-unet", Role::core},
                            {"tiny-sd-vae-decoder", Role::decoder}};

TEST(tiny_models, on_the_presets_compute_their_graphs) {
  for (const Preset& preset : diffusion_presets()) {
    for (const Model& model : models) {
      SCOPED_TRACE(std::string(preset.name) + " " + model.name);
      Machine machine = preset.machine;
      machine.weight_format = machine.activation_format = NumberFormat::fp32;
      const MadeNetwork network = built_in(model.name, model.role, machine);
      const Application application = compiled_on(machine, network, model.role);
      ASSERT_TRUE(application.feasible) << application.reason;
      const auto stored = [&](const Value& v) { return network.stored(v); };
      const auto want = compute(network.graph, network.inputs, stored);
      const sdip::Run got = execute(application.stages[0], machine, network.inputs, stored);
      for (std::size_t i = 0; i < want.size(); ++i) EXPECT_LE(ulps_apart(got.outputs[i], want[i]), 64);
    }
  }
}

TEST(tiny_models, in_half_precision_compute_their_graphs_with_casts_written_out) {
  for (const Model& model : models) {
    SCOPED_TRACE(model.name);
    Machine machine = find_preset("essay")->machine;
    machine.accumulator_format = NumberFormat::int32;  // exact sums: bits can be compared
    machine.fusion = Fusion::pointwise;
    const MadeNetwork network = built_in(model.name, model.role, machine);
    const Application application = compiled_on(machine, network, model.role);
    ASSERT_TRUE(application.feasible) << application.reason;
    const MadeNetwork lossy = written_out(network, application.stages[0], machine, {});
    const auto want = compute(lossy.graph, network.inputs, [&](const Value& v) { return lossy.stored(v); });
    const auto got =
        execute(application.stages[0], machine, network.inputs, [&](const Value& v) { return network.stored(v); });
    EXPECT_EQ(got.outputs[0].floats, want[0].floats) << ulps_apart(got.outputs[0], want[0]);
  }
}

}  // namespace
}  // namespace sdip
