// Where values lie, and the room that they leave for tiles.
#include "core/program/placing/placing.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tiles.h"

namespace sdip {

InstructionClass class_of(const Draft& draft, std::int32_t index, const Places& places) {
  InstructionClass c = class_of(draft, [&](std::size_t i) { return places.of(draft.operands.at(i).value, index); });
  const Life& result = places.lives[draft.destination];
  c.push = result.needs_stack();
  c.to_dram = result.in_dram || result.spilled || result.leaves_by_dram;
  c.to_dsram = !draft.nodes.empty() && (result.in_dsram() || (!c.push && !c.to_dram));
  return c;
}

std::int64_t written_bytes(const Draft& draft, const Lives& lives) {
  const Life& life = lives[draft.destination];
  const bool kept =
      life.in_dsram() || (!life.needs_stack() && !life.in_dram && !life.spilled && !life.leaves_by_dram);
  return kept && draft.out_elements > 0 ? life.bytes : 0;
}

Resident resident_bytes(const List<Draft>& drafts, const Lives& lives) {
  const std::vector<std::int64_t> nothing(drafts.size(), 0);
  Resident r{nothing, nothing, nothing, std::vector<std::vector<ValueId>>(drafts.size())};
  for (std::size_t i = 0; i < drafts.size(); ++i) r.write[i] = written_bytes(drafts[i], lives);
  for (ValueId v = 0; v < std::ssize(lives); ++v) {
    const Life& life = lives[v];
    const auto reader = at(life.next_writer);
    const bool there = (life.is_input || life.made >= 0) && life.in_dsram() && reader < drafts.size();
    if (there && life.last_in_dsram() < life.next_writer) r.passing[reader] += life.bytes;
    if (!there || life.last_in_dsram() < life.next_writer) continue;
    r.read[reader] += life.bytes;
    r.found[reader].push_back(v);
  }
  return r;
}

TileGaps gaps_at(const Machine& machine, const MemoryPlan& plan, const Resident& resident, const Draft& draft,
                 std::size_t i) {
  const std::int64_t dsram = dsram_bytes_of(machine, draft.work.family);
  TileGaps gaps{{resident.read[i], dsram - resident.read[i]}, {resident.write[i], dsram - resident.write[i]}, {}};
  if (!is_unified(machine)) return gaps;
  std::int64_t end = 0;
  for (const Extent& extent : plan.live_extents[i]) {
    if (extent.address > end) gaps.unified.push_back({end, extent.address - end});
    end = std::max(end, extent.address + extent.bytes);
  }
  const std::int64_t left = unified_bytes(machine) - end;
  if (left < 0) gaps.unified.clear();  // nothing can be spilled and it is too much
  if (left > 0) gaps.unified.push_back({end, left});
  gaps.read.bytes = gaps.write.bytes = left < 0 ? -1 : 0;
  if (gaps.unified.empty()) return gaps;
  std::vector<std::int64_t> sizes;
  for (const Extent& gap : gaps.unified) sizes.push_back(gap.bytes);
  std::ranges::sort(sizes, std::greater<>());
  // Each in a gap of its own, or both in the largest.
  gaps.read.bytes = gaps.write.bytes = std::max(sizes[0] / 2, sizes.size() > 1 ? sizes[1] : 0);
  return gaps;
}

TileRoom room_at(const InstructionClass& c, const Machine& machine, Role role, const TileGaps& gaps, bool stays) {
  TileRoom room = room_for(c, machine, weight_place(machine, role));
  room.weights_stay = stays;
  room.read_bytes = gaps.read.bytes;
  room.write_bytes = gaps.write.bytes;
  return room;
}

void leave_dsram(Life& life) { (life.needs_stack() ? life.skips_dsram : life.in_dram) = true; }

std::optional<Mapping> Mappings::in(const TileRoom& room, const InstructionClass& c, const MappingRule* rule) {
  if (room.read_bytes < 0 || room.write_bytes < 0)
    return std::nullopt;  // several inputs that are whole at the start
  end_if(stop, "");
  const MappingStep step = rule != nullptr ? mapping_step(c, room, rule) : cache.step_of(c, room);
  weight_room.narrow(step.weight_room);
  return step.mapping;
}

void Mappings::stream(InstructionClass& c, const TileRoom& room) {
  const AskedCapacity weights(room.weight_bytes);
  stream_weights(c, room, weights);
  weight_room.narrow(weights.same());
}

}  // namespace sdip
