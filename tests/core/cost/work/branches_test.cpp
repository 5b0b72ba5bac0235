// What sharing heads over cores costs and saves.
#include "core/cost/work/branches.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/cost/price/estimate.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/program/shared_products.h"

namespace sdip {
namespace {

/// The worked example of core/cost/work/branches.cpp.
TEST(branches, send_the_other_cores_their_parts_of_what_lies_on_chip) {
  InstructionClass c;
  c.work.family = Family::matmul;
  c.work.nest = {.groups = 2, .out_channels = 5, .in_channels = 8, .out_h = 4, .in_h = 4};
  c.mapping = {4, 1, 5, 8, rows_outermost};
  c.operand_a = Place::dsram;
  c.operand_b = Place::dram;
  c.out_elements = 2 * 4 * 5;
  c.spread_cores = 3;
  Machine m;
  m.dma_port = DmaPort::own;
  m.activation_format = NumberFormat::int8;
  m.link_bits = 64;
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.cores, 3);
  EXPECT_EQ(cost.link_in_cycles, 16);
  EXPECT_EQ(cost.link_out_cycles, 10);
  c.to_dsram = false;
  c.to_dram = true;
  EXPECT_EQ(class_cost(c, m).link_out_cycles, 0);
}

TEST(branches, hand_each_core_the_weights_of_its_groups_through_one_port) {
  InstructionClass c = shared_depthwise();
  Machine m = of_shared_depthwise();
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.cores, 4);
  EXPECT_EQ(cost.weight_parts, 4);
  ASSERT_EQ(cost.operations, 1);
  EXPECT_EQ(cost.shapes[0].weight_bytes, 18);
  EXPECT_EQ(cost.busy[Resource::compute], 18);
  EXPECT_EQ(cost.busy[Resource::psram_read], 72);
  EXPECT_EQ(cost.cycles, 72);
  EXPECT_EQ(cost.link_in_cycles, 12);
  EXPECT_EQ(cost.link_out_cycles, 12);
  InstructionClass alone = c;
  alone.spread_cores = 1;
  alone.work.nest.groups = 8;
  alone.mapping.tile_channels = 8;
  EXPECT_EQ(class_cost(alone, m).cycles, 72);
  m.weight_storage = WeightStorage::hard_coded;
  EXPECT_EQ(class_cost(c, m).cycles, 18) << "in ROM each core's weights are wired to it";
  EXPECT_EQ(class_cost(alone, m).cycles, 72);
}

/// All cores read the same rows, which pass once.
TEST(branches, pass_on_what_cores_that_share_channels_all_read) {
  InstructionClass c = shared_linear();
  const Machine m = of_shared_depthwise();
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.weight_parts, 4);
  EXPECT_EQ(cost.link_in_cycles, 4);
  EXPECT_EQ(cost.link_out_cycles, 5);
  c.shares_channels = false;  // four groups of as much
  EXPECT_EQ(class_cost(c, m).link_in_cycles, 3 * 4);
  EXPECT_EQ(class_cost(c, m).busy[Resource::psram_read], cost.busy[Resource::psram_read]);
}

/// Products that hold their weights while rows pass do share the work: 16 rows for each weight that is read.
TEST(branches, shorten_products_of_grouped_weights_that_are_read_once_for_many_rows) {
  InstructionClass c = shared_depthwise();
  Machine m = of_shared_depthwise();
  m.dataflow = Dataflow::weight_stationary;
  m.conv_lanes_pixel = 1;
  m.dsram_port_bits = 4096;
  const ClassCost shared = class_cost(c, m);
  EXPECT_EQ(shared.busy[Resource::compute], 2 * 9 * 16);
  EXPECT_EQ(shared.busy[Resource::psram_read], 4 * 18);
  c.spread_cores = 1;
  c.work.nest.groups = c.mapping.tile_channels = 8;
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 4 * shared.busy[Resource::compute]);
  EXPECT_EQ(class_cost(c, m).busy[Resource::psram_read], shared.busy[Resource::psram_read]);
}

