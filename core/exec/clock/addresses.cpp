// Where a program says that values lie.
#include "core/exec/clock/addresses.h"

namespace sdip::exec {

Slot slot_of(const Machine& machine, ValueId v, Place place) {
  return {v, is_unified(machine) && place == Place::stackram ? Place::dsram : place};
}

std::int64_t value_bytes(const Value& value, const Machine& machine) {
  return ceil_div(element_count(value.operand.shape) * bits_of(value.format.value_or(machine.activation_format)),
                  8);
}

std::vector<Destination> destinations_of(const Instruction& instruction, const InstructionClass& c,
                                         const Machine& machine) {
  std::vector<Destination> found;
  if (c.to_dsram) found.push_back({Place::dsram, instruction.dsram_address.value});
  if (c.push && !(is_unified(machine) && c.to_dsram && instruction.dsram_address == instruction.stackram_address))
    found.push_back({Place::stackram, instruction.stackram_address.value});
  if (c.to_dram) found.push_back({Place::dram, instruction.dram_address.value});
  return found;
}

std::map<Slot, std::int64_t> addresses_of(const CompiledStage& stage, const Machine& machine) {
  std::map<Slot, std::int64_t> addresses;
  for (const Instruction& instruction : stage.program.instructions) {
    for (const PlacedOperand& source : instruction.sources)
      if (source.place != Place::scalar)
        addresses.try_emplace(slot_of(machine, source.value, source.place), source.address.value);
    const auto& c = stage.program.classes[instruction.instruction_class];
    for (const Destination& to : destinations_of(instruction, c, machine))
      addresses.try_emplace(slot_of(machine, instruction.destination, to.place), to.address);
  }
  return addresses;
}

}  // namespace sdip::exec
