// Einsum that says what a simpler operator says. "nhwpqc->nchpwq" of one operand is a Transpose;
// "b i d, b j d -> b i j" is sdip.Scores with trans_b; "b i j, b j d -> b i d" is MatMul, also with a weight
// "b n d, d o -> b n o". Where the letters stand in another order the Einsum stays.
#include <algorithm>

#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

/// Nothing when there is no arrow, a letter stands twice in a term, or there is an ellipsis.
std::optional<Equation> equation_of(const Graph& graph, NodeId id) {
  std::string text = string_attribute(use_of(graph, node_at(graph, id)).use, "equation", "");
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  if (arrow == std::string::npos || text.find('.') != std::string::npos) return std::nullopt;
  Equation equation{{}, text.substr(arrow + 2)};
  std::string left = text.substr(0, arrow);
  for (std::size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',')) {
    equation.terms.push_back(left.substr(0, comma));
    left.erase(0, comma + 1);
  }
  equation.terms.push_back(left);
  std::vector<std::string> all = equation.terms;
  all.push_back(equation.result);
  for (std::string term : all) {
    std::sort(term.begin(), term.end());
    if (std::adjacent_find(term.begin(), term.end()) != term.end()) return std::nullopt;
  }
  return equation;
}

bool rewrite_one(Graph& graph, NodeId id, const Equation& equation) {
  const std::string &from = equation.terms[0], &to = equation.result;
  if (from.size() != to.size() || from.empty()) return false;
  std::vector<std::int64_t> order;
  for (char letter : to) {
    const std::size_t at = from.find(letter);
    if (at == std::string::npos) return false;
    order.push_back(static_cast<std::int64_t>(at));
  }
  replace_last(graph, {id}, "", "Transpose", {node_at(graph, id).inputs[0]}, {{"perm", std::move(order)}});
  return true;
}

/// The kind of product that two terms and a result make: batch letters, then m k by k n, or by n k.
enum class ProductKind { none, plain, transposed };

ProductKind kind_of(const std::string& a, const std::string& b, const std::string& result) {
  if (a.size() < 2 || b.size() < 2 || result.size() != a.size() || (b.size() != a.size() && b.size() != 2))
    return ProductKind::none;
  const std::string batch = a.substr(0, a.size() - 2), own = b.substr(0, b.size() - 2);
  const char m = a[a.size() - 2], k = a.back(), n = result.back();
  if (!own.empty() && own != batch) return ProductKind::none;
  if (result != batch + m + n || m == n || k == n || batch.find(n) != std::string::npos) return ProductKind::none;
  const std::string last = b.substr(b.size() - 2);
  if (last == std::string{k, n}) return ProductKind::plain;
  return last == std::string{n, k} ? ProductKind::transposed : ProductKind::none;
}

bool rewrite_two(Graph& graph, NodeId id, const Equation& equation) {
  std::vector<ValueId> inputs = node_at(graph, id).inputs;
  if (inputs.size() != 2) return false;
  for (std::size_t i = 0; i < 2; ++i) {  // einsum broadcasts no letter, so ranks and sizes agree already
    const Operand& operand = value_at(graph, inputs[i]).operand;
    if (!is_floating(operand.type) || operand.shape.size() != equation.terms[i].size()) return false;
  }
  ProductKind kind = kind_of(equation.terms[0], equation.terms[1], equation.result);
  if (kind == ProductKind::none) {
    kind = kind_of(equation.terms[1], equation.terms[0], equation.result);
    std::swap(inputs[0], inputs[1]);
  }
  if (kind == ProductKind::none || (kind == ProductKind::transposed && is_weight(graph, inputs[0]))) return false;
  const bool weight = is_weight(graph, inputs[1]);
  if (kind == ProductKind::plain) {
    replace_last(graph, {id}, "", "MatMul", std::move(inputs), {});
  } else if (weight) {
    if (value_at(graph, inputs[1]).operand.shape.size() != 2) return false;
    replace_last(graph, {id}, "sdip", "Linear", std::move(inputs), {{"trans_b", std::int64_t{1}}});
  } else {
    replace_last(graph, {id}, "sdip", "Scores", std::move(inputs), {{"trans_b", std::int64_t{1}}});
  }
  return true;
}

}  // namespace

std::int64_t fuse_einsum(Graph& graph) {
  return count_each(graph, [&](NodeId n) {
    const auto equation = is_node(graph, n, "Einsum") ? equation_of(graph, n) : std::nullopt;
    if (!equation || equation->terms.size() > 2) return false;
    return equation->terms.size() == 1 ? rewrite_one(graph, n, *equation) : rewrite_two(graph, n, *equation);
  });
}

}  // namespace sdip
