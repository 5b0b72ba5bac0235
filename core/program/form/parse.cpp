// parse_graph_text: a `.graph` text to the stage it describes.
//
// Worked example (tests/core/program/form/parse_test.cpp, docs/formats.md): two linear layers and a residual, five
// instructions' fields left to what the operators say.
#include "core/program/form/parse.h"

#include "core/base/error.h"
#include "core/graph/serial.h"
#include "core/program/form/form.h"
#include "core/program/form/marks.h"
#include "core/program/form/parsing.h"

namespace sdip {
namespace {

constexpr std::size_t most_operands = 1 << 16;
constexpr Bytes unsaid(-1);

struct Reading : Parsing {
  List<InstructionClass> classes;
  std::vector<std::size_t> lines;        // of instructions
  std::optional<Derivation> derivation;  // once the nodes are there
  std::optional<Scanner> inputs, outputs, totals;
  Machine machine;
};

/// The lines that begin a text, each once and in this order.
enum class Header { sdip, stage, machine, graph, inputs, outputs, done };

std::string read_name(Scanner& in) {
  in.skip_spaces();
  return in.quoted("a name");
}

void read_machine(Reading& r, Scanner& in) {
  TextIn fields = TextIn::read(in);
  const auto rows = program_parameters();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto given = fields.take(rows[i]->name);
    if (!given) continue;
    Scanner value = *given;
    try {
      r.stage.needs[i] = parse_value(*rows[i], value.value("a value"), std::string(rows[i]->name));
    } catch (const Error& error) {
      given->refuse(fmt::format("a value of {} ({})", rows[i]->name, error.what()));
    }
  }
  fields.finish();
  r.machine = machine_like(r.stage.needs);
}

void read_stage(Reading& r, Scanner& in) {
  r.stage.name = read_name(in);
  in.skip_spaces();
  r.stage.role = TextIn::one_of<Role>(in, "a role", 5, role_text);
  TextIn fields = TextIn::read(in);
  stage_fields(fields, r.stage);
  if (!is_sound_stage(r.stage))
    refuse_line(r.line, "expected passes_per_step of at least 1, part below parts, dram_thousandths 1 to 1000");
  fields.finish();
}

void read_graph(Reading& r, Scanner& in) {
  r.graph.name = read_name(in);
  TextIn fields = TextIn::read(in);
  if (auto producer = fields.take("producer")) r.graph.producer = producer->quoted("producer");
  fields.number("opset", 0, r.graph.opset, replacement_opset, replacement_opset);
  fields.finish();
}

void read_version(Reading& r, Scanner& in) {
  in.skip_spaces();
  in.expect("graph");
  in.skip_spaces();
  const std::int64_t version = in.number("a version");
  if (version != 2)
    throw Error("graph_version", "line " + std::to_string(r.line),
                fmt::format("a .graph text of version {}, expected 2", version));
  if (!in.at_end()) in.refuse("the end of the line");
}

void read_header(Reading& r, Header header, std::string_view keyword, Scanner& in) {
  constexpr std::string_view names[] = {"sdip", "stage", "machine", "graph", "inputs", "outputs"};
  if (keyword != names[at(header)])
    refuse_line(r.line, fmt::format("expected the line '{} ...'", names[at(header)]));
  if (header == Header::sdip) return read_version(r, in);
  if (header == Header::stage) return read_stage(r, in);
  if (header == Header::machine) return read_machine(r, in);
  if (header == Header::graph) return read_graph(r, in);
  in.skip_spaces();
  (header == Header::inputs ? r.inputs : r.outputs) = in;
}

std::vector<ValueId> ends_of(Reading& r, Scanner& in) {
  std::vector<ValueId> ids;
  if (!in.accept("none")) ids = read_labels(r, in, false);
  if (!in.at_end()) in.refuse("labels of values, or 'none'");
  return ids;
}

/// The graph with its last values, the sums, aside while it is checked.
std::shared_ptr<const Graph> checked_graph(Graph&& graph, std::size_t sums) {
  const auto first = graph.values.end() - static_cast<std::ptrdiff_t>(sums);
  std::vector<Value> apart(first, graph.values.end());
  graph.values.erase(first, graph.values.end());
  const std::string bytes = to_bytes(graph);
  Graph checked = graph_of_bytes(std::as_bytes(std::span(bytes)), graph.own_operators);
  for (Value& value : apart) checked.values.push_back(std::move(value));
  return std::make_shared<const Graph>(std::move(checked));
}

/// The graph is whole: it is checked and linked as one that came as bytes is.
void close_graph(Reading& r) {
  r.graph.inputs = ends_of(r, *r.inputs);
  r.graph.outputs = ends_of(r, *r.outputs);
  try {
    r.stage.graph = checked_graph(std::move(r.graph), r.sums);
    r.derivation.emplace(r.stage);
  } catch (const Error& error) {
    throw Error("graph_inconsistent", "line " + std::to_string(r.line),
                std::string("the values and nodes make no graph: ") + error.what());
  }
}

Place read_place(Scanner& in) {
  for (const Place place : {Place::dsram, Place::stackram, Place::dram, Place::psram, Place::scalar})
    if (in.accept(place_text(place))) return place;
  in.refuse("dsram, stackram, dram, psram or register");
}

Bytes read_address(Scanner& in) { return in.accept("@") ? Bytes(in.number("an address", 0, most_size)) : Bytes(0); }

/// ".conv2d", ".conv2d.older" or nothing.
void read_pair(Scanner& in, PlacedOperand& operand) {
  if (!in.accept(".")) return;
  for (std::size_t f = 0; f < pair_families && !operand.pair; ++f)
    if (in.accept(family_text(static_cast<Family>(f)))) operand.pair = static_cast<Family>(f);
  if (!operand.pair) in.refuse("a family that has a DSRAM pair");
  operand.older = in.accept(".older");
}

/// Nothing for "-"; weights for "psram@OFFSET".
struct ReadOperand {
  bool there = false, weights = false;
  PlacedOperand operand;
};
ReadOperand read_operand(const Reading& r, Scanner& in) {
  if (in.accept("-")) return {};
  ReadOperand read;
  read.there = true;
  read.operand.place = read_place(in);
  if (read.operand.place == Place::dsram) read_pair(in, read.operand);
  read.operand.address = read_address(in);
  read.weights = read.operand.place == Place::psram;
  if (read.weights) return read;
  in.expect(":");
  read.operand.value = read_label(r, in, false);
  read.operand.pop = in.accept(":pop");
  return read;
}

void read_destination(const Reading& r, Scanner& in, Instruction& instruction, InstructionClass& c) {
  c.to_dsram = c.push = c.to_dram = false;
  const bool in_registers = in.accept(place_text(Place::scalar));
  while (!in_registers) {
    const Place place = read_place(in);
    bool* to = place == Place::dsram      ? &c.to_dsram
               : place == Place::stackram ? &c.push
               : place == Place::dram     ? &c.to_dram
                                          : nullptr;
    if (to == nullptr || *to) in.refuse("dsram, stackram or dram, each once, before it");
    *to = true;
    (place == Place::dsram      ? instruction.dsram_address
     : place == Place::stackram ? instruction.stackram_address
                                : instruction.dram_address) = read_address(in);
    if (!in.accept("+")) break;
  }
  in.expect(":");
  instruction.destination = read_label(r, in, false);
}

/// "N,N,..." or "none".
std::vector<std::int32_t> read_numbers(Scanner in, const char* what, std::int64_t most) {
  std::vector<std::int32_t> numbers;
  if (!in.accept("none")) {
    do {
      if (numbers.size() == most_operands) in.refuse("fewer numbers");
      numbers.push_back(static_cast<std::int32_t>(in.number(what, 0, most)));
    } while (in.accept(","));
  }
  TextIn::end(in);
  return numbers;
}

InstructionScales read_scales(Scanner in) {
  InstructionScales scales;
  do {
    if (scales.size() == most_operands) in.refuse("fewer scales");
    if (in.accept("channels")) {
      scales.emplace_back(std::nullopt);
      continue;
    }
    WeightScale& scale = scales.emplace_back(WeightScale(static_cast<float>(in.real("a scale")))).value();
    if (in.accept(":")) scale.zero = static_cast<std::uint8_t>(in.number("a zero point", 0, 255));
  } while (in.accept(","));
  TextIn::end(in);
  return scales;
}

void read_extensions(Reading& r, TextIn& fields, Instruction& instruction) {
  if (auto more = fields.take("more")) {
    do {
      const ReadOperand read = read_operand(r, *more);
      if (!read.there || read.weights) more->refuse("an operand that is a value");
      if (instruction.sources.size() == most_operands) more->refuse("fewer operands");
      instruction.sources.push_back(read.operand);
    } while (more->accept(","));
    TextIn::end(*more);
  }
  const auto nodes_said = fields.take("nodes");
  if (!nodes_said) refuse_line(r.line, "expected the field 'nodes': the numbers of the nodes that it computes");
  const auto last_node = static_cast<std::int64_t>(r.stage.graph->nodes.size()) - 1;
  instruction.nodes = read_numbers(*nodes_said, "a node", last_node);
  if (has_pairs(r.machine)) instruction.after = unsaid_marks;
  if (const auto after = fields.take("after"))
    instruction.after = read_numbers(*after, "an earlier instruction", std::ssize(r.classes) - 1);
  if (auto weights = fields.take("weights")) {
    instruction.weights = read_labels(r, *weights, false);
    TextIn::end(*weights);
  }
  if (auto scale = fields.take("scale")) instruction.scales = read_scales(*scale);
  MemorySpan &reads = instruction.read_tiles, &writes = instruction.write_tiles;
  fields.numbers<4>("tiles", 0,
                    {&reads.address.value, &reads.bytes.value, &writes.address.value, &writes.bytes.value},
                    {0, 0, 0, 0}, 0, ',');
  instruction.dsram_read_side = unsaid;
  if (auto occupancy = fields.take("occupancy")) {
    instruction.dsram_read_side = Bytes(occupancy->number("bytes", 0, most_size));
    occupancy->expect(",");
    instruction.dsram_write_side = Bytes(occupancy->number("bytes", 0, most_size));
    occupancy->expect(",");
    instruction.stackram = Bytes(occupancy->number("bytes", 0, most_size));
    TextIn::end(*occupancy);
  }
  const auto& nodes = r.stage.graph->nodes;
  if (!instruction.nodes.empty()) instruction.name = nodes[at(instruction.nodes.front())].name;
  if (auto name = fields.take("name")) {
    instruction.name = name->quoted("a name");
    TextIn::end(*name);
  }
}

void read_instruction(Reading& r, Scanner& in) {
  const auto number = static_cast<std::int64_t>(r.classes.size());
  if (r.classes.size() >= most_instructions) in.refuse("at most 1,000,000 instructions");
  in.number("the instruction's number in order", number, number);
  Instruction instruction;
  InstructionClass c;
  in.skip_spaces();
  instruction.mnemonic = in.next() == '"' ? in.quoted("an operation") : std::string(in.word("an operation"));
  in.skip_spaces();
  const ReadOperand first = read_operand(r, in);
  if (first.weights) in.refuse("weights as src2, not src1,");
  if (first.there) instruction.sources.push_back(first.operand);
  in.skip_spaces();
  const ReadOperand second = read_operand(r, in);
  if (second.weights) instruction.weight_offset = second.operand.address;
  if (second.there && !second.weights) {
    if (!first.there) in.refuse("src1 before src2");
    instruction.sources.push_back(second.operand);
  }
  in.skip_spaces();
  read_destination(r, in, instruction, c);
  in.skip_spaces();
  const std::int64_t first_size = in.number("src1_size", 0, INT64_MAX);
  in.skip_spaces();
  const std::int64_t second_size = in.number("src2_size", 0, INT64_MAX);
  if (second.weights) instruction.weight_bytes = Bytes(second_size);
  if (second.weights && second_size == 0) in.refuse("'-' as src2, where there are no weights,");
  const EssaySizes sizes = essay_sizes(*r.stage.graph, instruction, r.machine);
  if (sizes.first != first_size || sizes.second != second_size)
    refuse_line(r.line, fmt::format("src1_size src2_size: expected {} {}, what their values take", sizes.first,
                                    sizes.second));
  TextIn fields = TextIn::read(in);
  read_extensions(r, fields, instruction);
  class_fields(fields, c, r.derivation->class_of(instruction, c.to_dsram, c.push, c.to_dram));
  give_pairs(instruction.sources, c);
  fields.finish();
  r.stage.program.instructions.push_back(std::move(instruction));
  r.classes.push_back(std::move(c));
  r.lines.push_back(r.line);
}

void read_totals(Reading& r) {
  Program& program = r.stage.program;
  const Program derived = totals_of(r.stage, *r.derivation);
  const std::size_t line = r.totals ? r.totals->line() : r.line;
  TextIn fields{line, {}, {}};
  if (r.totals) fields = TextIn::read(*r.totals);
  totals_fields(fields, program, derived);
  fields.finish();
  if (program.weight_bytes != derived.weight_bytes ||
      program.distinct_weight_bytes != derived.distinct_weight_bytes)
    refuse_line(line, fmt::format("weight_bytes, distinct_weight_bytes: expected {}, {}",
                                  derived.weight_bytes.value, derived.distinct_weight_bytes.value));
  for (const Bytes bytes : {program.stored_weight_bytes - program.distinct_weight_bytes, program.pinned_bytes,
                            program.input_bytes, program.output_bytes, program.latent_bytes, program.context_bytes})
    if (bytes.value < 0 || bytes.value >= most_size) refuse_line(line, "totals: expected 0 to 2^50 bytes");
}

void read_line(Reading& r, std::string_view keyword, Scanner& in) {
  in.skip_spaces();
  if (keyword == "value" || keyword == "node") {
    if (r.derivation) refuse_line(r.line, "values and nodes stand before instructions");
    return keyword == "value" ? read_value_line(r, in) : read_node_line(r, in);
  }
  if (keyword == "totals" && !r.totals) {
    r.totals = in;
    return;
  }
  if (keyword != "instruction") refuse_line(r.line, "expected value, node or instruction at the line's beginning");
  if (!r.derivation) close_graph(r);
  read_instruction(r, in);
}

}  // namespace

CompiledStage parse_graph_text(std::string_view text, std::shared_ptr<const OwnOperators> own) {
  Reading r;
  r.graph.own_operators = std::move(own);
  int header = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++r.line;
    if (line.empty() || line.front() == '#') continue;
    Scanner in(line, r.line);
    const std::string_view keyword = in.word("a keyword");
    if (header < static_cast<int>(Header::done))
      read_header(r, static_cast<Header>(header++), keyword, in);
    else
      read_line(r, keyword, in);
  }
  if (r.classes.empty()) refuse_line(r.line, "expected instructions");
  finish_program(r.stage, *r.derivation, std::move(r.classes),
                 [&](std::size_t i, const std::string& what) { refuse_line(r.lines.at(i), what); });
  read_totals(r);
  return std::move(r.stage);
}

}  // namespace sdip
