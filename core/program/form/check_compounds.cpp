// Compound instructions that were read, against what the compiler makes of their nodes.
//
// Worked example. Nodes 0 (Conv), 1 (Relu), 2 (Conv) and two parts, the first with fused_operators=1: the parts are
// nodes 0 and 1, and node 2. They are joined as pass fuse_strips joins them; a part that says out=63x64 where node
// 2 makes 64 x 64 is refused: "part 1: expected out=64x64, found out=63x64".
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/program/form/form.h"
#include "core/program/form/text_fields.h"
#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

/// Fields of a class or a part as a text has them, by name.
std::map<std::string_view, std::string_view> by_name(std::string_view text) {
  std::map<std::string_view, std::string_view> fields;
  while (!text.empty()) {
    text.remove_prefix(1);  // the space before each
    const std::string_view field = text.substr(0, text.find(' '));
    fields[field.substr(0, field.find('='))] = field;
    text.remove_prefix(field.size());
  }
  return fields;
}

/// Refuses the first field in which two texts differ.
void compare(const std::string& of, const std::string& expected, const std::string& found, const Refusal& refuse) {
  if (expected == found) return;
  const auto should = by_name(expected), is = by_name(found);
  for (const auto& [name, field] : should) {
    const auto there = is.find(name);
    if (there == is.end()) refuse(fmt::format("{}expected {}, what its nodes are", of, field));
    if (there->second != field) refuse(fmt::format("{}expected {}, found {}", of, field, there->second));
  }
  for (const auto& [name, field] : is)
    if (!should.contains(name)) refuse(of + "its nodes have no such field: " + std::string(field));
}

std::string text_of(Part part) {
  std::string text;
  TextOut out{text};
  part_fields(out, part);
  return text;
}

std::string text_of(InstructionClass c) {
  std::string text;
  TextOut out{text};
  c.parts.clear();
  class_fields(out, c, InstructionClass());
  return text;
}

/// Compounds of a stage, and what the compiler makes of their nodes.
class Compounds {
 public:
  Compounds(const CompiledStage& stage, const Derivation& derivation, const List<InstructionClass>& classes)
      : stage_(stage), derivation_(derivation), classes_(classes) {
    const auto kind = [&](Compound of) {
      return std::ranges::count(classes_, of, &InstructionClass::compound) > 0;
    };
    if (kind(Compound::attention)) attentions_ = derivation.attentions();
    if (!kind(Compound::strips)) return;
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (classes_[i].compound == Compound::strips)
        for (const NodeId node : stage_.program.instructions[i].nodes) strips_of_.try_emplace(node, i);
  }

  void check(std::size_t number, const Refusal& refuse) const {
    const Instruction& i = stage_.program.instructions[number];
    const InstructionClass& found = classes_[number];
    const bool sums = i.nodes.empty();
    const Draft draft = found.compound == Compound::attention ? attention_of(i, found, refuse)
                        : sums                                ? sums_of(i, found, refuse)
                                                              : strips_of(i, found, refuse);
    const std::string mnemonic = found.compound == Compound::attention ? full_mnemonic(draft) : draft.mnemonic;
    if (i.mnemonic != mnemonic) refuse(fmt::format("operation: expected '{}', found '{}'", mnemonic, i.mnemonic));
    if (!std::ranges::equal(i.sources, draft.operands, {}, &PlacedOperand::value, &DraftOperand::value))
      refuse("src1, src2, more: expected " + list_text(draft.operands, label_of) + ", what its nodes read");
    if (i.weights != draft.weights) refuse("weights: expected those of its nodes, in their order");
    if (!sums && i.destination != draft.destination)
      refuse(fmt::format("dst: expected %{}, what its last node makes", draft.destination));
    compare_classes(class_of(draft, [&](std::size_t s) { return i.sources.at(s).place; }), found, refuse);
  }

 private:
  static std::string label_of(const DraftOperand& operand) { return value_label(operand.value); }

  /// All but what the machine decides: mapping, what stays, who makes the sums of a norm.
  static void compare_classes(InstructionClass expected, const InstructionClass& found, const Refusal& refuse) {
    if (expected.parts.size() != found.parts.size())
      refuse(fmt::format("part: expected {}, found {}", expected.parts.size(), found.parts.size()));
    expected.parts.back().statistics_passes = found.parts.back().statistics_passes;
    expected.statistics_passes = found.statistics_passes;
    expected.mapping = found.mapping;
    expected.pinned = found.pinned;
    for (std::size_t p = 0; p < found.parts.size(); ++p) {
      expected.parts[p].streamed_channels = found.parts[p].streamed_channels;
      expected.parts[p].tile_channels = found.parts[p].tile_channels;
      compare(fmt::format("part {}: ", p), text_of(expected.parts[p]), text_of(found.parts[p]), refuse);
    }
    compare("", text_of(expected), text_of(found), refuse);
  }

  /// The drafts of `nodes` as one: the first, with the others behind.
  std::optional<Draft> joined(std::span<const NodeId> nodes) const {
    std::optional<Draft> whole;
    for (const NodeId node : nodes) {
      const Draft* draft = derivation_.draft_of(node);
      if (draft == nullptr) return std::nullopt;
      if (whole)
        join_behind(*whole, *draft);
      else
        whole = *draft;
    }
    return whole;
  }

