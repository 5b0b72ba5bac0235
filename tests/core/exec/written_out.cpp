// A network with what a machine's number formats do to it written out.
#include "tests/core/exec/written_out.h"

#include <algorithm>
#include <cmath>
#include <set>

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
    default:
      return 22;  // int4
  }
}

std::int64_t largest_of(NumberFormat format) {
  return (std::int64_t{1} << (number_formats[static_cast<std::size_t>(format)].bits - 1)) - 1;
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

  /// `v` to the format and back; the nodes, and the value that is left.
  std::pair<std::vector<Node>, ValueId> there_and_back(ValueId v, NumberFormat format, float step) {
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
    const ValueId scale = scalar(name + "/scale", {ElementType::float32, {}, {}, {static_cast<double>(step)}});
    const ValueId zero = scalar(name + "/zero", {type, {}, {0}, {}});
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
      default:
        return ElementType::int4;
    }
  }
};

/// Keeps the largest: those above the smallest that is kept, then of equals the earlier ones.
void prune_to(std::vector<double>& w, std::int64_t percent) {
  const auto kept = (static_cast<std::int64_t>(w.size()) * percent + 99) / 100;
  std::vector<double> sizes;
  for (const double x : w) sizes.push_back(std::fabs(x));
  std::ranges::sort(sizes, std::greater<>());
  const double least = sizes[static_cast<std::size_t>(kept - 1)];
  std::int64_t equals = kept - std::ranges::count_if(sizes, [&](double x) { return x > least; });
  for (double& x : w)
    if (std::fabs(x) < least || (std::fabs(x) == least && equals-- <= 0)) x = 0;
}

/// Steps of each element: one for all, or by the channel along `axis`.
void round_weight(Tensor& w, NumberFormat format, std::int64_t axis) {
  if (format == NumberFormat::fp32) return;
  if (is_float(format)) {
    for (double& x : w.floats) x = rounded(*Writer::element_type_of(onnx_type(format)), x, true);
    return;
  }
  std::int64_t inner = 1;
  for (std::int64_t i = std::ssize(w.shape); i-- > axis + 1;) inner *= w.shape[static_cast<std::size_t>(i)];
  const std::int64_t channels = axis < 0 ? 1 : w.shape[static_cast<std::size_t>(axis)];
  std::vector<double> largest(static_cast<std::size_t>(channels), 0);
  const auto channel = [&](std::size_t i) {
    return axis < 0 ? std::size_t{0} : static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % channels);
  };
  for (std::size_t i = 0; i < w.floats.size(); ++i)
    largest[channel(i)] = std::max(largest[channel(i)], std::fabs(w.floats[i]));
  const auto most = static_cast<double>(largest_of(format));
  for (std::size_t i = 0; i < w.floats.size(); ++i) {
    const double of = largest[channel(i)];
    const auto step = static_cast<double>(of == 0 ? 1.0F : static_cast<float>(of / most));
    const double code = std::clamp(std::nearbyint(w.floats[i] / step), -most - 1, most);
    w.floats[i] = static_cast<double>(static_cast<float>(code * step));
  }
}

/// A weight's numbers, when it is a float that stands in the network.
std::optional<Tensor> floats_of(const MadeNetwork& network, ValueId v) {
  const Value& value = network.graph.values[static_cast<std::size_t>(v)];
  std::optional<Tensor> tensor = value.operand.value;
  if (!tensor) tensor = network.stored(value);
  if (!tensor && value.producer != none) {  // a weight in another shape
    tensor = floats_of(network, network.graph.nodes[static_cast<std::size_t>(value.producer)].inputs[0]);
    if (tensor) tensor->shape = value.operand.shape;
  }
  if (tensor && tensor->floats.empty()) tensor.reset();
  return tensor;
}

/// The weight as one instruction gets it.
Tensor changed(Tensor tensor, ValueId v, const MadeNetwork& network, const CompiledStage& stage,
               const Instruction& instruction, const Machine& machine) {
  const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(instruction.instruction_class)];
  const auto multiplies = [&](NodeId n) {
    const Node& node = network.graph.nodes[static_cast<std::size_t>(n)];
    return node.name == instruction.name && node.inputs.size() > 1 && node.inputs[1] == v;
  };
  const bool product = c.operand_b == Place::psram && std::ranges::any_of(instruction.nodes, multiplies);
  const bool channels = product && machine.scale_granularity == ScaleGranularity::channel;
  const std::int64_t axis = !channels ? -1 : c.work.family == Family::conv2d ? 0 : std::ssize(tensor.shape) - 1;
  if (product && machine.sparsity != Sparsity::dense) prune_to(tensor.floats, machine.weight_density.hundredths);
  round_weight(tensor, machine.weight_format, axis);
  return tensor;
}

/// Each instruction's nodes get weights of their own: what another reads as an immediate stays as it is.
void change_weights(MadeNetwork& network, const CompiledStage& stage, const Machine& machine) {
  for (const Instruction& instruction : stage.program.instructions) {
    for (const ValueId v : instruction.weights) {
      const std::optional<Tensor> tensor = floats_of(network, v);
      if (!tensor) continue;
      Value own = network.graph.values[static_cast<std::size_t>(v)];
      own.name += "/" + std::to_string(network.graph.values.size());
      own.producer = none;
      own.operand.value = changed(*tensor, v, network, stage, instruction, machine);
      network.graph.values.push_back(std::move(own));
      for (const NodeId n : instruction.nodes)
        for (ValueId& input : network.graph.nodes[static_cast<std::size_t>(n)].inputs)
          if (input == v) input = static_cast<ValueId>(network.graph.values.size() - 1);
    }
  }
}

}  // namespace

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
        writer.there_and_back(v, machine.activation_format, scale == scales.end() ? 1 : scale->second);
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
