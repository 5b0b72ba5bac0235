// Products whose first operand is a constant. W [m,k] by x [k,n] is a convolution of x's n pixels of k channels by
// a kernel of 1 with m output channels: nothing moves, since x and the result lie as images do. With batches, W
// [4,m,k] by x [2,4,k,n]: 2 frames of 4 groups. An Einsum's operands change places. What is left, as where x is
// broadcast or stored transposed, the compiler loads as an activation (core/program/compile/load_constants.cpp).
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

const Shape& shape_at(const Graph& graph, ValueId id) { return value_at(graph, id).operand.shape; }

/// A product as a convolution: frames and groups, weights m by k of each group, n pixels.
struct Pointwise {
  std::int64_t frames = 1, groups = 1, m = 0, k = 0, n = 0;
};

/// Nothing where x is broadcast, or the batches of W are no groups that all frames have.
std::optional<Pointwise> pointwise_of(const Shape& w, const Shape& x, const Shape& y) {
  if (w.size() < 2 || x.size() < 2 || x.size() != y.size() || w.size() > y.size()) return std::nullopt;
  Pointwise p{1, 1, w[w.size() - 2], w.back(), x.back()};
  const std::size_t batch = y.size() - 2, own = w.size() - 2;
  if (!std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(batch), y.begin())) return std::nullopt;
  for (std::size_t axis = 0; axis < batch; ++axis) {
    const std::int64_t of_w = axis + own < batch ? 1 : w[axis + own - batch];
    if (of_w == y[axis])
      p.groups *= y[axis];
    else if (p.groups == 1)
      p.frames *= y[axis];
    else
      return std::nullopt;
  }
  return std::min({p.frames, p.groups, p.m, p.k, p.n}) > 0 ? std::optional(p) : std::nullopt;
}

struct Exchange {
  Graph& graph;
  std::vector<Node>& made;

  /// `id` in another shape: itself where it has it.
  ValueId reshaped(ValueId id, Shape shape, const std::string& name) {
    if (shape_at(graph, id) == shape) return id;
    const ValueKind kind = is_weight(graph, id) ? ValueKind::weight : ValueKind::activation;
    const ValueId made_id = add_value(graph, name, kind, value_at(graph, id).operand.type, shape);
    view(id, made_id, std::move(shape), name);
    return made_id;
  }

  void view(ValueId from, ValueId to, Shape shape, const std::string& name) {
    Node node;
    node.name = name;
    node.op = find_operator("", "Reshape");
    node.opset = replacement_opset;
    node.attributes = {{"allowzero", std::int64_t{1}}};
    const std::int64_t rank = std::ssize(shape);
    node.inputs = {from, add_constant(graph, name + "/shape", {ElementType::int64, {rank}, std::move(shape), {}})};
    node.outputs = {to};
    made.push_back(std::move(node));
  }

  /// The node becomes a convolution `type` of x by W; `behind`: what it reads behind them.
  void become(NodeId id, const Pointwise& p, std::string_view domain, std::string_view type, ValueId x, ValueId w,
              const std::vector<ValueId>& behind) {
    const std::string name = node_at(graph, id).name;
    const ValueId result = node_at(graph, id).outputs[0];
    std::vector<ValueId> inputs = {reshaped(x, {p.frames, p.groups * p.k, p.n}, name + "/pixels"),
                                   reshaped(w, {p.groups * p.m, p.k, 1}, name + "/kernel")};
    inputs.insert(inputs.end(), behind.begin(), behind.end());
    while (inputs.back() == none) inputs.pop_back();
    const Shape shape = {p.frames, p.groups * p.m, p.n};
    replace_last(graph, {id}, domain, type, std::move(inputs),
                 {{"group", p.groups}, {"kernel_shape", std::vector<std::int64_t>{1}}});
    Node& product = graph.nodes[id];
    product.name = name;
    if (shape_at(graph, result) == shape) return;
    const ElementType like = value_at(graph, result).operand.type;
    product.outputs[0] = add_value(graph, name + "/pixels_made", ValueKind::activation, like, shape);
    view(product.outputs[0], result, shape_at(graph, result), name + "/view");
  }