  Draft attention_of(const Instruction& i, const InstructionClass& c, const Refusal& refuse) const {
    const auto inside = [&](NodeId node) { return std::ranges::find(i.nodes, node) != i.nodes.end(); };
    const auto found = std::ranges::find_if(attentions_, inside, &Draft::node);
    if (found == attentions_.end() || !std::ranges::all_of(found->nodes, inside))
      refuse("compound: expected nodes that are softmax(q k) v, which nothing else reads");
    Draft draft = *found;
    if (c.spread_cores > 1 && draft.work.nest.groups % c.spread_cores != 0)
      refuse(fmt::format("spread_cores: expected a divisor of {} heads", draft.work.nest.groups));
    std::vector<NodeId> before;
    for (const NodeId node : i.nodes)
      if (std::ranges::find(draft.nodes, node) == draft.nodes.end()) before.push_back(node);
    const Draft* last = before.empty() ? nullptr : derivation_.draft_of(before.back());
    if (last != nullptr && is_transpose(*stage_.graph, *last)) {
      if (last->operands[0].value != draft.destination) refuse("nodes: expected a Transpose of what it makes");
      join_turned(*stage_.graph, draft, *last);
      before.pop_back();
    }
    if (!before.empty()) {
      const auto norm = joined(before);
      if (!norm || norm->work.family != Family::norm || norm->destination != draft.operands[0].value)
        refuse("nodes: expected an attention's, and before it of a norm that makes its first operand alone");
      const auto own = static_cast<std::int64_t>(before.size());
      add_prologue(*norm, c.prologue_passes > own, draft);
    }
    if (c.spread_cores > 1) spread(draft, c.spread_cores);
    return draft;
  }

  /// The parts' drafts, as many of the instruction's nodes each as its part says.
  List<Draft> drafts_of(std::span<const NodeId> nodes, const std::vector<Part>& parts,
                        const Refusal& refuse) const {
    List<Draft> drafts;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::string of = fmt::format("part {}: ", p);
      const std::int64_t before = parts[p].prologue_passes, behind = parts[p].fused_operators;
      const auto left = static_cast<std::int64_t>(nodes.size());
      const bool whole = p + 1 == parts.size();
      if (before >= left || behind >= left - before || (whole && before + 1 + behind < left))
        refuse(of + "prologue_passes, fused_operators: expected as many as it has of the instruction's nodes");
      const auto own = nodes.first(as_size(before + 1 + behind));
      const auto norm = joined(own.first(as_size(before)));
      auto draft = joined(own.subspan(as_size(before)));
      if (!draft || (before > 0 && !norm)) refuse(of + "a node that computes nothing");
      if (norm && (norm->work.family != Family::norm || draft->operands.empty() || norm->operands.empty() ||
                   norm->destination != draft->operands[0].value))
        refuse(of + "expected a norm that makes its first operand in its first nodes");
      if (norm) add_prologue(*norm, false, *draft);
      drafts.push_back(std::move(*draft));
      nodes = nodes.subspan(own.size());
    }
    return drafts;
  }

  Draft strips_of(const Instruction& i, const InstructionClass& c, const Refusal& refuse) const {
    const List<Draft> drafts = drafts_of(i.nodes, c.parts, refuse);
    auto draft = c.work.family == Family::linear ? joined_chain(*stage_.graph, derivation_.roots(), drafts)
                                                 : joined_strips(*stage_.graph, drafts, c.line_buffers);
    if (!draft) refuse("compound: expected nodes each of which reads the rows that the one before makes");
    return std::move(*draft);
  }

  /// The draft that makes the sums of a norm inside strips, named after the part before it: the first parts of
  /// these.
  Draft sums_of(const Instruction& i, const InstructionClass& c, const Refusal& refuse) const {
    const Draft* last = derivation_.named(i.name);
    const auto whole = last == nullptr ? strips_of_.end() : strips_of_.find(last->node);
    if (whole == strips_of_.end()) refuse("name: expected a node of an instruction of strips");
    const Instruction& of = stage_.program.instructions[whole->second];
    List<Draft> drafts = drafts_of(of.nodes, classes_[whole->second].parts, refuse);
    const auto end = std::ranges::find(drafts, last->node, &Draft::node);
    if (end == drafts.end()) refuse("name: expected the main node of a part of strips");
    drafts.erase(end + 1, drafts.end());
    auto draft = joined_strips(*stage_.graph, drafts, c.line_buffers);
    if (!draft) refuse("compound: expected nodes each of which reads the rows that the one before makes");
    draft->out_elements = 0;
    draft->mnemonic += "_sums";
    return std::move(*draft);
  }

  const CompiledStage& stage_;
  const Derivation& derivation_;
  const List<InstructionClass>& classes_;
  List<Draft> attentions_;
  std::map<NodeId, std::size_t> strips_of_;  // the instruction of strips that computes a node
};

}  // namespace

void check_compounds(const CompiledStage& stage, const Derivation& derivation,
                     const List<InstructionClass>& classes,
                     const std::function<void(std::size_t, const std::string&)>& refuse) {
  const Compounds compounds(stage, derivation, classes);
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (classes[i].compound != Compound::single)
      compounds.check(i, [&](const std::string& what) { refuse(i, what); });
}

}  // namespace sdip
