// pass `place`: where operands lie, and the mapping of each instruction given the room that is left.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/program/compile/passes.h"
#include "core/program/form/marks.h"
#include "core/program/form/memory_plan.h"
#include "core/program/placing/needed.h"
#include "core/program/placing/placing.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

/// The lowest gap that holds `bytes`, which it then lacks.
std::int64_t take(std::vector<Extent>& gaps, std::int64_t bytes) {
  if (bytes == 0) return 0;
  const auto gap = std::ranges::find_if(gaps, [&](const Extent& g) { return g.bytes >= bytes; });
  check(gap != gaps.end(), "tile buffers fit in the gaps that they were chosen for");
  const std::int64_t address = gap->address;
  *gap = {address + bytes, gap->bytes - bytes};
  return address;
}

/// Whether each draft's weights will stay in PSRAM (pass `pin`), where the bytes of no weights depend on mappings;
/// else false for all.
std::vector<char> foreseen_to_stay(const Compilation& compilation, const AskedCapacity& psram) {
  List<InstructionClass> classes;
  for (const Draft& draft : compilation.drafts) {
    classes.push_back(class_of(draft, [](std::size_t) { return Place::dsram; }));
    const WeightForm form = weight_form(classes.back(), compilation.machine);
    if (classes.back().compound == Compound::strips || form.by_tile() || form.bits % 8 != 0)
      return std::vector<char>(compilation.drafts.size(), 0);
  }
  return staying_weights(compilation, classes, psram).by_draft;
}

/// Occupancy and the addresses of tile buffers.
void fill_memory(const Machine& machine, const TileBuffers& buffers, TileGaps gaps, const Resident& resident,
                 std::int64_t in_use, std::size_t i, Instruction& instruction) {
  Extent read{gaps.read.address, buffers.read_bytes}, write{gaps.write.address, buffers.write_bytes};
  if (is_unified(machine)) {
    Extent& larger = read.bytes < write.bytes ? write : read;
    Extent& smaller = read.bytes < write.bytes ? read : write;
    larger.address = take(gaps.unified, larger.bytes);
    smaller.address = take(gaps.unified, smaller.bytes);
  }
  instruction.read_tiles = {Bytes(read.address), Bytes(read.bytes)};
  instruction.write_tiles = {Bytes(write.address), Bytes(write.bytes)};
  instruction.dsram_read_side = Bytes(resident.read[i] + read.bytes);
  instruction.dsram_write_side = Bytes(resident.write[i] + write.bytes);
  instruction.stackram = Bytes(in_use);
  if (!is_unified(machine)) return;
  for (const Extent& tiles : {read, write})
    if (tiles.bytes > 0) in_use = std::max(in_use, tiles.address + tiles.bytes);
  instruction.stackram = Bytes(in_use) - instruction.dsram_read_side - instruction.dsram_write_side;
}

/// Moves one of the whole values in the draft's DSRAM pair to DRAM, the larger first. False when there is none.
bool evict(const Draft& draft, std::vector<ValueId> whole, Lives& lives) {
  const auto is_operand = [&](ValueId v) {
    return std::ranges::find(draft.operands, v, &DraftOperand::value) - draft.operands.begin();
  };
  std::ranges::stable_sort(whole, {}, is_operand);  // of equals the first operand
  if (lives[draft.destination].in_dsram()) whole.push_back(draft.destination);
  if (whole.empty()) return false;
  const ValueId largest = *std::ranges::max_element(whole, {}, [&](ValueId v) { return lives[v].bytes; });
  lives[largest].in_dram = true;
  return true;
}

/// Sends a value to DRAM so that an instruction's tiles fit in a memory for all: what waits leaves first.
bool make_room(const Draft& draft, std::int32_t index, const std::vector<ValueId>& found, Lives& lives) {
  const auto spill = [&](bool though_used) {
    const std::int32_t v = farthest_at(index, lives, though_used);
    if (v != none) lives[v].spilled = true;
    return v != none;
  };
  return spill(false) || evict(draft, found, lives) || spill(true);
}

Instruction instruction_of(const Graph& graph, const Draft& draft, std::int32_t index, const Places& places) {
  Instruction instruction;
  instruction.name = graph.nodes[draft.node].name;
  instruction.nodes = draft.nodes;
  instruction.mnemonic = full_mnemonic(draft);
  instruction.destination = draft.destination;
  instruction.weights = draft.weights;
  for (const DraftOperand& operand : draft.operands) {
    const Life& life = places.lives[operand.value];
    const Place place = places.of(operand.value, index);
    PlacedOperand source{place, operand.value, place == Place::stackram && life.uses.back() == index, {}};
    if (place == Place::dsram && life.pair) {
      source.pair = life.pair;
      source.older = life.next_writer < index;
    }
    instruction.sources.push_back(source);
  }
  return instruction;
}

/// Addresses of operands and results.
void fill_addresses(const MemoryPlan& plan, const List<Draft>& drafts, const Lives& lives, const Joined& joined,
                    Placement& placement) {
  List<std::int64_t> dram = dram_addresses(drafts, lives);
  for (const auto& [whole, parts] : joined) dram[whole] = dram[parts.front()];
  const auto or_nothing = [](std::int64_t address) { return Bytes(std::max<std::int64_t>(0, address)); };
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    Instruction& instruction = placement.instructions[i];
    const auto made = at(drafts[i].destination);
    instruction.dsram_address = or_nothing(plan.dsram_addresses[made]);
    instruction.stackram_address = or_nothing(plan.addresses[made]);
    instruction.dram_address = or_nothing(dram[made]);
    for (PlacedOperand& source : instruction.sources) {
      const auto v = at(source.value);
      if (source.place == Place::dsram) source.address = or_nothing(plan.dsram_addresses[v]);
      if (source.place == Place::stackram) source.address = or_nothing(plan.addresses[v]);
      if (source.place == Place::dram) source.address = or_nothing(dram[v]);
    }
  }
}

