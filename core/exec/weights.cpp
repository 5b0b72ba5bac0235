// The weights of a program as its circuits get them.
#include "core/exec/weights.h"

#include <algorithm>
#include <cmath>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/arithmetic.h"
#include "core/exec/formats.h"

namespace sdip::exec {
WeightRole weight_role(const Chip& chip, std::size_t index) {
  const Instruction& instruction = chip.instruction();
  const InstructionClass& c = chip.instruction_class();
  WeightRole role;
  const auto is_main = [&](NodeId n) {
    return chip.graph.nodes[static_cast<std::size_t>(n)].name == instruction.name;
  };
  const auto main = std::ranges::find_if(instruction.nodes, is_main);
  const ValueId v = instruction.weights[index];
  if (main == instruction.nodes.end() || c.operand_b != Place::psram) return role;
  const Node& node = chip.graph.nodes[static_cast<std::size_t>(*main)];
  if (node.inputs.size() < 2 || node.inputs[1] != v) return role;
  role.node = *main;
  role.pruned = chip.machine.sparsity != Sparsity::dense && chip.machine.weight_density.hundredths < 100;
  const bool integers = !number_formats[static_cast<std::size_t>(chip.machine.weight_format)].floating;
  if (integers && chip.machine.scale_granularity == ScaleGranularity::channel)
    role.channels = weight_channels(node, c, chip.value(v).operand.shape);
  return role;
}

const Tensor& constant_of(Chip& chip, ValueId v) {
  if (const auto found = chip.constants.find(v); found != chip.constants.end()) return found->second;
  const Value& value = chip.value(v);
  std::optional<Tensor> tensor = value.operand.value;
  if (!tensor && value.bytes) tensor = chip.stored(value);
  if (!tensor && value.producer != none) {
    const Node& node = chip.graph.nodes[static_cast<std::size_t>(value.producer)];
    std::vector<std::optional<Tensor>> inputs;
    for (const ValueId in : node.inputs)
      inputs.push_back(in == none ? std::nullopt : std::optional(constant_of(chip, in)));
    std::vector<Tensor> made = outputs_of(chip.graph, node, inputs);
    for (std::size_t i = 0; i < made.size(); ++i)
      if (node.outputs[i] != none) chip.constants[node.outputs[i]] = std::move(made[i]);
    return chip.constants.at(v);
  }
  if (!tensor)
    throw Error("not_computable", value.name, "the values of the weight '" + value.name + "' are not there");
  return chip.constants[v] = std::move(*tensor);
}

Tensor held_weight(Chip& chip, ValueId v, const WeightRole& role, WeightSteps& steps) {
  Tensor tensor = constant_of(chip, v);
  if (!is_floating(tensor.type)) return tensor;
  const NumberFormat format = chip.machine.weight_format;
  if (role.pruned) prune(tensor.floats, chip.machine.weight_density.hundredths);
  if (holds(format, tensor.type)) return tensor;
  const bool channels = role.channels.count > 0;
  std::vector<double> scales(channels ? static_cast<std::size_t>(role.channels.count) : 1, 0.0);
  const auto of = [&](std::size_t i) {
    return channels ? role.channels.of(static_cast<std::int64_t>(i)) : std::size_t{0};
  };
  for (std::size_t i = 0; i < tensor.floats.size(); ++i)
    scales[of(i)] = std::max(scales[of(i)], std::fabs(tensor.floats[i]));
  for (double& scale : scales) scale = static_cast<double>(weight_scale(format, scale));
  for (std::size_t i = 0; i < tensor.floats.size(); ++i)
    tensor.floats[i] = held(format, tensor.floats[i], static_cast<float>(scales[of(i)]));
  if (needs_scale(format)) steps = {std::move(scales), role.channels};
  return tensor;
}

}  // namespace sdip::exec
