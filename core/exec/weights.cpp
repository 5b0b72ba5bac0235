// The weights of a program as its circuits get them.
#include "core/exec/weights.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/arithmetic.h"
#include "core/program/coded_weight.h"

namespace sdip::exec {

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

namespace {

const WeightRegion& region_of(Chip& chip) {
  const auto found = chip.regions.find(chip.now);
  if (found != chip.regions.end()) return found->second;
  return chip.regions.emplace(chip.now, weight_region(chip.stage, weight_form(chip.machine), chip.instruction()))
      .first->second;
}

CircuitWeight as_written(Chip& chip, std::size_t index) {
  const ValueId v = chip.instruction().weights[index];
  const Tensor& tensor = constant_of(chip, v);
  const bool by_place =
      chip.machine.sparsity != Sparsity::dense || weight_form(chip.machine).scale_bits_per_channel > 0;
  const NestWeights* nest = by_place ? nest_of_weight(region_of(chip), index) : nullptr;
  if (!is_floating(tensor.type)) return {pruned_weight(tensor, nest, chip.machine), {}, {}};
  const CodedWeight coded = coded_weight(chip.value(v).name, tensor, nest, chip.machine);
  return circuit_weight_of(coded, tensor.type, tensor.shape, chip.machine.weight_format);
}

}  // namespace

const CircuitWeight& held_weight(Chip& chip, std::size_t index) {
  const Instruction& instruction = chip.instruction();
  if (chip.file != nullptr) {
    const std::pair key{instruction.weight_offset.value, index};
    if (const auto found = chip.held_weights.find(key); found != chip.held_weights.end()) return found->second;
    std::vector<CircuitWeight> weights = weights_of(*chip.file, chip.now);
    for (std::size_t i = 0; i < weights.size(); ++i)
      chip.held_weights[{instruction.weight_offset.value, i}] = std::move(weights[i]);
    return chip.held_weights.at(key);
  }
  // Tiles of an instruction decide what is pruned; else instructions that share a region share its weights.
  const bool own = chip.machine.sparsity == Sparsity::skipping;
  const auto region = own ? static_cast<std::int64_t>(chip.now) : instruction.weight_offset.value;
  const std::pair key{region, index};
  if (const auto found = chip.held_weights.find(key); found != chip.held_weights.end()) return found->second;
  return chip.held_weights[key] = as_written(chip, index);
}

}  // namespace sdip::exec
