// The seed essay's eighteen operators, each in a program of its own.
#include "tests/core/cost/price/essay_operators.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace sdip {
namespace {

using Sizes = std::span<const std::int64_t>;

void append(Graph& graph, const char* domain, const char* type, std::vector<ValueId> inputs,
            Attributes attributes) {
  Node node;
  node.op = find_operator(domain, type);
  if (node.op == nullptr) throw std::logic_error(type);
  node.name = type;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs = {static_cast<ValueId>(graph.values.size())};
  graph.values.emplace_back().name = std::string(type) + " made";
  append_node(graph, std::move(node));
}

/// Operands in order: the first `inputs` are inputs, the others weights. An operator before makes the first.
Graph alone(const char* domain, const char* type, const std::vector<Shape>& operands, std::size_t inputs,
            Attributes attributes = {}) {
  Graph graph;
  std::vector<ValueId> read;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Value& value = graph.values.emplace_back();
    value.name = "operand" + std::to_string(i);
    value.kind = i < inputs ? ValueKind::input : ValueKind::weight;
    value.operand.shape = operands[i];
    if (i < inputs)
      graph.inputs.push_back(static_cast<ValueId>(i));
    else
      value.initializer = value.parameter = value.operand.weight = true;
    read.push_back(static_cast<ValueId>(i));
  }
  if (inputs > 0) {
    append(graph, "", "Tanh", {0}, {});
    read[0] = static_cast<ValueId>(operands.size());
  }
  append(graph, domain, type, std::move(read), std::move(attributes));
  graph.outputs = {static_cast<ValueId>(graph.values.size() - 1)};
  link(graph);
  return graph;
}

/// Elementwise and of as many operands, or of rows.
template <int operands>
Graph of_rows(const char* type, Sizes s, Attributes attributes = {}, const char* domain = "") {
  return alone(domain, type, std::vector<Shape>(operands, {1, s[0], s[1]}), operands, std::move(attributes));
}

Graph copy(Sizes s) { return of_rows<1>("Concat", s, {{"axis", std::int64_t{1}}}); }
Graph add(Sizes s) { return of_rows<2>("Add", s); }
Graph sub(Sizes s) { return of_rows<2>("Sub", s); }
Graph mul(Sizes s) { return of_rows<2>("Mul", s); }
Graph div(Sizes s) { return of_rows<2>("Div", s); }
Graph noise(Sizes s) {
  return of_rows<0>("RandomNormal", s, {{"shape", std::vector<std::int64_t>{1, s[0], s[1]}}});
}
Graph root(Sizes s) { return of_rows<1>("Sqrt", s); }
Graph softmax(Sizes s) { return of_rows<1>("Softmax", s, {{"axis", std::int64_t{-1}}}); }
Graph relu(Sizes s) { return of_rows<1>("Relu", s); }
Graph silu(Sizes s) { return of_rows<1>("Silu", s, {}, "sdip"); }
Graph transpose(Sizes s) { return of_rows<1>("Transpose", s, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}); }
Graph matrix_vector(Sizes s) { return alone("", "MatMul", {{1, s[0], s[1]}, {1, s[1], 1}}, 2); }
Graph matrix_matrix(Sizes s) { return alone("", "MatMul", {{1, s[0], s[1]}, {1, s[1], s[2]}}, 2); }
Graph conv2d(Sizes s) {
  return alone("", "Conv", {{1, s[0], s[2] + s[4] - 1, s[3] + s[5] - 1}, {s[1], s[0], s[4], s[5]}}, 1);
}
Graph linear(Sizes s) { return alone("sdip", "Linear", {{1, 1, s[0]}, {s[0], s[1]}}, 1); }
Graph linear_batch(Sizes s) { return alone("sdip", "LinearBatch", {{s[0], s[1], s[2]}, {s[0], s[2], s[3]}}, 1); }
Graph groupnorm(Sizes s) {
  const std::int64_t channels = s[1] * s[2];
  return alone("sdip", "GroupNorm", {{s[0], channels, s[3], s[4]}, {channels}, {channels}}, 1,
               {{"num_groups", s[1]}});
}
Graph layernorm(Sizes s) {
  return alone("", "LayerNormalization", {{1, s[0], s[1]}, {s[1]}, {s[1]}}, 1, {{"axis", std::int64_t{-1}}});
}

}  // namespace

std::span<const EssayOperator> essay_operators() {
  const std::vector<OperatorDimension> elements{{"rows", 32}, {"length", 512}};
  static const std::vector<EssayOperator> rows{
      {"copy", "0", elements, copy},
      {"add", "0", elements, add},
      {"sub", "0", elements, sub},
      {"mul", "0", elements, mul},
      {"div", "0", elements, div},
      {"rand", "0", elements, noise},
      {"root", "0", elements, root},
      {"softmax", "0", elements, softmax},
      {"relu", "0", elements, relu},
      {"silu", "0", elements, silu},
      {"transpose", "2 or more", {{"rows", 32, 2}, {"length", 512, 2}}, transpose},
      {"matrix-vector", "2", {{"rows", 64}, {"sums", 64}}, matrix_vector},
      {"matrix-matrix", "2", {{"rows", 64}, {"sums", 64}, {"columns", 64}}, matrix_matrix},
      {"conv2d",
       "1",
       {{"in", 32}, {"out", 64}, {"height", 8}, {"width", 8}, {"kernel height", 2}, {"kernel width", 2}},
       conv2d},
      {"linear", "2", {{"in", 64}, {"out", 64}}, linear},
      {"linear_batch", "2 or more", {{"batch", 2}, {"rows", 32}, {"in", 64}, {"out", 64}}, linear_batch},
      {"groupnorm",
       "2 or more",
       {{"frames", 2}, {"groups", 4}, {"channels of a group", 4}, {"height", 16}, {"width", 16}},
       groupnorm},
      {"layernorm", "2 or more", elements, layernorm},
  };
  return rows;
}

}  // namespace sdip
