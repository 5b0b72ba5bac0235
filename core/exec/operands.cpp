// What an instruction reads and writes: weights, registers and memories.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip.h"
#include "core/exec/formats.h"
#include "core/exec/weights.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

std::size_t side_number(std::size_t pair, std::int64_t turn) {
  return 4 + 2 * pair + static_cast<std::size_t>(turn % 2);
}

/// The side of its own family's pair that the current instruction reads or writes: they swap when it retires.
std::size_t own_side(const Chip& chip, bool writes) {
  const auto pair = static_cast<std::size_t>(chip.instruction_class().work.family);
  return side_number(pair, chip.turns.at(chip.now).at(pair) + (writes ? 1 : 0));
}

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
  if (has_pairs(chip.machine)) return chip.memories[own_side(chip, result)];
  return chip.memories[(chip.now + (result ? 1 : 0)) % 2];  // they swap when an instruction retires
}

Memory& memory_of(Chip& chip, const PlacedOperand& source) {
  if (!source.pair) return memory_of(chip, source.place, false);
  const auto pair = static_cast<std::size_t>(*source.pair);
  const std::int64_t before = chip.turns.at(chip.now).at(pair);
  return chip.memories[side_number(pair, before + (source.older ? 1 : 0))];
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
  return read(memory_of(chip, *source), slot_of(chip.machine, root, source->place), source->address.value, at,
              chip.graph, chip.who);
}

Tensor read_whole(Chip& chip, ValueId v) {
  const Value& value = chip.value(v);
  if (value.kind == ValueKind::weight) return read_weight(chip, v);
  Tensor tensor = read_operand(chip, v, all_elements(element_count(value.operand.shape)));
  tensor.shape = value.operand.shape;
  return tensor;
}

namespace {

/// What the current instruction's circuit gets of a weight in `.weight`; nullptr of other weights.
const CircuitWeight* stored_weight(Chip& chip, ValueId v) {
  const Instruction& instruction = chip.instruction();
  const auto place = std::ranges::find(instruction.weights, v);
  if (place == instruction.weights.end()) return nullptr;
  return &held_weight(chip, static_cast<std::size_t>(place - instruction.weights.begin()));
}

}  // namespace

const Tensor& read_weight(Chip& chip, ValueId v) {
  const CircuitWeight* stored = stored_weight(chip, v);
  return stored == nullptr ? constant_of(chip, v) : stored->numbers;
}

const CircuitWeight* read_weight_codes(Chip& chip, ValueId v) {
  const CircuitWeight* stored = stored_weight(chip, v);
  return stored == nullptr || stored->scales.empty() ? nullptr : stored;
}

void open_result(Chip& chip) {
  const ValueId v = chip.instruction().destination;
  const InstructionClass& c = chip.instruction_class();
  const Operand& operand = chip.value(v).operand;
  const std::int64_t bits = bits_of(chip.machine.activation_format);
  const MemorySpan &reads = chip.instruction().read_tiles, &writes = chip.instruction().write_tiles;
  if (reads.bytes.value > 0)
    take_buffer(memory_of(chip, Place::dsram, false), reads.address.value, reads.bytes.value, chip.who);
  if (writes.bytes.value > 0)
    take_buffer(memory_of(chip, Place::dsram, true), writes.address.value, writes.bytes.value, chip.who);
  for (const Destination& to : destinations_of(chip.instruction(), c, chip.machine))
    open_region(memory_of(chip, to.place, true), slot_of(chip.machine, v, to.place), to.address, bits, operand.type,
                operand.shape, chip.who);
  if (has_pairs(chip.machine) && c.to_dsram) chip.written_to[v] = own_side(chip, true);
  if (is_scalar(chip.value(v))) chip.registers[v] = zero_tensor(operand.type, operand.shape);
  begin_result_sums(chip);
}

void write_result(Chip& chip, std::span<const std::int64_t> at, Tensor numbers) {
  const ValueId v = chip.instruction().destination;
  hold(numbers, chip.machine.activation_format, scale_of(chip, v));
  add_result_sums(chip, at, numbers);
  for (const Destination& to : destinations_of(chip.instruction(), chip.instruction_class(), chip.machine))
    write(memory_of(chip, to.place, true), slot_of(chip.machine, v, to.place), at, numbers);
  const auto held = chip.registers.find(v);
  if (held == chip.registers.end()) return;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!numbers.floats.empty()) held->second.floats[static_cast<std::size_t>(at[i])] = numbers.floats[i];
    if (!numbers.ints.empty()) held->second.ints[static_cast<std::size_t>(at[i])] = numbers.ints[i];
  }
}

}  // namespace sdip::exec
