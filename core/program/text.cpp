// The `.graph` text of a program.
//
// Worked example, one line wrapped here:
//   12 conv2d+silu src1=dsram:[2,320,64,64] src2=psram@1843200:1843840 dst=dsram,stackram:[2,320,64,64]
//      tile=64x128 order=channels name="/down_blocks.0/resnets.0/conv1/Conv"
#include <charconv>

#include "core/base/escaped.h"
#include "core/program/program.h"
#include "core/program/tiles.h"

namespace sdip {
namespace {

std::string shape_of(const Graph& graph, std::int32_t value) {
  return shape_text(graph.values[static_cast<std::size_t>(value)].operand.shape);
}

/// Names are an exporter's text: quotes and backslashes get a backslash, what a terminal obeys or nobody sees is
/// escaped.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return printable(text) + "\"";
}

std::string destinations(const InstructionClass& c) {
  std::string text;
  const auto add = [&](bool there, std::string_view name) {
    if (!there) return;
    if (!text.empty()) text += ',';
    text += name;
  };
  add(c.to_dsram, "dsram");
  add(c.push, "stackram");
  add(c.to_dram, "dram");
  add(text.empty(), place_text(Place::scalar));  // the sums of a norm
  return text;
}

/// "0.0012,channels": the shortest decimals that read back as the same fp32.
std::string scales_text(const InstructionScales& scales) {
  std::string text;
  for (const auto& scale : scales) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, scale.value_or(0.0F)).ptr;
    text += (text.empty() ? "" : ",") + (scale ? std::string(digits, end) : std::string("channels"));
  }
  return text;
}

std::string line_of(const Instruction& instruction, const InstructionClass& c, const Graph& graph,
                    const InstructionScales& scales) {
  std::string line = instruction.mnemonic;
  int number = 1;
  for (const PlacedOperand& source : instruction.sources) {
    line += " src" + std::to_string(number++) + "=" + std::string(place_text(source.place)) + ":" +
            shape_of(graph, source.value);
    if (source.pop) line += ":pop";
  }
  if (instruction.weight_bytes.value > 0) {
    line += " src" + std::to_string(number) + "=psram@" + std::to_string(instruction.weight_offset.value) + ":" +
            std::to_string(instruction.weight_bytes.value);
    if (c.pinned) line += ":pinned";
  }
  if (!scales.empty()) line += " scale=" + scales_text(scales);
  line += " dst=" + destinations(c) + ":" + shape_of(graph, instruction.destination);
  line += " tile=" + std::to_string(c.mapping.tile_rows) + "x" + std::to_string(c.mapping.tile_channels);
  if (is_nest(c.work.family))
    line += c.mapping.outside(Loop::channels, Loop::rows) ? " order=channels" : " order=rows";
  return line + " name=" + quoted(instruction.name);
}

}  // namespace

std::string graph_text(const CompiledStage& stage, const WeightScales& scales) {
  const Graph& graph = *stage.graph;
  const Program& program = stage.program;
  std::string text = "# sdip .graph 1: " + quoted(stage.name) + " " + std::string(role_text(stage.role)) + ", " +
                     std::to_string(program.instructions.size()) + " instructions, " +
                     std::to_string(program.weight_bytes.value) + " weight bytes\n";
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    text += std::to_string(i) + " " +
            line_of(instruction, program.classes[static_cast<std::size_t>(instruction.instruction_class)], graph,
                    scales.empty() ? InstructionScales() : scales.at(i)) +
            "\n";
  }
  return text;
}

}  // namespace sdip
