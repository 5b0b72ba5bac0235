// Quantise-dequantise sandwiches. DequantizeLinear(x [1,3,8,8], 0.02, 128), DequantizeLinear(w [6,3,3,3], one scale
// a channel) -> Conv -> QuantizeLinear(0.05, 100) computes in floats what integers compute exactly:
// sdip.QuantizedConv(x, w, bias, scales and zero points). A bias that is an int32 with the scale of the products
// goes in; another one stays an Add behind it, and then the QuantizeLinear stays, too. A Relu before a
// QuantizeLinear whose zero point is the least number of its type does nothing more.
#include <cmath>

#include "core/base/error.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/elementwise/quantize.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// The operands of a DequantizeLinear or QuantizeLinear.
struct Scaling {
  ValueId x = none, scale = none, zero = none;
};

bool is_small_integer(ElementType type) {
  using enum ElementType;
  return type == int8 || type == uint8 || type == int4 || type == uint4 || type == int2 || type == uint2;
}

bool is_single(const Graph& graph, ValueId id) {
  return id == none || element_count(value_at(graph, id).operand.shape) == 1;
}

/// The scaling of a node, when its scale is one number, or one along `axis` (-1: one number only).
std::optional<Scaling> scaling_of(const Graph& graph, NodeId id, std::int64_t axis) {
  const Node& node = node_at(graph, id);
  const NodeUse use = use_of(graph, node);
  if (int_attribute(use.use, "block_size", 0) != 0 || has_attribute(use.use, "output_dtype")) return std::nullopt;
  Scaling found{node.inputs[0], node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : none};
  if (!is_weight(graph, found.scale) || (found.zero != none && !is_weight(graph, found.zero))) return std::nullopt;
  if (is_single(graph, found.scale) && is_single(graph, found.zero)) return found;
  const std::size_t rank = use.inputs[0]->shape.size();
  const std::size_t along = axis_within(use.use, int_attribute(use.use, "axis", 1), rank);
  return axis >= 0 && along == as_size(axis) ? std::optional(found) : std::nullopt;
}

std::optional<Scaling> dequantised(const Graph& graph, ValueId id, std::int64_t axis) {
  const NodeId node = made_by(graph, id, "DequantizeLinear");
  if (node == none) return std::nullopt;
  auto found = scaling_of(graph, node, axis);
  return found && is_small_integer(value_at(graph, found->x).operand.type) ? found : std::nullopt;
}

std::vector<double> numbers_of(const Graph& graph, ValueId id) {
  const Operand& operand = value_at(graph, id).operand;
  return operand.value ? operand.value->floats : std::vector<double>{};
}

/// The int32 bias whose scale is that of the products, or `none`.
ValueId integer_bias(const Graph& graph, ValueId bias, const Scaling& x, const Scaling& w) {
  const NodeId node = made_by(graph, bias, "DequantizeLinear");
  if (node == none) return none;
  const auto found = scaling_of(graph, node, 0);
  if (!found || value_at(graph, found->x).operand.type != ElementType::int32) return none;
  if (found->zero != none && !is_filled(graph, found->zero, 0)) return none;
  const auto own = numbers_of(graph, found->scale), xs = numbers_of(graph, x.scale),
             ws = numbers_of(graph, w.scale);
  if (own.empty() || xs.size() != 1 || ws.empty()) return none;
  for (std::size_t i = 0; i < std::max(own.size(), ws.size()); ++i) {
    const double wanted = xs[0] * ws[ws.size() == 1 ? 0 : i], given = own[own.size() == 1 ? 0 : i];
    if (!(std::fabs(given - wanted) <= 1e-6 * std::fabs(wanted))) return none;
  }
  return found->x;
}

/// A product with both operands dequantised.
struct Sandwich {
  Scaling x, w;
  ValueId bias = none, float_bias = none;
  const char* type = nullptr;
  Attributes attributes;
};

