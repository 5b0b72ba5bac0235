// A compilation as text, whatever passes have run.
#include "core/program/compile/print.h"

#include "core/base/list_text.h"
#include "core/program/form/fields.h"
#include "core/program/form/scan.h"
#include "core/program/form/text_fields.h"

namespace sdip {
namespace {

std::string shape_at(const Graph& graph, ValueId id) {
  return id == none ? "" : shape_text(graph.values[id].operand.shape);
}

std::string life_text(const Compilation& c, ValueId id) {
  if (id == none || as_size(id) >= c.lives.size()) return "";
  const Life& life = c.lives[id];
  std::string text = fmt::format(" {{{} B, made {}, used", life.bytes, life.made);
  for (const std::int32_t use : life.uses) text += " " + std::to_string(use);
  if (life.in_dram) text += ", in dram";
  if (life.spilled) text += ", spilled";
  if (life.skips_dsram) text += ", not in dsram";
  return text + "}";
}

std::string places_text(const InstructionClass& c) {
  std::string text = " ->";
  if (c.to_dsram) text += " dsram";
  if (c.push) text += " stackram";
  if (c.to_dram) text += " dram";
  const Mapping& m = c.mapping;
  text += fmt::format(", tile {}x{}x{}x{} {}", m.tile_rows, m.tile_columns, m.tile_channels, m.tile_sums,
                      order_text(m.order));
  return c.pinned ? text + ", pinned" : text;
}

std::string sources_text(const Instruction& instruction) {
  std::string text;
  for (const PlacedOperand& source : instruction.sources)
    text += fmt::format(" {}:{}{}", place_text(source.place), value_label(source.value), source.pop ? ":pop" : "");
  return text;
}

std::string draft_text(const Compilation& c, std::size_t index) {
  const Draft& draft = c.drafts[index];
  std::string text = draft.mnemonic;
  for (const std::string& fused : draft.fused) text += "+" + fused;
  const auto label = [](const DraftOperand& operand) { return value_label(operand.value); };
  text += " " + quoted(c.graph->nodes[draft.node].name) + " (" + list_text(draft.operands, label) +
          ") = " + value_label(draft.destination) + shape_at(*c.graph, draft.destination) +
          life_text(c, draft.destination);
  if (index < c.placement.instructions.size())
    text += sources_text(c.placement.instructions[index]) + places_text(c.placement.classes_of_drafts[index]);
  return text;
}

}  // namespace

std::string compilation_text(const Compilation& c) {
  std::string text;
  const auto line = [&](std::size_t number, const std::string& what) {
    text += fmt::format("{} {}\n", number, what);
  };
  const auto& instructions = c.program.instructions;
  for (std::size_t i = 0; i < instructions.size(); ++i)
    line(i, instructions[i].mnemonic + " " + quoted(instructions[i].name) + sources_text(instructions[i]) +
                places_text(c.program.classes[instructions[i].instruction_class]) + ", class " +
                std::to_string(instructions[i].instruction_class));
  if (instructions.empty())
    for (std::size_t d = 0; d < c.drafts.size(); ++d) line(d, draft_text(c, d));
  if (c.infeasible) text += "infeasible: " + quoted(*c.infeasible) + "\n";
  return text;
}

}  // namespace sdip
