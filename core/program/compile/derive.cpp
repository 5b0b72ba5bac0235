// Derives from an instruction's nodes what the compiler would make of them: the standards of the text form.
//
// Worked example: nodes 3 (Conv), 4 (sdip.Silu) and sources [stackram %5] are an instruction "conv2d+silu" of the
// convolution's nest, operand A on STACKRAM, operand B weights, one fused operator.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/form/form.h"
#include "core/program/form/marks.h"

namespace sdip {
namespace {

/// How likely an instruction's other nodes go on with what the draft makes. 0: none of them reads it, or a memory
/// has it: of a Split's two results the other may have been copied before. 1: it is a scalar, which may be in a
/// register.
int goes_on(const Graph& graph, const List<ValueId>& roots, const Draft& draft, const Instruction& instruction) {
  if (std::ranges::find(instruction.sources, draft.destination, &PlacedOperand::value) != instruction.sources.end())
    return 0;
  const bool read = std::ranges::any_of(instruction.nodes, [&](NodeId node) {
    return std::ranges::any_of(graph.nodes[node].inputs,
                               [&](ValueId v) { return v != none && roots[v] == draft.destination; });
  });
  return !read ? 0 : is_scalar(graph.values[draft.destination]) ? 1 : 2;
}

}  // namespace

Derivation::Derivation(const CompiledStage& stage) : graph_(*stage.graph), drafts_by_node_(graph_.nodes.size()) {
  const Machine machine = machine_like(stage.needs);
  Compilation c{machine, stage.role, stage.part, stage.graph, {}, {}, {}, {}, {}, {}};
  lower(c);
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
    if (graph_.nodes[n].in_place && !c.graph->nodes[n].in_place)
      throw Error("graph_inconsistent", graph_.nodes[n].name,
                  "in_place: its results cannot be read where its operands lie");
  roots_ = std::move(c.roots);
  joined_ = std::move(c.joined);
  drafts_ = std::move(c.drafts);
  for (std::size_t d = 0; d < drafts_.size(); ++d)
    drafts_by_node_[drafts_[d].node].push_back(static_cast<std::int32_t>(d));
  for (NodeId n = 0; n < std::ssize(graph_.nodes); ++n)
    if (!drafts_by_node_[n].empty()) nodes_by_name_.try_emplace(graph_.nodes[n].name, n);
}

const Draft* Derivation::main_of(const Instruction& instruction) const {
  if (instruction.nodes.empty()) return named(instruction.name);
  const Draft* first = nullptr;
  for (const NodeId node : instruction.nodes) {
    const bool names_it = graph_.nodes[node].name == instruction.name;
    for (const std::int32_t d : drafts_by_node_[node]) {
      const Draft& draft = drafts_[d];
      if (names_it && draft.destination == instruction.destination) return &draft;
      if (first == nullptr || (names_it && graph_.nodes[first->node].name != instruction.name) ||
          (names_it && goes_on(graph_, roots_, *first, instruction) < goes_on(graph_, roots_, draft, instruction)))
        first = &draft;
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
    if (behind && !drafts_by_node_[node].empty()) {
      const Draft& next = drafts_[drafts_by_node_[node].front()];
      if (is_transpose(graph_, next))
        join_turned(graph_, draft, next);
      else
        join_behind(draft, next);
    }
    behind = behind || node == main->node;
  }
  return draft;
}

const Draft* Derivation::draft_of(NodeId node) const {
  const auto& drafts = drafts_by_node_[node];
  return drafts.empty() ? nullptr : &drafts_[drafts.front()];
}

const Draft* Derivation::named(std::string_view name) const {
  const auto found = nodes_by_name_.find(name);
  return found == nodes_by_name_.end() ? nullptr : draft_of(found->second);
}

List<Draft> Derivation::attentions() const {
  Machine machine;
  machine.fused_attention = FusedAttention::on;
  Compilation c{machine, {}, {}, {std::shared_ptr<const Graph>(), &graph_}, roots_, drafts_, {}, {}, {}, {}};
  c.joined = joined_;
  fuse_attention(c);
  std::erase_if(c.drafts, [](const Draft& draft) { return draft.compound != Compound::attention; });
  return std::move(c.drafts);
}

Derivation::Ends Derivation::ends_of(const Instruction& instruction) const {
  Ends ends;
  const auto comes_in = [&](ValueId v) {
    return std::ranges::find(instruction.sources, v, &PlacedOperand::value) != instruction.sources.end();
  };
  for (const NodeId node : instruction.nodes)
    for (const std::int32_t d : drafts_by_node_[node]) {
      const Draft& draft = drafts_[d];
      // An instruction makes one result of a Split or the like, and may read another one that was made before.
      if (drafts_by_node_[node].size() > 1 && comes_in(draft.destination)) continue;
      for (const DraftOperand& operand : draft.operands) ends.read.insert(operand.value);
      ends.weights.insert(draft.weights.begin(), draft.weights.end());
      ends.made.insert(draft.destination);
    }
  for (const ValueId v : ends.made) ends.read.erase(v);
  return ends;
}

std::string Derivation::mnemonic_of(const Instruction& instruction) const {
  const Draft draft = joined(instruction);
  if (instruction.nodes.empty() && !draft.mnemonic.empty()) return draft.mnemonic + "_sums";
  return full_mnemonic(draft);
}

InstructionClass Derivation::class_of(const Instruction& instruction, bool to_dsram, bool push,
                                      bool to_dram) const {
  const Draft draft = joined(instruction);
  InstructionClass c = sdip::class_of(draft, [&](std::size_t i) {
    return i < instruction.sources.size() ? instruction.sources[i].place : Place::nowhere;
  });
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
