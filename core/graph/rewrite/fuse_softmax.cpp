// Softmax written out. x [2,8,64,77] -> e = Exp(Sub(x, ReduceMax(x, -1))); Div(e, ReduceSum(e, -1)) is Softmax of
// axis 3.
#include "core/graph/rewrite/match.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {

std::int64_t fuse_softmax(Graph& graph) {
  const std::string sum = "s:ReduceSum(e, ...)";
  static const std::vector<PatternNode> forms = {
      parse_pattern("Div(e:Exp(Sub(x, m:ReduceMax(x, ...))), " + sum + ")"),
      parse_pattern(fmt::format("Mul(e:Exp(Sub(x, m:ReduceMax(x, ...))), (Reciprocal({})|Div(1, {})))", sum, sum))};
  return rewrite_matches(graph, forms, [&](NodeId, const Match& found) {
    const auto axes = reduced_axes(graph, found.nodes.at("m"));
    if (axes.size() != 1 || reduced_axes(graph, found.nodes.at("s")) != axes) return false;
    replace_last(graph, found.pattern, "", "Softmax", {found.values.at("x")},
                 {{"axis", static_cast<std::int64_t>(axes[0])}});
    return true;
  });
}

}  // namespace sdip
