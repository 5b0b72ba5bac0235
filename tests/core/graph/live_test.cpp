// Live intervals, peaks and crossings of graphs small enough to follow by hand.
#include "core/graph/live.h"

#include <gtest/gtest.h>

#include "tests/core/graph/made.h"

namespace sdip {
namespace {

TEST(crossing_pairs, count_spans_that_begin_inside_and_end_outside_of_another) {
  const std::vector<Span> spans = {{0, 3}, {1, 2}, {2, 5}};
  EXPECT_EQ(crossing_pairs(spans), 1);
  const std::vector<Span> nested = {{0, 9}, {1, 8}, {2, 3}, {3, 4}};
  EXPECT_EQ(crossing_pairs(nested), 0);
  const std::vector<Span> together = {{0, 2}, {0, 4}, {1, 3}};  // born together, or dying together, is no crossing
  EXPECT_EQ(crossing_pairs(together), 1);
  EXPECT_EQ(crossing_pairs({}), 0);
}

/// x [4] -> exp -> a; relu(a) -> b; a + b -> c. At the Add naive holds a, b and c; in place c takes a's or b's.
TEST(live, an_elementwise_operator_takes_over_what_dies_there) {
  const Graph graph = made_graph({4}, {{"a", "Exp", {0}}, {"b", "Relu", {1}}, {"c", "Add", {1, 2}}});
  EXPECT_EQ(live_figures(graph, LiveRule::naive).peak_elements, 12);
  const LiveFigures in_place = live_figures(graph, LiveRule::in_place);
  EXPECT_EQ(in_place.peak_elements, 8);
  EXPECT_EQ(in_place.intervals, 3);
  EXPECT_EQ(in_place.crossings, 0);
}

TEST(live, inputs_wait_until_they_are_read_last) {
  const Graph graph = made_graph({4}, {{"a", "Exp", {0}}, {"b", "Relu", {1}}, {"c", "Add", {2, 0}}});
  const LiveFigures naive = live_figures(graph, LiveRule::naive);
  EXPECT_EQ(naive.peak_elements, 12) << "x, a and b at the Relu";
  EXPECT_EQ(naive.peak_node, 1);
}

/// a dies at the Tanh, after b was made and before b dies.
TEST(live, a_value_read_between_makes_a_pair_cross) {
  const Graph graph =
      made_graph({4}, {{"a", "Exp", {0}}, {"b", "Relu", {0}}, {"c", "Tanh", {1}}, {"d", "Add", {2, 3}}});
  EXPECT_EQ(live_figures(graph, LiveRule::naive).crossings, 1);
}

TEST(live, a_transpose_is_free_only_when_fused) {
  const Graph graph = made_graph({2, 8}, {{"a", "Exp", {0}}, {"t", "Transpose", {1}}, {"b", "Relu", {2}}});
  EXPECT_EQ(live_intervals(graph, LiveRule::in_place).size(), 3U);
  const auto fused = live_intervals(graph, LiveRule::fused);
  ASSERT_EQ(fused.size(), 2U);
  EXPECT_EQ(fused[0].made, 0);
  EXPECT_EQ(fused[0].last, 2) << "what is read through the transpose";
}

/// q = exp(x), k = relu(x); scores = q k; p = softmax(scores); o = p x. Scores are 16 x 16 of x's 16 x 16.
TEST(live, flash_never_stores_scores) {
  const Graph graph = made_graph(
      {16, 16}, {{"q", "Exp", {0}}, {"s", "MatMul", {1, 0}}, {"p", "Softmax", {2}}, {"o", "MatMul", {3, 0}}});
  EXPECT_EQ(live_intervals(graph, LiveRule::fused).size(), 4U);
  const auto flash = live_intervals(graph, LiveRule::flash);
  ASSERT_EQ(flash.size(), 2U) << "q and o";
  EXPECT_EQ(flash[0].last, 3) << "q waits for the last product";
  EXPECT_EQ(live_figures(graph, LiveRule::flash).peak_elements, 3 * 256) << "x, q and o";
}

TEST(live, scores_that_somebody_else_reads_are_stored) {
  const Graph graph = made_graph({16, 16}, {{"q", "Exp", {0}},
                                            {"s", "MatMul", {1, 0}},
                                            {"p", "Softmax", {2}},
                                            {"o", "MatMul", {3, 0}},
                                            {"r", "Add", {4, 2}}});
  EXPECT_EQ(live_intervals(graph, LiveRule::flash).size(), live_intervals(graph, LiveRule::fused).size());
}

}  // namespace
}  // namespace sdip