/// Lives as they are when all has left the chip that can: what nobody reads stays where it is made.
Lives in_dram(Lives lives) {
  for (Life& life : lives) life.in_dram = life.in_dram || !life.uses.empty();
  return lives;
}

/// Leaves what is passing where it is, so that the instruction need not wait for those that read it, where that
/// costs no DRAM bytes: `mapping` is then one for the room beside it.
template <class RoomNow>
void keep_passing(InstructionClass c, const RoomNow& room_now, const MappingRule* rule, Mappings& mappings,
                  Resident& resident, std::size_t i, std::optional<Mapping>& mapping) {
  const auto moved = [&](const Mapping& m) {
    c.mapping = m;
    return dram_bytes(c, room_now());
  };
  const std::int64_t before = mapping ? moved(*mapping) : 0;
  resident.read[i] += resident.passing[i];
  const auto beside = mappings.in(room_now(), c, rule);
  if (mapping && beside && moved(*beside) <= before)
    mapping = beside;
  else
    resident.read[i] -= resident.passing[i];
}

}  // namespace

std::optional<std::size_t> misfit_alone(const Compilation& compilation, const Machine& machine, std::size_t first,
                                        std::size_t last) {
  Lives lives = in_dram(compilation.lives);
  const List<Draft>& drafts = compilation.drafts;
  const MemoryPlan plan = plan_memory(machine, drafts, lives);
  const Resident resident = resident_bytes(drafts, lives);
  const Places places{*compilation.graph, lives};
  Mappings mappings{*compilation.mappings, compilation.stop};
  for (std::size_t i = first; i < last; ++i) {
    const InstructionClass c = class_of(drafts[i], static_cast<std::int32_t>(i), places);
    const TileRoom room =
        room_at(c, machine, compilation.role, gaps_at(machine, plan, resident, drafts[i], i), false);
    if (!mappings.in(room, c, drafts[i].rule)) return i;
  }
  return std::nullopt;
}

namespace {

std::optional<std::size_t> try_place(Compilation& compilation, Mappings& mappings, const std::vector<char>& stays) {
  const Graph& graph = *compilation.graph;
  const Machine& machine = compilation.machine;
  const List<Draft>& drafts = compilation.drafts;
  Lives& lives = compilation.lives;
  Placement& placement = compilation.placement;
  const Places places{graph, lives};
  MemoryPlan plan = plan_memory(machine, drafts, lives);
  std::vector<TileGoal> goals(drafts.size(), machine.tile_goal);
  if (!is_unified(machine)) {
    WholeChosen chosen = choose_whole(compilation, mappings, plan, stays);
    if (chosen.failed) return chosen.failed;
    goals = std::move(chosen.goals);
    plan.dsram_addresses = dsram_addresses(drafts, lives);
  }
  for (;; plan = plan_memory(machine, drafts, lives)) {
    Resident resident = resident_bytes(drafts, lives);
    placement = {};
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      InstructionClass c = class_of(drafts[i], index, places);
      const auto room_now = [&] {
        TileRoom room =
            room_at(c, machine, compilation.role, gaps_at(machine, plan, resident, drafts[i], i), stays[i] != 0);
        room.goal = goals[i];
        return room;
      };
      auto mapping = mappings.in(room_now(), c, drafts[i].rule);
      if (resident.passing[i] > 0) keep_passing(c, room_now, drafts[i].rule, mappings, resident, i, mapping);
      const TileGaps gaps = gaps_at(machine, plan, resident, drafts[i], i);
      const TileRoom room = room_now();
      if (!mapping) {
        if (make_room(drafts[i], index, resident.found[i], lives)) break;
        refuse_rule(compilation, drafts[i], c, room);
        return i;
      }
      c.mapping = *mapping;
      if (c.compound == Compound::strips) mappings.stream(c, room);
      c.prologue_sums = false;  // it was for the choice alone
      Instruction instruction = instruction_of(graph, drafts[i], index, places);
      give_pairs(instruction.sources, c);
      fill_memory(machine, tile_buffers(c, room), gaps, resident, plan.in_use[i], i, instruction);
      placement.instructions.push_back(std::move(instruction));
      placement.classes_of_drafts.push_back(std::move(c));
    }
    if (placement.instructions.size() < drafts.size()) continue;  // a value left the memory: all over again
    fill_addresses(plan, drafts, lives, compilation.joined, placement);
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::size_t> try_place(Compilation& compilation) {
  const AskedCapacity psram(compilation.machine.psram_bytes);
  Mappings mappings{*compilation.mappings, compilation.stop};
  const auto failed = try_place(compilation, mappings, foreseen_to_stay(compilation, psram));
  if (!weights_in_place(compilation.machine, compilation.role)) compilation.psram_bytes.narrow(psram.same());
  narrow_psram(compilation, mappings.weight_room);
  return failed;
}

void place(Compilation& compilation) {
  const auto failed = try_place(compilation);
  if (!failed || compilation.infeasible) return;
  const Draft& draft = compilation.drafts[*failed];
  // Where operators have sizes of their own, others than this one's may lack room, too.
  compilation.infeasible =
      compilation.say_needed_bytes && !has_own_pairs(compilation.machine)
          ? what_is_needed(compilation, *failed)
          : fmt::format("{}: even the smallest tile does not fit in DSRAM ({} B) and PSRAM ({} B)",
                        compilation.graph->nodes[draft.node].name,
                        dsram_bytes_of(compilation.machine, draft.work.family), compilation.machine.psram_bytes);
}

}  // namespace sdip