/// A million cores behind one port: their beats are no number of cycles that a stage may last.
TEST(branches, cut_what_a_port_takes_for_more_cores_than_any_stage_has_time_for) {
  InstructionClass c = shared_depthwise();
  c.work.nest.out_h = c.work.nest.in_h = std::int64_t{1} << 40;
  c.mapping.tile_rows = c.work.nest.out_h;
  c.operand_a = Place::dram;
  c.to_dsram = false;
  c.to_dram = true;
  c.spread_cores = 1'000'000;
  const Machine m = of_shared_depthwise();
  EXPECT_EQ(class_cost(c, m).cycles, std::int64_t{1} << 58);
  c.work.nest.groups = 6;  // in 3 tiles, whose beats stay countable together
  const ClassCost three = class_cost(c, m);
  ASSERT_EQ(three.operations, 3);
  EXPECT_EQ(three.shapes[0].busy[Resource::psram_read], (std::int64_t{1} << 58) / 3);
  c.work.nest.groups = 2;
  c.spread_cores = 2;
  const ClassCost two = class_cost(c, m);
  EXPECT_EQ(two.cycles, 2 * 18 * (std::int64_t{1} << 37));
  EXPECT_EQ(two.busy[Resource::psram_read], two.cycles);
}

Report bert(std::int64_t cores, Branches branches) {
  Machine m = find_preset("essay")->machine;
  m.guidance = Guidance::off;
  m.fused_attention = FusedAttention::on;
  m.transposition = Transposition::dynamic_transposition;
  m.branches = branches;
  m.cores = cores;
  m.link_bits = 4096;
  m.dies = 1;
  Stage stage = built_in_stage(Role::text_encoder, "bert-base", m);
  stage.role = Role::network;
  Workload workload;
  workload.stages.push_back(std::move(stage));
  return estimate(compile(workload, m), m);
}

/// The energy of arithmetic, memories and DRAM, which grows neither with the cores that weights go to nor with
/// those that wait.
double energy_of_work(const Report& report) {
  double joules = 0;
  for (const auto& [part, j] : report.energy_j)
    if (part != "broadcast" && part != "leakage" && part != "clock") joules += j;
  return joules;
}

TEST(branches, are_told_by_the_most_cores_that_share_an_instruction) {
  Application application;
  CompiledStage& stage = application.stages.emplace_back();
  stage.role = Role::network;
  stage.program.classes = {shared_depthwise(), shared_depthwise()};
  stage.program.classes[0].spread_cores = 2;
  stage.program.instructions.resize(2);
  stage.program.instructions[1].instruction_class = 1;
  Machine m = of_shared_depthwise();
  m.branches = Branches::parallel;
  EXPECT_EQ(estimate(application, m).stages.at(0).spread_cores, 4);
  stage.program.classes[1].spread_cores = 1;
  EXPECT_EQ(estimate(application, m).stages.at(0).spread_cores, 2);
}

TEST(branches, shorten_a_frame_of_bert_and_give_up_the_frames_of_the_other_cores) {
  const Report one = bert(1, Branches::parallel), shared = bert(12, Branches::parallel);
  const Report alone = bert(1, Branches::serial), many = bert(12, Branches::serial);
  EXPECT_EQ(shared.stages[0].spread_cores, 12) << "its roof is twelve cores' lanes";
  EXPECT_EQ(many.stages[0].spread_cores, 1);
  EXPECT_EQ(value(one, Metric::latency_s), value(alone, Metric::latency_s));
  EXPECT_LT(value(shared, Metric::latency_s), value(many, Metric::latency_s));
  EXPECT_LT(value(shared, Metric::throughput_fps), value(many, Metric::throughput_fps));
  EXPECT_EQ(value(shared, Metric::active_cores), 12);
  EXPECT_NEAR(energy_of_work(shared) / energy_of_work(one), 1, 0.02);
  EXPECT_GT(value(shared, Metric::energy_j_per_frame), 2 * value(one, Metric::energy_j_per_frame))
      << "one frame for which twelve cores leak, are clocked and are reached by wires";
}

