// Cutting a network into parts in series: balance, what crosses, and that the parts compute what the whole does.
#include "core/program/tiling/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/cost/price/estimate.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

std::int64_t longest(const std::vector<std::int64_t>& cycles, const std::vector<std::size_t>& cuts) {
  std::int64_t most = 0;
  std::size_t from = 0;
  for (std::size_t k = 0; k <= cuts.size(); ++k) {
    const std::size_t to = k < cuts.size() ? cuts[k] : cycles.size();
    EXPECT_GT(to, from);
    std::int64_t sum = 0;
    for (; from < to; ++from) sum += cycles[from];
    most = std::max(most, sum);
  }
  return most;
}

std::int64_t shortest_by_trying(const std::vector<std::int64_t>& cycles, std::size_t from, std::size_t parts) {
  std::int64_t sum = 0;
  for (std::size_t i = from; parts == 1 && i < cycles.size(); ++i) sum += cycles[i];
  if (parts == 1) return sum;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  for (std::size_t to = from + 1; to + parts - 1 <= cycles.size(); ++to) {
    sum += cycles[to - 1];
    best = std::min(best, std::max(sum, shortest_by_trying(cycles, to, parts - 1)));
  }
  return best;
}

TEST(partition, six_nodes_on_three_cores_are_cut_into_parts_of_eight_cycles) {
  const std::vector<std::size_t> cuts = balanced_cuts({4, 4, 2, 6, 2, 6}, {0, 1, 1, 1, 1, 1, 0}, 3);
  EXPECT_THAT(cuts, ElementsAre(2, 4));
}

TEST(partition, of_equally_short_parts_the_cut_stands_where_the_link_carries_least) {
  EXPECT_THAT(balanced_cuts({4, 0, 0, 4}, {0, 7, 3, 5, 0}, 2), ElementsAre(2));
  EXPECT_THAT(balanced_cuts({4, 0, 0, 4}, {0, 7, 3, 3, 0}, 2), ElementsAre(3));
}

TEST(partition, no_other_cuts_have_a_shorter_longest_part) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> cycles(1 + random() % 9), crossing;
    for (std::int64_t& c : cycles) c = static_cast<std::int64_t>(random() % 10);
    for (std::size_t i = 0; i <= cycles.size(); ++i) crossing.push_back(static_cast<std::int64_t>(random() % 5));
    const std::size_t parts = 1 + random() % cycles.size();
    const auto cuts = balanced_cuts(cycles, crossing, parts);
    ASSERT_EQ(cuts.size(), parts - 1);
    EXPECT_EQ(longest(cycles, cuts), shortest_by_trying(cycles, 0, parts));
  }
}

/// Three linear layers, a residual over the last two, and a constant that two parts read.
onnx::ModelProto residual_network() {
  onnx::ModelProto model = model_of_x({2, 4});
  add_floats(model, "w", {4, 4}, {1, 2, 0, 1, 0, 1, 1, 0, 2, 0, 1, 1, 0, 0, 1, 3});
  add_node(model, "MatMul", {"x", "w"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "MatMul", {"b", "w"}, "c");
  add_node(model, "MatMul", {"c", "w"}, "d");
  add_node(model, "Add", {"d", "b"}, "y");
  add_output(model, "y");
  return model;
}

Machine three_cores() {
  Machine m;
  m.core_weights = CoreWeights::per_core;
  m.cores = 3;
  return m;
}

TEST(partition, parts_in_series_compute_what_the_network_does) {
  const Graph whole = import_model(residual_network());
  const Stage stage{Role::network, "net", std::make_shared<const Graph>(whole), {}};
  const std::vector<Stage> parts = partition(stage, three_cores());
  ASSERT_EQ(parts.size(), 3U);
  const Tensor x{ElementType::float32, {2, 4}, {}, {1, -2, 3, 4, 5, 6, -7, 8}};
  std::map<std::string, Tensor> known{{"x", x}};
  for (const Stage& part : parts) {
    const Graph& graph = *part.graph;
    std::vector<Tensor> inputs;
    for (const ValueId v : graph.inputs) inputs.push_back(known.at(graph.values[static_cast<std::size_t>(v)].name));
    const auto outputs = compute(graph, inputs, {});
    for (std::size_t i = 0; i < outputs.size(); ++i)
      known[graph.values[static_cast<std::size_t>(graph.outputs[i])].name] = outputs[i];
  }
  EXPECT_EQ(known.at("y").floats, compute(whole, std::span(&x, 1), {}).at(0).floats);
}

TEST(partition, each_part_has_its_own_weights_and_hands_its_results_over_the_link) {
  const Application cut = compiled(residual_network(), three_cores());
  ASSERT_TRUE(cut.feasible) << cut.reason;
  ASSERT_EQ(cut.stages.size(), 3U);
  EXPECT_EQ(cut.stages[0].name, "net/1");
  EXPECT_GT(cut.stages[0].program.input_bytes, Bytes(0));
  EXPECT_EQ(cut.stages[1].program.input_bytes, Bytes(0));
  EXPECT_EQ(cut.stages[0].program.output_bytes, Bytes(0));
  EXPECT_EQ(cut.stages[2].program.latent_bytes, Bytes(0));
  EXPECT_EQ(cut.stages[2].program.output_bytes, Bytes(2 * 4 * 2));
}

TEST(partition, the_longest_part_and_its_link_set_the_pace) {
  Machine m = three_cores();
  const Report report = estimate(compiled(residual_network(), m), m);
  ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
  std::int64_t most = 0;
  for (const StageReport& s : report.stages) most = std::max(most, s.steady_cycles.value);
  const double fps = report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
  EXPECT_LE(fps, 1e9 / static_cast<double>(most));
  EXPECT_GE(fps, 1e9 / static_cast<double>(most + 1));  // a link carries two values of 16 bytes: one cycle
  EXPECT_EQ(report.outcome.values[static_cast<std::size_t>(Metric::active_cores)], 1);
}

TEST(partition, the_channel_is_shared_by_what_each_part_moves) {
  std::vector<CompiledStage> stages(3);
  for (std::int32_t i = 0; i < 3; ++i) stages[static_cast<std::size_t>(i)].part = {i, 3};
  stages[0].program.weight_bytes = stages[0].program.distinct_weight_bytes = Bytes(300);
  stages[1].program.weight_bytes = stages[1].program.distinct_weight_bytes = Bytes(100);
  share_channel(stages);
  EXPECT_EQ(stages[0].dram_thousandths, 748);
  EXPECT_EQ(stages[1].dram_thousandths, 250);
  EXPECT_EQ(stages[2].dram_thousandths, 1);
}

TEST(partition, a_single_node_or_core_stays_whole) {
  Machine m = three_cores();
  m.cores = 1;
  EXPECT_EQ(compiled(residual_network(), m).stages.size(), 1U);
  onnx::ModelProto model = model_of_x({2});
  add_node(model, "Relu", {"x"}, "y");
  add_output(model, "y");
  EXPECT_EQ(compiled(model, three_cores()).stages.size(), 1U);
}

}  // namespace
}  // namespace sdip
