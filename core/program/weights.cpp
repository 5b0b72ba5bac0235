// The `.weight` file of a program.
#include "core/program/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/program/tiles.h"

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

/// How an element's output channel follows from its place: blocks of `block` elements hold `columns` channels, the
/// column of an element its place in a row; one column: a block is a channel.
struct Channels {
  std::int64_t count = 1, block = 1, columns = 1;
  std::size_t of(std::int64_t element) const {
    return static_cast<std::size_t>(element / block * columns + element % columns);
  }
};

bool is_set(const Node& node, const char* attribute) {
  const auto found = node.attributes.find(attribute);
  const auto* number = found == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return number != nullptr && *number != 0;
}

Channels channels_of(const Node& node, const InstructionClass& c, const Shape& shape) {
  const LoopNest& nest = c.work.nest;
  const std::int64_t count = nest.groups * nest.out_channels, elements = element_count(shape);
  const bool rows = c.work.family == Family::conv2d || is_set(node, "trans_b") || is_set(node, "transB");
  const bool known = node.op->type != "Einsum" && !shape.empty() && count > 0 && elements > 0;
  if (known && rows && shape[0] == count) return {count, elements / count, 1};
  const std::int64_t matrix = shape.size() < 2 ? elements : shape.back() * shape[shape.size() - 2];
  if (known && !rows && elements / matrix * shape.back() == count) return {count, matrix, shape.back()};
  throw Error("not_modelled", node.name,
              "scale_granularity=channel: no rule says which elements of its weight " + shape_text(shape) +
                  " belong to an output channel");
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

bool is_folded(const Writing& writing, const Value& value) {
  if (value.producer == none) return false;
  const std::string_view type = writing.graph.nodes[static_cast<std::size_t>(value.producer)].op->type;
  return type == "FoldedWeight" || type == "FoldedBias";
}

std::vector<float> elements_of(const Writing& writing, const Value& value);

/// A batch norm folded into the convolution before it (core/graph/fold_batchnorm.cpp): W' = W s and
/// b' = beta + (b - mean) s, with s = scale / sqrt(var + epsilon); in fp64, rounded once.
std::vector<float> folded(const Writing& writing, const Node& node) {
  std::vector<std::vector<float>> in;
  for (const ValueId id : node.inputs) in.push_back(elements_of(writing, writing.value(id)));
  const std::size_t channels = in[1].size();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool weight = i == 0 && node.op->type == "FoldedWeight";
    if (channels == 0 || (weight ? in[i].size() % channels != 0 : in[i].size() != channels))
      throw Error("invalid_graph", node.name, "a batch norm's operands do not have one value a channel");
  }
  const auto epsilon = node.attributes.find("epsilon");
  const auto* given = epsilon == node.attributes.end() ? nullptr : std::get_if<double>(&epsilon->second);
  const auto factor = [&](const std::vector<float>& scale, const std::vector<float>& variance, std::size_t c) {
    return static_cast<double>(scale[c]) /
           std::sqrt(static_cast<double>(variance[c]) + (given != nullptr ? *given : 1e-5));
  };
  std::vector<float> made;
  if (node.op->type == "FoldedWeight") {
    for (std::size_t i = 0; i < in[0].size(); ++i)
      made.push_back(
          static_cast<float>(static_cast<double>(in[0][i]) * factor(in[1], in[2], i / (in[0].size() / channels))));
    return made;
  }
  for (std::size_t c = 0; c < in[0].size(); ++c) {
    const double bias = in.size() > 4 ? static_cast<double>(in[4][c]) : 0.0;
    made.push_back(static_cast<float>(static_cast<double>(in[1][c]) +
                                      (bias - static_cast<double>(in[2][c])) * factor(in[0], in[3], c)));
  }
  return made;
}

std::vector<float> elements_of(const Writing& writing, const Value& value) {
  std::vector<float> elements;
  if (const auto& known = value.operand.value) {
    for (const double x : known->floats) elements.push_back(static_cast<float>(x));
    for (const std::int64_t x : known->ints) elements.push_back(static_cast<float>(x));
  } else if (value.bytes) {
    elements = writing.source(value);
  } else if (is_folded(writing, value)) {
    elements = folded(writing, writing.graph.nodes[static_cast<std::size_t>(value.producer)]);
  } else {
    throw Error(
        "not_modelled", value.name,
        "the weight '" + value.name + "' is computed from others at compile time" +
            (value.producer == none
                 ? std::string()
                 : ", by a " +
                       std::string(writing.graph.nodes[static_cast<std::size_t>(value.producer)].op->type)) +
            "; expected weights that stand in the model");
  }
  if (std::ssize(elements) != element_count(value.operand.shape))
    throw Error("weights_absent", value.name,
                "the weight '" + value.name + "' has " + std::to_string(elements.size()) +
                    " values, expected those of its shape " + shape_text(value.operand.shape));
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

/// Smallest scale that keeps |x| <= largest within the format.
float scale_for(NumberFormat format, float largest) {
  if (!needs_scale(format) || largest == 0) return 1.0F;
  const auto scale = static_cast<float>(static_cast<double>(largest) / static_cast<double>(largest_code(format)));
  return std::max(scale, std::numeric_limits<float>::denorm_min());
}

float scale_of(NumberFormat format, const std::vector<float>& elements) {
  float largest = 0;
  if (needs_scale(format))
    for (const float x : elements) largest = std::max(largest, std::fabs(x));
  return scale_for(format, largest);
}

void put(Writing& writing, std::span<const float> elements, float scale) {
  for (const float x : elements) writing.packer.put(encoded(writing.format, x, scale), writing.form.bits);
}

std::vector<float> channel_scales(NumberFormat format, const std::vector<float>& elements,
                                  const Channels& channels) {
  std::vector<float> largest(static_cast<std::size_t>(channels.count), 0);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    float& most = largest[channels.of(static_cast<std::int64_t>(i))];
    most = std::max(most, std::fabs(elements[i]));
  }
  for (float& x : largest) x = scale_for(format, x);
  return largest;
}

/// The nest's weight, its bias and its channels' scales.
void put_nest(Writing& writing, const Instruction& instruction, const InstructionClass& c, std::size_t own,
              InstructionScales& scales) {
  std::vector<float> by_channel;
  for (std::size_t i = 0; i < own; ++i) {
    const Value& value = writing.value(instruction.weights[i]);
    const std::vector<float> elements = elements_of(writing, value);
    if (i == 0 && writing.form.scale_bits_per_channel > 0) {
      const auto node = writing.nodes.find(instruction.name);
      check(node != writing.nodes.end(), "an instruction's node is in the graph");
      const Channels channels = channels_of(*node->second, c, value.operand.shape);
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
  const std::vector<float> elements = elements_of(writing, value);
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
    const std::vector<float> elements = elements_of(writing, writing.value(id));
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
    const std::vector<float> elements = elements_of(writing, writing.value(rest.value));
    put(writing, std::span(elements).subspan(static_cast<std::size_t>(rest.from)), rest.scale);
  }
  writing.packer.finish();
  return scales;
}

}  // namespace sdip
