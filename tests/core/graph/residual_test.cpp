// Residual adds and skips of graphs put together by hand.
#include "core/graph/residual.h"

#include <gtest/gtest.h>

#include "core/graph/layers.h"
#include "tests/core/graph/made.h"

namespace sdip {
namespace {

/// a -> `depth` Relus -> Add(the last, a).
Graph spanning(std::int64_t depth, const char* join = "Add") {
  std::vector<MadeNode> nodes = {{"a", "Exp", {0}}};
  for (std::int64_t i = 0; i < depth; ++i)
    nodes.push_back({"r" + std::to_string(i), "Relu", {static_cast<ValueId>(nodes.size())}});
  nodes.push_back({"join", join, {static_cast<ValueId>(nodes.size()), 1}});
  return made_graph({4}, nodes);
}

TEST(residual, an_add_is_a_skip_when_it_spans_more_than_16_operators) {
  EXPECT_EQ(residual_figures(spanning(16)).add_skips, 0);
  const ResidualFigures figures = residual_figures(spanning(17));
  EXPECT_EQ(figures.adds, 1);
  EXPECT_EQ(figures.add_skips, 1);
  EXPECT_EQ(figures.longest_operators, 17);
  EXPECT_EQ(figures.concat_held_elements, 0);
}

TEST(layer_classes, equal_work_is_one_class) {
  const Graph graph = made_graph({4, 4}, {{"a", "MatMul", {0, 0}}, {"b", "MatMul", {1, 1}}, {"c", "Relu", {2}}});
  const auto classes = layer_classes(graph);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].nodes, 2);
  EXPECT_EQ(classes[0].macs, 64);
  EXPECT_EQ(classes[0].first, "a");
  EXPECT_EQ(classes[1].elements, 16);
  EXPECT_EQ(work_text(classes[0].work), "4x4 by 4x4");
  EXPECT_EQ(work_text(classes[1].work), "1x16");
}

TEST(work_text, a_convolution_names_what_is_not_usual) {
  Work work;
  work.family = Family::conv2d;
  work.nest = {1, 1, 640, 320, 32, 32, 64, 64, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(work_text(work), "320 to 640 channels, 3x3, stride 2x2, of 32x32");
  work.nest.groups = 2;
  work.nest.stride_h = work.nest.stride_w = 1;
  EXPECT_EQ(work_text(work), "640 to 1280 channels, 3x3, 2 groups, of 32x32");
}

}  // namespace
}  // namespace sdip
