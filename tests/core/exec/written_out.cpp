// A network with what a machine's number formats do to it written out.
#include "tests/core/exec/written_out.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "core/graph/node_arithmetic.h"
#include "core/program/kinds.h"
#include "tests/core/base/block_elements.h"

namespace sdip {
namespace {

/// ONNX's number of the type that a format is.
std::int64_t onnx_type(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp16:
      return 10;
    case NumberFormat::bf16:
      return 16;
    case NumberFormat::fp8_e4m3:
      return 17;
    case NumberFormat::fp8_e5m2:
      return 19;
    case NumberFormat::int16:
      return 5;
    case NumberFormat::int8:
      return 3;
    case NumberFormat::uint8:
      return 2;
    case NumberFormat::uint4:
      return 21;
    default:
      return 22;  // int4
  }
}

bool is_float(NumberFormat format) { return number_formats[static_cast<std::size_t>(format)].floating; }

struct Writer {
  MadeNetwork& network;
  std::vector<Node> before{};  // casts of inputs

  ValueId value(const std::string& name, ElementType type, const Shape& shape) {
    Value v;
    v.name = name;
    v.operand.type = type;
    v.operand.shape = shape;
    network.graph.values.push_back(std::move(v));
    return static_cast<ValueId>(network.graph.values.size() - 1);
  }

  ValueId scalar(const std::string& name, Tensor tensor) {
    const ValueId id = value(name, tensor.type, {});
    Value& v = network.graph.values[static_cast<std::size_t>(id)];
    v.kind = ValueKind::weight;
    v.operand.value = std::move(tensor);
    return id;
  }

  Node node(const char* type, std::vector<ValueId> inputs, ValueId out, Attributes attributes) {
    Node n;
    n.name = std::string("/lossy/") + type + std::to_string(out);
    n.op = find_operator("", type);
    n.opset = 23;
    n.attributes = std::move(attributes);
    n.inputs = std::move(inputs);
    n.outputs = {out};
    return n;
  }

  /// The same in Q7.8, which no ONNX type is: 2^8 x, rounded, held between both ends.
  std::pair<std::vector<Node>, ValueId> to_whole_steps(ValueId v) {
    const Operand operand = network.graph.values[static_cast<std::size_t>(v)].operand;
    const std::string name = network.graph.values[static_cast<std::size_t>(v)].name;
    const auto number = [&](const char* what, double x) {
      return scalar(name + what, {ElementType::float32, {}, {}, {x}});
    };
    const auto made = [&](const char* what) { return value(name + what, ElementType::float32, operand.shape); };
    const ValueId steps = made("/steps"), whole = made("/whole"), held = made("/held"), wide = made("/wide");
    return {{node("Mul", {v, number("/256", 256)}, steps, {}), node("Round", {steps}, whole, {}),
             node("Clip", {whole, number("/least", -32768), number("/most", 32767)}, held, {}),
             node("Mul", {held, number("/1:256", 1.0 / 256)}, wide, {})},
            wide};
  }

  /// `v` to the format and back; the nodes, and the value that is left.
  std::pair<std::vector<Node>, ValueId> there_and_back(ValueId v, NumberFormat format, const WeightScale& step) {
    if (format == NumberFormat::q7_8) return to_whole_steps(v);
    const std::int64_t number = onnx_type(format);
    const ElementType type = *element_type_of(number);
    const Shape shape = network.graph.values[static_cast<std::size_t>(v)].operand.shape;
    const std::string name = network.graph.values[static_cast<std::size_t>(v)].name;
    const ValueId narrow = value(name + "/narrow", type, shape),
                  wide = value(name + "/wide", ElementType::float32, shape);
    if (is_float(format))
      return {
          {node("Cast", {v}, narrow, {{"to", number}}), node("Cast", {narrow}, wide, {{"to", std::int64_t{1}}})},
          wide};
    const ValueId scale =
        scalar(name + "/scale", {ElementType::float32, {}, {}, {static_cast<double>(step.scale)}});
    const ValueId zero = scalar(name + "/zero", {type, {}, {step.zero.value_or(0)}, {}});
    return {{node("QuantizeLinear", {v, scale, zero}, narrow, {{"precision", std::int64_t{11}}}),
             node("DequantizeLinear", {narrow, scale, zero}, wide, {})},
            wide};
  }

