// pass `pin`: which weights stay in PSRAM, and where each instruction's stand in `.weight`.
#include <map>
#include <optional>

#include "core/program/compile/passes.h"
#include "core/program/form/form.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

/// A key that instructions have in common which share their bytes in `.weight`.
using Shared = std::pair<std::vector<ValueId>, std::array<std::int64_t, 3>>;

Shared shared_by(const Draft& draft, const InstructionClass& c, const WeightForm& form) {
  return {draft.weights, region_tiles(c, form)};
}

}  // namespace

Staying staying_weights(const Compilation& compilation, std::span<const InstructionClass> classes,
                        const AskedCapacity& psram) {
  const Machine& machine = compilation.machine;
  struct Region {
    std::int64_t bytes = 0;
    std::optional<bool> stays = {};
  };
  Staying staying{std::vector<char>(classes.size(), 0), 0};
  std::map<Shared, Region> regions;
  std::vector<Region*> region_of;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const WeightForm form = weight_form(classes[i], machine);
    const auto [entry, fresh] = regions.try_emplace(shared_by(compilation.drafts[i], classes[i], form));
    region_of.push_back(&entry->second);
    if (!fresh) continue;
    entry->second.bytes = region_bytes(classes[i], form).psram;
    staying.needed_bytes += entry->second.bytes;
  }
  if (weights_in_place(machine, compilation.role)) return staying;
  std::int64_t left = psram.holds(staying.needed_bytes) ? staying.needed_bytes : machine.psram_pinned_bytes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    Region& region = *region_of[i];
    if (!region.stays) {
      region.stays = region.bytes > 0 && region.bytes <= left;
      if (*region.stays) left -= region.bytes;
    }
    staying.by_draft[i] = static_cast<char>(*region.stays);
  }
  return staying;
}

void pin(Compilation& compilation) {
  const Machine& machine = compilation.machine;
  const List<Draft>& drafts = compilation.drafts;
  Placement& placement = compilation.placement;
  Program& program = compilation.program;
  const AskedCapacity psram(machine.psram_bytes);
  const Staying staying = staying_weights(compilation, placement.classes_of_drafts, psram);
  const bool in_place = weights_in_place(machine, compilation.role);
  if (!in_place) compilation.psram_bytes.narrow(psram.same());
  std::map<Shared, Bytes> offsets;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    InstructionClass& c = placement.classes_of_drafts[i];
    Instruction& instruction = placement.instructions[i];
    const WeightForm form = weight_form(c, machine);
    const auto [bytes, stored] = region_bytes(c, form);
    if (bytes == 0) continue;
    instruction.weight_bytes = Bytes(stored);
    program.weight_bytes += instruction.weight_bytes;
    c.pinned = staying.by_draft[i] != 0;
    const auto [offset, fresh] = offsets.try_emplace(shared_by(drafts[i], c, form), program.distinct_weight_bytes);
    instruction.weight_offset = offset->second;
    if (!fresh) continue;
    program.distinct_weight_bytes += instruction.weight_bytes;
    if (c.pinned) program.pinned_bytes += Bytes(bytes);
  }
  if (machine.weight_storage == WeightStorage::resident && !in_place && staying.needed_bytes > machine.psram_bytes)
    compilation.infeasible =
        fmt::format("resident weights need {} B of PSRAM, which has {}", staying.needed_bytes, machine.psram_bytes);
}

}  // namespace sdip
