// pass `classify`: instructions of equal cost share one class; what a program is as a whole.
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/form/format_text.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

void share_classes(Placement&& placement, Program& program) {
  std::map<InstructionClass, std::int32_t> numbers;
  program.instructions = std::move(placement.instructions);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const auto [entry, fresh] =
        numbers.try_emplace(placement.classes_of_drafts[i], static_cast<std::int32_t>(numbers.size()));
    if (fresh) program.classes.push_back(entry->first);
    program.instructions[i].instruction_class = entry->second;
  }
}

void count_input_output(const Graph& graph, Role role, SeriesPart part, const Lives& lives,
                        const List<ValueId>& roots, Program& program) {
  const ValueId latent = latent_input(graph);
  for (const ValueId v : graph.inputs) {
    const Life& life = lives[v];
    if (is_scalar(graph.values[v])) continue;
    if (life.in_dram) program.input_bytes += Bytes(life.bytes);
    const bool on_chip = !life.in_dram && !life.spilled && !life.uses.empty();
    if (role == Role::core && v != latent && on_chip) program.context_bytes += Bytes(life.bytes);
  }
  for (const ValueId v : graph.outputs) {
    const Life& life = lives[roots[v]];
    if (role == Role::core || role == Role::encoder || !part.last())
      program.latent_bytes += Bytes(life.bytes);
    else
      program.output_bytes += Bytes(life.bytes);
  }
}

/// The weights as DRAM keeps them: the fetched bytes, with lookup tables whole.
Bytes stored_weights(const Graph& graph, const Machine& machine, Bytes fetched) {
  const WeightForm form = weight_form(machine);
  std::int64_t more_bits = 0;
  std::vector<ValueId> tables;
  for (const Node& node : graph.nodes) {
    if (node.op->type != "Gather" || node.outputs.empty() || node.inputs.empty() || node.inputs[0] == none)
      continue;
    const Value& table = graph.values[node.inputs[0]];
    const Value& result = graph.values[node.outputs[0]];
    if (table.kind != ValueKind::weight || result.kind != ValueKind::activation) continue;
    if (std::ranges::find(tables, node.inputs[0]) != tables.end()) continue;
    tables.push_back(node.inputs[0]);
    more_bits +=
        std::max<std::int64_t>(0, element_count(table.operand.shape) - element_count(result.operand.shape)) *
        bits_of(vector_format(table.format.value_or(machine.weight_format)));
  }
  return fetched + Bytes(stored_bytes(ceil_div(more_bits, 8), form));
}

/// A weight memory multiplies by integers and fixed point alone; rules may have said else of a layer.
void check_in_memory(const Compilation& c) {
  if (weight_place(c.machine, c.role) != WeightPlace::fefet) return;
  for (std::size_t i = 0; i < c.placement.classes_of_drafts.size(); ++i) {
    const InstructionClass& one = c.placement.classes_of_drafts[i];
    if (multiplies_weights_in_floats(one))
      throw Error("formats_invalid", c.placement.instructions[i].name,
                  fmt::format("in_memory_weights=fefet multiplies integers and fixed point alone: expected such "
                              "weights and activations of '{}', not {} by {}",
                              c.placement.instructions[i].name, format_text(one.formats->weights),
                              format_text(one.formats->activations)));
  }
}

}  // namespace

void classify(Compilation& c) {
  check_in_memory(c);
  c.program.stored_weight_bytes = stored_weights(*c.graph, c.machine, c.program.distinct_weight_bytes);
  share_classes(std::move(c.placement), c.program);
  count_input_output(*c.graph, c.role, c.part, c.lives, c.roots, c.program);
}

}  // namespace sdip
