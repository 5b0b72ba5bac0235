// The `.weight` file of a program.
#include "core/program/weights.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/graph/node_arithmetic.h"
#include "core/program/tiles.h"
#include "core/program/weight_scales.h"

namespace sdip {
namespace {

void refuse_machine(const Machine& machine, Role role) {
  const auto refuse = [](const char* parameter) {
    throw Error("not_modelled", parameter,
                std::string(parameter) + ": the bytes of the weights are written for the default alone");
  };
  if (machine.sparsity == Sparsity::skipping) refuse("sparsity");
  if (machine.weight_compression.hundredths != 100) refuse("weight_compression");
  if (hard_coded(machine, role)) refuse("weight_storage");
}

struct Writing {
  const CompiledStage& stage;
  const Graph& graph;
  const WeightSource& source;
  NumberFormat format;
  WeightForm form;
  BitPacker packer;
  std::map<std::string_view, const Node*> nodes{};
  std::set<ValueId> tables{};  // what a Gather looks up
  struct Rest {
    ValueId value;
    std::int64_t from;
    float scale;
  };
  std::vector<Rest> rests{};

  const Value& value(ValueId id) const { return graph.values[static_cast<std::size_t>(id)]; }
};

std::optional<Tensor> known_or_stored(const Writing& writing, const Value& value) {
  if (value.operand.value) return value.operand.value;
  if (!value.bytes) return std::nullopt;
  const std::vector<float> stored = writing.source(value);
  Tensor tensor{value.operand.type, value.operand.shape, {}, {}};
  for (const float x : stored)
    if (is_floating(tensor.type))
      tensor.floats.push_back(static_cast<double>(x));
    else
      tensor.ints.push_back(static_cast<std::int64_t>(x));
  if (std::ssize(stored) != element_count(tensor.shape))
    throw Error("weights_absent", value.name,
                "the weight '" + value.name + "' has " + std::to_string(stored.size()) +
                    " values, expected those of its shape " + shape_text(tensor.shape));
  return tensor;
}

constexpr int most_made_in_a_row = 1000;  // nodes between a weight and the model's own

using Made = std::map<ValueId, Tensor>;  // of one weight: what several of its nodes read is computed once

/// The values of a weight: the model's, or computed from the model's by the nodes that make it (batch norms folded
/// into a convolution, transposed or low-rank weights, ...), rounded to its type at each.
Tensor tensor_of(const Writing& writing, ValueId id, Made& made, int depth = 0) {
  if (const auto found = made.find(id); found != made.end()) return found->second;
  const Value& value = writing.value(id);
  if (auto tensor = known_or_stored(writing, value)) return *std::move(tensor);
  const Node* node =
      value.producer == none ? nullptr : &writing.graph.nodes[static_cast<std::size_t>(value.producer)];
  const bool follows = node != nullptr && value.kind == ValueKind::weight && node->op->compute != nullptr;
  if (!follows || node->op->random || depth == most_made_in_a_row)
    throw Error("not_modelled", value.name,
                "the weight '" + value.name + "' has no values" +
                    (node == nullptr ? std::string() : ": it is made by a " + std::string(node->op->type)) +
                    "; expected weights that stand in the model, or follow from them");
  std::vector<std::optional<Tensor>> inputs;
  for (const ValueId in : node->inputs)
    inputs.push_back(in == none ? std::nullopt : std::optional(tensor_of(writing, in, made, depth + 1)));
  std::vector<Tensor> outputs = outputs_of(writing.graph, *node, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (node->outputs[i] != none) made[node->outputs[i]] = std::move(outputs[i]);
  return made.at(id);
}

std::vector<float> elements_of(const Writing& writing, ValueId id) {
  const Value& value = writing.value(id);
  Made made;
  const Tensor tensor = tensor_of(writing, id, made);
  std::vector<float> elements;
  for (const double x : tensor.floats) elements.push_back(static_cast<float>(x));
  for (const std::int64_t x : tensor.ints) elements.push_back(static_cast<float>(x));
  const bool floating = number_formats[static_cast<std::size_t>(writing.format)].floating;
  if (!floating && !std::ranges::all_of(elements, [](float x) { return std::isfinite(x); }))
    throw Error("value_invalid", value.name,
                "the weight '" + value.name + "' holds an infinity or NaN, which weight_format cannot");
  const bool no_sign = writing.format == NumberFormat::uint8 || writing.format == NumberFormat::uint4;
  if (no_sign && std::ranges::any_of(elements, [](float x) { return x < 0; }))
    throw Error("not_modelled", value.name,
                "the weight '" + value.name +
                    "' holds negative values: weight_format has no sign, and no zero point "
                    "is stored");
  return elements;
}

float scale_of(NumberFormat format, const std::vector<float>& elements) {
  float largest = 0;
  if (needs_scale(format))
    for (const float x : elements) largest = std::max(largest, std::fabs(x));
  return weight_scale(format, static_cast<double>(largest));
}

void put(Writing& writing, std::span<const float> elements, float scale) {
  for (const float x : elements) writing.packer.put(encoded(writing.format, x, scale), writing.form.bits);
}

std::vector<float> channel_scales(NumberFormat format, const std::vector<float>& elements,
                                  const WeightChannels& channels) {
  std::vector<float> largest(static_cast<std::size_t>(channels.count), 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    float& most = largest[channels.of(static_cast<std::int64_t>(i))];
    most = std::max(most, std::fabs(elements[i]));
  }
  for (float& x : largest) x = weight_scale(format, static_cast<double>(x));
  return largest;
}

/// The nest's weight, its bias and its channels' scales.
void put_nest(Writing& writing, const Instruction& instruction, const InstructionClass& c, std::size_t own,
              InstructionScales& scales) {
  std::vector<float> by_channel;
  for (std::size_t i = 0; i < own; ++i) {
    const Value& value = writing.value(instruction.weights[i]);
    const std::vector<float> elements = elements_of(writing, instruction.weights[i]);
    if (i == 0 && writing.form.scale_bits_per_channel > 0) {
      const auto node = writing.nodes.find(instruction.name);
      check(node != writing.nodes.end(), "an instruction's node is in the graph");
      const WeightChannels channels = weight_channels(*node->second, c, value.operand.shape);
      by_channel = channel_scales(writing.format, elements, channels);
      for (std::size_t e = 0; e < elements.size(); ++e)
        put(writing, std::span(elements).subspan(e, 1), by_channel[channels.of(static_cast<std::int64_t>(e))]);
      scales.push_back(std::nullopt);
      continue;
    }
    scales.push_back(scale_of(writing.format, elements));
    put(writing, elements, *scales.back());
  }
  for (const float scale : by_channel) writing.packer.put(encoded(NumberFormat::fp32, scale), 32);
}

/// Weights of row-wise work and of fused operators; of a lookup table the beginning.
void put_held(Writing& writing, ValueId id, std::int64_t read, InstructionScales& scales) {
  const Value& value = writing.value(id);
  const std::vector<float> elements = elements_of(writing, id);
  const auto count = std::min<std::int64_t>(read, std::ssize(elements));
  scales.push_back(scale_of(writing.format, elements));
  put(writing, std::span(elements).first(static_cast<std::size_t>(count)), *scales.back());
  if (count == std::ssize(elements)) return;
  if (!writing.tables.contains(id))
    throw Error("not_modelled", value.name,
                "of the weight '" + value.name + "' only a part is read; expected that of lookup tables alone");
  if (std::ranges::find(writing.rests, id, &Writing::Rest::value) == writing.rests.end())
    writing.rests.push_back({id, count, *scales.back()});
}

/// All weights of a compound instruction, one after the other.
InstructionScales put_compound(Writing& writing, const Instruction& instruction) {
  if (writing.form.scale_bits_per_channel > 0)
    throw Error("not_modelled", instruction.name,
                "scale_granularity=channel: the scales of a compound instruction's weights are not written");
  InstructionScales scales;
  for (const ValueId id : instruction.weights) {
    const std::vector<float> elements = elements_of(writing, id);
    scales.push_back(scale_of(writing.format, elements));
    put(writing, elements, *scales.back());
  }
  writing.packer.pad_to((instruction.weight_offset + instruction.weight_bytes).value);
  return needs_scale(writing.format) ? scales : InstructionScales();
}

InstructionScales put_region(Writing& writing, const Instruction& instruction, const InstructionClass& c) {
  if (c.compound == Compound::strips) return put_compound(writing, instruction);
  std::vector<std::int64_t> reads;
  for (const Fetch& fetch : c.fetches)
    if (fetch.place == Place::psram) reads.push_back(fetch.elements * c.spread_cores);
  check(reads.size() <= instruction.weights.size(), "every fetch from PSRAM is of a weight");
  const std::size_t own = instruction.weights.size() - reads.size();
  InstructionScales scales;
  if (own > 0) {
    put_nest(writing, instruction, c, own, scales);
    const LoopNest& nest = c.work.nest;
    writing.packer.pad_to(instruction.weight_offset.value +
                          weight_tile_bytes(c, nest.groups * nest.out_channels, writing.form));
  }
  for (std::size_t i = 0; i < reads.size(); ++i) put_held(writing, instruction.weights[own + i], reads[i], scales);
  writing.packer.pad_to((instruction.weight_offset + instruction.weight_bytes).value);
  return needs_scale(writing.format) ? scales : InstructionScales();
}

void find_nodes(Writing& writing) {
  for (const Node& node : writing.graph.nodes) {
    writing.nodes.emplace(node.name, &node);
    if (node.op->type == "Gather" && !node.inputs.empty()) writing.tables.insert(node.inputs[0]);
  }
}

}  // namespace

WeightScales write_weight_file(const CompiledStage& stage, const Machine& machine, const WeightSource& source,
                               const ByteSink& sink) {
  refuse_machine(machine, stage.role);
  Writing writing{stage, *stage.graph, source, machine.weight_format, weight_form(machine), BitPacker(sink)};
  find_nodes(writing);
  std::map<std::int64_t, InstructionScales> by_offset;
  WeightScales scales;
  for (const Instruction& instruction : stage.program.instructions) {
    scales.emplace_back();
    if (instruction.weight_bytes.value == 0) continue;
    const std::int64_t offset = instruction.weight_offset.value;
    if (offset == writing.packer.bytes()) {
      const auto& c = stage.program.classes[static_cast<std::size_t>(instruction.instruction_class)];
      by_offset[offset] = put_region(writing, instruction, c);
    }
    scales.back() = by_offset.at(offset);
  }
  for (const auto& rest : writing.rests) {
    const std::vector<float> elements = elements_of(writing, rest.value);
    put(writing, std::span(elements).subspan(static_cast<std::size_t>(rest.from)), rest.scale);
  }
  writing.packer.finish();
  return scales;
}

}  // namespace sdip
