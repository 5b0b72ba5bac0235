// The scaled scores of attention. q [2,8,64,40], k^T [2,8,40,77]: MatMul(q, k^T) -> Mul(0.158) -> Softmax becomes
// sdip.Scores(q, k^T, scale 0.158) -> Softmax; so do Mul(q, 0.398) and Mul(k^T, 0.398) before it, behind views and
// transpositions, too: their product is the scale. A mask's Add or Where stays where it is. A scale that follows
// Where(mask, -inf, scores) is taken as well, since -inf scaled is -inf; one that follows an Add is not. k whose
// last two axes a Transpose exchanges for nothing else is taken as it is, with trans_b 1.
#include <algorithm>
#include <cmath>

#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// Multiplication or division by one number that keeps shape and type: the number, and what it scales.
std::optional<Scaled> scaling(const Graph& graph, NodeId id) {
  const bool div = is_node(graph, id, "Div");
  if (!div && !is_node(graph, id, "Mul")) return std::nullopt;
  auto found = scaled(graph, id);
  if (!found || is_weight(graph, found->operand) || !std::isfinite(found->number)) return std::nullopt;
  if (div && (found->operand != node_at(graph, id).inputs[0] || found->number == 0)) return std::nullopt;
  const Operand& in = value_at(graph, found->operand).operand;
  const Operand& out = value_at(graph, node_at(graph, id).outputs[0]).operand;
  if (in.shape != out.shape || in.type != out.type || !is_floating(in.type)) return std::nullopt;
  if (div) found->number = 1.0 / found->number;
  return found;
}

bool is_product(const Graph& graph, NodeId id) {
  if (id == none) return false;
  const Node& node = node_at(graph, id);
  const bool product = (node.op->domain.empty() && node.op->type == "MatMul") ||
                       (node.op->domain == "sdip" && node.op->type == "Scores");
  return product && !is_weight(graph, node.inputs[0]) && !is_weight(graph, node.inputs[1]) &&
         is_floating(value_at(graph, node.inputs[0]).operand.type) &&
         value_at(graph, node.inputs[0]).operand.shape.size() >= 2 &&
         value_at(graph, node.inputs[1]).operand.shape.size() >= 2;
}

/// The product that a Softmax is of, and the scalings between that can be folded into it.
struct Chain {
  NodeId product = none;
  std::vector<NodeId> scalings;
};

