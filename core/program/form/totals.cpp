// Totals of a program, and what lies on chip, as far as they follow from instructions and graph.
#include <algorithm>
#include <set>

#include "core/program/form/form.h"
#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

void add_weights(const Program& program, const Machine& machine, Program& totals) {
  std::set<std::int64_t> seen;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.weight_bytes.value == 0) continue;
    totals.weight_bytes += instruction.weight_bytes;
    if (!seen.insert(instruction.weight_offset.value).second) continue;
    totals.distinct_weight_bytes += instruction.weight_bytes;
    const InstructionClass& c = program.classes[instruction.instruction_class];
    if (c.pinned) totals.pinned_bytes += Bytes(region_bytes(c, weight_form(c, machine)).psram);
  }
}

void add_inputs(const CompiledStage& stage, const Machine& machine, Program& totals) {
  const Graph& graph = *stage.graph;
  const ValueId latent = latent_input(graph);
  std::set<ValueId> on_chip, in_dram;
  for (const Instruction& instruction : stage.program.instructions)
    for (const PlacedOperand& source : instruction.sources)
      (source.place == Place::dram ? in_dram : on_chip).insert(source.value);
  const bool waits = stage.role != Role::core && stage.role != Role::decoder;
  for (const ValueId v : graph.inputs) {
    if (is_scalar(graph.values[v])) continue;
    const Bytes bytes = value_bytes(graph, v, machine);
    if (waits || (in_dram.contains(v) && !on_chip.contains(v))) totals.input_bytes += bytes;
    if (stage.role == Role::core && v != latent && on_chip.contains(v) && !in_dram.contains(v))
      totals.context_bytes += bytes;
  }
}

}  // namespace

Bytes value_bytes(const Graph& graph, ValueId value, const Machine& machine) {
  return Bytes(
      ceil_div(element_count(graph.values[value].operand.shape) * value_bits(graph.values[value], machine), 8));
}

Bytes stored_weights(const Graph& graph, const Machine& machine, Bytes fetched) {
  std::int64_t more = 0;
  std::set<ValueId> tables;
  for (const Node& node : graph.nodes) {
    if (node.op->type != "Gather" || node.outputs.empty() || node.inputs.empty()) continue;
    if (node.inputs[0] == none || node.outputs[0] == none) continue;
    const Value& table = graph.values[node.inputs[0]];
    const Value& result = graph.values[node.outputs[0]];
    if (table.kind != ValueKind::weight || result.kind != ValueKind::activation) continue;
    if (!tables.insert(node.inputs[0]).second) continue;
    more += std::max<std::int64_t>(0, element_count(table.operand.shape) - element_count(result.operand.shape)) *
            bits_of(vector_format(table.format.value_or(machine.weight_format)));
  }
  return fetched + Bytes(stored_bytes(ceil_div(more, 8), weight_form(machine)));
}

Program totals_of(const CompiledStage& stage, const Derivation& derivation) {
  const Machine machine = machine_like(stage.needs);
  Program totals;
  add_weights(stage.program, machine, totals);
  totals.stored_weight_bytes = stored_weights(*stage.graph, machine, totals.distinct_weight_bytes);
  add_inputs(stage, machine, totals);
  const bool handed_on = stage.role == Role::core || stage.role == Role::encoder;
  for (const ValueId v : stage.graph->outputs)
    (handed_on ? totals.latent_bytes : totals.output_bytes) +=
        value_bytes(*stage.graph, derivation.root(v), machine);
  return totals;
}

EssaySources essay_sources(const Instruction& instruction) {
  EssaySources essay;
  const auto& sources = instruction.sources;
  if (!sources.empty()) essay.first = &sources[0];
  essay.used = essay.first != nullptr ? 1 : 0;
  essay.weights = instruction.weight_bytes.value > 0;
  if (!essay.weights && sources.size() > 1) {
    essay.second = &sources[1];
    essay.used = 2;
  }
  return essay;
}

EssaySizes essay_sizes(const Graph& graph, const Instruction& instruction, const Machine& machine) {
  const EssaySources essay = essay_sources(instruction);
  EssaySizes sizes;
  if (essay.first != nullptr) sizes.first = value_bytes(graph, essay.first->value, machine).value;
  if (essay.second != nullptr) sizes.second = value_bytes(graph, essay.second->value, machine).value;
  if (essay.weights) sizes.second = instruction.weight_bytes.value;
  return sizes;
}

void give_occupancy(const CompiledStage& stage, Instruction& instruction, const InstructionClass& c) {
  const Machine machine = machine_like(stage.needs);
  const TileRoom room = room_for(c, machine, WeightPlace::psram);
  const TileBuffers buffers = tile_buffers(c, room);
  instruction.dsram_read_side = Bytes(buffers.read_bytes);
  instruction.dsram_write_side = Bytes(buffers.write_bytes);
  instruction.stackram = Bytes(0);
  std::set<ValueId> seen;
  const auto on_stack = [&](Bytes address, Bytes bytes) {
    instruction.stackram = std::max(instruction.stackram, address + bytes);
  };
  for (const PlacedOperand& source : instruction.sources) {
    if (!seen.insert(source.value).second) continue;
    const Bytes bytes = value_bytes(*stage.graph, source.value, machine);
    const bool own = !source.pair || *source.pair == c.work.family;  // sides are those of its own pair
    if (source.place == Place::dsram && own) instruction.dsram_read_side += bytes;
    if (source.place == Place::stackram) on_stack(source.address, bytes);
  }
  const Bytes made = value_bytes(*stage.graph, instruction.destination, machine);
  if (c.to_dsram) instruction.dsram_write_side += made;
  if (c.push) on_stack(instruction.stackram_address, made);
}

}  // namespace sdip
