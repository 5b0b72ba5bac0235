// An instruction cut out of its program.
#include "core/explore/validate/validate_alone.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/program/form/form.h"
#include "core/program/kinds.h"
#include "core/program/tiling/draft.h"

namespace sdip {
namespace {

const InstructionClass& class_of(const CompiledStage& stage, const Instruction& instruction) {
  return stage.program.classes[instruction.instruction_class];
}

/// Nodes and values that some instructions need, and where the network is cut: their sources.
struct Cut {
  const Graph& graph;
  std::set<NodeId> nodes;
  std::set<ValueId> values, inputs, made;
  std::set<NodeId> own;  // of the instructions

  /// Read through, not computed: a view, a part in place, or what follows from weights alone.
  bool is_read_through(const Value& value) const {
    if (value.kind == ValueKind::weight || own.contains(value.producer)) return true;
    const Node& node = graph.nodes[value.producer];
    const Family family = work_of(graph, node).family;
    return node.in_place || family == Family::view || family == Family::transpose;
  }
  void need(ValueId v) {
    if (v == none || !values.insert(v).second || inputs.contains(v)) return;
    const Value& value = graph.values[v];
    if (value.kind == ValueKind::input) {
      inputs.insert(v);
    } else if (value.producer != none && !value.operand.value) {
      if (is_read_through(value))
        need_node(value.producer);
      else
        inputs.insert(v);  // only its shape counts: it is no source
    }
  }
  void need_node(NodeId n) {
    if (!nodes.insert(n).second) return;
    const Node& node = graph.nodes[n];
    for (const ValueId v : node.inputs) need(v);
    for (const ValueId v : node.outputs)
      if (v != none) values.insert(v);
  }
};

/// Scalars that instructions before this one made: they are in registers, and no sources.
std::set<ValueId> registers_at(const CompiledStage& stage, std::size_t number) {
  std::set<ValueId> scalars;
  for (std::size_t i = 0; i < number; ++i)
    if (const ValueId v = stage.program.instructions[i].destination; v != none && is_scalar(stage.graph->values[v]))
      scalars.insert(v);
  return scalars;
}

Cut cut_of(const Graph& graph, const std::vector<const Instruction*>& instructions,
           const std::set<ValueId>& registers) {
  Cut cut{graph, {}, {}, {}, {}, {}};
  for (const Instruction* instruction : instructions) {
    for (const PlacedOperand& source : instruction->sources)
      if (source.value != none && graph.values[source.value].kind != ValueKind::weight &&
          !cut.made.contains(source.value))
        cut.inputs.insert(source.value);
    if (instruction->destination != none) cut.made.insert(instruction->destination);
    cut.own.insert(instruction->nodes.begin(), instruction->nodes.end());
    for (const NodeId n : instruction->nodes)
      for (const ValueId v : graph.nodes[n].outputs)
        if (registers.contains(v) && !cut.made.contains(v)) cut.inputs.insert(v);
  }
  for (const Instruction* instruction : instructions) {
    for (const PlacedOperand& source : instruction->sources)
      if (source.value != none) cut.values.insert(source.value);
    for (const NodeId n : instruction->nodes) cut.need_node(n);
    for (const ValueId v : instruction->weights) cut.need(v);
    if (instruction->destination != none) cut.values.insert(instruction->destination);
  }
  return cut;
}

/// The cut as a graph; ids of values and nodes in it by those of the whole.
struct CutGraph {
  Graph graph;
  std::map<ValueId, ValueId> values;
  std::map<NodeId, NodeId> nodes;
};

CutGraph graph_of(const Cut& cut, const std::vector<ValueId>& outputs) {
  CutGraph made;
  Graph& graph = made.graph;
  graph.name = cut.graph.name;
  graph.opset = cut.graph.opset;
  graph.own_operators = cut.graph.own_operators;
  for (const ValueId v : cut.values) {
    made.values[v] = static_cast<ValueId>(graph.values.size());
    Value& value = graph.values.emplace_back(cut.graph.values[v]);
    value.producer = none;
    value.consumers.clear();
    if (!cut.inputs.contains(v)) continue;
    value.kind = ValueKind::input;
    value.operand.value.reset();
    graph.inputs.push_back(made.values[v]);
  }
  const auto renamed = [&](std::vector<ValueId>& ids) {
    for (ValueId& v : ids)
      if (v != none) v = made.values.at(v);
  };
  for (const NodeId n : cut.nodes) {
    made.nodes[n] = static_cast<NodeId>(graph.nodes.size());
    Node& node = graph.nodes.emplace_back(cut.graph.nodes[n]);
    renamed(node.inputs);
    for (ValueId& v : node.outputs)
      if (cut.inputs.contains(v)) v = none;  // a Split's other result, which an instruction before copied
    renamed(node.outputs);
  }
  graph.outputs = outputs;
  renamed(graph.outputs);
  link(graph);
  return made;
}

/// Whether it reads the sums of a norm that stands inside it: of what its own parts make, summed by an instruction
/// before that made them, too.
bool reads_sums_of_its_own(const CompiledStage& stage, std::size_t number) {
  const auto& instructions = stage.program.instructions;
  return std::any_of(instructions.begin(), instructions.begin() + static_cast<std::ptrdiff_t>(number),
                     [&](const Instruction& before) {
                       return before.nodes.empty() && class_of(stage, before).compound == Compound::strips &&
                              std::ranges::any_of(instructions[number].nodes, [&](NodeId n) {
                                return stage.graph->nodes[n].name == before.name;
                              });
                     });
}

/// The instruction that computes an operator whose further result this one copies; nullptr of others.
const Instruction* computing(const CompiledStage& stage, std::size_t number) {
  const auto& instructions = stage.program.instructions;
  const Instruction& tested = instructions[number];
  if (class_of(stage, tested).compound != Compound::single) return nullptr;
  for (const NodeId n : tested.nodes) {
    if (!makes_several(stage.graph->nodes[n])) continue;
    const auto computes = [&](const Instruction& i) { return std::ranges::find(i.nodes, n) != i.nodes.end(); };
    const auto end = instructions.begin() + static_cast<std::ptrdiff_t>(number);
    if (const auto first = std::find_if(instructions.begin(), end, computes); first != end) return &*first;
  }
  return nullptr;
}

/// Two instructions in a row find in DSRAM what the first made, or what was there for the first: not both.
bool finds_its_operands(const Instruction& before, const Instruction& tested) {
  return std::ranges::all_of(tested.sources, [&](const PlacedOperand& source) {
    return source.place != Place::dsram || (!source.pair && source.value == before.destination);
  });
}

/// Where everything that the stage has in DRAM ends.
Bytes dram_end(const CompiledStage& stage, const Machine& machine) {
  Bytes end;
  const auto reach = [&](ValueId v, Bytes address) {
    end = std::max(end, address + value_bytes(*stage.graph, v, machine));
  };
  for (const Instruction& instruction : stage.program.instructions) {
    for (const PlacedOperand& source : instruction.sources)
      if (source.place == Place::dram) reach(source.value, source.address);
    if (class_of(stage, instruction).to_dram) reach(instruction.destination, instruction.dram_address);
  }
  return end;
}

/// Joined values come as one, behind all else: their parts lie where others' bytes may be between.
void move_joined(const CompiledStage& stage, const Machine& machine, Instruction& instruction) {
  std::optional<Bytes> end;
  for (PlacedOperand& source : instruction.sources) {
    const NodeId producer = source.value == none ? none : stage.graph->values[source.value].producer;
    if (source.place != Place::dram || producer == none || !stage.graph->nodes[producer].in_place) continue;
    if (!end) end = dram_end(stage, machine);
    source.address = *end;
    *end += value_bytes(*stage.graph, source.value, machine);
  }
}

void add(AloneInstruction& alone, const CompiledStage& stage, const Instruction& instruction, const CutGraph& cut,
         const Machine& machine) {
  Program& program = alone.stage.program;
  const Family own = class_of(stage, instruction).work.family;
  Instruction copy = instruction;
  move_joined(stage, machine, copy);
  copy.instruction_class = static_cast<std::int32_t>(program.classes.size());
  program.classes.push_back(class_of(stage, instruction));
  for (NodeId& n : copy.nodes) n = cut.nodes.at(n);
  for (PlacedOperand& source : copy.sources) {
    if (source.value != none) source.value = cut.values.at(source.value);
    if (source.pair && (*source.pair != own || source.older))
      source.address +=
          Bytes((1 + 2 * static_cast<std::int64_t>(*source.pair) + source.older) * largest_dsram_bytes(machine));
    source.pair = {};
    source.older = false;
  }
  for (ValueId& v : copy.weights) v = cut.values.at(v);
  if (copy.destination != none) copy.destination = cut.values.at(copy.destination);
  copy.after.clear();
  copy.weight_offset = program.stored_weight_bytes;
  program.stored_weight_bytes += copy.weight_bytes;
  program.weight_bytes += copy.weight_bytes;
  program.distinct_weight_bytes += copy.weight_bytes;
  program.instructions.push_back(std::move(copy));
}

}  // namespace

std::optional<AloneInstruction> alone(const CompiledStage& stage, const Machine& given, std::size_t instruction,
                                      std::string& reason) {
  const StageMachine its(given, stage.role);
  const Machine& machine = *its;
  const Instruction& tested = stage.program.instructions[instruction];
  if (tested.nodes.empty() || tested.destination == none)
    return reason = "makes sums that later instructions read", std::nullopt;
  if (reads_sums_of_its_own(stage, instruction))
    return reason = "reads sums that another instruction made of what is inside it", std::nullopt;
  std::vector<const Instruction*> run{&tested};
  if (const Instruction* before = computing(stage, instruction)) {
    if (!finds_its_operands(*before, tested))
      return reason = "copies a result that was computed while its operands lay elsewhere", std::nullopt;
    run.insert(run.begin(), before);
  }
  const CutGraph cut = graph_of(cut_of(*stage.graph, run, registers_at(stage, instruction)), {tested.destination});
  AloneInstruction made;
  made.machine = machine;
  if (has_pairs(machine)) {
    made.machine = without_own_pairs(machine);
    made.machine.dsram_bytes = largest_dsram_bytes(machine) * (1 + 2 * static_cast<std::int64_t>(pair_families));
  }
  made.stage.role = stage.role;
  made.stage.name = stage.name;
  made.stage.needs = stage.needs;
  for (const Instruction* one : run) add(made, stage, *one, cut, machine);
  made.stage.graph = std::make_shared<const Graph>(cut.graph);
  return made;
}

}  // namespace sdip
