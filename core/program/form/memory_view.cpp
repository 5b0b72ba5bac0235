// Finds what lies where and when, from a program: results begin at their instruction, pops and last reads end them.
//
// Example: a (pushed, 128 B), b, c = b + a: STACKRAM holds a at 0 from instruction 0 to 2; DSRAM1 a from 0 to 1
// (the first instruction reads side 0 and writes side 1), DSRAM0 b from 1 to 2.
#include "core/program/form/memory_view.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/program/allocate.h"
#include "core/program/form/form.h"
#include "core/program/form/memory_plan.h"
#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

struct Viewer {
  const CompiledStage& stage;
  const Machine& machine;
  MemoryView view{};
  std::map<std::int32_t, std::size_t> held{};                 // STACKRAM or unified: value, its rectangle
  std::map<std::int32_t, std::size_t> passed{};               // DSRAM: value, its rectangle
  std::map<std::size_t, std::vector<std::size_t>> readers{};  // of a rectangle in DSRAM: instructions
  std::array<std::int64_t, pair_families> turns{};            // instructions of each family so far

  bool unified() const { return is_unified(machine); }
  MemoryName side(std::size_t index, bool writes) const {
    if (unified()) return MemoryName::unified;
    if (has_pairs(machine)) {
      const Family family = class_of(stage.program.instructions[index]).work.family;
      return pair_side(family, (turns.at(at(family)) + (writes ? 1 : 0)) % 2);
    }
    return (index + (writes ? 1 : 0)) % 2 == 0 ? MemoryName::dsram0 : MemoryName::dsram1;
  }
  MemoryName side_of(const PlacedOperand& source, std::size_t index) const {
    if (!source.pair) return side(index, false);
    return pair_side(*source.pair, (turns.at(at(*source.pair)) + (source.older ? 1 : 0)) % 2);
  }
  MemoryName stack() const { return unified() ? MemoryName::unified : MemoryName::stackram; }
  const InstructionClass& class_of(const Instruction& i) const {
    return stage.program.classes[i.instruction_class];
  }
  std::int64_t bytes_of(std::int32_t value) const { return value_bytes(*stage.graph, value, machine).value; }
  std::string name_of(std::int32_t value) const { return stage.graph->values[value].name; }

  std::size_t add(MemoryName memory, std::string name, std::int64_t address, std::int64_t bytes, std::size_t from,
                  std::size_t to) {
    MemoryRectangle one{
        memory, std::move(name), address, bytes, static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)};
    view.rectangles.push_back(std::move(one));
    return view.rectangles.size() - 1;
  }
  /// A result begins. A value that it takes the place of ends one instruction earlier.
  std::size_t begin(MemoryName memory, std::int32_t value, Bytes address, std::size_t i, std::size_t to) {
    for (const auto& [v, r] : held) {
      MemoryRectangle& old = view.rectangles[r];
      if (old.memory == memory && old.address == address.value && old.to == static_cast<std::int32_t>(i) &&
          old.from < old.to)
        --old.to;
    }
    return add(memory, name_of(value), address.value, bytes_of(value), i, to);
  }
};

std::size_t last_of(const Viewer& v) { return v.stage.program.instructions.size() - 1; }

/// Sources: values of the start begin here; pops end what was held.
void read_sources(Viewer& v, std::size_t i) {
  for (const PlacedOperand& source : v.stage.program.instructions[i].sources) {
    if (source.place == Place::stackram) {
      auto found = v.held.find(source.value);
      if (const auto start = v.passed.find(source.value);
          found == v.held.end() && v.unified() && start != v.passed.end()) {
        found = v.held.insert(*start).first;  // an input that the first instruction read already
        v.view.rectangles[start->second].to = static_cast<std::int32_t>(last_of(v));
      }
      if (found == v.held.end())
        found = v.held
                    .emplace(source.value, v.add(v.stack(), v.name_of(source.value), source.address.value,
                                                 v.bytes_of(source.value), 0, last_of(v)))
                    .first;
      if (source.pop) v.view.rectangles[found->second].to = static_cast<std::int32_t>(i);
    }
    if (source.place != Place::dsram) continue;
    if (const auto found = v.passed.find(source.value); found != v.passed.end()) {
      MemoryRectangle& one = v.view.rectangles[found->second];
      one.to = std::max(one.to, static_cast<std::int32_t>(i));
      v.readers[found->second].push_back(i);
    } else if (!v.held.contains(source.value) || !v.unified()) {
      v.passed[source.value] = v.add(v.side_of(source, i), v.name_of(source.value), source.address.value,
                                     v.bytes_of(source.value), source.pair ? 0 : i, i);
    }
  }
}

