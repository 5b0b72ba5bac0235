// What an instruction reads and writes: weights, registers and memories.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip.h"
#include "core/exec/formats.h"
#include "core/exec/weights.h"
#include "core/program/draft.h"

namespace sdip::exec {
namespace {

bool is_unified(const Chip& chip) { return chip.machine.activation_memory == ActivationMemory::unified; }

}  // namespace

Tensor picked(const Tensor& tensor, std::span<const std::int64_t> at) {
  Tensor numbers = zero_tensor(tensor.type, {static_cast<std::int64_t>(at.size())});
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto from = static_cast<std::size_t>(at[i]);
    if (is_floating(tensor.type))
      numbers.floats[i] = tensor.floats.at(from);
    else
      numbers.ints[i] = tensor.ints.at(from);
  }
  return numbers;
}

std::vector<std::int64_t> all_elements(std::int64_t count) {
  std::vector<std::int64_t> at(static_cast<std::size_t>(count));
  std::iota(at.begin(), at.end(), 0);
  return at;
}

Memory& memory_of(Chip& chip, Place place, bool result) {
  if (place == Place::dram) return chip.memories[3];
  if (is_unified(chip)) return chip.memories[0];
  if (place == Place::stackram) return chip.memories[2];
  check(place == Place::dsram, "an operand in a memory");
  return chip.memories[(chip.now + (result ? 1 : 0)) % 2];  // they swap when an instruction retires
}

float scale_of(const Chip& chip, ValueId v) {
  const NumberFormat format = chip.machine.activation_format;
  if (!needs_scale(format) || holds(format, chip.value(v).operand.type)) return 1.0F;
  const auto found = chip.scales.find(v);
  if (found == chip.scales.end() || !(found->second > 0))
    throw Error("scale_absent", chip.value(v).name,
                "'" + chip.value(v).name + "' is kept in an integer activation_format, but has no scale");
  return found->second;
}

Tensor read_operand(Chip& chip, ValueId v, std::span<const std::int64_t> at) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight) return picked(read_weight(chip, v), at);
  const ValueId root = chip.views.root[static_cast<std::size_t>(v)];
  std::vector<std::int64_t> turned;
  if (!chip.views.map[static_cast<std::size_t>(v)].empty()) {
    for (const std::int64_t element : at) turned.push_back(chip.views.at(v, element));
    at = turned;
  }
  const auto& sources = chip.instruction().sources;
  const auto source = std::ranges::find(sources, root, &PlacedOperand::value);
  const bool in_memory = source != sources.end() && source->place != Place::scalar;
  if (!in_memory) {
    const auto held = chip.registers.find(root);
    if (held == chip.registers.end())
      throw Error("execution_failed", chip.who,
                  chip.who + " reads '" + chip.value(root).name + "', which none of its sources is");
    return picked(held->second, at);
  }
  const Slot slot{root, source->place};
  return read(memory_of(chip, source->place, false), slot, chip.addresses.at.at(slot), at, chip.graph, chip.who);
}

Tensor read_whole(Chip& chip, ValueId v) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight) return read_weight(chip, v);
  Tensor tensor = read_operand(chip, v, all_elements(element_count(value.operand.shape)));
  tensor.shape = value.operand.shape;
  return tensor;
}

const Tensor& read_weight(Chip& chip, ValueId v) {
  const Instruction& instruction = chip.instruction();
  const auto place = std::ranges::find(instruction.weights, v);
  if (place == instruction.weights.end()) return constant_of(chip, v);
  const WeightRole role = weight_role(chip, static_cast<std::size_t>(place - instruction.weights.begin()));
  const std::pair key{v, role.channels.count > 0 || role.pruned ? role.node : none};
  const auto found = chip.held_weights.find(key);
  if (found != chip.held_weights.end()) return found->second;
  return chip.held_weights.emplace(key, held_weight(chip, v, role)).first->second;
}

void open_result(Chip& chip) {
  const ValueId v = chip.instruction().destination;
  const InstructionClass& c = chip.instruction_class();
  const Operand& operand = chip.value(v).operand;
  const std::int64_t bits = bits_of(chip.machine.activation_format);
  for (const auto& [goes, place] :
       {std::pair{c.to_dsram, Place::dsram}, std::pair{c.push, Place::stackram}, std::pair{c.to_dram, Place::dram}})
    if (goes)
      open_region(memory_of(chip, place, true), {v, place}, chip.addresses.at.at({v, place}), bits, operand.type,
                  operand.shape, chip.who);
  if (is_scalar(chip.value(v))) chip.registers[v] = zero_tensor(operand.type, operand.shape);
}

void write_result(Chip& chip, std::span<const std::int64_t> at, Tensor numbers) {
  const ValueId v = chip.instruction().destination;
  const InstructionClass& c = chip.instruction_class();
  hold(numbers, chip.machine.activation_format, scale_of(chip, v));
  if (c.to_dsram) write(memory_of(chip, Place::dsram, true), {v, Place::dsram}, at, numbers);
  if (c.push) write(memory_of(chip, Place::stackram, true), {v, Place::stackram}, at, numbers);
  if (c.to_dram) write(memory_of(chip, Place::dram, true), {v, Place::dram}, at, numbers);
  const auto held = chip.registers.find(v);
  if (held == chip.registers.end()) return;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!numbers.floats.empty()) held->second.floats[static_cast<std::size_t>(at[i])] = numbers.floats[i];
    if (!numbers.ints.empty()) held->second.ints[static_cast<std::size_t>(at[i])] = numbers.ints[i];
  }
}

}  // namespace sdip::exec
