// What the compiler would make of an instruction's nodes: standards of the text form.
//
// Worked example: nodes 3 (Conv), 4 (sdip.Silu) and sources [stackram %5] are an instruction "conv2d+silu" of the
// convolution's nest, operand A on STACKRAM, operand B weights, one fused operator.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/form.h"
#include "core/program/marks.h"
#include "core/program/passes.h"

namespace sdip {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

Derivation::Derivation(const CompiledStage& stage) : graph_(*stage.graph), drafts_by_node_(graph_.nodes.size()) {
  const Machine machine = machine_like(stage.needs);
  Compilation c{machine, stage.role, stage.part, stage.graph, {}, {}, {}, {}, {}, {}};
  lower(c);
  roots_ = std::move(c.roots);
  drafts_ = std::move(c.drafts);
  for (std::size_t d = 0; d < drafts_.size(); ++d)
    drafts_by_node_[at(drafts_[d].node)].push_back(static_cast<std::int32_t>(d));
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
    if (!drafts_by_node_[n].empty()) nodes_by_name_.try_emplace(graph_.nodes[n].name, static_cast<NodeId>(n));
}

const Draft* Derivation::main_of(const Instruction& instruction) const {
  if (instruction.nodes.empty()) {
    const auto named = nodes_by_name_.find(instruction.name);
    return named == nodes_by_name_.end() ? nullptr : &drafts_[at(drafts_by_node_[at(named->second)].front())];
  }
  const Draft* first = nullptr;
  for (const NodeId node : instruction.nodes) {
    const bool named = graph_.nodes[at(node)].name == instruction.name;
    for (const std::int32_t d : drafts_by_node_[at(node)]) {
      const Draft& draft = drafts_[at(d)];
      if (named && draft.destination == instruction.destination) return &draft;
      if (first == nullptr || (named && graph_.nodes[at(first->node)].name != instruction.name)) first = &draft;
    }
  }
  return first;
}

Draft Derivation::joined(const Instruction& instruction) const {
  const Draft* main = main_of(instruction);
  if (main == nullptr) return {};
  Draft draft = *main;
  bool behind = false;
  for (const NodeId node : instruction.nodes) {
    if (behind && !drafts_by_node_[at(node)].empty())
      join_behind(draft, drafts_[at(drafts_by_node_[at(node)].front())]);
    behind = behind || node == main->node;
  }
  return draft;
}

std::string Derivation::mnemonic_of(const Instruction& instruction) const {
  const Draft draft = joined(instruction);
  if (instruction.nodes.empty() && !draft.mnemonic.empty()) return draft.mnemonic + "_sums";
  return full_mnemonic(draft);
}

InstructionClass Derivation::class_of(const Instruction& instruction, bool to_dsram, bool push,
                                      bool to_dram) const {
  const Draft draft = joined(instruction);
  InstructionClass c;
  c.work = draft.work;
  c.work.read_elements.clear();
  c.out_elements = draft.out_elements;
  c.fused_operators = std::ssize(draft.fused);
  c.fused_passes = most_uses(draft.fused);
  c.weight_elements = draft.held_weight_elements;
  c.fetches = draft.weight_fetches;
  const auto place = [&](std::size_t i) {
    return i < instruction.sources.size() ? instruction.sources[i].place : Place::nowhere;
  };
  std::size_t own = 0;
  if (is_nest(draft.work.family)) {
    const LoopNest& nest = draft.work.nest;
    const std::int64_t channels = std::max<std::int64_t>(1, nest.groups * nest.out_channels);
    c.operand_a = place(0);
    c.operand_b = draft.weighted ? Place::psram : place(1);
    c.weight_elements_per_channel = ceil_div(draft.weight_elements, channels);
    c.bias_elements_per_channel = ceil_div(draft.bias_elements, channels);
    own = draft.weighted ? 1 : 2;
  }
  for (std::size_t i = own; i < draft.operands.size() && i < instruction.sources.size(); ++i) {
    Fetch fetch = draft.operands[i].fetch;
    fetch.place = place(i);
    if (fetch.place != Place::scalar) c.fetches.push_back(fetch);
  }
  c.to_dsram = to_dsram;
  c.push = push;
  c.to_dram = to_dram;
  c.mapping = whole_mapping(c);
  give_pairs(instruction.sources, c);
  return c;
}

std::size_t values_of_nodes(const Graph& graph) {
  std::size_t count = graph.values.size();
  for (; count > 0; --count) {
    const Value& value = graph.values[count - 1];
    if (value.kind != ValueKind::activation || value.producer != none || !value.consumers.empty()) break;
  }
  return count;
}

Mapping whole_mapping(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  if (!is_nest(c.work.family)) return {c.work.rows, 1, c.work.row_length, 1, channels_outermost};
  const std::int64_t channels = c.operand_b == Place::psram ? n.groups * n.out_channels : n.out_channels;
  return {n.out_h, n.out_w, channels, n.in_channels, channels_outermost};
}

}  // namespace sdip
