// What no pattern took: a Sigmoid, an Erf, a Sqrt of a mean, ... that is left in a rewritten graph says that
// something was written in a form not known here. One that is an operator of its own (the gate of a
// squeeze-and-excitation block) stands here, too.
#include "core/graph/rewrite/match.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"

namespace sdip {
namespace {

struct Trace {
  const char* pattern;
  const char* leaves;
};

constexpr Trace traces[] = {
    {"silu", "Sigmoid(x)"},
    {"gelu", "Erf(x)"},
    {"gelu_tanh", "Mul(x, Add(Tanh(y), 1))"},
    {"groupnorm", "InstanceNormalization(Reshape(x, ...), ...)"},
    {"layernorm", "Sqrt(Add(ReduceMean(x, ...), y))"},
    {"softmax", "Div(Exp(x), ReduceSum(y, ...))"},
    {"batchnorm", "BatchNormalization(x, ...)"},
    {"einsum", "Einsum(x, ...)"},
    {"hard_swish", "HardSigmoid(x)"},
};

}  // namespace

std::vector<Decomposed> decomposed(const Graph& graph) {
  std::vector<Decomposed> left;
  const auto note = [&](const char* pattern, const Node& node) {
    if (left.empty() || left.back().pattern != pattern) left.push_back({pattern, node.name, 0});
    ++left.back().count;
  };
  for (const Trace& trace : traces) {
    const PatternNode pattern = parse_pattern(trace.leaves);
    for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
      if (is_weight(graph, graph.nodes[n].outputs.empty() ? none : graph.nodes[n].outputs[0])) continue;
      if (match(graph, n, pattern)) note(trace.pattern, graph.nodes[n]);
    }
  }
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    if (is_node(graph, n, "Softmax") && !is_attention(graph, n)) note("attention", graph.nodes[n]);
  }
  return left;
}

}  // namespace sdip
