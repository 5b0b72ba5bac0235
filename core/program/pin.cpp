// pass `pin`: which weights stay in PSRAM, and where each instruction's stand in `.weight`.
#include <map>
#include <set>
#include <tuple>

#include "core/program/form.h"
#include "core/program/passes.h"
#include "core/program/tiles.h"

namespace sdip {
namespace {

/// What instructions that share their bytes in `.weight` have in common.
using Shared = std::pair<std::vector<ValueId>, std::array<std::int64_t, 3>>;

/// Bytes of PSRAM that keeping every weight would take. Instructions that read the same weights share them.
std::int64_t all_weight_bytes(const Machine& machine, const std::vector<Draft>& drafts,
                              const Placement& placement) {
  std::set<Shared> seen;
  std::int64_t needed = 0;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const InstructionClass& c = placement.classes_of_drafts[i];
    const WeightForm form = weight_form(c, machine);
    if (seen.insert({drafts[i].weights, region_tiles(c, form)}).second) needed += region_bytes(c, form).psram;
  }
  return needed;
}

}  // namespace

void pin(Compilation& compilation) {
  const Machine& machine = compilation.machine;
  const std::vector<Draft>& drafts = compilation.drafts;
  Placement& placement = compilation.placement;
  Program& program = compilation.program;
  const std::int64_t needed = all_weight_bytes(machine, drafts, placement);
  const AskedCapacity psram(machine.psram_bytes);
  const bool all = psram.holds(needed);
  std::int64_t left = all ? needed : machine.psram_pinned_bytes;
  const bool in_place = weights_in_place(machine, compilation.role);
  if (in_place)
    left = 0;
  else
    compilation.psram_bytes.narrow(psram.same());
  std::map<Shared, std::pair<bool, Bytes>> shared;  // pinned, offset
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    InstructionClass& c = placement.classes_of_drafts[i];
    Instruction& instruction = placement.instructions[i];
    const WeightForm form = weight_form(c, machine);
    const auto [bytes, stored] = region_bytes(c, form);
    if (bytes == 0) continue;
    instruction.weight_bytes = Bytes(stored);
    program.weight_bytes += instruction.weight_bytes;
    const std::pair first{bytes <= left, program.distinct_weight_bytes};
    const auto [entry, fresh] = shared.try_emplace({drafts[i].weights, region_tiles(c, form)}, first);
    std::tie(c.pinned, instruction.weight_offset) = entry->second;
    if (!fresh) continue;
    program.distinct_weight_bytes += instruction.weight_bytes;
    if (!c.pinned) continue;
    left -= bytes;
    program.pinned_bytes += Bytes(bytes);
  }
  if (machine.weight_storage == WeightStorage::resident && !in_place && needed > machine.psram_bytes)
    compilation.infeasible = "resident weights need " + std::to_string(needed) + " B of PSRAM, which has " +
                             std::to_string(machine.psram_bytes);
}

}  // namespace sdip
