// write_graph_binary, read_graph_binary: a program as bytes; its words are what IMEM holds.
#include <algorithm>
#include <map>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/graph/serial.h"
#include "core/program/form/form.h"
#include "core/program/form/marks.h"
#include "core/program/form/parse.h"
#include "core/program/form/word.h"

namespace sdip {
namespace {

constexpr std::string_view magic = "SDIPprogram\x04";
constexpr std::size_t most_name_bytes = 1 << 16;

/// Numbers of the operators in the order in which the graph's nodes first use them.
std::map<const Operator*, std::int64_t> opcodes_of(const Graph& graph) {
  std::map<const Operator*, std::int64_t> numbers;
  for (const Node& node : graph.nodes) numbers.try_emplace(node.op, static_cast<std::int64_t>(numbers.size()));
  return numbers;
}

/// Attributes that the loop nest has, in other words.
bool is_of_the_nest(std::string_view name) {
  for (const std::string_view known : {"kernel_shape", "strides", "pads", "dilations", "group", "auto_pad"})
    if (name == known) return true;
  return false;
}

struct AttributeBytes {
  ByteWriter& out;
  void operator()(std::int64_t x) const { out.number(x); }
  void operator()(double x) const { out.real(x); }
  void operator()(const std::string& x) const { out.text(x); }
  void operator()(const Tensor& x) const {
    (*this)(x.shape);
    (*this)(x.ints);
    (*this)(x.floats);
  }
  template <class Item>
  void operator()(const std::vector<Item>& list) const {
    out.size(list.size());
    for (const Item& item : list) (*this)(item);
  }
};

/// Whether every operand that is no scalar has the result's shape: then counts say all.
bool has_one_shape(const Graph& graph, const Node& node) {
  const Shape* shape = nullptr;
  const auto same = [&](ValueId id) {
    if (id == none || is_scalar(graph.values[id])) return true;
    const Shape& found = graph.values[id].operand.shape;
    if (shape == nullptr) shape = &found;
    return found == *shape;
  };
  for (const ValueId id : node.inputs)
    if (!same(id)) return false;
  for (const ValueId id : node.outputs)
    if (!same(id)) return false;
  return true;
}

/// Writes what the circuit of a node must know beside the loop nest: attributes in the order of their names;
/// shapes, where counts of rows do not say them.
void describe(const Graph& graph, const Node& node, ByteWriter& out) {
  const auto of_nest = [](const auto& attribute) { return is_of_the_nest(attribute.first); };
  const bool shapes = !has_one_shape(graph, node);
  if (!shapes && node.attributes.empty()) return;
  const bool has_nest =
      (shapes || std::ranges::any_of(node.attributes, of_nest)) && is_nest(work_of(graph, node).family);
  for (const auto& [name, attribute] : node.attributes)
    if (!has_nest || !is_of_the_nest(name)) std::visit(AttributeBytes{out}, attribute);
  if (has_nest || !shapes) return;
  for (const auto* ids : {&node.inputs, &node.outputs})
    for (const ValueId id : *ids)
      if (id != none) AttributeBytes{out}(graph.values[id].operand.shape);
}

struct Encoding {
  const CompiledStage& stage;
  Machine machine;
  std::map<const Operator*, std::int64_t> opcodes;

  explicit Encoding(const CompiledStage& of)
      : stage(of), machine(machine_like(of.needs)), opcodes(opcodes_of(*of.graph)) {}

  WordContext context_of(const Instruction& instruction, std::size_t number) const {
    WordContext context;
    context.number = static_cast<std::int64_t>(number);
    ByteWriter descriptor;
    for (const NodeId id : instruction.nodes) {
      const Node& node = stage.graph->nodes[id];
      context.opcodes.push_back(opcodes.at(node.op));
      describe(*stage.graph, node, descriptor);
    }
    context.descriptor = descriptor.take();
    const EssaySizes sizes = essay_sizes(*stage.graph, instruction, machine);
    context.src1_size = sizes.first;
    context.src2_size = sizes.second;
    return context;
  }

