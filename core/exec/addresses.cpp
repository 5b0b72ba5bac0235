// Where each operand and result of a program lies.
#include "core/exec/addresses.h"

#include <algorithm>
#include <vector>

#include "core/base/units.h"

namespace sdip::exec {
namespace {

/// A value in one memory, from the instruction that makes it (-1: an input) to the last that reads it.
struct Stay {
  Slot slot;
  std::int32_t first = -1, last = -1;
  std::int64_t bytes = 0, address = 0;
};

/// Lowest free addresses, in the order in which values come. Returns the highest byte.
std::int64_t first_fit(std::vector<Stay>& stays) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    std::vector<const Stay*> beside;
    for (std::size_t j = 0; j < i; ++j)
      if (stays[j].last >= stays[i].first && stays[i].last >= stays[j].first) beside.push_back(&stays[j]);
    std::ranges::sort(beside, {}, &Stay::address);
    for (const Stay* other : beside) {
      if (stays[i].address + stays[i].bytes <= other->address) break;
      stays[i].address = std::max(stays[i].address, other->address + other->bytes);
    }
    top = std::max(top, stays[i].address + stays[i].bytes);
  }
  return top;
}

struct Lifetimes {
  const CompiledStage& stage;
  const Machine& machine;
  std::map<Slot, Stay> stays{};

  void stay(ValueId v, Place place, std::int32_t at) {
    Stay& s = stays.try_emplace({v, place}, Stay{{v, place}, at, at, 0, 0}).first->second;
    const Shape& shape = stage.graph->values[static_cast<std::size_t>(v)].operand.shape;
    s.bytes = ceil_div(element_count(shape) * bits_of(machine.activation_format), 8);
    s.last = std::max(s.last, at);
  }
};

std::map<Slot, Stay> lifetimes(const CompiledStage& stage, const Machine& machine,
                               const std::vector<ValueId>& outputs) {
  Lifetimes lives{stage, machine};
  const Program& program = stage.program;
  const auto end = static_cast<std::int32_t>(program.instructions.size());
  for (std::int32_t i = 0; i < end; ++i) {
    const Instruction& instruction = program.instructions[static_cast<std::size_t>(i)];
    const InstructionClass& c = program.classes[static_cast<std::size_t>(instruction.instruction_class)];
    for (const PlacedOperand& source : instruction.sources) {
      if (source.place == Place::scalar) continue;
      const auto& value = stage.graph->values[static_cast<std::size_t>(source.value)];
      if (value.kind == ValueKind::input && !lives.stays.contains({source.value, source.place}))
        lives.stay(source.value, source.place, -1);
      lives.stay(source.value, source.place, i);
    }
    const ValueId result = instruction.destination;
    if (c.to_dsram) lives.stay(result, Place::dsram, i);
    if (c.push) lives.stay(result, Place::stackram, i);
    if (c.to_dram) lives.stay(result, Place::dram, i);
  }
  for (auto& [slot, s] : lives.stays)
    if (std::ranges::find(outputs, slot.first) != outputs.end()) s.last = end;
  return lives.stays;
}

}  // namespace

Addresses addresses_of(const CompiledStage& stage, const Machine& machine, const std::vector<ValueId>& outputs) {
  Addresses addresses;
  const bool unified = machine.activation_memory == ActivationMemory::unified;
  std::vector<Stay> shared;
  std::int64_t inputs_top = 0;
  for (const auto& [slot, stay] : lifetimes(stage, machine, outputs)) {
    if (slot.second == Place::dram) {
      addresses.at[slot] = addresses.dram_bytes;
      addresses.dram_bytes += stay.bytes;
    } else if (slot.second == Place::dsram && !unified) {
      addresses.at[slot] = stay.first < 0 ? inputs_top : 0;
      if (stay.first < 0) inputs_top += stay.bytes;
    } else {
      shared.push_back(stay);
    }
  }
  std::ranges::stable_sort(shared, {}, &Stay::first);
  const std::int64_t top = first_fit(shared);
  for (const Stay& stay : shared) addresses.at[stay.slot] = stay.address;
  const std::int64_t both = 2 * machine.dsram_bytes + machine.stackram_bytes;
  addresses.dsram_bytes = unified ? std::max(both, top) : machine.dsram_bytes;
  addresses.stackram_bytes = unified ? 0 : std::max(machine.stackram_bytes, top);
  return addresses;
}

}  // namespace sdip::exec
