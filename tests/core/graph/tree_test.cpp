// The tree of modules that node names tell.
#include "core/graph/tree.h"

#include <gtest/gtest.h>

#include "tests/core/graph/made.h"

namespace sdip {
namespace {

/// "name(child child)" of a tree.
std::string text_of(const LayerTree& tree) {
  std::string text = tree.name;
  if (tree.children.empty() && tree.omitted_children == 0) return text;
  text += "(";
  for (const LayerTree& child : tree.children) text += (text.back() == '(' ? "" : " ") + text_of(child);
  if (tree.omitted_children > 0) text += " +" + std::to_string(tree.omitted_children);
  return text + ")";
}

std::size_t levels_of(const LayerTree& tree) {
  std::size_t levels = 1;
  for (const LayerTree& child : tree.children) levels += levels_of(child);
  return levels;
}

Graph chain(const std::vector<std::string>& names) {
  std::vector<MadeNode> nodes;
  for (const std::string& name : names) nodes.push_back({name, "Relu", {static_cast<ValueId>(nodes.size())}});
  return made_graph({4}, nodes);
}

TEST(layer_tree, follows_the_paths_in_names) {
  const LayerTree tree = layer_tree(chain({"/down.0/conv1/Conv", "/down.0/norm/Add", "Relu_7"}));
  EXPECT_EQ(text_of(tree), "(down.0(conv1/Conv norm/Add) Relu/Relu_7)");
  EXPECT_EQ(tree.nodes, 3);
  EXPECT_EQ(tree.elements, 12);
  EXPECT_EQ(tree.children[0].nodes, 2);
  EXPECT_EQ(tree.children[0].children[0].type, "Relu");
}

TEST(layer_tree, dots_part_names_without_slashes) {
  EXPECT_EQ(text_of(layer_tree(chain({"block.0.relu", "block.1.relu", "block.1.out"}))),
            "(block(0/relu 1(relu out)))");
}

TEST(layer_tree, a_node_may_be_named_as_a_module) {
  EXPECT_EQ(text_of(layer_tree(chain({"/a/b", "/a/b/c", "/a/b/d"}))), "(a(b b(c d)))");
}

TEST(layer_tree, is_no_deeper_than_its_bound) {
  std::string name;
  for (int i = 0; i < 2000; ++i) name += "/x";
  const LayerTree tree = layer_tree(chain({name, name + "/y"}));
  std::size_t depth = 0;
  const LayerTree* one = &tree;
  for (; !one->children.empty(); one = &one->children[0]) ++depth;
  EXPECT_LE(depth, most_tree_depth);
  EXPECT_EQ(tree.nodes, 2);
}

TEST(layer_tree, has_no_more_levels_than_its_bound) {
  std::vector<std::string> names;
  for (int n = 0; n < 1000; ++n) {
    std::string name;
    for (int i = 0; i < 30; ++i) name += "/" + std::to_string(n) + "_" + std::to_string(i);
    names.push_back(name + "/a");
    names.push_back(name + "/b");
  }
  const LayerTree tree = layer_tree(chain(names));
  EXPECT_EQ(tree.nodes, 2000);
  EXPECT_LE(levels_of(tree), most_levels_a_node * 2000 + 2000);
}

TEST(layer_tree, a_name_of_separators_is_no_path) {
  EXPECT_EQ(text_of(layer_tree(chain({"///", "..", "a"}))), "(Relu(/// .. a))");
}

TEST(cut_tree, leaves_out_the_deepest_and_the_last) {
  const std::vector<std::string> names = {"/a/x", "/a/y", "/a/z", "/b/x", "/b/y", "/b/z"};
  const auto cut = [&](const TreeLimits& limits) {
    LayerTree tree = layer_tree(chain(names));
    cut_tree(tree, limits);
    EXPECT_EQ(tree.nodes, 6) << "counts stay whole";
    return text_of(tree);
  };
  EXPECT_EQ(cut({.depth = 1}), "(a( +3) b( +3))");
  EXPECT_EQ(cut({.children = 2}), "(a(x y +1) b(x y +1))");
  EXPECT_EQ(cut({.total = 4}), "(a(x y +1) b( +3))");
}

/// A weight read by two nodes belongs to the first; one that is transposed before belongs to who reads the result.
TEST(layer_tree, a_parameter_belongs_to_its_first_reader) {
  Graph graph;
  graph.values.resize(6);
  graph.values[0].kind = ValueKind::input;
  graph.values[0].operand.shape = {3, 4};
  graph.inputs = {0};
  Value& weight = graph.values[1];
  weight.kind = ValueKind::weight;
  weight.initializer = true;
  weight.operand.shape = {2048, 4};
  const auto node = [&](const char* name, const char* type, std::vector<ValueId> inputs, ValueId output) {
    Node made;
    made.name = name;
    made.op = find_operator("", type);
    made.inputs = std::move(inputs);
    made.outputs = {output};
    graph.nodes.push_back(std::move(made));
  };
  node("/w/Transpose", "Transpose", {1}, 2);
  node("/a/MatMul", "MatMul", {0, 2}, 3);
  node("/b/MatMul", "MatMul", {0, 2}, 4);
  node("/c/Add", "Add", {3, 4}, 5);
  graph.outputs = {5};
  link(graph);
  infer(graph);
  const LayerTree tree = layer_tree(graph);
  EXPECT_EQ(text_of(tree), "(a/MatMul b/MatMul c/Add)");
  EXPECT_EQ(tree.parameters, 2048 * 4);
  EXPECT_EQ(tree.children[0].parameters, 2048 * 4);
  EXPECT_EQ(tree.children[1].parameters, 0);
  EXPECT_EQ(tree.macs, 2 * 3 * 4 * 2048);
}

}  // namespace
}  // namespace sdip
