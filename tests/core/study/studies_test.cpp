// Do the studies say what their parts say, asked alone?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/base/error.h"
#include "core/study/screening.h"
#include "core/study/tilings.h"
#include "core/study/traffic.h"

namespace sdip {
namespace {

const Machine& edge() { return find_preset("edge")->machine; }

TEST(traffic_rows, begin_without_options_and_each_is_what_its_machine_moves) {
  const auto rows = traffic_rows(built_in_workloads(), "tiny-sd-vae-decoder", edge());
  ASSERT_GT(rows.size(), 20U);
  EXPECT_EQ(rows[0].options, "none");
  const auto fused = std::ranges::find(rows, "fusion=norm", &TrafficRow::options);
  ASSERT_NE(fused, rows.end());
  Machine machine = edge();
  for (const ParameterRow& row : parameters())
    if (row.group == "options" && changes_program(row) &&
        (row.type == ParameterType::choice || row.type == ParameterType::flag))
      row.write(machine, row.standard);
  machine.fusion = Fusion::norm;
  const Analysis alone = analyze(built_in_workloads(), "tiny-sd-vae-decoder", machine);
  EXPECT_EQ(fused->instructions, std::ssize(alone.report.stages[0].instructions));
  EXPECT_EQ(fused->cycles, alone.report.stages[0].steady_cycles.value);
  EXPECT_LT(fused->instructions, rows[0].instructions);
}

TEST(traffic_rows, that_change_nothing_are_shortened_to_their_options) {
  std::vector<TrafficRow> rows(3);
  rows[0].options = "none", rows[1].options = "a=b", rows[2].options = "c=d";
  rows[0].macs = rows[1].macs = rows[2].macs = 5;
  rows[2].cycles = 1;
  const ShortTraffic kept = shortened(rows);
  EXPECT_THAT(kept.no_change, testing::ElementsAre("a=b"));
  ASSERT_EQ(kept.rows.size(), 2U);
  EXPECT_EQ(kept.rows[1].options, "c=d");
}

TEST(tilings, of_a_network_have_every_layer_and_their_totals_count_it_as_often_as_it_stands) {
  const auto workload = built_in_workloads()("resnet50", Machine());
  const auto layers = tile_network({Role::network, "resnet50"}, *workload->stages[0].graph, {64, 1 << 20}, &edge());
  std::int64_t count = 0, moved = 0;
  for (const LayerTiling& l : layers) {
    count += l.layer.count;
    ASSERT_TRUE(l.at[1].found && l.on_machine) << l.layer.name;
    EXPECT_GE(l.at[1].found->price, l.at[1].least_words) << l.layer.name;
    moved += l.layer.count * l.at[1].found->price;
  }
  EXPECT_EQ(count, 54);  // 53 convolutions and a linear layer
  const auto totals = totals_of(layers);
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[1].moved, moved);
  EXPECT_EQ(totals[1].infeasible, 0);
  EXPECT_GE(totals[1].worst, ratio_of(totals[1].moved, totals[1].least));
}

TEST(screen, finds_that_what_is_not_read_does_nothing_and_compiles_a_program_once) {
  ScreeningRequest request;
  request.space.base = edge();
  for (const auto& [name, values] : {std::pair("cores", std::vector<std::int64_t>{1, 2, 4, 8}),
                                     std::pair("prompt_per_frame", std::vector<std::int64_t>{0, 1})})
    request.space.axes.push_back({find_parameter(name), values});
  request.measures.push_back(require_measure("area_mm2", {}, ""));
  request.samples = 4;
  const Screening screening =
      screen(compile_quickly(built_in_workloads(), {{"tiny-sd-vae-decoder", 1}}), request, 2);
  EXPECT_EQ(screening.evaluated, request.machines());
  EXPECT_EQ(screening.compiled, 1);
  EXPECT_GT(screening.effects[0][0].mean, 0);
  EXPECT_EQ(screening.effects[0][1].mean_size, 0);
  EXPECT_THAT(by_importance(screening, 0), testing::ElementsAre(0, 1));
}

}  // namespace
}  // namespace sdip
