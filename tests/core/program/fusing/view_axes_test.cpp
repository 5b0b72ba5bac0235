// How views stand in the value behind them.
#include <gtest/gtest.h>

#include "core/program/fusing/view_axes.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

/// x of `shape`, and what views make of it one after the other.
struct Viewed {
  onnx::ModelProto model;
  std::string last = "x";
  int count = 0;
  explicit Viewed(const Shape& shape) : model(model_of_x(shape)) {}
  Viewed& seen(const std::vector<std::int64_t>& shape) {
    add_ints(model, "shape" + std::to_string(count), shape);
    const std::string from = std::exchange(last, "v" + std::to_string(count));
    add_node(model, "Reshape", {from, "shape" + std::to_string(count++)}, last);
    return *this;
  }
  Viewed& turned(const std::vector<std::int64_t>& perm) {
    const std::string from = std::exchange(last, "v" + std::to_string(count++));
    set_ints(add_node(model, "Transpose", {from}, last), "perm", perm);
    return *this;
  }
  std::optional<ViewAxes> axes() {
    add_node(model, "Relu", {last}, "y");
    add_output(model, "y");
    Machine m;
    m.transposition = Transposition::dynamic_transposition;
    const Application application = compiled(model, m);
    const Graph& graph = *application.stages[0].graph;
    const List<ValueId> roots(graph.values.size(), graph.inputs[0]);
    return view_axes(graph, roots, graph.nodes.back().inputs[0]);
  }
};

TEST(view_axes, follow_reshapes_and_transposes) {
  EXPECT_EQ(Viewed({6, 8}).axes(), (ViewAxes{{48, 1}}));
  EXPECT_EQ(Viewed({6, 8}).seen({6, 2, 4}).turned({1, 0, 2}).axes(), (ViewAxes{{2, 4}, {6, 8}, {4, 1}}));
  EXPECT_EQ(Viewed({6, 8}).seen({6, 2, 4}).turned({1, 0, 2}).seen({2, 24}).turned({1, 0}).axes(),
            (ViewAxes{{6, 8}, {4, 1}, {2, 4}}));
  EXPECT_EQ(Viewed({6, 8}).turned({1, 0}).turned({1, 0}).axes(), (ViewAxes{{48, 1}}));
  EXPECT_EQ(Viewed({1, 6, 1, 8}).turned({2, 1, 0, 3}).axes(), (ViewAxes{{48, 1}}));
}

TEST(view_axes, are_none_where_an_axis_ends_inside_another) {
  EXPECT_EQ(Viewed({4, 9}).turned({1, 0}).seen({6, 6}).turned({1, 0}).axes(), std::nullopt);
}

TEST(view_axes, are_the_fewest) {
  EXPECT_EQ(fewest_axes({{2, 12}, {3, 4}, {1, 9}, {4, 1}}), (ViewAxes{{24, 1}}));
  EXPECT_EQ(fewest_axes({{3, 1}, {2, 3}}), (ViewAxes{{3, 1}, {2, 3}}));
}

}  // namespace
}  // namespace sdip
