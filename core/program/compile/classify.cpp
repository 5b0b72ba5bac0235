// pass `classify`: instructions of equal cost share one class; what a program is as a whole.
#include <map>

#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/form/form.h"
#include "core/program/form/format_text.h"
#include "core/program/kinds.h"

namespace sdip {
namespace {

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

void share_classes(Program& program, const List<InstructionClass>& classes) {
  std::map<InstructionClass, std::int32_t> numbers;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto [entry, fresh] = numbers.try_emplace(classes[i], static_cast<std::int32_t>(numbers.size()));
    if (fresh) program.classes.push_back(classes[i]);
    program.instructions[i].instruction_class = entry->second;
  }
}

void classify(Compilation& c) {
  check_in_memory(c);
  c.program.stored_weight_bytes = stored_weights(*c.graph, c.machine, c.program.distinct_weight_bytes);
  c.program.instructions = std::move(c.placement.instructions);
  share_classes(c.program, c.placement.classes_of_drafts);
  count_input_output(*c.graph, c.role, c.part, c.lives, c.roots, c.program);
}

}  // namespace sdip
