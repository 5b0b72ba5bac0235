// Totals of networks small enough to count by hand.
#include "core/baseline/network_measures.h"

#include <gtest/gtest.h>

#include "tests/core/graph/made.h"

namespace sdip {
namespace {

/// Value 0 is an input; `weights` follow it, then the results of the nodes, of which the last is the output.
Graph weighted_graph(const Shape& shape, const std::vector<Operand>& weights, const std::vector<MadeNode>& nodes) {
  Graph graph;
  const std::size_t first = 1 + weights.size();
  graph.values.resize(first + nodes.size());
  graph.values[0].name = "x";
  graph.values[0].kind = ValueKind::input;
  graph.values[0].operand.shape = shape;
  graph.inputs = {0};
  for (std::size_t w = 0; w < weights.size(); ++w) {
    Value& value = graph.values[1 + w];
    value.name = "w" + std::to_string(w);
    value.kind = ValueKind::weight;
    value.operand = weights[w];
    value.operand.weight = true;
    value.initializer = !weights[w].fill.has_value();
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Node node;
    node.name = nodes[n].name;
    node.op = find_operator("", nodes[n].type);
    node.inputs = nodes[n].inputs;
    node.outputs = {static_cast<ValueId>(first + n)};
    graph.values[first + n].name = nodes[n].name;
    graph.nodes.push_back(std::move(node));
  }
  graph.outputs = {static_cast<ValueId>(first + nodes.size() - 1)};
  link(graph);
  infer(graph);
  return graph;
}

Operand parameter(Shape shape) {
  Operand operand;
  operand.shape = std::move(shape);
  return operand;
}

Operand constant(Shape shape) {
  Operand operand = parameter(std::move(shape));
  operand.fill = 0.5;
  return operand;
}

/// The example of the declaration.
TEST(network_measures, what_is_larger_than_what_stays_on_chip_moves_at_each_use) {
  const Graph graph = made_graph({4}, {{"a", "Exp", {0}}, {"b", "Relu", {1}}});
  EXPECT_EQ(moved_elements(graph, 3), 16);
  EXPECT_EQ(moved_elements(graph, 4), 0) << "what just fits stays";
}

TEST(network_measures, views_and_transposes_move_nothing) {
  const Graph graph = made_graph({2, 8}, {{"a", "Exp", {0}}, {"t", "Transpose", {1}}, {"b", "Identity", {2}}});
  EXPECT_EQ(moved_elements(graph, 0), 32) << "in and out of Exp";
}

/// x [3,4] by w [4,5] twice, plus b [5]: the matrix counts once, the bias is no weight of multiply-accumulates.
TEST(network_measures, a_weight_read_twice_counts_once) {
  const Graph graph = weighted_graph({3, 4}, {parameter({4, 4}), parameter({4})},
                                     {{"y", "MatMul", {0, 1}}, {"z", "MatMul", {3, 1}}, {"s", "Add", {4, 2}}});
  EXPECT_EQ(mac_weight_elements(graph), 16);
  EXPECT_EQ(mac_and_norm_elements(graph), 16);
  Graph joined = graph;
  rewrite(joined);
  EXPECT_EQ(mac_weight_elements(joined), 16);
  EXPECT_EQ(mac_and_norm_elements(joined), 20) << "the bias has joined the second product";
}

TEST(network_measures, a_norm_brings_its_parameters_but_a_table_does_not) {
  const Graph graph = weighted_graph({3, 4}, {parameter({4}), parameter({4}), parameter({3, 4})},
                                     {{"n", "LayerNormalization", {0, 1, 2}}, {"p", "Add", {4, 3}}});
  EXPECT_EQ(mac_and_norm_elements(graph), 8);
  EXPECT_EQ(mac_weight_elements(graph), 0);
}

TEST(network_measures, a_mask_is_as_large_as_what_it_is_added_to) {
  const Graph graph = weighted_graph({2, 3, 3}, {constant({1, 3, 3}), constant({1}), parameter({3})},
                                     {{"m", "Add", {0, 1}}, {"s", "Mul", {4, 2}}, {"p", "Add", {5, 3}}});
  EXPECT_EQ(expanded_constant_elements(graph), 18) << "a number is no mask, and a parameter is no constant";
}

/// q = exp(x) 16 x 16; s = q x; p = softmax(s); o = p x; y = o w.
TEST(network_measures, products_convolutions_and_vector_work_are_told_apart) {
  const Graph graph = weighted_graph({16, 16}, {parameter({16, 8})},
                                     {{"q", "Exp", {0}},
                                      {"s", "MatMul", {2, 0}},
                                      {"p", "Softmax", {3}},
                                      {"o", "MatMul", {4, 0}},
                                      {"y", "MatMul", {5, 1}}});
  EXPECT_EQ(largest_product(graph), 256);
  EXPECT_EQ(largest_convolved(graph), 0);
  EXPECT_EQ(largest_mac_operands(graph), 768) << "two operands and a result of 256";
  EXPECT_EQ(mac_result_elements(graph), 256 + 256 + 128);
  EXPECT_EQ(vector_elements(graph), 512) << "Exp and Softmax";
}

/// The scale folded into the product of q and k is an operator still: in, out, and one operation an element.
TEST(network_measures, a_folded_scale_is_an_operator_of_its_own) {
  Graph graph = weighted_graph({16, 16}, {constant({1})},
                               {{"q", "Exp", {0}},
                                {"s", "MatMul", {2, 0}},
                                {"t", "Mul", {3, 1}},
                                {"p", "Softmax", {4}},
                                {"o", "MatMul", {5, 0}}});
  const std::int64_t moved = moved_elements(graph, 0), work = vector_elements(graph);
  rewrite(graph);
  ASSERT_EQ(graph.nodes.size(), 4U) << "the scale has joined the product";
  EXPECT_EQ(moved_elements(graph, 0), moved);
  EXPECT_EQ(vector_elements(graph), work);
}

TEST(network_measures, pieces_and_copies_compute_nothing) {
  const Graph graph = weighted_graph({2, 3}, {}, {{"e", "Exp", {0}}, {"c", "Split", {1}}});
  EXPECT_EQ(vector_elements(graph), 6);
}

}  // namespace
}  // namespace sdip
