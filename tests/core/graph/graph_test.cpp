// Links, order, dead code and figures of a graph put together by hand.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/graph/graph.h"

namespace sdip {
namespace {

Node node(const std::string& name, const char* type, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node made;
  made.name = name;
  made.op = find_operator("", type);
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

/// x (0) [2,3] and `count` more values without a shape.
Graph graph_of(std::size_t count) {
  Graph graph;
  graph.values.resize(count + 1);
  graph.values[0].kind = ValueKind::input;
  graph.values[0].operand.shape = {2, 3};
  graph.inputs = {0};
  return graph;
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& each : graph.nodes) names.push_back(each.name);
  return names;
}

TEST(link, consumers_stand_once_per_use_in_node_order) {
  Graph graph = graph_of(2);
  graph.nodes = {node("a", "Add", {0, 0}, {1}), node("b", "Mul", {1, 0}, {2})};
  link(graph);
  EXPECT_EQ(graph.values[0].consumers, (std::vector<NodeId>{0, 0, 1}));
  EXPECT_EQ(graph.values[0].producer, none);
  EXPECT_EQ(graph.values[2].producer, 1);
}

TEST(sort_nodes, makes_every_value_before_its_use) {
  Graph graph = graph_of(3);
  graph.nodes = {node("c", "Add", {1, 2}, {3}), node("a", "Relu", {0}, {1}), node("b", "Relu", {1}, {2})};
  sort_nodes(graph);
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(sort_nodes, a_node_that_needs_itself_is_a_cycle) {
  Graph graph = graph_of(1);
  graph.nodes = {node("self", "Add", {0, 1}, {1})};
  try {
    sort_nodes(graph);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "graph_cycle");
    EXPECT_EQ(error.where, "self");
  }
}

TEST(infer, gives_shapes_and_makes_weights_of_what_depends_on_weights_alone) {
  Graph graph = graph_of(3);
  graph.values[1].kind = ValueKind::weight;
  graph.values[1].operand.shape = {4096, 3};
  graph.nodes = {node("t", "Transpose", {1}, {2}), node("m", "MatMul", {0, 2}, {3})};
  graph.outputs = {3};
  link(graph);
  infer(graph);
  EXPECT_EQ(graph.values[2].kind, ValueKind::weight);
  EXPECT_TRUE(graph.values[2].operand.weight);
  EXPECT_EQ(graph.values[3].kind, ValueKind::activation);
  EXPECT_EQ(graph.values[3].operand.shape, (Shape{2, 4096}));
  EXPECT_EQ(work_of(graph, graph.nodes[0]).family, Family::constant);
  EXPECT_EQ(work_of(graph, graph.nodes[1]).family, Family::linear);
}

TEST(infer, noise_is_no_constant) {
  Graph graph = graph_of(1);
  graph.nodes = {node("noise", "RandomNormal", {}, {1})};
  graph.nodes[0].attributes["shape"] = std::vector<std::int64_t>{1, 4, 64, 64};
  graph.outputs = {1};
  link(graph);
  infer(graph);
  EXPECT_EQ(graph.values[1].kind, ValueKind::activation);
  EXPECT_EQ(work_of(graph, graph.nodes[0]).write_elements, 4 * 64 * 64);
}

TEST(remove_dead, keeps_inputs_and_what_outputs_need) {
  Graph graph = graph_of(3);
  graph.nodes = {node("dead", "Relu", {0}, {1}), node("alive", "Relu", {0}, {2}), node("deader", "Relu", {1}, {3})};
  graph.outputs = {2};
  link(graph);
  remove_dead(graph);
  EXPECT_EQ(names_of(graph), std::vector<std::string>{"alive"});
  EXPECT_EQ(graph.values.size(), 2u);
  EXPECT_EQ(graph.outputs, std::vector<ValueId>{1});
  EXPECT_EQ(graph.nodes[0].outputs, std::vector<ValueId>{1});
}

TEST(facts, count_parameters_of_float_initializers_that_outputs_need) {
  Graph graph = graph_of(4);
  for (ValueId id : {1, 2, 3}) {
    Value& value = graph.values[static_cast<std::size_t>(id)];
    value.kind = ValueKind::weight;
    value.initializer = id != 2;
    value.operand.shape = {3};
  }
  graph.nodes = {node("a", "Add", {0, 1}, {4})};  // 2 is a constant, 3 is unused
  graph.outputs = {4};
  link(graph);
  infer(graph);
  EXPECT_EQ(facts_of(graph).parameters, 3);
  EXPECT_EQ(facts_of(graph).operator_counts, (std::map<std::string, std::int64_t>{{"Add", 1}}));
}

}  // namespace
}  // namespace sdip
