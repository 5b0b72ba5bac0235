// The `.graph` text of a program: docs/formats.md has every line.
//
// Worked example, one line wrapped here:
//   instruction 12 conv2d+silu dsram:%5 psram@1843200 dsram+stackram:%9 2621440 1843840 nodes=7,8 weights=%6,%7
//      batch=2 in_channels=320 out_channels=320 in=64x64 out=64x64 kernel=3x3 padding=1,1,1,1 tile_rows=64 ...
#include <charconv>
#include <span>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/program/form/form.h"
#include "core/program/form/format_text.h"
#include "core/program/form/parsing.h"

namespace sdip {
namespace {

std::string labels(const std::vector<ValueId>& ids) { return list_text(ids, value_label, ","); }

template <class List, class Text>
std::string bracketed(const List& list, Text text_of) {
  return "[" + list_text(list, text_of, ",") + "]";
}

std::string integer_text(std::int64_t x) { return std::to_string(x); }

std::string tensor_text(const Tensor& tensor) {
  return is_floating(tensor.type) ? bracketed(tensor.floats, real_text) : bracketed(tensor.ints, integer_text);
}

std::string type_text(const Operand& operand) {
  return std::string(element_type_text(operand.type)) + shape_text(operand.shape);
}

std::string attribute_text(const Attribute& attribute) {
  switch (attribute.index()) {
    case 0:
      return std::to_string(std::get<0>(attribute));
    case 1:
      return real_text(std::get<1>(attribute));
    case 2:
      return quoted(std::get<2>(attribute));
    case 3:
      return "ints" + bracketed(std::get<3>(attribute), integer_text);
    case 4:
      return "reals" + bracketed(std::get<4>(attribute), real_text);
    case 5:
      return "texts" + bracketed(std::get<5>(attribute), [](const std::string& s) { return quoted(s); });
    default: {
      const Tensor& tensor = std::get<6>(attribute);
      return fmt::format("tensor:{}{}:{}", element_type_text(tensor.type), shape_text(tensor.shape),
                         tensor_text(tensor));
    }
  }
}

std::string value_line(ValueId id, const Value& value, bool of_a_node) {
  const std::size_t kind = of_a_node ? at(value.kind) : std::size(value_kinds) - 1;
  std::string line = fmt::format("value {} {} {} {}", value_label(id), value_kinds[kind], type_text(value.operand),
                                 quoted(value.name));
  if (value.initializer) line += " initializer=1";
  if (value.parameter) line += " parameter=1";
  if (value.format) line += " format=" + std::string(format_text(*value.format));
  if (value.sums) line += " sums=" + std::string(format_text(*value.sums));
  if (value.density_hundredths) line += " density=" + density_text(*value.density_hundredths);
  if (value.operand.fill) line += " fill=" + real_text(*value.operand.fill);
  if (value.operand.value) line += " data=" + tensor_text(*value.operand.value);
  if (value.bytes)
    line += fmt::format(" bytes={}:{}:{}", quoted(value.bytes->file), value.bytes->offset, value.bytes->length);
  return line + "\n";
}

/// "Conv", "sdip.Silu"; in quotes where that would not read back.
std::string operator_text(const Operator& op) {
  std::string letters(op.domain);
  std::erase(letters, '.');
  if (is_plain(op.type) && (op.domain.empty() || is_plain(letters)))
    return (op.domain.empty() ? "" : std::string(op.domain) + ".") + std::string(op.type);
  return (op.domain.empty() ? "" : quoted(op.domain) + ".") + quoted(op.type);
}

std::string node_line(std::size_t number, const Node& node) {
  std::string line = fmt::format("node {} {} = ", number, labels(node.outputs));
  line += fmt::format("{}({}) {}", operator_text(*node.op), labels(node.inputs), quoted(node.name));
  line += " opset=" + std::to_string(node.opset);
  if (node.in_place) line += " in_place=1";
  if (node.attributes.empty()) return line + "\n";
  const auto text_of = [](const auto& named) { return quoted(named.first) + "=" + attribute_text(named.second); };
  return line + " attributes={" + list_text(node.attributes, text_of, " ") + "}\n";
}

std::string operand_text(const PlacedOperand& operand) {
  std::string text(place_text(operand.place));
  if (operand.pair) text += "." + std::string(family_text(*operand.pair));
  if (operand.older) text += ".older";
  if (operand.address.value != 0) text += "@" + std::to_string(operand.address.value);
  text += ":" + value_label(operand.value);
  return operand.pop ? text + ":pop" : text;
}

std::string destination_text(const Instruction& instruction, const InstructionClass& c) {
  std::string text;
  const auto add = [&](bool there, Place place, Bytes address) {
    if (!there) return;
    text += (text.empty() ? "" : "+") + std::string(place_text(place));
    if (address.value != 0) text += "@" + std::to_string(address.value);
  };
  add(c.to_dsram, Place::dsram, instruction.dsram_address);
  add(c.push, Place::stackram, instruction.stackram_address);
  add(c.to_dram, Place::dram, instruction.dram_address);
  return (text.empty() ? std::string(place_text(Place::scalar)) : text) + ":" +
         value_label(instruction.destination);
}

std::string scale_text(const std::optional<WeightScale>& scale) {
  if (!scale) return "channels";
  char digits[32];
  const std::string text(digits, std::to_chars(digits, digits + sizeof digits, scale->scale).ptr);
  return scale->zero ? text + ":" + std::to_string(*scale->zero) : text;
}

std::string numbers_text(const std::vector<std::int32_t>& numbers) {
  return numbers.empty() ? "none" : list_text(numbers, integer_text, ",");
}

struct Writing {
  const CompiledStage& stage;
  const Graph& graph;
  Machine machine;
  Derivation derivation;
};

/// The essay's six fields.
std::string six_fields(const Writing& w, const Instruction& instruction, const InstructionClass& c) {
  const EssaySources essay = essay_sources(instruction);
  const EssaySizes sizes = essay_sizes(w.graph, instruction, w.machine);
  std::string text = (is_plain(instruction.mnemonic) ? instruction.mnemonic : quoted(instruction.mnemonic)) + " ";
  text += essay.first != nullptr ? operand_text(*essay.first) : "-";
  if (essay.weights)
    text += " psram@" + std::to_string(instruction.weight_offset.value);
  else
    text += " " + (essay.second != nullptr ? operand_text(*essay.second) : "-");
  return fmt::format("{} {} {} {}", text, destination_text(instruction, c), sizes.first, sizes.second);
}

std::string instruction_line(const Writing& w, std::size_t number, const InstructionScales& scales) {
  Instruction instruction = w.stage.program.instructions[number];
  InstructionClass c = w.stage.program.classes[instruction.instruction_class];
  std::string line = fmt::format("instruction {} {}", number, six_fields(w, instruction, c));
  TextOut out{line};
  const EssaySources essay = essay_sources(instruction);
  const auto more = std::span(instruction.sources).subspan(essay.used);
  if (!more.empty()) out.field("more", list_text(more, operand_text, ","));
  out.field("nodes", numbers_text(instruction.nodes));
  if (!instruction.weights.empty()) out.field("weights", labels(instruction.weights));
  if (!scales.empty()) out.field("scale", list_text(scales, scale_text, ","));
  class_fields(out, c, w.derivation.class_of(instruction, c.to_dsram, c.push, c.to_dram));
  MemorySpan &reads = instruction.read_tiles, &writes = instruction.write_tiles;
  out.numbers<4>("tiles", 0, {&reads.address.value, &reads.bytes.value, &writes.address.value, &writes.bytes.value},
                 {0, 0, 0, 0}, 0, ',');
  if (has_pairs(w.machine)) out.field("after", numbers_text(instruction.after));
  out.field("occupancy", fmt::format("{},{},{}", instruction.dsram_read_side.value,
                                     instruction.dsram_write_side.value, instruction.stackram.value));
  out.field("name", quoted(instruction.name));
  return line + "\n";
}

std::string header_lines(const Writing& w) {
  std::string text = fmt::format("sdip graph 2\nstage {} {}", quoted(w.stage.name), role_text(w.stage.role));
  CompiledStage numbers{
      w.stage.role, {}, {}, {}, w.stage.passes_per_step, {}, w.stage.part, w.stage.dram_thousandths};
  TextOut of_stage{text};
  stage_fields(of_stage, numbers);
  text += "\nmachine";
  for (std::size_t i = 0; i < w.stage.needs.size(); ++i) {
    const ParameterRow& row = *program_parameters()[i];
    text += fmt::format(" {}={}", row.name, value_text(row, w.stage.needs[i]));
  }
  text += fmt::format("\ngraph {} producer={} opset={}\n", quoted(w.graph.name), quoted(w.graph.producer),
                      w.graph.opset);
  text += "inputs " + (w.graph.inputs.empty() ? "none" : labels(w.graph.inputs)) + "\n";
  text += "outputs " + (w.graph.outputs.empty() ? "none" : labels(w.graph.outputs)) + "\ntotals";
  Program totals = w.stage.program;
  TextOut out{text};
  totals_fields(out, totals, totals_of(w.stage, w.derivation));
  return text + "\n";
}

}  // namespace

std::string graph_text(const CompiledStage& stage, const WeightScales& scales) {
  check(stage.graph != nullptr, "a compiled stage has its graph");
  const Writing w{stage, *stage.graph, machine_like(stage.needs), Derivation(stage)};
  std::string text = header_lines(w);
  const std::size_t of_nodes = values_of_nodes(w.graph);
  for (ValueId v = 0; v < std::ssize(w.graph.values); ++v)
    text += value_line(v, w.graph.values[v], at(v) < of_nodes);
  for (std::size_t n = 0; n < w.graph.nodes.size(); ++n) text += node_line(n, w.graph.nodes[n]);
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i)
    text += instruction_line(w, i, scales.empty() ? stage.program.instructions[i].scales : scales.at(i));
  return text;
}

}  // namespace sdip