  std::string words_of(Instruction instruction, InstructionClass c, std::size_t number) const {
    WordContext context = context_of(instruction, number);
    if (!c.to_dsram) instruction.dsram_address = Bytes(0);  // it means nothing there
    if (!c.push) instruction.stackram_address = Bytes(0);
    if (!c.to_dram) instruction.dram_address = Bytes(0);
    if (instruction.weight_bytes.value == 0) instruction.weight_offset = Bytes(0);
    WordOut out;
    word_fields(out, instruction, c, context);
    return out.take();
  }
};

void write_ids(ByteWriter& out, const std::vector<std::int32_t>& ids) {
  out.size(ids.size());
  for (const std::int32_t id : ids) out.number(id);
}

/// Writes what is not loaded into IMEM: names, and the graph's ids.
void write_symbols(ByteWriter& out, const Instruction& i) {
  out.text(i.name);
  out.text(i.mnemonic);
  write_ids(out, i.nodes);
  for (const PlacedOperand& source : i.sources) out.number(source.value);
  out.number(i.destination);
  write_ids(out, i.weights);
  for (const Bytes bytes : {i.dsram_read_side, i.dsram_write_side, i.stackram}) out.number(bytes.value);
}

std::vector<std::int32_t> read_ids(ByteReader& in, std::size_t count) {
  std::vector<std::int32_t> ids(in.size(most_word_list));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(in.number(0, static_cast<std::int64_t>(count) - 1));
  return ids;
}

void read_symbols(ByteReader& in, const Graph& graph, Instruction& i) {
  const auto last_value = static_cast<std::int64_t>(graph.values.size()) - 1;
  i.name = in.text(most_name_bytes);
  i.mnemonic = in.text(most_name_bytes);
  i.nodes = read_ids(in, graph.nodes.size());
  for (PlacedOperand& source : i.sources) source.value = static_cast<ValueId>(in.number(0, last_value));
  i.destination = static_cast<ValueId>(in.number(0, last_value));
  i.weights = read_ids(in, graph.values.size());
  for (Bytes* bytes : {&i.dsram_read_side, &i.dsram_write_side, &i.stackram})
    bytes->value = in.number(0, most_size);
}

std::shared_ptr<const Graph> read_graph(ByteReader& in, std::shared_ptr<const OwnOperators> own) {
  const auto bytes = in.raw(in.size(in.left()));
  Graph graph = graph_of_bytes(bytes, std::move(own));
  for (std::size_t left = in.size(most_instructions, 3); left > 0; --left) {
    Value& value = graph.values.emplace_back();
    value.name = in.text(most_name_bytes);
    value.operand.type = static_cast<ElementType>(in.number(0, static_cast<std::int64_t>(last_element_type)));
    value.operand.shape.resize(in.size(64));
    for (std::int64_t& size : value.operand.shape) size = in.number(0, most_size);
    element_count(value.operand.shape);
  }
  return std::make_shared<const Graph>(std::move(graph));
}

void read_header(ByteReader& in, CompiledStage& stage) {
  if (in.left() < magic.size()) in.refuse("the bytes end early");
  const auto found = in.raw(magic.size());
  if (std::string_view(reinterpret_cast<const char*>(found.data()), found.size()) != magic)
    in.refuse("no program of version 4");
  stage.name = in.text(most_name_bytes);
  stage.role = static_cast<Role>(in.number(0, static_cast<std::int64_t>(Role::network)));
  stage.passes_per_step = in.number(1, most_size - 1);
  stage.part.index = static_cast<std::int32_t>(in.number(0, 1'000'000));
  stage.part.count = static_cast<std::int32_t>(in.number(1, 1'000'000));
  stage.dram_thousandths = in.number(1, 1000);
  if (!is_sound_stage(stage)) in.refuse("no such part of a network");
  const auto rows = program_parameters();
  if (in.count() != rows.size()) in.refuse("not as many parameters as programs rest on");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    stage.needs[i] = in.number(rows[i]->least, rows[i]->most);
    const bool is_choice = rows[i]->type == ParameterType::choice;
    if (is_choice && stage.needs[i] >= std::ssize(rows[i]->choices)) in.refuse("no such choice");
  }
}

void check_totals(const Program& said, const Program& derived, const ByteReader& in) {
  if (said.weight_bytes != derived.weight_bytes || said.distinct_weight_bytes != derived.distinct_weight_bytes ||
      said.stored_weight_bytes < said.distinct_weight_bytes)
    in.refuse("totals of weights that are other than the instructions'");
}

/// Takes an instruction's words from the front of `words`, and gives them.
std::span<const std::byte> read_words(std::span<const std::byte>& words, WordContext& context, Instruction& i,
                                      InstructionClass& c) {
  const auto before = words;
  WordIn in(words);
  word_fields(in, i, c, context);
  in.finish();
  return before.first(before.size() - words.size());
}

[[noreturn]] void refuse_instruction(std::size_t number, const std::string& what) {
  const std::string where = "instruction " + std::to_string(number);
  throw Error("graph_inconsistent", where, where + ": " + what);
}

/// Words are those that its fields, nodes and operands have; so a program has one binary form.
void compare(std::span<const std::byte> words, const WordContext& said, const Encoding& encoding,
             const Instruction& i, const InstructionClass& c, std::size_t number) {
  const WordContext found = encoding.context_of(i, number);
  if (said.opcodes != found.opcodes || said.descriptor != found.descriptor || said.src1_size != found.src1_size ||
      said.src2_size != found.src2_size)
    refuse_instruction(number, "its words are of other operators or sizes than its nodes");
  const std::string written = encoding.words_of(i, c, number);
  if (!std::ranges::equal(std::as_bytes(std::span(written)), words))
    refuse_instruction(number, "its words have bits set of fields that it does not use");
}

}  // namespace