  bool matmul(NodeId id) {
    const Node& node = node_at(graph, id);
    const ValueId w = node.inputs[0], x = node.inputs[1];
    const auto p = pointwise_of(shape_at(graph, w), shape_at(graph, x), shape_at(graph, node.outputs[0]));
    if (!p || !is_floating(value_at(graph, x).operand.type)) return false;
    become(id, *p, "", "Conv", x, w, {});
    return true;
  }

  /// Makes a Gemm whose first operand is a weight a pointwise convolution; a bias must have one number a row.
  bool gemm(NodeId id) {
    const Node& node = node_at(graph, id);
    const NodeUse use = use_of(graph, node);
    const ValueId w = node.inputs[0], x = node.inputs[1];
    if (int_attribute(use.use, "transA", 0) != 0 || int_attribute(use.use, "transB", 0) != 0 ||
        float_attribute(use.use, "alpha", 1) != 1 || !is_floating(value_at(graph, x).operand.type))
      return false;
    const auto p = pointwise_of(shape_at(graph, w), shape_at(graph, x), shape_at(graph, node.outputs[0]));
    ValueId bias = node.inputs.size() > 2 ? node.inputs[2] : none;
    if (!p) return false;
    if (bias != none && (!is_weight(graph, bias) || shape_at(graph, bias) != Shape{p->m, 1} ||
                         float_attribute(use.use, "beta", 1) != 1))
      return false;
    if (bias != none) bias = reshaped(bias, {p->m}, node.name + "/bias");
    become(id, *p, "", "Conv", x, w, {bias});
    return true;
  }

  /// Scale and zero point of x are one number each; of W perhaps one a row, then of one group.
  bool quantised(NodeId id) {
    const Node& node = node_at(graph, id);
    std::vector<ValueId> inputs = node.inputs;
    inputs.resize(9, none);
    const auto single = [&](std::size_t i) {
      return inputs[i] == none || element_count(shape_at(graph, inputs[i])) == 1;
    };
    const auto p =
        pointwise_of(shape_at(graph, inputs[0]), shape_at(graph, inputs[1]), shape_at(graph, node.outputs[0]));
    if (!p || inputs[2] != none || node.attributes.contains("trans_b") || !single(5) || !single(6)) return false;
    for (const std::size_t i : {std::size_t{3}, std::size_t{4}})
      if (!single(i) && (p->groups > 1 || shape_at(graph, inputs[i]).size() != 1)) return false;
    become(id, *p, "sdip", "QuantizedConv", inputs[1], inputs[0],
           {none, inputs[5], inputs[6], inputs[3], inputs[4], inputs[7], inputs[8]});
    return true;
  }

  bool einsum(NodeId id) {
    Node& node = graph.nodes[id];
    auto& equation = std::get<std::string>(node.attributes.at("equation"));
    const std::size_t comma = equation.find(','), end = std::min(equation.find("->"), equation.size());
    equation = equation.substr(comma + 1, end - comma - 1) + "," + equation.substr(0, comma) + equation.substr(end);
    std::swap(node.inputs[0], node.inputs[1]);
    return true;
  }

  bool exchange(NodeId id) {
    const Node& node = node_at(graph, id);
    const std::string_view type = node.op->type;
    if (node.inputs.size() < 2 || node.outputs[0] == none || !is_weight(graph, node.inputs[0]) ||
        is_weight(graph, node.inputs[1]) || is_weight(graph, node.outputs[0]))
      return false;
    if (is_node(graph, id, "MatMul")) return matmul(id);
    if (is_node(graph, id, "Gemm")) return gemm(id);
    if (is_node(graph, id, "Einsum")) return node.inputs.size() == 2 && einsum(id);
    return node.op->domain == "sdip" && type == "QuantizedMatMul" && quantised(id);
  }
};

}  // namespace

std::int64_t put_weights_second(Graph& graph) {
  return rewrite_each(graph, Made::behind, [](Graph& of, NodeId id, std::vector<Node>& made) {
    return Exchange{of, made}.exchange(id);
  });
}

}  // namespace sdip
