// Many nodes of one name: each gets a number of its own, in time that grows with their count.
#include <set>

#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

TEST(names, of_many_equal_nodes_are_all_different) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3});
  std::string last = "x";
  for (int i = 0; i < 20'000; ++i) {
    const std::string next = i == 19'999 ? "y" : "v" + std::to_string(i);
    add_node(model, "Neg", {last}, next, i == 7 ? "same#2" : "same");
    last = next;
  }
  add_output(model, "y");
  Graph graph = import_model(model);
  rewrite(graph);
  std::set<std::string> names;
  for (const Node& node : graph.nodes) names.insert(node.name);
  EXPECT_EQ(names.size(), 20'000u);
  EXPECT_TRUE(names.contains("same#2#2"));
  EXPECT_TRUE(names.contains("same#19999"));
}

}  // namespace
}  // namespace sdip
