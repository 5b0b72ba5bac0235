// pass `place`: where operands lie, and the mapping of each instruction given the room that is left.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/program/compile/needed.h"
#include "core/program/compile/passes.h"
#include "core/program/form/marks.h"
#include "core/program/form/memory_plan.h"
#include "core/program/least_choice.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

struct Places {
  const Graph& graph;
  const Lives& lives;

  Place of(ValueId v, std::int32_t draft) const {
    const Value& value = graph.values[static_cast<std::size_t>(v)];
    if (value.kind == ValueKind::input && is_scalar(value)) return Place::scalar;
    const Life& life = lives[static_cast<std::size_t>(v)];
    if (life.in_dsram_at(draft)) return Place::dsram;
    return life.needs_stack() ? Place::stackram : Place::dram;
  }
};

InstructionClass class_of(const Draft& draft, std::int32_t index, const Places& places) {
  InstructionClass c = class_of(draft, [&](std::size_t i) { return places.of(draft.operands.at(i).value, index); });
  const Life& result = places.lives[static_cast<std::size_t>(draft.destination)];
  c.push = result.needs_stack();
  c.to_dram = result.in_dram || result.spilled || result.leaves_by_dram;
  c.to_dsram = !draft.nodes.empty() && (result.in_dsram() || (!c.push && !c.to_dram));
  return c;
}

/// What each draft finds on the reading and writing side of its DSRAM pair: bytes of whole values, and which are on
/// the reading side. `passing`: bytes there of what others read before, and, side by side, may still read.
struct Resident {
  std::vector<std::int64_t> read, write, passing;
  std::vector<std::vector<ValueId>> found;
};

/// Whole on the writing side.
std::int64_t written_bytes(const Draft& draft, const Lives& lives) {
  const Life& life = lives[at(draft.destination)];
  const bool kept =
      life.in_dsram() || (!life.needs_stack() && !life.in_dram && !life.spilled && !life.leaves_by_dram);
  return kept && draft.out_elements > 0 ? life.bytes : 0;
}

Resident resident_bytes(const std::vector<Draft>& drafts, const Lives& lives) {
  const std::vector<std::int64_t> nothing(drafts.size(), 0);
  Resident r{nothing, nothing, nothing, std::vector<std::vector<ValueId>>(drafts.size())};
  for (std::size_t i = 0; i < drafts.size(); ++i) r.write[i] = written_bytes(drafts[i], lives);
  for (std::size_t v = 0; v < lives.size(); ++v) {
    const Life& life = lives[v];
    const auto reader = static_cast<std::size_t>(life.next_writer);
    const bool there = (life.is_input || life.made >= 0) && life.in_dsram() && reader < drafts.size();
    if (there && life.last_in_dsram() < life.next_writer) r.passing[reader] += life.bytes;
    if (!there || life.last_in_dsram() < life.next_writer) continue;
    r.read[reader] += life.bytes;
    r.found[reader].push_back(static_cast<ValueId>(v));
  }
  return r;
}