bool is_any(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

/// Whether an operand leads to a product by scalings and views, so that a mask is the other one.
bool leads_to_product(const Graph& graph, ValueId at) {
  for (int step = 0; step < 4; ++step) {
    const NodeId id = value_at(graph, at).producer;
    if (id == none || is_weight(graph, at)) return false;
    if (is_product(graph, id)) return true;
    const Node& node = node_at(graph, id);
    if (const auto factor = scaling(graph, id)) {
      at = factor->operand;
    } else if (node.op->domain.empty() && is_any(node.op->type, {"Reshape", "Squeeze", "Unsqueeze", "Cast"})) {
      at = node.inputs[0];
    } else if (is_node(graph, id, "Add")) {
      return leads_to_product(graph, node.inputs[0]) || leads_to_product(graph, node.inputs[1]);
    } else {
      return false;
    }
  }
  return false;
}

/// The operand of Where that is not a constant mask; `none` when neither or both are. A mask that is not infinite,
/// or one that a scaling would turn round, keeps the scalings behind it where they are.
ValueId unmasked(const Graph& graph, const Node& where, std::vector<NodeId>& scalings) {
  const bool first = is_weight(graph, where.inputs[1]), second = is_weight(graph, where.inputs[2]);
  if (first == second) return none;
  const auto mask = number_in(graph, where.inputs[first ? 1 : 2]);
  const bool positive =
      std::all_of(scalings.begin(), scalings.end(), [&](NodeId id) { return scaling(graph, id)->number > 0; });
  if (!mask || !std::isinf(*mask) || !positive) scalings.clear();
  return where.inputs[first ? 2 : 1];
}

/// Each step up is a scaling, a mask or a view. With `own`, nothing else may use what is between.
Chain chain_above(const Graph& graph, NodeId softmax, bool own) {
  Chain chain;
  ValueId at = node_at(graph, softmax).inputs[0];
  for (int step = 0; step < 12; ++step) {
    const NodeId id = value_at(graph, at).producer;
    if (id == none || (own && only_user(graph, at) == none)) return chain;
    if (is_product(graph, id)) {
      chain.product = id;
      return chain;
    }
    const Node& node = node_at(graph, id);
    if (const auto factor = scaling(graph, id)) {
      chain.scalings.push_back(id);
      at = factor->operand;
    } else if (is_node(graph, id, "Where")) {
      at = unmasked(graph, node, chain.scalings);
      if (at == none) return chain;
    } else if (is_node(graph, id, "Add") || is_node(graph, id, "Mul") || is_node(graph, id, "Div")) {
      chain.scalings.clear();  // a mask, or a scale that is no number
      at = node.inputs[leads_to_product(graph, node.inputs[0]) || is_node(graph, id, "Div") ? 0 : 1];
    } else if (node.op->domain.empty() && is_any(node.op->type, {"Reshape", "Squeeze", "Unsqueeze", "Cast"}) &&
               is_floating(value_at(graph, node.inputs[0]).operand.type)) {
      at = node.inputs[0];
    } else {
      return chain;
    }
  }
  return chain;
}

/// A scaling of an operand of a product, behind nodes that move elements only and have no other user.
NodeId scaling_before(const Graph& graph, ValueId operand) {
  for (int step = 0; step < 8; ++step) {
    const NodeId id = value_at(graph, operand).producer;
    if (id == none || only_user(graph, operand) == none) return none;
    if (scaling(graph, id)) return id;
    const Operator& op = *node_at(graph, id).op;
    if (!op.domain.empty() ||
        !is_any(op.type, {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Expand", "Flatten"})) {
      return none;
    }
    operand = node_at(graph, id).inputs[0];
  }
  return none;
}

/// k for k^T, when a Transpose of the last two axes alone makes it for this product alone; else `none`.
ValueId untransposed(const Graph& graph, ValueId operand) {
  const NodeId id = made_by(graph, operand, "Transpose");
  if (id == none || only_user(graph, operand) == none) return none;
  const NodeUse use = use_of(graph, node_at(graph, id));
  auto order = ints_attribute(use.use, "perm", {});
  const std::size_t rank = use.inputs[0]->shape.size();
  if (order.empty() && rank == 2) order = {1, 0};
  if (order.size() != rank || rank < 2) return none;
  std::swap(order[rank - 1], order[rank - 2]);
  return std::is_sorted(order.begin(), order.end()) ? node_at(graph, id).inputs[0] : none;
}

/// Scalings whose use is now their operand, so that links need no other change.
void fold_scale(Graph& graph, NodeId id, double& scale) {
  const auto found = scaling(graph, id);
  scale *= found->number;
  bypass(graph, id, found->operand);
}

bool fuse_scores_at(Graph& graph, NodeId softmax) {
  const Chain chain = chain_above(graph, softmax, true);
  if (chain.product == none) return false;
  const NodeUse use = use_of(graph, node_at(graph, chain.product));
  double scale = float_attribute(use.use, "scale", 1.0);
  std::int64_t transposed = int_attribute(use.use, "trans_b", 0);
  const bool was_plain = node_at(graph, chain.product).op->domain.empty();
  bool changed = false;
  for (NodeId id : chain.scalings) fold_scale(graph, id, scale), changed = true;
  for (std::size_t i = 0; i < 2; ++i) {
    for (NodeId id = none; (id = scaling_before(graph, node_at(graph, chain.product).inputs[i])) != none;) {
      fold_scale(graph, id, scale);
      changed = true;
    }
  }
  std::vector<ValueId> inputs = node_at(graph, chain.product).inputs;
  const ValueId k = untransposed(graph, inputs[1]);
  if (k != none) {
    inputs[1] = k;
    transposed = 1 - transposed;
    changed = true;
  }
  if (!changed && !was_plain) return false;
  Attributes attributes{{"scale", scale}};
  if (transposed != 0) attributes.emplace("trans_b", transposed);
  replace_last(graph, {chain.product}, "sdip", "Scores", std::move(inputs), std::move(attributes));
  return true;
}

/// The one user of a value; of Where(IsNaN(w), 0, w), by which newer exporters guard rows that are masked
/// throughout, the Where.
NodeId guarded(const Graph& graph, ValueId at) {
  const auto& users = value_at(graph, at).consumers;
  if (users.size() == 2 && is_node(graph, users[0], "IsNaN") && only_consumer(graph, users[0]) == users[1] &&
      is_node(graph, users[1], "Where") && node_at(graph, users[1]).inputs[2] == at &&
      !is_graph_output(graph, at)) {
    return users[1];
  }
  return only_user(graph, at);
}

/// Whether a product of two activations takes the result, cast, moved or thinned out by a Dropout.
bool weighs_values(const Graph& graph, ValueId at) {
  for (int step = 0; step < 6; ++step) {
    for (NodeId user : value_at(graph, at).consumers) {
      if (is_product(graph, user)) return true;
      const auto& inputs = node_at(graph, user).inputs;
      if (is_node(graph, user, "Einsum") && inputs.size() == 2 && !is_weight(graph, inputs[0]) &&
          !is_weight(graph, inputs[1])) {
        return true;
      }
    }
    const NodeId next = guarded(graph, at);
    if (next == none || !node_at(graph, next).op->domain.empty() ||
        !is_any(node_at(graph, next).op->type,
                {"Reshape", "Squeeze", "Unsqueeze", "Cast", "Transpose", "Dropout", "Mul", "Slice", "Where"})) {
      return false;
    }
    at = node_at(graph, next).outputs[0];
  }
  return false;
}

/// Whether the Softmax is of a product, or an Einsum, of two activations.
bool is_of_product(const Graph& graph, NodeId softmax) {
  if (chain_above(graph, softmax, false).product != none) return true;
  ValueId at = node_at(graph, softmax).inputs[0];
  for (int step = 0; step < 4; ++step) {
    const NodeId id = value_at(graph, at).producer;
    if (is_node(graph, id, "Einsum")) return node_at(graph, id).inputs.size() == 2;
    if (id == none || !node_at(graph, id).op->domain.empty()) return false;
    at = node_at(graph, id).inputs.empty() ? none : node_at(graph, id).inputs[0];
    if (at == none) return false;
  }
  return false;
}

}  // namespace

bool is_attention(const Graph& graph, NodeId id) {
  return is_node(graph, id, "Softmax") && is_of_product(graph, id) &&
         weighs_values(graph, node_at(graph, id).outputs[0]);
}

std::int64_t count_attention(const Graph& graph) {
  return count_each(graph, [&](NodeId n) { return is_attention(graph, n); });
}

std::int64_t fuse_scores(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return is_node(graph, n, "Softmax") && fuse_scores_at(graph, n); });
}

}  // namespace sdip
