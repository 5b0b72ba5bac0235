// Fused attention in the built-in models: it is found, and scores stay on chip.
#include <gmock/gmock.h>

#include "core/cost/price/estimate.h"
#include "core/cost/work/attention.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

Machine fusing(std::string_view preset) {
  Machine m = find_preset(preset)->machine;
  m.fused_attention = FusedAttention::on;
  return m;
}

Application compiled_stage(const Stage& stage, const Machine& machine) {
  Workload workload;
  workload.stages.push_back(stage);
  return compile(workload, machine);
}

std::int64_t instructions_of(const Application& application, std::string_view mnemonic) {
  std::int64_t count = 0;
  for (const Instruction& i : application.stages.at(0).program.instructions)
    count += i.mnemonic == mnemonic || i.mnemonic.starts_with(std::string(mnemonic) + "+");
  return count;
}

TEST(fused_attention, takes_all_of_them_in_the_built_in_models) {
  struct Expected {
    Role role;
    const char* model;
    std::int64_t attentions;
  };
  for (const Expected& e :
       {Expected{Role::core, "sd15-unet", 32}, Expected{Role::core, "sd21-unet", 32},
        Expected{Role::decoder, "sd15-vae-decoder", 1}, Expected{Role::text_encoder, "sd15-text", 12},
        Expected{Role::text_encoder, "bert-base", 12}, Expected{Role::network, "dit-xl2", 28}}) {
    for (const char* preset : {"essay", "edge", "stream"}) {
      SCOPED_TRACE(std::string(e.model) + " on " + preset);
      const Machine machine = fusing(preset);
      const Application application = compiled_stage(built_in_stage(e.role, e.model, machine), machine);
      ASSERT_TRUE(application.feasible) << application.reason;
      EXPECT_EQ(instructions_of(application, "attention"), e.attentions);
      EXPECT_EQ(instructions_of(application, "softmax"), 0);
    }
  }
}

/// Elements of the largest scores in a graph.
std::int64_t largest_scores(const Graph& graph) {
  std::int64_t largest = 0;
  for (const Node& node : graph.nodes)
    if (node.op->type == "Softmax")
      largest = std::max(largest,
                         element_count(graph.values[static_cast<std::size_t>(node.outputs.at(0))].operand.shape));
  return largest;
}

TEST(fused_attention, keeps_scores_of_160_mib_on_chip) {
  const Machine machine = fusing("edge");  // int8, guidance as a batch of two
  const Stage stage = built_in_stage(Role::core, "sd21-unet", machine);
  EXPECT_EQ(largest_scores(*stage.graph), 2LL * 5 * 4096 * 4096);
  EXPECT_EQ(largest_scores(*stage.graph), 160LL << 20);
  const Application application = compiled_stage(stage, machine);
  for (const Instruction& i : application.stages.at(0).program.instructions) {
    const Graph& graph = *application.stages[0].graph;
    EXPECT_LT(element_count(graph.values[static_cast<std::size_t>(i.destination)].operand.shape), 32LL << 20);
    for (const PlacedOperand& source : i.sources)
      EXPECT_LT(element_count(graph.values[static_cast<std::size_t>(source.value)].operand.shape), 32LL << 20);
  }
}

std::string table_row(const char* model, const char* preset) {
  Machine m = find_preset(preset)->machine;
  const Stage stage = built_in_stage(Role::core, model, m);
  const std::int64_t bits = bits_of(m.activation_format);
  std::string row = "| " + std::string(model) + " | " + preset + " | " +
                    std::to_string(largest_scores(*stage.graph) * bits / 8) + " |";
  std::string traffic, cycles;
  for (const FusedAttention option : {FusedAttention::off, FusedAttention::on}) {
    m.fused_attention = option;
    const Report report = estimate(compiled_stage(stage, m), m);
    EXPECT_TRUE(report.outcome.feasible) << report.outcome.reason;
    std::int64_t bytes = 0;
    for (const InstructionCost& i : report.stages.at(0).instructions)
      bytes += (i.dram_activations_in + i.dram_activations_out).value;
    traffic += " " + std::to_string(bytes) + " |";
    cycles += " " + std::to_string(report.stages[0].steady_cycles.value) + " |";
  }
  return row + traffic + cycles + "\n";
}

TEST(docs, the_table_of_fused_attention_is_what_the_models_cost) {
  std::string text =
      "| model | preset | largest scores, B | DRAM activations, B | with fused_attention | steady pass, cycles | "
      "with "
      "fused_attention |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const char* model : {"sd15-unet", "sd21-unet"})
    for (const char* preset : {"essay", "edge", "stream"}) text += table_row(model, preset);
  expect_made_section("model/fusion.md", "attention", "tests/core/cost/work/attention_test.cpp", text);
}

/// The worked example of core/cost/work/attention.cpp.
TEST(fused_attention, lasts_as_long_as_its_steps_one_after_the_other) {
  InstructionClass c;
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  c.work.nest = {.groups = 1, .batch = 1, .out_channels = 6, .in_channels = 4, .out_h = 2};
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].work.nest.out_channels = 4;
  c.parts[2].work.nest.in_channels = 6;
  c.operand_a = Place::dsram;
  c.operand_b = c.parts[2].operand_b = Place::stackram;
  c.mapping = {2, 1, 3, 4, rows_outermost};
  Machine m;
  m.matmul_lanes_m = m.matmul_lanes_n = m.matmul_lanes_k = 2;
  m.softmax_lanes = 4;
  m.dsram_port_bits = m.stackram_port_bits = 8192;
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.shapes[0].cycles, 17);
  EXPECT_EQ(cost.shapes[1].cycles, 20);
  EXPECT_EQ(cost.cycles, 17 + 20);
  EXPECT_EQ(cost.macs, 2 * 6 * (4 + 4));
  EXPECT_EQ(cost.lane_operations, 2 * 2 * 6 + 2 * 2 * 4 + 2 * 4);
}

}  // namespace
}  // namespace sdip