/// Where an instruction's tile buffers may lie: behind the whole operands on each side, or, in a unified memory, in
/// the gaps between what is alive, by ascending address.
struct TileGaps {
  Extent read, write;
  std::vector<Extent> unified;
};
TileGaps gaps_at(const Machine& machine, const MemoryPlan& plan, const Resident& resident, const Draft& draft,
                 std::size_t i) {
  const std::int64_t dsram = dsram_bytes_of(machine, draft.work.family);
  TileGaps gaps{{resident.read[i], dsram - resident.read[i]}, {resident.write[i], dsram - resident.write[i]}, {}};
  if (machine.activation_memory == ActivationMemory::separate) return gaps;
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

/// The lowest gap that holds `bytes`, which it then lacks.
std::int64_t take(std::vector<Extent>& gaps, std::int64_t bytes) {
  if (bytes == 0) return 0;
  const auto gap = std::ranges::find_if(gaps, [&](const Extent& g) { return g.bytes >= bytes; });
  check(gap != gaps.end(), "tile buffers fit in the gaps that they were chosen for");
  const std::int64_t address = gap->address;
  *gap = {address + bytes, gap->bytes - bytes};
  return address;
}

/// By draft whether its weights will stay in PSRAM (pass `pin`), where the bytes of no weights depend on mappings;
/// else of none.
std::vector<char> foreseen_to_stay(const Compilation& compilation, const AskedCapacity& psram) {
  std::vector<InstructionClass> classes;
  for (const Draft& draft : compilation.drafts) {
    classes.push_back(class_of(draft, [](std::size_t) { return Place::dsram; }));
    const WeightForm form = weight_form(classes.back(), compilation.machine);
    if (classes.back().compound == Compound::strips || form.by_tile() || form.bits % 8 != 0)
      return std::vector<char>(compilation.drafts.size(), 0);
  }
  return staying_weights(compilation, classes, psram).by_draft;
}

TileRoom room_at(const InstructionClass& c, const Machine& machine, Role role, const TileGaps& gaps, bool stays) {
  TileRoom room = room_for(c, machine, weight_place(machine, role));
  room.weights_stay = stays;
  room.read_bytes = gaps.read.bytes;
  room.write_bytes = gaps.write.bytes;
  return room;
}

/// Occupancy and the addresses of tile buffers.
void fill_memory(const Machine& machine, const TileBuffers& buffers, TileGaps gaps, const Resident& resident,
                 std::int64_t in_use, std::size_t i, Instruction& instruction) {
  Extent read{gaps.read.address, buffers.read_bytes}, write{gaps.write.address, buffers.write_bytes};
  if (machine.activation_memory == ActivationMemory::unified) {
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
  if (machine.activation_memory == ActivationMemory::separate) return;
  for (const Extent& tiles : {read, write})
    if (tiles.bytes > 0) in_use = std::max(in_use, tiles.address + tiles.bytes);
  instruction.stackram = Bytes(in_use) - instruction.dsram_read_side - instruction.dsram_write_side;
}

/// Its near uses find it where it waits, or, if it does not, in DRAM.
void leave_dsram(Life& life) { (life.needs_stack() ? life.skips_dsram : life.in_dram) = true; }

/// Moves one of the whole values in the draft's DSRAM pair to DRAM, the larger first. False when there is none.
bool evict(const Draft& draft, std::vector<ValueId> whole, Lives& lives) {
  const auto is_operand = [&](ValueId v) {
    return std::ranges::find(draft.operands, v, &DraftOperand::value) - draft.operands.begin();
  };
  std::ranges::stable_sort(whole, {}, is_operand);  // of equals the first operand
  if (lives[static_cast<std::size_t>(draft.destination)].in_dsram()) whole.push_back(draft.destination);
  if (whole.empty()) return false;
  const ValueId largest =
      *std::ranges::max_element(whole, {}, [&](ValueId v) { return lives[static_cast<std::size_t>(v)].bytes; });
  lives[static_cast<std::size_t>(largest)].in_dram = true;
  return true;
}

/// Sends a value to DRAM so that an instruction's tiles fit in a memory for all: what waits leaves first.
bool make_room(const Draft& draft, std::int32_t index, const std::vector<ValueId>& found, Lives& lives) {
  const auto spill = [&](bool though_used) {
    const std::int32_t v = farthest_at(index, lives, though_used);
    if (v != none) lives[at(v)].spilled = true;
    return v != none;
  };
  return spill(false) || evict(draft, found, lives) || spill(true);
}

Instruction instruction_of(const Graph& graph, const Draft& draft, std::int32_t index, const Places& places) {
  Instruction instruction;
  instruction.name = graph.nodes[static_cast<std::size_t>(draft.node)].name;
  instruction.nodes = draft.nodes;
  instruction.mnemonic = full_mnemonic(draft);
  instruction.destination = draft.destination;
  instruction.weights = draft.weights;
  for (const DraftOperand& operand : draft.operands) {
    const Life& life = places.lives[static_cast<std::size_t>(operand.value)];
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
void fill_addresses(const MemoryPlan& plan, const std::vector<Draft>& drafts, const Lives& lives,
                    Placement& placement) {
  const std::vector<std::int64_t> dram = dram_addresses(drafts, lives);
  const auto or_nothing = [](std::int64_t address) { return Bytes(std::max<std::int64_t>(0, address)); };
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    Instruction& instruction = placement.instructions[i];
    const auto made = static_cast<std::size_t>(drafts[i].destination);
    instruction.dsram_address = or_nothing(plan.dsram_addresses[made]);
    instruction.stackram_address = or_nothing(plan.addresses[made]);
    instruction.dram_address = or_nothing(dram[made]);
    for (PlacedOperand& source : instruction.sources) {
      const auto v = static_cast<std::size_t>(source.value);
      if (source.place == Place::dsram) source.address = or_nothing(plan.dsram_addresses[v]);
      if (source.place == Place::stackram) source.address = or_nothing(plan.addresses[v]);
      if (source.place == Place::dram) source.address = or_nothing(dram[v]);
    }
  }
}

/// Finds mappings, and keeps for which room for weights all would have been the same.
struct Mappings {
  MappingCache& cache;
  const Stop* stop = nullptr;
  CapacityRange weight_room{};

  std::optional<Mapping> in(const TileRoom& room, const InstructionClass& c, const MappingRule* rule) {
    if (room.read_bytes < 0 || room.write_bytes < 0)
      return std::nullopt;  // several inputs that are whole at the start
    end_if(stop, "");
    const MappingStep step = rule != nullptr ? mapping_step(c, room, rule) : cache.step_of(c, room);
    weight_room.narrow(step.weight_room);
    return step.mapping;
  }

  void stream(InstructionClass& c, const TileRoom& room) {
    const AskedCapacity weights(room.weight_bytes);
    stream_weights(c, room, weights);
    weight_room.narrow(weights.same());
  }
};

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
  const std::vector<Draft>& drafts = compilation.drafts;
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

/// Values that may lie whole in DSRAM, and by draft those whose lying there its mapping and its bytes depend on:
/// its result, what it reads in DSRAM, and what lies on the side that it reads.
struct Candidates {
  std::vector<ValueId> values;
  std::vector<std::vector<std::int32_t>> asked;  // places in `values`
};

/// Of more values open at once than can be weighed the largest are none: they then have no place in DSRAM.
Candidates candidates_of(const std::vector<Draft>& drafts, const Resident& resident, Lives& lives) {
  std::vector<std::vector<ValueId>> asked(drafts.size());
  std::vector<std::size_t> last(lives.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const auto ask = [&](ValueId v) {
      if (!lives[at(v)].in_dsram_at(static_cast<std::int32_t>(i)) ||
          std::ranges::find(asked[i], v) != asked[i].end())
        return;
      asked[i].push_back(v);
      last[at(v)] = i;
    };
    for (const DraftOperand& operand : drafts[i].operands) ask(operand.value);
    std::ranges::for_each(resident.found[i], ask);
    ask(drafts[i].destination);
  }
  std::vector<std::int32_t> number(lives.size(), -1);
  Candidates candidates;
  std::vector<ValueId> open;
  const auto bytes = [&](ValueId v) { return lives[at(v)].bytes; };
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    std::erase_if(open, [&](ValueId v) { return last[at(v)] < i; });
    std::vector<ValueId> opening;
    for (const ValueId v : asked[i])
      if (lives[at(v)].in_dsram() && number[at(v)] < 0) opening.push_back(v);
    std::ranges::stable_sort(opening, {}, bytes);
    for (const ValueId v : opening) {
      if (open.size() == most_open_questions) {
        leave_dsram(lives[at(v)]);
        continue;
      }
      open.push_back(v);
      number[at(v)] = static_cast<std::int32_t>(candidates.values.size());
      candidates.values.push_back(v);
    }
    std::vector<std::int32_t>& numbers = candidates.asked.emplace_back();
    for (const ValueId v : asked[i])
      if (number[at(v)] >= 0) numbers.push_back(number[at(v)]);
  }
  return candidates;
}

/// Bytes that the instruction moves at least, in whatever room: all of it as one tile, where that moves nothing
/// that smaller ones leave out.
std::int64_t least_bytes(InstructionClass c, TileRoom room) {
  if (c.compound != Compound::single) return 0;
  room.burst_bytes = 1;
  if (!is_nest(c.work.family)) {
    c.mapping = {c.work.rows, 1, c.work.row_length, 1};
    return dram_bytes(c, room);
  }
  const Nest nest = nest_of(c);
  const LoopNest& n = nest.loops;
  c.mapping = {n.out_h, n.out_w, nest.channels(), n.in_channels, tiling_orders[0]};
  const auto skips = [](const NestAxis& axis) { return axis.stride > axis.reach(); };
  if (skips(row_axis(n)) || skips(column_axis(n))) c.operand_a = Place::dsram;  // tiles leave out what is between
  return dram_bytes(c, room);
}

/// The instruction finds no mapping, whatever leaves the chip.
void refuse_rule(Compilation& compilation, const Draft& draft, const InstructionClass& c, const TileRoom& room) {
  if (draft.rule == nullptr) return;
  compilation.infeasible = compilation.graph->nodes[at(draft.node)].name + ": " + misfit_of(*draft.rule, c, room);
}

/// Of separate memories: which values lie whole in DSRAM such that the fewest bytes are moved, given those that
/// wait in STACKRAM. Of more DSRAM or PSRAM they are no more: what was chosen for less can be chosen again, and
/// each instruction's mapping moves no more in more room. Returns a draft that has no mapping, whatever is chosen.
std::optional<std::size_t> choose_whole(Compilation& compilation, Mappings& mappings, const MemoryPlan& plan,
                                        const std::vector<char>& stays) {
  const Machine& machine = compilation.machine;
  const std::vector<Draft>& drafts = compilation.drafts;
  Lives& lives = compilation.lives;
  Resident resident = resident_bytes(drafts, lives);
  const Candidates candidates = candidates_of(drafts, resident, lives);
  const auto answer = [&](std::int32_t candidate, bool no) {
    Life& life = lives[at(candidates.values[at(candidate)])];
    life.in_dram = life.skips_dsram = false;
    if (no) leave_dsram(life);
  };
  const Places places{*compilation.graph, lives};
  const auto class_and_room = [&](std::size_t i) {
    resident.write[i] = written_bytes(drafts[i], lives);
    resident.read[i] = 0;
    for (const ValueId v : resident.found[i]) resident.read[i] += lives[at(v)].in_dsram() ? lives[at(v)].bytes : 0;
    InstructionClass c = class_of(drafts[i], static_cast<std::int32_t>(i), places);
    const TileRoom room =
        room_at(c, machine, compilation.role, gaps_at(machine, plan, resident, drafts[i], i), stays[i] != 0);
    return std::pair(std::move(c), room);
  };
  const auto answer_all = [&](Answered answered) {
    const auto& asked = candidates.asked[answered.step];
    for (std::size_t a = 0; a < asked.size(); ++a) answer(asked[a], (answered.noes >> a & 1U) != 0);
  };
  const auto is_said = [&](const Draft& draft) {
    return draft.rule != nullptr && draft.rule->result == Place::dsram && lives[at(draft.destination)].in_dram;
  };
  const auto least = [&](Answered answered) {
    answer_all(answered);
    auto [c, room] = class_and_room(answered.step);
    return least_bytes(std::move(c), room);
  };
  const auto cost = [&](Answered answered) -> std::optional<std::int64_t> {
    answer_all(answered);
    const Draft& draft = drafts[answered.step];
    auto [c, room] = class_and_room(answered.step);
    const auto mapping = mappings.in(room, c, draft.rule);
    if (!mapping) return std::nullopt;
    c.mapping = *mapping;
    if (c.compound == Compound::strips) mappings.stream(c, room);
    return dram_bytes(c, room) + (is_said(draft) ? most_words : 0);
  };
  const LeastChoice choice = least_choice(candidates.asked, candidates.values.size(), {least, cost});
  for (std::size_t q = 0; q < candidates.values.size(); ++q)
    answer(static_cast<std::int32_t>(q), choice.failed || choice.no[q] != 0);
  if (!choice.failed) return std::nullopt;
  const auto [c, room] = class_and_room(*choice.failed);
  refuse_rule(compilation, drafts[*choice.failed], c, room);
  return choice.failed;
}

std::optional<std::size_t> try_place(Compilation& compilation, Mappings& mappings, const std::vector<char>& stays) {
  const Graph& graph = *compilation.graph;
  const Machine& machine = compilation.machine;
  const std::vector<Draft>& drafts = compilation.drafts;
  Lives& lives = compilation.lives;
  Placement& placement = compilation.placement;
  const Places places{graph, lives};
  MemoryPlan plan = plan_memory(machine, drafts, lives);
  if (machine.activation_memory == ActivationMemory::separate) {
    if (const auto failed = choose_whole(compilation, mappings, plan, stays)) return failed;
    plan.dsram_addresses = dsram_addresses(drafts, lives);
  }
  for (;; plan = plan_memory(machine, drafts, lives)) {
    Resident resident = resident_bytes(drafts, lives);
    placement = {};
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      InstructionClass c = class_of(drafts[i], index, places);
      const auto room_now = [&] {
        return room_at(c, machine, compilation.role, gaps_at(machine, plan, resident, drafts[i], i), stays[i] != 0);
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
    fill_addresses(plan, drafts, lives, placement);
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
  compilation.infeasible = compilation.say_needed_bytes && !has_own_pairs(compilation.machine)
                               ? what_is_needed(compilation, *failed)
                               : compilation.graph->nodes[static_cast<std::size_t>(draft.node)].name +
                                     ": even the smallest tile does not fit in DSRAM (" +
                                     std::to_string(dsram_bytes_of(compilation.machine, draft.work.family)) +
                                     " B) and PSRAM (" + std::to_string(compilation.machine.psram_bytes) + " B)";
}

}  // namespace sdip
