// Layer norm as exporters write it before opset 17. x [1,77,768] -> m = ReduceMean(x, -1); d = Sub(x, m);
// v = ReduceMean(Pow(d, 2), -1); Div(d, Sqrt(Add(v, 1e-5))) -> Mul [768] -> Add [768] is LayerNormalization of
// axis 2.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// The first of the trailing axes that a ReduceMean takes the mean over, or -1 when it is something else.
std::int64_t mean_axis(const Graph& graph, NodeId id) {
  const NodeUse use = use_of(graph, node_at(graph, id));
  std::vector<std::int64_t> axes = ints_attribute(use.use, "axes", {});
  if (use.inputs.size() > 1 && use.inputs[1] != nullptr) axes = ints_of_input(use.use, 1);
  if (axes.empty() || int_attribute(use.use, "keepdims", 1) == 0) return -1;
  const std::size_t rank = use.inputs[0]->shape.size();
  const auto from_front = axes_within(use.use, axes, rank);
  return from_front.back() + 1 == rank && from_front.back() - from_front.front() + 1 == from_front.size()
             ? static_cast<std::int64_t>(from_front.front())
             : -1;
}

/// The value that a node squares: Pow(d, 2) or Mul(d, d).
ValueId squared(const Graph& graph, ValueId square) {
  const NodeId pow = made_by(graph, square, "Pow"), mul = made_by(graph, square, "Mul");
  if (pow != none && number_in(graph, node_at(graph, pow).inputs[1]) == 2.0) return node_at(graph, pow).inputs[0];
  if (mul != none && node_at(graph, mul).inputs[0] == node_at(graph, mul).inputs[1])
    return node_at(graph, mul).inputs[0];
  return none;
}

/// Whether a weight has the shape of what is normalised: [768] for axis 2 of [1,77,768].
bool is_affine(const Graph& graph, ValueId id, const Shape& x, std::int64_t axis) {
  if (id == none || value_at(graph, id).kind != ValueKind::weight) return false;
  const Shape& own = value_at(graph, id).operand.shape;
  return own == Shape(x.begin() + axis, x.end());
}

struct Normalised {
  std::vector<NodeId> nodes;  // in order, Div last
  ValueId x = none;
  std::int64_t axis = 0;
  double epsilon = 0;
};

/// Every value between is used in the pattern alone; d is used by the square and by Div.
std::optional<Normalised> normalised(const Graph& graph, NodeId div) {
  const auto& ends = node_at(graph, div).inputs;
  const NodeId sqrt = made_by(graph, ends[1], "Sqrt"), sub = made_by(graph, ends[0], "Sub");
  if (sqrt == none || sub == none || only_consumer(graph, sqrt) != div) return std::nullopt;
  const NodeId add = made_by(graph, node_at(graph, sqrt).inputs[0], "Add");
  if (add == none || only_consumer(graph, add) != sqrt) return std::nullopt;
  const auto epsilon = scaled(graph, add);
  const NodeId variance = epsilon ? made_by(graph, epsilon->operand, "ReduceMean") : none;
  if (variance == none || only_consumer(graph, variance) != add) return std::nullopt;
  const ValueId square = node_at(graph, variance).inputs[0];
  if (squared(graph, square) != ends[0] || only_consumer(graph, value_at(graph, square).producer) != variance) {
    return std::nullopt;
  }
  const Node& difference = node_at(graph, sub);
  const NodeId mean = made_by(graph, difference.inputs[1], "ReduceMean");
  if (mean == none || only_consumer(graph, mean) != sub) return std::nullopt;
  if (node_at(graph, mean).inputs[0] != difference.inputs[0] || is_graph_output(graph, ends[0]))
    return std::nullopt;
  const NodeId power = value_at(graph, square).producer;
  const auto& uses = value_at(graph, ends[0]).consumers;
  if (!std::all_of(uses.begin(), uses.end(), [&](NodeId id) { return id == power || id == div; }))
    return std::nullopt;
  const std::int64_t axis = mean_axis(graph, mean);
  if (axis < 0 || mean_axis(graph, variance) != axis) return std::nullopt;
  return Normalised{{mean, sub, power, variance, add, sqrt, div}, difference.inputs[0], axis, epsilon->number};
}

bool rewrite_at(Graph& graph, NodeId div) {
  auto found = normalised(graph, div);
  if (!found) return false;
  const Shape& shape = value_at(graph, found->x).operand.shape;
  std::vector<ValueId> inputs = {found->x};
  for (const char* type : {"Mul", "Add"}) {  // gamma, then beta; each may be missing with what follows it
    const NodeId last = found->nodes.back();
    const NodeId next = only_consumer(graph, last);
    if (!is_node(graph, next, type)) break;
    const ValueId weight = other_input(graph, next, node_at(graph, last).outputs[0]);
    if (!is_affine(graph, weight, shape, found->axis)) break;
    inputs.push_back(weight);
    found->nodes.push_back(next);
  }
  replace_last(graph, found->nodes, "", "LayerNormalization", std::move(inputs),
               {{"axis", found->axis}, {"epsilon", found->epsilon}});
  return true;
}

}  // namespace

std::int64_t fuse_layernorm(Graph& graph) {
  std::int64_t count = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (is_node(graph, id, "Div") && rewrite_at(graph, id)) ++count;
  }
  return count;
}

}  // namespace sdip