std::optional<Sandwich> sandwich_at(const Graph& graph, NodeId id) {
  const Node& node = node_at(graph, id);
  const bool conv = is_node(graph, id, "Conv"), gemm = is_node(graph, id, "Gemm");
  if (!conv && !gemm && !is_node(graph, id, "MatMul")) return std::nullopt;
  const NodeUse use = use_of(graph, node);
  const bool transposed = gemm && int_attribute(use.use, "transB", 0) != 0;
  if (gemm && (int_attribute(use.use, "transA", 0) != 0 || float_attribute(use.use, "alpha", 1) != 1 ||
               float_attribute(use.use, "beta", 1) != 1)) {
    return std::nullopt;
  }
  const auto rank = std::ssize(value_at(graph, node.inputs[1]).operand.shape);
  const std::int64_t channels = conv || transposed ? 0 : rank == 2 ? 1 : -1;
  const auto x = dequantised(graph, node.inputs[0], -1), w = dequantised(graph, node.inputs[1], channels);
  if (!x || !w || is_weight(graph, node.inputs[0]) || (conv && !is_weight(graph, w->x))) return std::nullopt;
  Sandwich found{*x, *w, none, none, conv ? "QuantizedConv" : "QuantizedMatMul", {}};
  if (node.inputs.size() > 2 && node.inputs[2] != none) {
    found.bias = integer_bias(graph, node.inputs[2], *x, *w);
    if (found.bias == none) found.float_bias = node.inputs[2];
  }
  if (conv) found.attributes = node.attributes;
  if (transposed) found.attributes.emplace("trans_b", std::int64_t{1});
  return found;
}

/// The QuantizeLinear that alone takes a result, behind a Relu or not, as nodes in order; empty without.
std::vector<NodeId> requantised(const Graph& graph, NodeId id) {
  std::vector<NodeId> nodes;
  NodeId next = only_consumer(graph, id);
  const bool relu = is_node(graph, next, "Relu");
  if (relu) {
    nodes.push_back(next);
    next = only_consumer(graph, next);
  }
  if (!is_node(graph, next, "QuantizeLinear")) return {};
  const auto scaling = scaling_of(graph, next, -1);
  if (!scaling) return {};
  const ElementType type = value_at(graph, node_at(graph, next).outputs[0]).operand.type;
  if (!is_small_integer(type)) return {};
  const double least = quantised(type, -HUGE_VAL, 0);
  if (relu && !(scaling->zero == none ? least == 0 : is_filled(graph, scaling->zero, least))) return {};
  nodes.push_back(next);
  return nodes;
}

/// A bias that is no int32 is added behind the product: for a Conv, one number a channel. New nodes go to `made`.
void add_float_bias(Graph& graph, NodeId id, const Sandwich& found, std::vector<Node>& made) {
  const Node product = node_at(graph, id);
  const Operand out = value_at(graph, product.outputs[0]).operand;
  ValueId bias = found.float_bias;
  if (std::string_view(found.type) == "QuantizedConv") {
    Operand like = value_at(graph, bias).operand;
    like.shape.insert(like.shape.end(), out.shape.size() - 2, 1);
    Node view;
    view.name = product.name + "/bias";
    view.op = find_operator("", "Reshape");
    view.opset = replacement_opset;
    Tensor shape{ElementType::int64, {std::ssize(like.shape)}, like.shape, {}};
    view.inputs = {bias, add_constant(graph, view.name + "/shape", std::move(shape))};
    view.outputs = {bias = add_value(graph, view.name, value_at(graph, bias).kind, like.type, like.shape)};
    made.push_back(std::move(view));
  }
  Node sum;
  sum.name = product.name + "/Add";
  sum.op = find_operator("", "Add");
  sum.opset = replacement_opset;
  sum.outputs = product.outputs;
  const ValueId before = add_value(graph, product.name + "/product", ValueKind::activation, out.type, out.shape);
  graph.nodes[id].outputs = {before};
  sum.inputs = {before, bias};
  made.push_back(std::move(sum));
}

bool fuse_quantized_at(Graph& graph, NodeId id, std::vector<Node>& made) {
  auto found = sandwich_at(graph, id);
  if (!found) return false;
  std::vector<NodeId> pattern = {id};
  std::vector<ValueId> inputs = {found->x.x,    found->w.x,     found->bias,  found->x.scale,
                                 found->x.zero, found->w.scale, found->w.zero};
  if (found->float_bias == none) {
    const auto behind = requantised(graph, id);
    if (!behind.empty()) {
      const auto y = scaling_of(graph, behind.back(), -1);
      inputs.insert(inputs.end(), {y->scale, y->zero});
      pattern.insert(pattern.end(), behind.begin(), behind.end());
    }
  }
  while (inputs.back() == none) inputs.pop_back();
  replace_last(graph, pattern, "sdip", found->type, std::move(inputs), std::move(found->attributes));
  if (found->float_bias != none) add_float_bias(graph, id, *found, made);
  return true;
}

}  // namespace

std::int64_t fuse_quantized(Graph& graph) { return rewrite_each(graph, Made::behind, fuse_quantized_at); }

}  // namespace sdip