  static std::optional<ElementType> element_type_of(std::int64_t number) {
    switch (number) {
      case 10:
        return ElementType::float16;
      case 16:
        return ElementType::bfloat16;
      case 17:
        return ElementType::float8e4m3fn;
      case 19:
        return ElementType::float8e5m2;
      case 5:
        return ElementType::int16;
      case 3:
        return ElementType::int8;
      case 2:
        return ElementType::uint8;
      case 21:
        return ElementType::uint4;
      default:
        return ElementType::int4;
    }
  }
};

/// Where an element of a product's weight stands, and of which tile it is.
struct Placed {
  std::int64_t channel = 0, sum = 0, position = 0;
  std::array<std::int64_t, 3> tile{};
};

bool is_row_by_row(const Node& node) {
  const auto turned = [&](const char* name) {
    const auto found = node.attributes.find(name);
    return found != node.attributes.end() && std::get<std::int64_t>(found->second) != 0;
  };
  return node.op->type.ends_with("Conv") || turned("transB") || turned("trans_b");
}

Placed placed(const Node& node, const InstructionClass& c, const LoopNest& nest, const Shape& shape,
              std::int64_t i) {
  Placed p;
  if (is_row_by_row(node)) {
    const std::int64_t inner = element_count(shape) / shape[0];
    p.channel = i / inner, p.sum = i % inner / (inner / shape[1]), p.position = i % (inner / shape[1]);
  } else {
    const std::int64_t columns = shape.back(), depth = shape[shape.size() - 2];
    p.channel = i / (columns * depth) * columns + i % columns, p.sum = i / columns % depth;
  }
  if (c.compound != Compound::single) return p;  // one tile
  const std::int64_t group = p.channel / nest.out_channels, tile = c.mapping.tile_channels;
  if (tile > nest.out_channels)
    p.tile = {group / (tile / nest.out_channels), 0, p.sum / c.mapping.tile_sums};
  else
    p.tile = {group, p.channel % nest.out_channels / tile, p.sum / c.mapping.tile_sums};
  return p;
}

std::int64_t share_of(std::int64_t count, std::int64_t percent) { return (count * percent + 99) / 100; }

std::size_t count_of(const Tensor& w) { return w.floats.size() + w.ints.size(); }
double size_at(const Tensor& w, std::size_t i) {
  return w.floats.empty() ? std::fabs(static_cast<double>(w.ints[i])) : std::fabs(w.floats[i]);
}
void clear_at(Tensor& w, std::size_t i) {
  if (w.floats.empty())
    w.ints[i] = 0;
  else
    w.floats[i] = 0;
}

/// In each tile the largest stay, of each channel no more than its share.
void prune_tiles(Tensor& w, const Node& node, const InstructionClass& c, const LoopNest& nest,
                 std::int64_t percent) {
  struct Tile {
    std::vector<std::pair<double, std::size_t>> elements{};
    std::map<std::int64_t, std::int64_t> sizes{}, taken{};  // by channel
  };
  std::map<std::array<std::int64_t, 3>, Tile> tiles;
  std::vector<std::int64_t> channels;
  for (std::size_t i = 0; i < count_of(w); ++i) {
    const Placed p = placed(node, c, nest, w.shape, static_cast<std::int64_t>(i));
    channels.push_back(p.channel);
    tiles[p.tile].elements.emplace_back(-size_at(w, i), i);
    ++tiles[p.tile].sizes[p.channel];
  }
  for (auto& [number, tile] : tiles) {
    std::ranges::sort(tile.elements);
    std::int64_t left = share_of(std::ssize(tile.elements), percent);
    for (const auto& [size, i] : tile.elements) {
      std::int64_t& taken = tile.taken[channels[i]];
      const bool stays = left > 0 && taken < share_of(tile.sizes[channels[i]], percent);
      if (stays)
        --left, ++taken;
      else
        clear_at(w, i);
    }
  }
}

/// Those of each so many neighbours along the sums (of a tile, if there are any) stay that are smaller than fewer
/// than `stay` others.
void prune_groups(Tensor& w, const Node& node, const InstructionClass& c, const LoopNest& nest,
                  const Machine& machine) {
  const bool by_tile = machine.sparsity == Sparsity::skipping && c.compound == Compound::single;
  const std::int64_t stay = share_of(machine.sparsity_group, machine.weight_density.hundredths);
  std::map<std::array<std::int64_t, 4>, std::vector<std::pair<double, std::size_t>>> groups;
  for (std::size_t i = 0; i < count_of(w); ++i) {
    const Placed p = placed(node, c, nest, w.shape, static_cast<std::int64_t>(i));
    const std::int64_t tile = by_tile ? p.sum / c.mapping.tile_sums : 0;
    const std::int64_t inside = by_tile ? p.sum % c.mapping.tile_sums : p.sum;
    groups[{p.channel, p.position, tile, inside / machine.sparsity_group}].emplace_back(-size_at(w, i), i);
  }
  for (auto& [number, elements] : groups) {
    std::ranges::sort(elements);
    for (auto i = static_cast<std::size_t>(stay); i < elements.size(); ++i) clear_at(w, elements[i].second);
  }
}

/// Blocks by the number that `block` gives each element.
void round_blocks(Tensor& w, NumberFormat format, const std::function<std::int64_t(std::int64_t)>& block) {
  std::map<std::int64_t, double> reaches;
  double most = 0;
  for (std::size_t i = 0; i < w.floats.size(); ++i) {
    double& reach = reaches[block(static_cast<std::int64_t>(i))];
    reach = std::max(reach, std::fabs(w.floats[i]));
    most = std::max(most, reach);
  }
  for (std::size_t i = 0; i < w.floats.size(); ++i) {
    const double scale = searched_scale(format, reaches[block(static_cast<std::int64_t>(i))], most);
    w.floats[i] = static_cast<double>(static_cast<float>(
        nearest_element(format, static_cast<double>(static_cast<float>(w.floats[i])) / scale) * scale));
  }
}

/// Steps of each element: one for all, or by the channel or group.
void round_weight(Tensor& w, NumberFormat format, const std::function<std::int64_t(std::int64_t)>& channel) {
  if (format == NumberFormat::fp32) return;
  if (format == NumberFormat::fp16_e6m9) {
    const std::vector<double> list = float_elements(6, 9, std::ldexp(1023, 22));
    for (double& x : w.floats) {
      const auto above = std::ranges::lower_bound(list, std::fabs(x));
      const auto at = static_cast<std::ptrdiff_t>(above - list.begin());
      const std::vector<double> two{list[static_cast<std::size_t>(std::max<std::ptrdiff_t>(at - 1, 0))], *above};
      const bool even_first = at % 2 == 1;
      const double low = std::fabs(x) - two[0], high = two[1] - std::fabs(x);
      x = std::copysign(low < high || (low == high && even_first) ? two[0] : two[1], x);
    }
    return;
  }
  if (is_float(format)) {
    for (double& x : w.floats) x = rounded(*Writer::element_type_of(onnx_type(format)), x, true);
    return;
  }
  const std::string_view name = number_formats[static_cast<std::size_t>(format)].name;
  const auto bits = static_cast<int>(number_formats[static_cast<std::size_t>(format)].bits);
  const double codes = std::ldexp(1, bits);
  if (name.starts_with("q")) {
    const int places = name == "q3_4" ? 4 : name == "q7_8" ? 8 : 16;
    for (double& x : w.floats)
      x = std::ldexp(std::clamp(std::nearbyint(std::ldexp(x, places)), -codes / 2, codes / 2 - 1), -places);
    return;
  }
  std::map<std::int64_t, std::pair<double, double>> ranges;
  for (std::size_t i = 0; i < w.floats.size(); ++i) {
    auto& [least, most] = ranges[channel(static_cast<std::int64_t>(i))];
    least = std::min(least, w.floats[i]), most = std::max(most, w.floats[i]);
  }
  const bool shifted = name.starts_with("u");
  for (std::size_t i = 0; i < w.floats.size(); ++i) {
    const auto [least, most] = ranges[channel(static_cast<std::int64_t>(i))];
    const double reach = shifted ? (most - least) / (codes - 1) : std::max(-least, most) / (codes / 2 - 1);
    const auto step = static_cast<double>(reach == 0 ? 1.0F : static_cast<float>(reach));
    const double zero = shifted ? std::nearbyint(-least / step) : 0;
    const double code = std::clamp(std::nearbyint(w.floats[i] / step) + zero, shifted ? 0 : -codes / 2,
                                   shifted ? codes - 1 : codes / 2 - 1);
    w.floats[i] = static_cast<double>(static_cast<float>((code - zero) * step));
  }
}

/// A weight's numbers, when they stand in the network.
std::optional<Tensor> numbers_of_weight(const MadeNetwork& network, ValueId v) {
  const Value& value = network.graph.values[static_cast<std::size_t>(v)];
  std::optional<Tensor> tensor = value.operand.value;
  if (!tensor) tensor = network.stored(value);
  if (!tensor && value.producer != none) {  // part of a weight, or one in another shape
    const Node& node = network.graph.nodes[static_cast<std::size_t>(value.producer)];
    tensor = numbers_of_weight(network, node.inputs[0]);
    if (tensor && node.op->type == "Split") {
      const auto part = std::ranges::find(node.outputs, v) - node.outputs.begin();
      return outputs_of(network.graph, node, {tensor}).at(static_cast<std::size_t>(part));
    }
    if (tensor) tensor->shape = value.operand.shape;
  }
  return tensor;
}

/// The node of the instruction whose product's weight it is; nullptr when of none.
const Node* multiplier(const Graph& graph, const Instruction& instruction, const InstructionClass& c, ValueId v) {
  if (c.operand_b != Place::psram) return nullptr;
  for (const NodeId n : instruction.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(n)];
    const bool main = c.compound == Compound::strips || node.name == instruction.name;
    if (main && node.inputs.size() > 1 && node.inputs[1] == v && is_nest(work_of(graph, node).family)) return &node;
  }
  return nullptr;
}

