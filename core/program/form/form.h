// The parts that the text and the binary form of a program share.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/program/tiling/draft.h"

namespace sdip {

/// Derives what the compiler would make of the nodes of an instruction: a text may leave it out, and is checked
/// against it.
class Derivation {
 public:
  /// Requires a linked graph, which must outlive it. Throws what lowering throws.
  explicit Derivation(const CompiledStage& stage);

  /// The class of an instruction of single operators, whole operands as its tile, of which name, nodes, sources,
  /// destination and weights are there.
  InstructionClass class_of(const Instruction& instruction, bool to_dsram, bool push, bool to_dram) const;
  /// Its mnemonic; empty when none of its nodes does anything.
  std::string mnemonic_of(const Instruction& instruction) const;

  const List<ValueId>& roots() const { return roots_; }
  const Joined& joined() const { return joined_; }
  ValueId root(ValueId value) const { return roots_[value]; }

  /// The draft of a node as an instruction, of several the first; nullptr when it computes nothing.
  const Draft* draft_of(NodeId node) const;
  /// The same of the node that has a name.
  const Draft* named(std::string_view name) const;
  /// The drafts that pass fuse_attention joins.
  List<Draft> attentions() const;
  /// The values that the instruction's nodes read of others and make for them, after views were seen through.
  struct Ends {
    std::set<ValueId> read, weights, made;
  };
  Ends ends_of(const Instruction& instruction) const;

 private:
  const Draft* main_of(const Instruction& instruction) const;
  Draft joined(const Instruction& instruction) const;

  const Graph& graph_;
  List<ValueId> roots_;
  Joined joined_;
  List<Draft> drafts_;
  List<std::vector<std::int32_t>> drafts_by_node_;
  std::map<std::string, NodeId, std::less<>> nodes_by_name_;
};

/// Values at the end of a graph that no node makes, but an instruction: the sums of a norm whose result others
/// make.
std::size_t values_of_nodes(const Graph& graph);

/// Whole operands as one tile, channels outermost.
Mapping whole_mapping(const InstructionClass& c);

/// Bytes of a value on chip, in the machine's activation format.
Bytes value_bytes(const Graph& graph, ValueId value, const Machine& machine);

/// The essay's src1 and src2: the first operand; the weights, or the second.
struct EssaySources {
  const PlacedOperand* first = nullptr;
  const PlacedOperand* second = nullptr;  // nullptr where src2 is the weights, or nothing
  bool weights = false;
  std::size_t used = 0;  // of the sources; the others follow among the extension fields
};
EssaySources essay_sources(const Instruction& instruction);

/// Bytes of src1 and src2.
struct EssaySizes {
  std::int64_t first = 0, second = 0;
};
EssaySizes essay_sizes(const Graph& graph, const Instruction& instruction, const Machine& machine);

/// The weights as DRAM keeps them: the bytes fetched, each once, with lookup tables whole.
Bytes stored_weights(const Graph& graph, const Machine& machine, Bytes fetched);

/// The totals of a program, as far as they follow from the instructions and the graph.
Program totals_of(const CompiledStage& stage, const Derivation& derivation);

/// Occupancy when only the instruction's own operands lie on chip.
void give_occupancy(const CompiledStage& stage, Instruction& instruction, const InstructionClass& c);

/// Checks an instruction that was read: its class against what its nodes are, sizes, places and addresses against
/// what its operands take. Gives an occupancy below 0, one not said. Calls `refuse` with what is wrong, which
/// throws.
using Refusal = std::function<void(const std::string&)>;
void check_instruction(const CompiledStage& stage, const Derivation& derivation, Instruction& instruction,
                       const InstructionClass& c, const Refusal& refuse);

/// Gives instructions the numbers of their classes, one an instruction in `classes`: equal ones share one.
void share_classes(Program& program, const List<InstructionClass>& classes);

/// The classes of a program that was read, one an instruction in `classes`, checked: every operand is there before
/// it is used, weights stand without gaps. `refuse` takes the instruction's number, too.
void finish_program(CompiledStage& stage, const Derivation& derivation, List<InstructionClass>&& classes,
                    const std::function<void(std::size_t, const std::string&)>& refuse);

/// Checks the compound ones of instructions that were read: their parts, sizes, operands and mnemonics are what the
/// compiler makes of their nodes.
void check_compounds(const CompiledStage& stage, const Derivation& derivation,
                     const List<InstructionClass>& classes,
                     const std::function<void(std::size_t, const std::string&)>& refuse);

/// Whether the numbers of a stage that was read are ones that a stage may have.
bool is_sound_stage(const CompiledStage& stage);

/// Sets Instruction::words.
void count_words(CompiledStage& stage);

}  // namespace sdip