void count_words(CompiledStage& stage) {
  const Encoding encoding(stage);
  for (std::size_t n = 0; n < stage.program.instructions.size(); ++n) {
    Instruction& i = stage.program.instructions[n];
    Instruction whole = i;
    const auto& c = stage.program.classes[i.instruction_class];
    const NumberFormat format = c.formats ? c.formats->weights : encoding.machine.weight_format;
    WeightScale unknown;
    if (needs_zero_point(format)) unknown.zero = 0;
    if (has_tensor_scale(format) && i.scales.empty()) whole.scales.assign(i.weights.size(), unknown);
    i.words = static_cast<std::int64_t>(encoding.words_of(std::move(whole), c, n).size() / word_bytes);
  }
}

bool is_graph_binary(std::span<const std::byte> bytes) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).starts_with(magic);
}

std::string write_graph_binary(const CompiledStage& stage) {
  const Encoding encoding(stage);
  Graph graph = *stage.graph;
  graph.imported = {};  // how it was read is no part of the program
  const std::size_t of_nodes = values_of_nodes(graph);
  const std::vector<Value> sums(graph.values.begin() + static_cast<std::ptrdiff_t>(of_nodes), graph.values.end());
  graph.values.resize(of_nodes);
  const Program& program = stage.program;
  ByteWriter out;
  out.raw(magic);
  out.text(stage.name);
  out.number(static_cast<std::int64_t>(stage.role));
  out.number(stage.passes_per_step);
  out.number(stage.part.index);
  out.number(stage.part.count);
  out.number(stage.dram_thousandths);
  out.size(stage.needs.size());
  for (const std::int64_t need : stage.needs) out.number(need);
  out.text(to_bytes(graph));
  out.size(sums.size());
  for (const Value& value : sums) {
    out.text(value.name);
    out.number(static_cast<std::int64_t>(value.operand.type));
    out.size(value.operand.shape.size());
    for (const std::int64_t size : value.operand.shape) out.number(size);
  }
  for (const Bytes bytes :
       {program.weight_bytes, program.distinct_weight_bytes, program.stored_weight_bytes, program.pinned_bytes,
        program.input_bytes, program.output_bytes, program.latent_bytes, program.context_bytes})
    out.number(bytes.value);
  std::string words;
  out.size(program.instructions.size());
  for (std::size_t n = 0; n < program.instructions.size(); ++n) {
    const Instruction& i = program.instructions[n];
    words += encoding.words_of(i, program.classes[i.instruction_class], n);
  }
  out.text(words);
  for (const Instruction& i : program.instructions) write_symbols(out, i);
  return out.take();
}

CompiledStage read_graph_binary(std::span<const std::byte> bytes, std::shared_ptr<const OwnOperators> own) {
  ByteReader in(bytes);
  CompiledStage stage;
  read_header(in, stage);
  stage.graph = read_graph(in, std::move(own));
  Program totals;
  for (Bytes* total :
       {&totals.weight_bytes, &totals.distinct_weight_bytes, &totals.stored_weight_bytes, &totals.pinned_bytes,
        &totals.input_bytes, &totals.output_bytes, &totals.latent_bytes, &totals.context_bytes})
    total->value = in.number(0, most_size);
  const std::size_t count = in.size(most_instructions, head_bytes);
  if (count == 0) in.refuse("no instruction");
  auto words = in.raw(in.size(in.left()));
  List<InstructionClass> classes(count);
  std::vector<WordContext> contexts(count);
  std::vector<std::span<const std::byte>> of_instruction(count);
  stage.program.instructions.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Instruction& instruction = stage.program.instructions[i];
    contexts[i].number = static_cast<std::int64_t>(i);
    of_instruction[i] = read_words(words, contexts[i], instruction, classes[i]);
    give_pairs(instruction.sources, classes[i]);
    if (!words.empty() == (i + 1 == count)) in.refuse("more or fewer words than the instructions take");
  }
  for (Instruction& instruction : stage.program.instructions) read_symbols(in, *stage.graph, instruction);
  if (in.left() != 0) in.refuse("more bytes than a program has");
  for (std::size_t i = 0; i < count; ++i)
    if (!stage.program.instructions[i].weights.empty())
      stage.program.instructions[i].weight_bytes = Bytes(contexts[i].src2_size);
  const Encoding encoding(stage);
  for (std::size_t i = 0; i < count; ++i)
    compare(of_instruction[i], contexts[i], encoding, stage.program.instructions[i], classes[i], i);
  const Derivation derivation(stage);
  finish_program(stage, derivation, std::move(classes), refuse_instruction);
  Program& program = stage.program;
  totals.instructions = std::move(program.instructions);
  totals.classes = std::move(program.classes);
  program = std::move(totals);
  check_totals(program, totals_of(stage, derivation), in);
  return stage;
}

}  // namespace sdip
