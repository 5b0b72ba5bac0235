// pass `place`: where operands lie, and the mapping of each instruction given the room that is left.
#include <algorithm>
#include <map>

#include "core/program/passes.h"

namespace sdip {
namespace {

struct Places {
  const Graph& graph;
  const Lives& lives;

  Place of(ValueId v, std::int32_t draft) const {
    const Value& value = graph.values[static_cast<std::size_t>(v)];
    if (value.kind == ValueKind::input && is_scalar(value)) return Place::scalar;
    const Life& life = lives[static_cast<std::size_t>(v)];
    if (life.next_in_dsram() && draft == life.made + 1) return Place::dsram;
    return life.needs_stack() ? Place::stackram : Place::dram;
  }
};

std::int64_t most_uses(const std::vector<std::string>& names) {
  std::int64_t most = 0;
  for (const auto& name : names) most = std::max<std::int64_t>(most, std::ranges::count(names, name));
  return most;
}

InstructionClass class_of(const Draft& draft, std::int32_t index, const Places& places) {
  InstructionClass c;
  c.work = draft.work;
  c.work.read_elements.clear();
  c.out_elements = draft.out_elements;
  c.fused_operators = static_cast<std::int64_t>(draft.fused.size());
  c.fused_passes = most_uses(draft.fused);
  c.weight_elements = draft.held_weight_elements;
  c.fetches = draft.weight_fetches;
  c.prologue_passes = draft.prologue_passes;
  c.statistics_passes = draft.statistics_passes;
  c.prologue_sums = draft.prologue_sums;
  c.compound = draft.compound;
  c.parts = draft.parts;
  c.line_buffers = draft.line_buffers;
  std::size_t own = 0;
  if (draft.compound == Compound::strips) {
    c.operand_a = places.of(draft.operands.at(0).value, index);
    c.operand_b = Place::psram;
    own = 1;
    for (Part& part : c.parts)
      for (Fetch& fetch : part.fetches)
        if (fetch.place == Place::nowhere) fetch.place = places.of(draft.operands.at(own++).value, index);
  } else if (is_nest(draft.work.family)) {
    const std::int64_t channels = draft.work.nest.groups * draft.work.nest.out_channels;
    c.operand_a = places.of(draft.operands.at(0).value, index);
    c.operand_b = draft.weighted ? Place::psram : places.of(draft.operands.at(1).value, index);
    c.weight_elements_per_channel = ceil_div(draft.weight_elements, channels);
    c.bias_elements_per_channel = ceil_div(draft.bias_elements, channels);
    own = draft.weighted ? 1 : 2;
  }
  for (std::size_t i = own; i < draft.operands.size(); ++i) {
    Fetch fetch = draft.operands[i].fetch;
    fetch.place = places.of(draft.operands[i].value, index);
    if (fetch.place != Place::scalar) c.fetches.push_back(fetch);
  }
  const Life& result = places.lives[static_cast<std::size_t>(draft.destination)];
  c.push = result.needs_stack();
  c.to_dram = result.in_dram || result.spilled || result.leaves_by_dram;
  c.to_dsram = c.out_elements > 0 && (result.next_in_dsram() || (!c.push && !c.to_dram));
  return c;
}

/// Reading and writing DSRAM bytes that whole operands take at each draft.
struct Resident {
  std::vector<std::int64_t> read, write;
};
Resident resident_bytes(const std::vector<Draft>& drafts, const Lives& lives) {
  Resident r{std::vector<std::int64_t>(drafts.size(), 0), std::vector<std::int64_t>(drafts.size(), 0)};
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Life& life = lives[static_cast<std::size_t>(drafts[i].destination)];
    const bool kept =
        life.next_in_dsram() || (!life.needs_stack() && !life.in_dram && !life.spilled && !life.leaves_by_dram);
    if (kept && drafts[i].out_elements > 0) r.write[i] = life.bytes;
    if (i + 1 < drafts.size() && life.next_in_dsram()) r.read[i + 1] = life.bytes;
  }
  for (std::size_t v = 0; v < lives.size(); ++v)
    if (lives[v].is_input && lives[v].next_in_dsram() && !drafts.empty()) r.read[0] += lives[v].bytes;
  return r;
}

std::vector<std::int64_t> stack_capacity(const Machine& machine, const Resident& resident) {
  std::vector<std::int64_t> capacity(resident.read.size(), machine.stackram_bytes);
  if (machine.activation_memory == ActivationMemory::unified)
    for (std::size_t i = 0; i < capacity.size(); ++i)
      capacity[i] = std::max<std::int64_t>(
          0, 2 * machine.dsram_bytes + machine.stackram_bytes - resident.read[i] - resident.write[i]);
  return capacity;
}

TileRoom room_at(const Machine& machine, Role role, std::int64_t read, std::int64_t write, std::int64_t stack) {
  TileRoom room;
  if (machine.activation_memory == ActivationMemory::separate) {
    room.read_bytes = machine.dsram_bytes - read;
    room.write_bytes = machine.dsram_bytes - write;
  } else {
    const std::int64_t free = 2 * machine.dsram_bytes + machine.stackram_bytes - read - write - stack;
    room.read_bytes = room.write_bytes = free / 2;
  }
  room.weight_bytes = hard_coded(machine, role) ? 0 : machine.psram_bytes - machine.psram_pinned_bytes;
  room.buffers = machine.tile_buffering == Buffering::double_buffer ? 2 : 1;
  room.weight_buffers = machine.weight_buffering == Buffering::double_buffer ? 2 : 1;
  room.activation_bits = bits_of(machine.activation_format);
  room.accumulator_bits = bits_of(machine.accumulator_format);
  room.form = weight_form(machine);
  return room;
}

/// Moves one of the draft's whole DSRAM operands to DRAM, the larger first. False when there is none.
bool evict(const Draft& draft, std::int32_t index, const Places& places, Lives& lives) {
  std::vector<ValueId> whole;
  for (const DraftOperand& operand : draft.operands)
    if (places.of(operand.value, index) == Place::dsram) whole.push_back(operand.value);
  if (lives[static_cast<std::size_t>(draft.destination)].next_in_dsram()) whole.push_back(draft.destination);
  if (whole.empty()) return false;
  const ValueId largest =
      *std::ranges::max_element(whole, {}, [&](ValueId v) { return lives[static_cast<std::size_t>(v)].bytes; });
  lives[static_cast<std::size_t>(largest)].in_dram = true;
  return true;
}

Instruction instruction_of(const Graph& graph, const Draft& draft, std::int32_t index, const Places& places) {
  Instruction instruction;
  instruction.name = graph.nodes[static_cast<std::size_t>(draft.node)].name;
  instruction.nodes = draft.nodes;
  for (const auto& before : draft.prologue) instruction.mnemonic += before + "+";
  instruction.mnemonic += draft.mnemonic;
  for (const auto& fused : draft.fused) instruction.mnemonic += "+" + fused;
  instruction.destination = draft.destination;
  instruction.weights = draft.weights;
  for (const DraftOperand& operand : draft.operands) {
    const Life& life = places.lives[static_cast<std::size_t>(operand.value)];
    const Place place = places.of(operand.value, index);
    instruction.sources.push_back(
        {place, operand.value, place == Place::stackram && life.uses.back() == index, {}});
  }
  return instruction;
}

}  // namespace

