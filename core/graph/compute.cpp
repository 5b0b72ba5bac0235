// Computes a network: every node's arithmetic on tensors, in order.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/graph/node_arithmetic.h"

namespace sdip {
namespace {

Operand operand_of(Tensor tensor) {
  Operand operand;
  operand.type = tensor.type;
  operand.shape = tensor.shape;
  operand.value = std::move(tensor);
  return operand;
}

/// Values so far; each is dropped after its last use.
struct Computation {
  const Graph& graph;
  const std::function<std::optional<Tensor>(const Value&)>& stored;
  const Stop& stop;
  const ChangeResult& change;
  List<std::optional<Operand>> known;
};

const Operand& known_operand(Computation& run, ValueId id, const std::string& node) {
  std::optional<Operand>& known = run.known[id];
  if (known) return *known;
  const Value& value = run.graph.values[id];
  if (value.operand.value) {
    known = operand_of(*value.operand.value);
  } else if (auto tensor = value.bytes ? run.stored(value) : std::nullopt) {
    known = operand_of(std::move(*tensor));
  } else {
    throw Error("not_computable", node, "node '" + node + "': the values of '" + value.name + "' are not there");
  }
  known->weight = value.kind == ValueKind::weight;
  return *known;
}

void compute_node(Computation& run, const Node& node) {
  end_if(run.stop, node.name);
  require_arithmetic(node);
  std::vector<const Operand*> inputs;
  for (ValueId id : node.inputs) inputs.push_back(id == none ? nullptr : &known_operand(run, id, node.name));
  std::vector<Operand> outputs = outputs_of(node, inputs, run.stop);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i] == none) continue;
    if (run.change) run.change(node, i, *outputs[i].value);
    run.known[node.outputs[i]] = std::move(outputs[i]);
  }
}

double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<Tensor> compute(const Graph& graph, std::span<const Tensor> inputs,
                            const std::function<std::optional<Tensor>(const Value&)>& stored, const Stop& stop,
                            const ChangeResult& change) {
  Computation run{graph, stored, stop, change, std::vector<std::optional<Operand>>(graph.values.size())};
  if (inputs.size() != graph.inputs.size()) {
    throw Error(
        "shape_mismatch", graph.name,
        fmt::format("the graph has {} inputs, but {} tensors were given", graph.inputs.size(), inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.values[graph.inputs[i]];
    if (inputs[i].type != value.operand.type || inputs[i].shape != value.operand.shape) {
      throw Error("shape_mismatch", value.name,
                  fmt::format("input '{}' is {}{}, but {}{} was given", value.name,
                              element_type_text(value.operand.type), shape_text(value.operand.shape),
                              element_type_text(inputs[i].type), shape_text(inputs[i].shape)));
    }
    run.known[graph.inputs[i]] = operand_of(inputs[i]);
  }
  List<std::size_t> last_use(graph.values.size(), graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ValueId id : graph.nodes[n].inputs) {
      if (id != none) last_use[id] = n;
    }
  }
  for (ValueId id : graph.outputs) last_use[id] = graph.nodes.size();
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    compute_node(run, graph.nodes[n]);
    for (ValueId id : graph.nodes[n].inputs) {
      if (id != none && last_use[id] == n) run.known[id].reset();
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(*known_operand(run, id, graph.name).value);
  return outputs;
}

std::vector<std::vector<double>> moved_by(const Graph& graph, std::span<const Tensor> inputs,
                                          const std::function<std::optional<Tensor>(const Value&)>& stored,
                                          std::span<const Tensor> outputs, const ChangeResult& change, int times,
                                          const Stop& stop) {
  std::vector<std::vector<double>> most;
  for (const Tensor& output : outputs) most.emplace_back(output.floats.size() + output.ints.size(), 0.0);
  for (int i = 0; i < times; ++i) {
    const std::vector<Tensor> others = compute(graph, inputs, stored, stop, change);
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const Tensor &own = outputs[o], &other = others.at(o);
      const bool same = own.shape == other.shape && own.type == other.type;
      for (std::size_t e = 0; e < most[o].size(); ++e) {
        const double by = !same                          ? std::numeric_limits<double>::infinity()
                          : own.ints.empty()             ? distance(own.floats[e], other.floats[e])
                          : own.ints[e] == other.ints[e] ? 0
                                                         : std::numeric_limits<double>::infinity();
        most[o][e] = std::max(most[o][e], by);
      }
    }
  }
  return most;
}

}  // namespace sdip
