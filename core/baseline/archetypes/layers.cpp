// A network as layers that any device has to run.
#include "core/baseline/archetypes/layers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/error.h"
#include "core/baseline/archetypes/reading.h"

namespace sdip {
namespace {

/// The operand that elementwise work may be done on before it is written: as large as the result, and read here
/// alone.
std::optional<ValueId> fused_operand(const Node& node, const Reading& reading) {
  const std::int64_t made = reading.elements(node.outputs[0]);
  for (const ValueId in : node.inputs) {
    if (in == none || reading.is_weight(in) || reading.elements(in) != made) continue;
    if (reading.maker(in) && reading.only_reader(in)) return in;
  }
  return std::nullopt;
}

/// Whether no device need do it apart: elementwise work on what is there; parts, which are read where they lie; an
/// order that the product beside it reads or writes.
bool joins(const Node& node, std::size_t number, const Reading& reading) {
  const Family family = reading.work(number).family;
  const auto product = [&](const std::optional<std::size_t>& other) {
    return other && is_nest(reading.work(*other).family);
  };
  if (family == Family::transpose)
    return product(reading.only_reader(node.outputs[0])) ||
           (product(reading.maker(node.inputs[0])) && reading.only_reader(node.inputs[0]));
  return family == Family::vector && (node.op->type == "Split" || fused_operand(node, reading));
}

/// Marks what belongs to attentions whose scores nothing else reads: product, steps on the scores, softmax,
/// product.
void mark_attentions(const Graph& graph, const Reading& reading, std::vector<Joint>& joints) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (reading.work(n).family != Family::softmax) continue;
    const auto mixing = reading.only_reader(graph.nodes[n].outputs[0]);
    if (!mixing || reading.work(*mixing).family != Family::matmul) continue;
    if (reading.root(graph.nodes[*mixing].inputs[0]) != reading.root(graph.nodes[n].outputs[0])) continue;
    std::size_t behind = n;
    for (;;) {
      const auto operand = fused_operand(graph.nodes[behind], reading);
      if (!operand) break;
      behind = *reading.maker(*operand);
      if (reading.work(behind).family != Family::vector) break;
    }
    if (behind == n || reading.work(behind).family != Family::matmul) continue;
    joints[behind] = Joint::scores;
    joints[n] = Joint::softmax;
    joints[*mixing] = Joint::mixed;
  }
}

Layer layer_of(const Node& node, Work work, Joint joint, const Reading& reading) {
  Layer layer{.name = node.name, .work = std::move(work), .joint = joint};
  layer.work.read_elements.clear();
  layer.work.write_elements = 0;
  const bool product = is_product(layer);
  std::optional<ValueId> first;
  if (joint == Joint::fused) first = fused_operand(node, reading);
  if (!product && !first) {
    for (const ValueId in : node.inputs)
      if (in != none && !reading.is_weight(in) && (!first || reading.elements(in) > reading.elements(*first)))
        first = in;
  }
  std::vector<ValueId> seen;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId in = node.inputs[i];
    if (in == none || reading.elements(in) <= 1) continue;
    if (std::ranges::find(seen, reading.root(in)) != seen.end()) continue;
    seen.push_back(reading.root(in));
    const std::int64_t elements = reading.elements(in);
    if (reading.is_weight(in))  // of a table no more is read than is made of it
      layer.weight_elements += product ? elements : std::min(elements, reading.elements(node.outputs[0]));
    else if (product ? i == 0 : in == first)
      layer.a_elements += elements;
    else if (product && i == 1)
      layer.b_elements += elements;
    else
      layer.other_elements += elements;
    if (product && i == 1) layer.weighted = reading.is_weight(in);
  }
  for (const ValueId out : node.outputs)
    if (out != none) layer.output_elements += reading.elements(out);
  return layer;
}

auto key_of(const Layer& l) {
  return std::tuple(l.work, l.joint, l.a_elements, l.b_elements, l.other_elements, l.weight_elements,
                    l.output_elements, l.weighted);
}

}  // namespace

bool is_product(const Layer& layer) { return is_nest(layer.work.family); }

MatrixProduct product_of(const Layer& layer) {
  const LoopNest& n = layer.work.nest;
  return {n.groups, n.batch * n.out_h * n.out_w, n.out_channels, n.in_channels * n.kernel_h * n.kernel_w};
}

std::int64_t macs_of(const Layer& layer) { return is_product(layer) ? mac_count(layer.work.nest) : 0; }

std::int64_t operations_of(const Layer& layer) {
  return is_product(layer) ? 0 : layer.work.rows * layer.work.row_length * layer.work.passes;
}

Layer layer_of_node(const Graph& graph, std::size_t node, const Reading& reading) {
  return layer_of(graph.nodes[node], reading.work(node), Joint::alone, reading);
}

std::vector<Layer> layers_of(const Graph& rewritten) {
  const Reading reading(rewritten);
  std::vector<Joint> joints(rewritten.nodes.size(), Joint::alone);
  for (std::size_t n = 0; n < rewritten.nodes.size(); ++n)
    if (joins(rewritten.nodes[n], n, reading)) joints[n] = Joint::fused;
  mark_attentions(rewritten, reading, joints);
  std::vector<Layer> layers;
  std::map<decltype(key_of(Layer())), std::size_t> known;
  for (std::size_t n = 0; n < rewritten.nodes.size(); ++n) {
    if (!reading.is_layer(n)) continue;
    Layer layer = layer_of(rewritten.nodes[n], reading.work(n), joints[n], reading);
    const auto [entry, fresh] = known.try_emplace(key_of(layer), layers.size());
    if (fresh)
      layers.push_back(std::move(layer));
    else
      ++layers[entry->second].times;
  }
  return layers;
}

LayeredStage layered_stage(const Graph& rewritten, std::string name, Role role, std::int64_t passes_per_frame) {
  const auto elements = [&](const std::vector<ValueId>& ids) {
    std::int64_t count = 0;
    for (const ValueId id : ids) count += element_count(rewritten.values[id].operand.shape);
    return count;
  };
  return {.name = std::move(name),
          .role = role,
          .layers = layers_of(rewritten),
          .passes_per_frame = passes_per_frame,
          .weight_elements = facts_of(rewritten).parameters,
          .input_elements = elements(rewritten.inputs),
          .output_elements = elements(rewritten.outputs)};
}

Layer with_frames(Layer layer, std::int64_t frames) {
  check(frames >= 1, "with_frames: at least one frame");
  LoopNest& nest = layer.work.nest;
  if (layer.work.family == Family::conv2d) {
    nest.batch *= frames;
  } else if (is_product(layer)) {
    (layer.weighted ? nest.out_h : nest.groups) *= frames;
    if (layer.weighted) nest.in_h *= frames;
  } else {
    layer.work.rows *= frames;
  }
  layer.a_elements *= frames;
  layer.b_elements *= frames;
  layer.other_elements *= frames;
  layer.output_elements *= frames;
  return layer;
}

}  // namespace sdip
