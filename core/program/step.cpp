// append_step: guidance combine and sampler update, so that a core's program is a whole diffusion step.
#include <algorithm>

#include "core/base/error.h"
#include "core/program/workload.h"

namespace sdip {
namespace {

struct Writer {
  Graph& graph;

  ValueId value(const std::string& name, ValueKind kind, const Shape& shape) {
    const auto id = static_cast<ValueId>(graph.values.size());
    Value& v = graph.values.emplace_back();
    v.name = name;
    v.kind = kind;
    v.operand.shape = shape;
    if (kind == ValueKind::input) graph.inputs.push_back(id);
    return id;
  }

  ValueId scalar(const std::string& name) { return value("step/" + name, ValueKind::input, {}); }

  Node node(const char* type, const std::string& name, std::vector<ValueId> inputs, std::vector<ValueId> outputs,
            Attributes attributes = {}) {
    const Operator* op = find_operator("", type);
    check(op != nullptr, "an operator of the sampler update has no row");
    return {.name = "/step/" + name,
            .op = op,
            .attributes = std::move(attributes),
            .inputs = std::move(inputs),
            .outputs = std::move(outputs)};
  }

  ValueId apply(const char* type, const std::string& name, std::vector<ValueId> inputs, const Shape& shape) {
    const ValueId out = value("step/" + name, ValueKind::activation, shape);
    graph.nodes.push_back(node(type, name, std::move(inputs), {out}));
    return out;
  }
};

ValueId latent_of(const Graph& graph) {
  const ValueId latent = latent_input(graph);
  if (latent == none)
    throw Error("not_a_noise_predictor", graph.name, "expected an input of rank 3 or more, the latent");
  return latent;
}

/// Half of a doubled batch. Throws when the batch is odd.
Shape half_batch(const Graph& graph, Shape shape) {
  if (shape[0] % 2 != 0)
    throw Error("not_a_noise_predictor", graph.name,
                "guidance as a batch of two: expected an even batch, found " + shape_text(shape) +
                    "; a model of one frame takes guidance=two_passes or off");
  shape[0] /= 2;
  return shape;
}

/// The network a second time, on the same weights and latent but its own context. Returns the second prediction.
ValueId second_pass(Graph& graph, ValueId latent) {
  const std::size_t nodes = graph.nodes.size();
  List<ValueId> copy(graph.values.size(), none);
  Writer writer{graph};
  const auto copied = [&](ValueId v) {
    if (v == none || v == latent) return v;
    const Value original = graph.values[v];
    const bool scalar = original.kind == ValueKind::input && original.operand.shape.size() <= 1;
    if (original.kind == ValueKind::weight || scalar) return v;
    ValueId& id = copy[v];
    if (id == none) id = writer.value(original.name + "/second", original.kind, original.operand.shape);
    return id;
  };
  for (std::size_t n = 0; n < nodes; ++n) {
    Node node = graph.nodes[n];
    node.name += "/second";
    for (ValueId& v : node.inputs) v = copied(v);
    for (ValueId& v : node.outputs) v = copied(v);
    graph.nodes.push_back(std::move(node));
  }
  return copied(graph.outputs.at(0));
}

struct Predictions {
  ValueId unconditional = none, conditional = none;
};

/// Doubles the latent before the network and splits the prediction after it.
Predictions doubled_batch(Graph& graph, ValueId& latent, const Shape& half) {
  Writer writer{graph};
  const ValueId sample = latent;
  const ValueId prediction = graph.outputs.at(0);
  graph.inputs.erase(std::ranges::find(graph.inputs, sample));
  graph.values[sample].kind = ValueKind::activation;
  latent = writer.value("step/latent", ValueKind::input, half);
  std::rotate(graph.inputs.begin(), graph.inputs.end() - 1, graph.inputs.end());
  graph.nodes.insert(graph.nodes.begin(),
                     writer.node("Concat", "double", {latent, latent}, {sample}, {{"axis", std::int64_t{0}}}));
  Predictions p{writer.value("step/unconditional", ValueKind::activation, half),
                writer.value("step/conditional", ValueKind::activation, half)};
  graph.nodes.push_back(
      writer.node("Split", "split", {prediction}, {p.unconditional, p.conditional}, {{"axis", std::int64_t{0}}}));
  return p;
}

ValueId combine(Graph& graph, const Predictions& p, const Shape& shape) {
  Writer writer{graph};
  const ValueId difference = writer.apply("Sub", "difference", {p.conditional, p.unconditional}, shape);
  const ValueId scaled = writer.apply("Mul", "scaled", {difference, writer.scalar("guidance_scale")}, shape);
  return writer.apply("Add", "combined", {scaled, p.unconditional}, shape);
}

/// DDIM (eta 0): a x + b eps. DDPM: a x + b eps + sigma noise. Euler: x + dt eps.
ValueId update(Graph& graph, Sampler sampler, ValueId latent, ValueId noise, const Shape& shape) {
  Writer writer{graph};
  const ValueId moved = writer.apply("Mul", "noise_part", {noise, writer.scalar("b_t")}, shape);
  if (sampler == Sampler::euler) return writer.apply("Add", "update", {moved, latent}, shape);
  const ValueId kept = writer.apply("Mul", "latent_part", {latent, writer.scalar("a_t")}, shape);
  const ValueId sum = writer.apply("Add", "update", {kept, moved}, shape);
  if (sampler == Sampler::ddim) return sum;
  const ValueId random = writer.apply("RandomNormalLike", "random", {latent}, shape);
  const ValueId fresh = writer.apply("Mul", "fresh_noise", {random, writer.scalar("sigma_t")}, shape);
  return writer.apply("Add", "noisy", {fresh, sum}, shape);
}

}  // namespace

void append_step(Graph& graph, const Machine& machine) {
  ValueId latent = latent_of(graph);
  const ValueId prediction = graph.outputs.at(0);
  Shape shape = graph.values[latent].operand.shape;
  if (graph.values[prediction].operand.shape != shape)
    throw Error("not_a_noise_predictor", graph.name,
                "expected a prediction shaped as the latent " + shape_text(shape) + ", found " +
                    shape_text(graph.values[prediction].operand.shape));
  ValueId noise = prediction;
  if (machine.guidance == Guidance::batch) {
    shape = half_batch(graph, shape);
    noise = combine(graph, doubled_batch(graph, latent, shape), shape);
  } else if (machine.guidance == Guidance::two_passes) {
    noise = combine(graph, {prediction, second_pass(graph, latent)}, shape);
  }
  graph.outputs = {update(graph, machine.sampler, latent, noise, shape)};
  link(graph);
}

}  // namespace sdip
