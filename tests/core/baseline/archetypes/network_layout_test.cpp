// Layouts over a whole network: who reads whom, and what planning saves over choosing one by one.
#include "core/baseline/archetypes/network_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/graph/made.h"

namespace sdip {
namespace {

TEST(network_layout, results_go_through_work_between_and_meet_where_they_are_joined) {
  // y = relu(x x); z = y y + x x', with x from outside: the second product reads the first, and the sum joins both.
  const Graph graph = made_graph({1, 3, 3}, {{"first", "MatMul", {0, 0}},
                                             {"y", "Relu", {1}},
                                             {"second", "MatMul", {2, 0}},
                                             {"sum", "Add", {3, 2}},
                                             {"third", "MatMul", {4, 0}}});
  const ProductFlow flow = product_flow(graph);
  ASSERT_EQ(flow.products.size(), 3U);
  ASSERT_EQ(flow.edges.size(), 3U);
  EXPECT_EQ(flow.edges[0].from, 0U);
  EXPECT_EQ(flow.edges[0].to, 1U);
  EXPECT_FALSE(flow.edges[0].joins);
  EXPECT_EQ(flow.edges[1].from, 0U);
  EXPECT_EQ(flow.edges[1].to, 1U);
  EXPECT_TRUE(flow.edges[1].joins) << "y meets the second product's result";
  EXPECT_EQ(flow.edges[2].from, 1U);
  EXPECT_EQ(flow.edges[2].to, 2U);
  EXPECT_EQ(flow.edges[2].elements, 9);
}

}  // namespace
}  // namespace sdip