void write_result(Viewer& v, std::size_t i) {
  const Instruction& instruction = v.stage.program.instructions[i];
  const InstructionClass& c = v.class_of(instruction);
  const std::int32_t value = instruction.destination;
  if (c.push) v.held[value] = v.begin(v.stack(), value, instruction.stackram_address, i, last_of(v));
  const bool apart = c.to_dsram && !(c.push && v.unified());
  if (apart) v.passed[value] = v.begin(v.side(i, true), value, instruction.dsram_address, i, i);
  const MemorySpan& reads = instruction.read_tiles;
  const MemorySpan& writes = instruction.write_tiles;
  if (reads.bytes.value > 0)
    v.add(v.side(i, false), "tiles of " + instruction.name, reads.address.value, reads.bytes.value, i, i);
  if (writes.bytes.value > 0)
    v.add(v.side(i, true), "result tiles of " + instruction.name, writes.address.value, writes.bytes.value, i, i);
}

/// Pinned weights from the start, once for those that several instructions share; of the others what is in use.
void add_weights(Viewer& v) {
  if (weights_in_place(v.machine, v.stage.role)) return;
  std::map<std::vector<std::int32_t>, bool> seen;
  std::int64_t pinned = 0;
  const auto& instructions = v.stage.program.instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const InstructionClass& c = v.class_of(instructions[i]);
    if (!c.pinned || seen[instructions[i].weights]) continue;
    seen[instructions[i].weights] = true;
    const std::int64_t bytes = region_bytes(c, weight_form(c, v.machine)).psram;
    v.add(MemoryName::psram, "weights of " + instructions[i].name, pinned, bytes, 0, last_of(v));
    pinned += bytes;
  }
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const InstructionClass& c = v.class_of(instructions[i]);
    if (c.pinned || instructions[i].weight_bytes.value == 0) continue;
    const WeightForm form = weight_form(c, v.machine);
    std::int64_t bytes = held_weight_bytes(c, form);
    const std::int64_t room = v.machine.psram_bytes - v.machine.psram_pinned_bytes - bytes;
    const std::int64_t tile = largest_weight_tile_bytes(c, form);
    const bool two = v.machine.weight_buffering == Buffering::double_buffer && 2 * tile <= room;
    const std::int64_t tiles = two ? 2 * tile : tile, channels = c.work.nest.groups * c.work.nest.out_channels;
    bytes += c.compound == Compound::strips
                 ? tiles
                 : std::min(weight_parts(c) * weight_tile_bytes(c, channels, form), tiles);
    v.add(MemoryName::psram, "weights of " + instructions[i].name, pinned, bytes, i, i);
  }
}

MemoryFigures figures_of(const MemoryView& view, MemoryName memory, std::int64_t capacity) {
  MemoryFigures figures;
  figures.memory = memory;
  figures.capacity_bytes = capacity;
  std::vector<MemoryValue> values;
  List<const MemoryRectangle*> rectangles;
  for (const MemoryRectangle& one : view.rectangles) {
    if (one.memory != memory) continue;
    values.push_back({one.bytes, one.from, one.to, {}});
    rectangles.push_back(&one);
    figures.peak_bytes = std::max(figures.peak_bytes, one.address + one.bytes);
  }
  figures.occupancy_bytes = live_bytes(values, static_cast<std::int32_t>(view.instructions.size()));
  if (!figures.occupancy_bytes.empty()) figures.live_bytes = *std::ranges::max_element(figures.occupancy_bytes);
  if (memory != MemoryName::stackram) return figures;
  const Crossings crossings = crossings_of(values, most_waiting_values);
  figures.crossing_pairs = crossings.count;
  for (const CrossingPair& pair : crossings.pairs) {
    const MemoryRectangle& lower = *rectangles[pair.lower];
    const MemoryRectangle& upper = *rectangles[pair.upper];
    figures.waiting.push_back({lower.name, upper.name, lower.to, upper.to});
  }
  return figures;
}

}  // namespace

MemoryView memory_view(const CompiledStage& stage, const Machine& given, std::span<const CycleSpan> times) {
  const StageMachine its(given, stage.role);
  const Machine& machine = *its;
  Viewer viewer{stage, machine};
  MemoryView& view = viewer.view;
  view.stage = stage.name;
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    const Instruction& instruction = stage.program.instructions[i];
    const auto family = at(viewer.class_of(instruction).work.family);
    view.instructions.push_back(instruction.name);
    read_sources(viewer, i);
    write_result(viewer, i);
    if (!has_pairs(machine)) continue;
    ++viewer.turns.at(family);
  }
  add_weights(viewer);
  for (std::size_t r = 0; r < view.rectangles.size() && !times.empty(); ++r) {
    MemoryRectangle& one = view.rectangles[r];
    one.start_cycle = times[at(one.from)].first;
    one.end_cycle = times[at(one.to)].second;
    for (const std::size_t reader : viewer.readers[r])
      one.end_cycle = std::max(one.end_cycle, times[reader].second);
  }
  for (const MemoryCapacity& one : memory_capacities(stage, given))
    view.memories.push_back(figures_of(view, one.memory, one.bytes.value));
  return view;
}

}  // namespace sdip