void place(Compilation& compilation) {
  const Graph& graph = *compilation.graph;
  const Machine& machine = compilation.machine;
  const std::vector<Draft>& drafts = compilation.drafts;
  Lives& lives = compilation.lives;
  Placement& placement = compilation.placement;
  const Places places{graph, lives};
  std::map<std::pair<InstructionClass, std::pair<std::int64_t, std::int64_t>>, std::optional<Mapping>> chosen;
  for (bool again = true; again;) {
    again = false;
    const Resident resident = resident_bytes(drafts, lives);
    const auto stack = allocate_stack(machine, drafts, lives, stack_capacity(machine, resident));
    placement = {};
    for (std::size_t i = 0; i < drafts.size() && !again; ++i) {
      const auto index = static_cast<std::int32_t>(i);
      InstructionClass c = class_of(drafts[i], index, places);
      const TileRoom room = room_at(machine, compilation.role, resident.read[i], resident.write[i], stack[i]);
      const bool streams = c.to_dram || c.compound == Compound::strips || c.operand_a == Place::dram ||
                           c.operand_b == Place::dram ||
                           std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
      const std::pair room_key =
          streams ? std::pair{room.read_bytes, room.write_bytes} : std::pair<std::int64_t, std::int64_t>{};
      const bool over = room.read_bytes < 0 || room.write_bytes < 0;  // several inputs that are whole at the start
      std::optional<Mapping> mapping;
      if (!over && drafts[i].rule != nullptr) {
        mapping = choose_mapping(c, room, drafts[i].rule);
      } else if (!over) {
        const auto [entry, fresh] = chosen.try_emplace({c, room_key});
        if (fresh) entry->second = choose_mapping(c, room);
        mapping = entry->second;
      }
      if (!mapping) {
        if (!evict(drafts[i], index, places, lives)) {
          if (drafts[i].rule != nullptr) {
            compilation.infeasible = graph.nodes[static_cast<std::size_t>(drafts[i].node)].name + ": " +
                                     misfit_of(*drafts[i].rule, c, room);
            return;
          }
          compilation.infeasible = graph.nodes[static_cast<std::size_t>(drafts[i].node)].name +
                                   ": even the smallest tile does not fit in DSRAM (" +
                                   std::to_string(machine.dsram_bytes) + " B) and PSRAM (" +
                                   std::to_string(machine.psram_bytes) + " B)";
          return;
        }
        again = true;
        break;
      }
      c.mapping = *mapping;
      const TileBuffers buffers = tile_buffers(c, room);
      Instruction instruction = instruction_of(graph, drafts[i], index, places);
      instruction.dsram_read_side = Bytes(resident.read[i] + buffers.read_bytes);
      instruction.dsram_write_side = Bytes(resident.write[i] + buffers.write_bytes);
      instruction.stackram = Bytes(stack[i]);
      placement.instructions.push_back(std::move(instruction));
      placement.classes_of_drafts.push_back(std::move(c));
    }
  }
}

}  // namespace sdip
