// Machines for generated models.
#include "tests/generate/machines.h"

#include "tests/core/exec/random_machine.h"
#include "tests/witness/cases.h"

namespace sdip::generate {

namespace {

/// Memories that grow with the model are not.
bool is_drawn(const ParameterRow& row) {
  const bool grows = row.name == "psram_bytes" || row.name == "psram_pinned_bytes" || row.name == "imem_bytes";
  return !grows && witness::find_case(row.name) != nullptr;
}

/// Options of the program mostly, and one in four of what only the cost depends on.
const ParameterRow& drawn_row(Dice& dice) {
  const bool of_program = !dice.one_in(4);
  for (;;) {
    const ParameterRow& row = parameters()[static_cast<std::size_t>(dice.between(0, std::ssize(parameters()) - 1))];
    if (changes_program(row) == of_program && is_drawn(row)) return row;
  }
}

}  // namespace

Machine changed_preset(std::string_view preset, std::uint64_t seed, std::int64_t changes) {
  Dice dice(seed);
  const Machine given = find_preset(preset)->machine;
  for (;;) {
    Machine machine = given;
    for (std::int64_t i = 0; i < changes; ++i) {
      const ParameterRow& row = drawn_row(dice);
      row.write(machine, witness::drawn_value(dice, row, *witness::find_case(row.name)));
      witness::reconcile(machine, row.name);
    }
    witness::reconcile(machine);
    if (witness::is_possible(machine)) return machine;
  }
}

namespace {

/// A small one, a preset with changes, or any.
Machine machine_of_a_node(std::uint64_t seed) {
  Dice dice(seed ^ 0x5ca1ab1e);
  const std::int64_t kind = dice.between(0, 4);
  if (kind < 2) {
    Draw draw(seed ^ 0xfeed);
    Machine machine = random_machine(draw);
    if (draw.one_in(4)) draw_formats(draw, machine);
    if (!witness::is_possible(machine)) machine.in_memory_weights = InMemoryWeights::off;  // of floats it is none
    for (std::int64_t Machine::*bytes : {&Machine::dsram_bytes, &Machine::psram_bytes})
      machine.*bytes = std::max<std::int64_t>(1024, machine.*bytes);
    return machine;
  }
  if (kind == 2) {
    Machine machine = witness::drawn_machine(dice);
    machine.psram_bytes = dice.between(1, 64) * 1024;
    return machine;
  }
  const auto all = presets();
  const Preset& preset = all[static_cast<std::size_t>(dice.between(0, std::ssize(all) - (dice.one_in(8) ? 1 : 2)))];
  return changed_preset(preset.name, seed, dice.between(0, 6));
}

}  // namespace

/// One in ten is on a part of FPGA; whether it fits there nothing asks that is checked.
Machine drawn_machine(std::uint64_t seed) {
  Machine machine = machine_of_a_node(seed);
  Dice dice(seed ^ 0xf06a);
  if (!dice.one_in(10)) return machine;
  machine.technology_node = dice.one_of({TechnologyNode::fpga_zynq7020, TechnologyNode::fpga_vc1902});
  machine.composable_macs = ComposableMacs::off;
  machine.dies = 1;
  return machine;
}

std::string settings_text(const Machine& machine) {
  const auto settings_on = [&](const Machine& base, std::string text) {
    for (const ParameterRow& row : parameters())
      if (row.read(machine) != row.read(base))
        text += " --set " + std::string(row.name) + "=" + value_text(row, row.read(machine));
    return text;
  };
  std::string nearest = settings_on(Machine(), "");
  for (const Preset& preset : presets()) {
    const std::string text = settings_on(preset.machine, " --preset " + std::string(preset.name));
    if (text.size() < nearest.size()) nearest = text;
  }
  return nearest;
}

}  // namespace sdip::generate
