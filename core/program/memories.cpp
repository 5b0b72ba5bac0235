// Capacities by the machine that the stage runs on.
#include "core/program/memories.h"

#include <array>

namespace sdip {

std::string_view memory_text(MemoryName memory) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"DSRAM0", "DSRAM1", "STACKRAM", "unified", "PSRAM"};
    for (std::size_t f = 0; f < pair_families; ++f)
      for (const char* side : {"DSRAM0 of ", "DSRAM1 of "})
        all.push_back(side + std::string(family_text(static_cast<Family>(f))));
    return all;
  }();
  return names[at(memory)];
}

std::vector<MemoryCapacity> memory_capacities(const CompiledStage& stage, const Machine& given) {
  const StageMachine its(given, stage.role);
  const Machine& machine = *its;
  std::vector<MemoryCapacity> capacities;
  const auto add = [&](MemoryName memory, std::int64_t bytes) { capacities.push_back({memory, Bytes(bytes)}); };
  if (is_unified(machine)) {
    add(MemoryName::unified, unified_bytes(machine));
  } else {
    std::array<bool, pair_families> uses{};
    for (const Instruction& i : stage.program.instructions) {
      const auto family = at(stage.program.classes[i.instruction_class].work.family);
      if (family < pair_families) uses.at(family) = has_pairs(machine);
    }
    for (std::size_t f = 0; f < pair_families; ++f)
      for (std::int64_t side = 0; side < 2 && uses.at(f); ++side)
        add(pair_side(static_cast<Family>(f), side), dsram_bytes_of(machine, static_cast<Family>(f)));
    for (const MemoryName side : {MemoryName::dsram0, MemoryName::dsram1})
      if (!has_pairs(machine)) add(side, machine.dsram_bytes);
    add(MemoryName::stackram, machine.stackram_bytes);
  }
  add(MemoryName::psram, machine.psram_bytes);
  return capacities;
}

}  // namespace sdip