/// The weight as one instruction gets it.
Tensor changed(Tensor tensor, ValueId v, const Graph& graph, const CompiledStage& stage,
               const Instruction& instruction, const Machine& machine) {
  const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(instruction.instruction_class)];
  const Node* node = multiplier(graph, instruction, c, v);
  const LoopNest nest = node == nullptr ? LoopNest() : work_of(graph, *node).nest;
  const std::int64_t density = machine.weight_density.hundredths;
  const bool prunes = node != nullptr && machine.sparsity != Sparsity::dense;
  if (prunes && machine.sparsity_group > 0)
    prune_groups(tensor, *node, c, nest, machine);
  else if (prunes && machine.sparsity == Sparsity::skipping)
    prune_tiles(tensor, *node, c, nest, density);
  else if (prunes) {
    std::vector<std::pair<double, std::size_t>> elements;
    for (std::size_t i = 0; i < count_of(tensor); ++i) elements.emplace_back(-size_at(tensor, i), i);
    std::ranges::sort(elements);
    for (auto i = static_cast<std::size_t>(share_of(std::ssize(elements), density)); i < elements.size(); ++i)
      clear_at(tensor, elements[i].second);
  }
  if (tensor.floats.empty()) return tensor;  // integers are exact
  const NumberFormatRow& row = number_formats[static_cast<std::size_t>(machine.weight_format)];
  if (node == nullptr && row.block > 0) {
    round_weight(tensor, NumberFormat::fp16, [](std::int64_t) { return 0; });
    return tensor;
  }
  const std::map<ScaleGranularity, std::int64_t> lengths = {
      {ScaleGranularity::group_32, 32}, {ScaleGranularity::group_64, 64}, {ScaleGranularity::group_128, 128}};
  const auto length = lengths.find(machine.scale_granularity);
  const std::int64_t group = row.block > 0                                             ? row.block
                             : row.floating || row.bits > 8 || length == lengths.end() ? 0
                                                                                       : length->second;
  const bool channels = node != nullptr && machine.scale_granularity == ScaleGranularity::channel;
  std::map<std::array<std::int64_t, 4>, std::int64_t> numbers;
  const auto number = [&](std::int64_t i) -> std::int64_t {
    if (node == nullptr || (!channels && group == 0)) return 0;
    const Placed p = placed(*node, c, nest, tensor.shape, i);
    if (group == 0) return p.channel;
    const std::int64_t tile = c.compound == Compound::single ? p.sum / c.mapping.tile_sums : 0;
    const std::int64_t inside = c.compound == Compound::single ? p.sum % c.mapping.tile_sums : p.sum;
    return numbers.try_emplace({p.channel, p.position, tile, inside / group}, std::ssize(numbers)).first->second;
  };
  if (row.block > 0)
    round_blocks(tensor, machine.weight_format, number);
  else
    round_weight(tensor, machine.weight_format, number);
  return tensor;
}

