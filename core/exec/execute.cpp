// execute: one instruction after the other.
#include "core/exec/execute.h"

#include <algorithm>
#include <cmath>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip.h"
#include "core/exec/formats.h"
#include "core/exec/weights.h"
#include "core/program/draft.h"

namespace sdip {
namespace {

using namespace exec;

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

void require_inputs(const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size())
    throw Error("shape_mismatch", graph.name,
                "the graph has " + std::to_string(graph.inputs.size()) + " inputs, but " +
                    std::to_string(inputs.size()) + " tensors were given");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.values[at(graph.inputs[i])];
    if (inputs[i].type != value.operand.type || inputs[i].shape != value.operand.shape)
      throw Error("shape_mismatch", value.name,
                  "input '" + value.name + "' is " + std::string(element_type_text(value.operand.type)) +
                      shape_text(value.operand.shape) + ", but " + std::string(element_type_text(inputs[i].type)) +
                      shape_text(inputs[i].shape) + " was given");
  }
}

constexpr std::int64_t dram_bytes = std::int64_t{1} << 53;  // large enough for whatever is placed there

std::int64_t value_bytes(const Chip& chip, ValueId v) {
  return ceil_div(element_count(chip.value(v).operand.shape) * bits_of(chip.machine.activation_format), 8);
}

Chip chip_of(const CompiledStage& stage, const Machine& machine, const StoredTensors& stored,
             const ActivationScales& scales) {
  Chip chip{stage, *stage.graph, machine, stored, scales, views_of(stage), addresses_of(stage, machine)};
  const bool unified = machine.activation_memory == ActivationMemory::unified;
  const std::int64_t both = 2 * machine.dsram_bytes + machine.stackram_bytes;
  chip.memories[0] = {unified ? "activation memory" : "DSRAM0", unified ? both : machine.dsram_bytes, {}};
  chip.memories[1] = {"DSRAM1", unified ? 0 : machine.dsram_bytes, {}};
  chip.memories[2] = {"STACKRAM", unified ? 0 : machine.stackram_bytes, {}};
  chip.memories[3] = {"DRAM", dram_bytes, {}};
  for (const auto& [slot, address] : chip.addresses)
    if (slot.second == Place::dram)
      chip.dram_end_bytes = std::max(chip.dram_end_bytes, address + value_bytes(chip, slot.first));
  return chip;
}

/// Inputs lie where the instructions that read them find them; scalars in registers.
void load_inputs(Chip& chip, std::span<const Tensor> inputs) {
  std::map<ValueId, const Tensor*> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) given[chip.graph.inputs[i]] = &inputs[i];
  for (const auto& [v, tensor] : given)
    if (is_scalar(chip.value(v))) chip.registers[v] = *tensor;
  const std::int64_t bits = bits_of(chip.machine.activation_format);
  for (const auto& [slot, address] : chip.addresses) {
    const auto input = given.find(slot.first);
    if (input == given.end()) continue;
    Tensor tensor = *input->second;
    hold(tensor, chip.machine.activation_format, scale_of(chip, slot.first));
    chip.now = 0;
    Memory& memory = memory_of(chip, slot.second, false);
    open_region(memory, slot, address, bits, tensor.type, tensor.shape,
                "the input '" + chip.value(slot.first).name + "'");
    write(memory, slot, all_elements(element_count(tensor.shape)), tensor);
  }
}

/// A result of the graph: a constant, an input, or from where its instruction left it: DRAM, else STACKRAM, else
/// DSRAM.
Tensor output_of(Chip& chip, ValueId v, std::span<const Tensor> inputs) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight) return constant_of(chip, v);
  const ValueId root = chip.views.root[at(v)];
  std::vector<std::int64_t> elements = all_elements(element_count(value.operand.shape));
  for (std::int64_t& element : elements) element = chip.views.at(v, element);
  const auto shaped = [&](Tensor tensor) {
    tensor.shape = value.operand.shape;
    return tensor;
  };
  if (const auto input = std::ranges::find(chip.graph.inputs, root); input != chip.graph.inputs.end())
    return shaped(picked(inputs[static_cast<std::size_t>(input - chip.graph.inputs.begin())], elements));
  for (const Place place : {Place::dram, Place::stackram, Place::dsram}) {
    const Slot slot = slot_of(chip.machine, root, place);
    const auto address = chip.addresses.find(slot);
    if (address == chip.addresses.end()) continue;
    const Memory& memory = memory_of(chip, place, false);
    return shaped(read(memory, slot, address->second, elements, chip.graph, "the end of the program"));
  }
  throw Error("execution_failed", value.name, "no instruction made the output '" + value.name + "'");
}

}  // namespace

Run execute(const CompiledStage& stage, const Machine& machine, std::span<const Tensor> inputs,
            const StoredTensors& stored, const ActivationScales& scales) {
  require_inputs(*stage.graph, inputs);
  Chip chip = chip_of(stage, machine, stored, scales);
  load_inputs(chip, inputs);
  const std::vector<Instruction>& instructions = stage.program.instructions;
  for (chip.now = 0; chip.now < instructions.size(); ++chip.now) {
    const Instruction& instruction = instructions[chip.now];
    chip.who =
        "instruction " + std::to_string(chip.now) + " '" + instruction.mnemonic + "' (" + instruction.name + ")";
    run_instruction(chip);
  }
  Run run;
  for (const ValueId v : stage.graph->outputs) run.outputs.push_back(output_of(chip, v, inputs));
  run.counts = chip.counts;
  return run;
}

}  // namespace sdip
