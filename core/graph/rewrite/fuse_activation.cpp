// Activations that exporters write as several nodes. s = Sigmoid(x); Mul(x, s) is Silu(x), Mul(y, s) is not. The
// table says how each is written.
#include <cmath>

#include "core/graph/rewrite/match.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

using Forms = std::vector<PatternNode>;

/// 1 / (1 + exp(-x)) as some converters write it, or the operator.
std::string sigmoid_of(const std::string& x) {
  const std::string sum = "Add(Exp(Neg(" + x + ")), 1)";
  return fmt::format("(Sigmoid({})|Div(1, {})|Reciprocal({}))", x, sum, sum);
}

/// Replaces each match of a form by an operator on x; x and the result must be of one type and shape.
template <class Build>
std::int64_t replace_each(Graph& graph, const Forms& forms, Build build) {
  return rewrite_matches(graph, forms, [&](NodeId n, const Match& found) {
    const Operand& x = value_at(graph, found.values.at("x")).operand;
    const Operand& y = value_at(graph, graph.nodes[n].outputs[0]).operand;
    return x.shape == y.shape && x.type == y.type && !x.weight && is_floating(x.type) && build(found);
  });
}

bool replace(Graph& graph, const Match& found, const char* domain, const char* type, Attributes attributes = {}) {
  replace_last(graph, found.pattern, domain, type, {found.values.at("x")}, std::move(attributes));
  return true;
}

/// HardSwish is x * max(0, min(1, x / 6 + 0.5)).
bool is_sixth(const Graph& graph, const Match& found) {
  const auto sigmoid = found.nodes.find("h");
  if (sigmoid == found.nodes.end()) return true;
  const NodeUse use = use_of(graph, node_at(graph, sigmoid->second));
  return is_near(ElementType::float32, float_attribute(use.use, "alpha", 0.2), 1.0 / 6.0) &&
         float_attribute(use.use, "beta", 0.5) == 0.5;
}

}  // namespace

std::int64_t fuse_silu(Graph& graph) {
  static const Forms forms = {parse_pattern("Mul(x, " + sigmoid_of("x") + ")"),
                              parse_pattern("Div(x, Add(Exp(Neg(x)), 1))")};
  return replace_each(graph, forms, [&](const Match& found) { return replace(graph, found, "sdip", "Silu"); });
}

std::int64_t fuse_quick_gelu(Graph& graph) {
  static const Forms forms = {parse_pattern("Mul(x, " + sigmoid_of("Mul(x, $alpha)") + ")"),
                              parse_pattern("Mul(x, " + sigmoid_of("Div(x, $root)") + ")")};
  return replace_each(graph, forms, [&](const Match& found) {
    const auto root = found.numbers.find("root");
    const double alpha = root == found.numbers.end() ? found.numbers.at("alpha") : 1.0 / root->second;
    return std::isfinite(alpha) && replace(graph, found, "sdip", "QuickGelu", {{"alpha", alpha}});
  });
}

std::int64_t fuse_hard_swish(Graph& graph) {
  static const Forms forms = {parse_pattern("Mul(x, h:HardSigmoid(x))"),
                              parse_pattern("Mul(x, (Div(Clip(Add(x, 3), 0, 6), 6)|Mul(Clip(Add(x, 3), 0, 6), "
                                            "0.16666667)))"),
                              parse_pattern("Div(Mul(x, Clip(Add(x, 3), 0, 6)), 6)")};
  return replace_each(graph, forms, [&](const Match& found) {
    return is_sixth(graph, found) && replace(graph, found, "", "HardSwish");
  });
}

std::int64_t fuse_mish(Graph& graph) {
  static const Forms forms = {parse_pattern("Mul(x, Tanh((Softplus(x)|Log(Add(Exp(x), 1)))))")};
  return replace_each(graph, forms, [&](const Match& found) { return replace(graph, found, "", "Mish"); });
}

std::int64_t fuse_gelu(Graph& graph) {
  // half(e): e halved; gelu(f): x (1 + f) / 2, the half at any factor
  const auto half = [](const std::string& e) { return fmt::format("(Mul({}, 0.5)|Div({}, 2))", e, e); };
  const auto gelu = [&](const std::string& f) {
    const std::string sum = "Add(" + f + ", 1)";
    return fmt::format("({}|Mul({}, {})|Mul(x, {})|Mul(x, Add({}, 0.5)))", half("Mul(x, " + sum + ")"), half("x"),
                       sum, half(sum), half(f));
  };
  const std::string cube = "(Pow(x, 3)|Mul(x, (Mul(x, x)|Pow(x, 2))))";
  const std::string square = "(Pow(x, 2)|Mul(x, x))";
  const auto inner = [&](const std::string& outer_factor, const std::string& cubic_factor) {
    const std::string small_square = "(Mul(" + square + ", 0.044715)|Mul(x, Mul(x, 0.044715)))";
    return "(Mul(Add(x, (Mul(" + cube + ", 0.044715)|Mul(x, " + small_square + "))), " + outer_factor +
           ")|Mul(Mul(x, " + outer_factor + "), Add(" + small_square + ", 1))|Mul(x, Mul(Add(" + small_square +
           ", 1), " + outer_factor + "))|Mul(x, Add(Mul(" + square + ", " + cubic_factor + "), " + outer_factor +
           ")))";
  };
  static const Forms by_erf = {parse_pattern(gelu("Erf((Div(x, 1.4142135623731)|Mul(x, 0.70710678118655)))"))};
  // 0.5 (1 + tanh z) = sigmoid(2 z); the constants are sqrt(2 / pi), 0.044715 of it, and the same doubled
  static const Forms by_tanh = {
      parse_pattern(gelu("Tanh(" + inner("0.79788456080287", "0.03567740813636") + ")")),
      parse_pattern("Mul(x, Sigmoid(" + inner("1.59576912160573", "0.07135481627272") + "))")};
  const auto count = replace_each(graph, by_erf, [&](const Match& found) {
    return replace(graph, found, "sdip", "Gelu", {{"approximate", std::string("none")}});
  });
  return count + replace_each(graph, by_tanh, [&](const Match& found) {
           return replace(graph, found, "sdip", "Gelu", {{"approximate", std::string("tanh")}});
         });
}

}  // namespace sdip