/// Each instruction's nodes get weights of their own: what another reads as an immediate stays as it is.
void change_weights(MadeNetwork& network, const CompiledStage& stage, const Machine& machine) {
  for (const Instruction& instruction : stage.program.instructions) {
    for (const ValueId v : instruction.weights) {
      const std::optional<Tensor> tensor = numbers_of_weight(network, v);
      if (!tensor) continue;
      Value own = network.graph.values[static_cast<std::size_t>(v)];
      own.name += "/" + std::to_string(network.graph.values.size());
      own.producer = none;
      own.operand.value = changed(*tensor, v, *stage.graph, stage, instruction, machine);
      network.graph.values.push_back(std::move(own));
      for (const NodeId n : instruction.nodes)
        for (ValueId& input : network.graph.nodes[static_cast<std::size_t>(n)].inputs)
          if (input == v) input = static_cast<ValueId>(network.graph.values.size() - 1);
    }
  }
}

}  // namespace

std::optional<Tensor> written_weight(const MadeNetwork& network, const CompiledStage& stage,
                                     const Instruction& instruction, std::size_t index, const Machine& machine) {
  const ValueId v = instruction.weights[index];
  MadeNetwork compiled = network;
  compiled.graph = *stage.graph;
  std::optional<Tensor> tensor = numbers_of_weight(compiled, v);
  if (tensor) tensor = changed(*std::move(tensor), v, *stage.graph, stage, instruction, machine);
  return tensor;
}

