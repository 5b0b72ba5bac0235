// Where values lie, and the room that they leave for tiles. Internal to its room.
#pragma once

#include <optional>
#include <vector>

#include "core/program/compile/passes.h"
#include "core/program/form/memory_plan.h"

namespace sdip {

/// Where an operand of a draft is found.
struct Places {
  const Graph& graph;
  const Lives& lives;

  Place of(ValueId v, std::int32_t draft) const {
    const Value& value = graph.values[v];
    if (value.kind == ValueKind::input && is_scalar(value)) return Place::scalar;
    const Life& life = lives[v];
    if (life.in_dsram_at(draft)) return Place::dsram;
    return life.needs_stack() ? Place::stackram : Place::dram;
  }
};

/// The class of a draft with its operands and results where they lie; its mapping apart.
InstructionClass class_of(const Draft& draft, std::int32_t index, const Places& places);

/// The bytes of whole values that each draft finds on the reading and writing side of its DSRAM pair, and which
/// values are on the reading side. `passing`: bytes there of what others read before, and, side by side, may still
/// read.
struct Resident {
  std::vector<std::int64_t> read, write, passing;
  std::vector<std::vector<ValueId>> found;
};

/// Bytes of a draft's result, whole on the writing side.
std::int64_t written_bytes(const Draft& draft, const Lives& lives);
Resident resident_bytes(const List<Draft>& drafts, const Lives& lives);

/// Where an instruction's tile buffers may lie: behind the whole operands on each side, or, in a unified memory, in
/// the gaps between what is alive, by ascending address.
struct TileGaps {
  Extent read, write;
  std::vector<Extent> unified;
};
TileGaps gaps_at(const Machine& machine, const MemoryPlan& plan, const Resident& resident, const Draft& draft,
                 std::size_t i);

/// `stays`: its weights are foreseen to stay in PSRAM.
TileRoom room_at(const InstructionClass& c, const Machine& machine, Role role, const TileGaps& gaps, bool stays);

/// Finds mappings, and keeps for which room for weights all would have been the same.
struct Mappings {
  MappingCache& cache;
  const Stop* stop = nullptr;
  CapacityRange weight_room{};

  std::optional<Mapping> in(const TileRoom& room, const InstructionClass& c, const MappingRule* rule);
  void stream(InstructionClass& c, const TileRoom& room);
};

/// Its near uses find a value where it waits, or, if it does not, in DRAM.
void leave_dsram(Life& life);

/// The instruction finds no mapping, whatever leaves the chip: says so where the user said its mapping.
void refuse_rule(Compilation& compilation, const Draft& draft, const InstructionClass& c, const TileRoom& room);

/// The result of choosing: the goal of each draft's mapping; or a draft that has no mapping, whatever is chosen.
struct WholeChosen {
  std::optional<std::size_t> failed{};
  std::vector<TileGoal> goals{};
};
/// Chooses for separate memories which values lie whole in DSRAM, given those that wait in STACKRAM. With
/// tile_goal=bytes the fewest bytes are moved; with cycles the fewest reference cycles are taken, then bytes moved.
/// With balanced it takes few reference cycles and at most a hundredth more bytes than balanced mappings move at
/// least: some drafts then have the mapping of fewest cycles. More bytes of DSRAM or PSRAM never take more bytes
/// (cycles): what was chosen for less can be chosen again, and each instruction's mapping takes no more in more
/// room.
WholeChosen choose_whole(Compilation& compilation, Mappings& mappings, const MemoryPlan& plan,
                         const std::vector<char>& stays);

}  // namespace sdip