Report report_on(const std::string& network, const Machine& m) {
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::network, network, m));
  return estimate(compile(workload, m), m);
}

/// Two presets, each as it is (weights read fold by fold), with weights that stay while rows pass, and with none to
/// read; and what a table's row begins with.
struct NamedMachine {
  std::string text;
  Machine machine;
};
std::vector<NamedMachine> machines_of_rows() {
  std::vector<NamedMachine> machines;
  for (const char* preset : {"essay", "edge"})
    for (const char* change : {"", "dataflow=weight", "weight_storage=hard_coded"}) {
      Machine m = find_preset(preset)->machine;
      m.guidance = Guidance::off;
      m.dies = 1;
      if (std::string(change) == "dataflow=weight") m.dataflow = Dataflow::weight_stationary;
      if (std::string(change) == "weight_storage=hard_coded") m.weight_storage = WeightStorage::hard_coded;
      const std::string name = *change == 0 ? "" : ", `" + std::string(change) + "`";
      machines.push_back({"| " + std::string(preset) + name, m});
    }
  return machines;
}

std::string latency_us(const Report& report) {
  return " | " + std::to_string(std::llround(value(report, Metric::latency_s) * 1e6));
}

/// Depthwise convolutions on several cores, where their weights are read fold by fold, once, or not at all.
TEST(docs, the_table_of_depthwise_convolutions_on_several_cores_is_what_the_engine_counts) {
  std::string text = "| MobileNetV2, us a frame | `branches=serial` |";
  for (const int cores : {2, 4, 8}) text += " `parallel`, " + std::to_string(cores) + " cores |";
  text += " frames a second, 8 cores: serial | parallel |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  const auto frames = [](const Report& report) {
    return " | " + std::to_string(std::llround(value(report, Metric::throughput_fps)));
  };
  for (auto& [row, m] : machines_of_rows()) {
    m.cores = 8;
    const Report serial = report_on("mobilenetv2", m);
    text += row + latency_us(serial);
    m.branches = Branches::parallel;
    m.cores = 1;
    EXPECT_EQ(latency_us(report_on("mobilenetv2", m)), latency_us(serial)) << "on one core nothing is spread";
    for (m.cores = 2; m.cores <= 8; m.cores *= 2) text += latency_us(report_on("mobilenetv2", m));
    m.cores = 8;
    text += frames(serial) + frames(report_on("mobilenetv2", m)) + " |\n";
  }
  expect_made_section("model/sharing.md", "branches", "tests/core/cost/work/branches_test.cpp", text);
}

TEST(docs, the_table_of_output_channels_on_several_cores_is_what_the_engine_counts) {
  std::string text = "| BERT-base, us a frame | `branches=serial` | `parallel`, 4 cores |";
  for (const int cores : {2, 4, 8}) text += " `channels`, " + std::to_string(cores) + " cores |";
  text += "\n| --- | --- | --- | --- | --- | --- |\n";
  for (auto& [row, m] : machines_of_rows()) {
    m.fused_attention = FusedAttention::on;
    m.transposition = Transposition::dynamic_transposition;
    const auto us = [&m = m](Branches branches, std::int64_t cores) {
      m.branches = branches;
      m.cores = cores;
      return latency_us(report_on("bert-base", m));
    };
    const std::string serial = us(Branches::serial, 8);
    EXPECT_EQ(us(Branches::channels, 1), serial) << "on one core nothing is spread";
    text += row + serial + us(Branches::parallel, 4);
    for (const std::int64_t cores : {2, 4, 8}) text += us(Branches::channels, cores);
    text += " |\n";
  }
  expect_made_section("model/sharing.md", "channels", "tests/core/cost/work/branches_test.cpp", text);
}

TEST(branches, are_named_in_a_note_where_they_change_nothing) {
  Machine m = find_preset("essay")->machine;
  m.branches = Branches::parallel;
  const Report report = estimate(compile(tiny_sd(m), m), m);
  EXPECT_THAT(report.notes, testing::Contains(testing::HasSubstr("branches=parallel changes nothing")));
}

}  // namespace
}  // namespace sdip