MadeNetwork written_out(const MadeNetwork& network, const CompiledStage& stage, const Machine& machine,
                        const ActivationScales& scales) {
  MadeNetwork made = network;
  made.graph = *stage.graph;  // as the compiler's passes left it
  change_weights(made, stage, machine);
  if (machine.activation_format == NumberFormat::fp32) return made;
  std::set<ValueId> kept;
  for (const Instruction& instruction : stage.program.instructions) {
    if (!instruction.nodes.empty()) kept.insert(instruction.destination);  // else it makes a norm's sums
    for (const PlacedOperand& source : instruction.sources)
      if (source.place != Place::scalar) kept.insert(source.value);
  }
  Writer writer{made};
  std::map<ValueId, ValueId> instead;
  std::map<NodeId, std::vector<Node>> behind;
  for (const ValueId v : kept) {
    if (made.graph.values[static_cast<std::size_t>(v)].operand.type != ElementType::float32) continue;
    const auto scale = scales.find(v);
    auto [nodes, wide] =
        writer.there_and_back(v, machine.activation_format, scale == scales.end() ? WeightScale() : scale->second);
    instead[v] = wide;
    auto& casts = behind[made.graph.values[static_cast<std::size_t>(v)].producer];
    casts.insert(casts.end(), nodes.begin(), nodes.end());
  }
  std::vector<Node> nodes;
  for (const auto& [producer, casts] : behind)
    if (producer == none) nodes.insert(nodes.end(), casts.begin(), casts.end());
  for (std::size_t n = 0; n < made.graph.nodes.size(); ++n) {
    Node node = made.graph.nodes[n];
    for (ValueId& v : node.inputs)
      if (instead.contains(v)) v = instead[v];
    nodes.push_back(std::move(node));
    if (const auto casts = behind.find(static_cast<NodeId>(n)); casts != behind.end())
      nodes.insert(nodes.end(), casts->second.begin(), casts->second.end());
  }
  made.graph.nodes = std::move(nodes);
  for (ValueId& v : made.graph.outputs)
    if (instead.contains(v)) v = instead[v];
  link(made.graph);
  return made;
}

}  // namespace sdip
