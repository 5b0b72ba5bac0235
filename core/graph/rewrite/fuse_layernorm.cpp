// Layer norm as exporters write it before opset 17. x [1,77,768] -> m = ReduceMean(x, -1); d = Sub(x, m);
// v = ReduceMean(Pow(d, 2), -1); Div(d, Sqrt(Add(v, 1e-5))) -> Mul [768] -> Add [768] is LayerNormalization of
// axis 2. Over the axes of an image, [2,320,64,64] -> ReduceMean(x, 2, 3) ... -> Mul [320,1,1] -> Add [320,1,1], it
// is InstanceNormalization.
#include <algorithm>

#include "core/graph/rewrite/match.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

/// d / sqrt(v + eps), each way.
std::string normalised(const std::string& d, const std::string& variance) {
  const std::string root = "Sqrt(Add(" + variance + ", $eps))";
  return fmt::format("(Div({}, {})|Mul({}, (Reciprocal({})|Div(1, {})|Pow(Add({}, $eps), -0.5))))", d, root, d,
                     root, root, variance);
}

const std::vector<PatternNode>& layernorm_forms() {
  const std::string mean = "m:ReduceMean(x, ...)", again = "n:ReduceMean(x, ...)";
  const std::string d = "d:Sub(x, " + mean + ")", other = "e:Sub(x, (m|" + again + "))";
  const std::string variance = "v:ReduceMean((Pow(d, 2)|Mul(d, d)), ...)";
  const std::string of_other = fmt::format("v:ReduceMean((Pow({}, 2)|Mul(e, {})), ...)", other, other);
  const std::string inner = "Sub(x, " + mean + ")";
  // As TensorFlow writes it: s = gamma / root; x s + (beta - m s).
  const std::string square = fmt::format("v:ReduceMean((Pow({}, 2)|Mul(d:{}, d)), ...)", inner, inner);
  const std::string by_root =
      fmt::format("(Reciprocal(Sqrt(Add({}, $eps)))|Div(1, Sqrt(Add({}, $eps))))", square, square);
  static const std::vector<PatternNode> patterns = {
      parse_pattern(normalised(d, variance)), parse_pattern(normalised(d, of_other)),
      parse_pattern("Add(Mul(x, s:Mul(" + by_root + ", #gamma)), Sub(#beta, Mul(m, s)))")};
  return patterns;
}

struct Norm {
  std::vector<NodeId> nodes;  // in order
  ValueId x = none;
  std::int64_t axis = 0;
  double epsilon = 0;
  std::vector<ValueId> affine;  // gamma and beta when the pattern holds them
};

/// Whether a weight is of this shape, but for sizes of 1 in front.
bool is_shaped(const Graph& graph, ValueId id, Shape wanted) {
  if (!is_weight(graph, id)) return false;
  Shape own = value_at(graph, id).operand.shape;
  own.erase(own.begin(), std::find_if(own.begin(), own.end(), [](auto size) { return size != 1; }));
  wanted.erase(wanted.begin(), std::find_if(wanted.begin(), wanted.end(), [](auto size) { return size != 1; }));
  return own == wanted;
}

std::optional<Norm> layernorm_at(const Graph& graph, NodeId last) {
  for (const PatternNode& form : layernorm_forms()) {
    const auto found = match(graph, last, form);
    if (!found) continue;
    const ValueId x = found->values.at("x");
    const Operand& operand = value_at(graph, x).operand;
    const auto axes = reduced_axes(graph, found->nodes.at("m"));
    const auto again = found->nodes.find("n");
    const std::int64_t axis = trailing_axis(axes, operand.shape.size());
    if (axis < 0 || reduced_axes(graph, found->nodes.at("v")) != axes || operand.weight) continue;
    if (again != found->nodes.end() && reduced_axes(graph, again->second) != axes) continue;
    if (value_at(graph, node_at(graph, last).outputs[0]).operand.shape != operand.shape) continue;
    Norm norm{found->pattern, x, axis, found->numbers.at("eps"), {}};
    const auto gamma = found->values.find("gamma");
    if (gamma != found->values.end()) {
      norm.affine = {gamma->second, found->values.at("beta")};
      const Shape normal(operand.shape.begin() + axis, operand.shape.end());
      if (!is_shaped(graph, norm.affine[0], normal) || !is_shaped(graph, norm.affine[1], normal)) continue;
    }
    return norm;
  }
  return std::nullopt;
}

/// gamma and beta that follow, as many as there are, of this shape; their nodes join the pattern.
std::vector<ValueId> affine_after(const Graph& graph, Norm& norm, const Shape& shape) {
  std::vector<ValueId> weights;
  for (const char* type : {"Mul", "Add"}) {
    const ValueId out = node_at(graph, norm.nodes.back()).outputs[0];
    const NodeId next = only_user(graph, out);
    if (!is_node(graph, next, type)) break;
    const ValueId weight = other_input(graph, next, out);
    const Operand& before = value_at(graph, out).operand;
    const Operand& after = value_at(graph, node_at(graph, next).outputs[0]).operand;
    if (!is_shaped(graph, weight, shape) || after.shape != before.shape || after.type != before.type) break;
    weights.push_back(weight);
    norm.nodes.push_back(next);
  }
  return weights;
}

bool fuse_layernorm_at(Graph& graph, NodeId last) {
  auto norm = layernorm_at(graph, last);
  if (!norm) return false;
  const Shape shape = value_at(graph, norm->x).operand.shape;
  const auto first = shape.begin() + norm->axis;
  std::vector<ValueId> inputs = {norm->x};
  Shape channels(shape.size() - 1, 1);
  if (!channels.empty()) channels[0] = shape[1];
  if (norm->affine.empty() && shape.size() >= 3 && norm->axis == 2) {
    Norm image = *norm;
    const auto weights = affine_after(graph, image, channels);
    if (weights.size() == 2) {
      inputs.insert(inputs.end(), weights.begin(), weights.end());
      replace_last(graph, image.nodes, "", "InstanceNormalization", std::move(inputs),
                   {{"epsilon", image.epsilon}});
      return true;
    }
  }
  const auto weights = norm->affine.empty() ? affine_after(graph, *norm, Shape(first, shape.end())) : norm->affine;
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  replace_last(graph, norm->nodes, "", "LayerNormalization", std::move(inputs),
               {{"axis", norm->axis}, {"epsilon", norm->epsilon}});
  return true;
}

}  // namespace

std::int64_t fuse_layernorm(Graph& graph) {
  return count_each(graph, [&](NodeId n) { return fuse_layernorm_at(graph, n); });
}

}  // namespace sdip
