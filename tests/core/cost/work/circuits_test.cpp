// What encoder and decoder cost and save as circuits made for their networks, by hand.
#include <gmock/gmock.h>

#include "core/cost/explain/explain.h"
#include "core/cost/price/area.h"
#include "core/cost/price/batch.h"
#include "core/cost/price/fpga.h"
#include "core/exec/clock/step.h"
#include "core/program/program.h"
#include "tests/core/cost/reports.h"

namespace sdip {
namespace {

using testing::Contains;
using testing::HasSubstr;

InstructionClass eight_elements(Family family, std::int64_t passes) {
  InstructionClass c;
  c.work.family = family;
  c.work.rows = 1;
  c.work.passes = passes;
  c.work.row_length = c.out_elements = 8;
  c.mapping = {1, 1, 8, 1, rows_outermost};
  c.fetches = {{.place = Place::dsram, .elements = 8, .passes = passes, .per_fold = true}};
  return c;
}

/// A vector operator and a softmax, each of 8 elements.
CompiledStage two_operators(Role role) {
  CompiledStage stage;
  stage.role = role;
  stage.name = std::string(role_text(role));
  stage.program.classes = {eight_elements(Family::vector, 1), eight_elements(Family::softmax, 3)};
  stage.program.instructions.resize(2);
  stage.program.instructions[1].instruction_class = 1;
  return stage;
}

Application core_and_decoder() {
  Application application;
  application.stages = {two_operators(Role::core), two_operators(Role::decoder)};
  return application;
}

/// Lanes of encoder and decoder for work that is no product.
void set_row_lanes(Machine& m, std::int64_t lanes) {
  m.vae_encoder_vector_lanes = m.vae_encoder_softmax_lanes = m.vae_encoder_norm_lanes =
      m.vae_encoder_transpose_lanes = lanes;
  m.vae_decoder_vector_lanes = m.vae_decoder_softmax_lanes = m.vae_decoder_norm_lanes =
      m.vae_decoder_transpose_lanes = lanes;
}

Machine small_machine(VaeStage where) {
  Machine m;
  m.vae_stage = where;
  m.cores = m.steps = 1;
  m.activation_format = NumberFormat::int8;
  m.vector_lanes = m.softmax_lanes = 2;
  m.dispatch_cycles = 4;
  m.pipeline_stages = 1;
  if (where == VaeStage::circuit) set_row_lanes(m, 8);
  return m;
}

double block_of(const Breakdown& area, const std::string& name) {
  for (const auto& [block, mm2] : area)
    if (block == name) return mm2;
  return -1;
}

/// The worked example of docs/model/frames.md: 4 + 4 + 1 and 4 + 3 x 4 + 1 cycles on a core, 1 + 1 and 3 + 1 as a
/// circuit.
TEST(circuits, have_lanes_of_their_own_and_nothing_to_issue) {
  const Application application = core_and_decoder();
  const auto decoder = [&](const Machine& m) { return estimate(application, m).stages.at(1); };
  const auto stepped = [&](const Machine& m) {
    const StepCounts counts = step(application.stages[1].program, m, m.decoder_dram_share, 1, 1, Role::decoder);
    return counts.passes[0].back().end;
  };
  const Machine on_core = small_machine(VaeStage::core), as_circuit = small_machine(VaeStage::circuit);
  EXPECT_EQ(decoder(on_core).steady_cycles, Cycles(9 + 17));
  EXPECT_EQ(stepped(on_core), 9 + 17);
  EXPECT_EQ(decoder(as_circuit).steady_cycles, Cycles(2 + 4));
  EXPECT_EQ(stepped(as_circuit), 2 + 4);
  EXPECT_EQ(estimate(application, as_circuit).stages.at(0).steady_cycles, Cycles(9 + 17)) << "a core";
  Machine on_own_core = on_core;
  set_row_lanes(on_own_core, 8);
  EXPECT_EQ(decoder(on_own_core).steady_cycles, Cycles(6 + 8)) << "a core with those lanes";
  EXPECT_EQ(stepped(on_own_core), 6 + 8);
  Machine issued = as_circuit;
  issued.sequencer = Sequencer::host;
  issued.host_operators = HostOperators::softmax;
  EXPECT_EQ(decoder(issued).steady_cycles, Cycles(2 + 4)) << "whoever issues, and has, the cores' operators";
  EXPECT_EQ(stepped(issued), 2 + 4);
  EXPECT_GT(estimate(application, issued).stages.at(0).steady_cycles, Cycles(9 + 17));
}

TEST(circuits, have_no_program_in_imem) {
  Application application = core_and_decoder();
  for (Instruction& instruction : application.stages[1].program.instructions) instruction.words = 100;
  Machine m = small_machine(VaeStage::core);
  m.imem_bytes = 6400;
  EXPECT_EQ(estimate(application, m).stages.at(1).imem_bytes, Bytes(6400));
  m.imem_bytes = 6399;
  EXPECT_THAT(evaluate(application, m).reason, HasSubstr("decoder: the program needs 6400 B of IMEM"));
  const std::int64_t loaded = estimate(core_and_decoder(), m).load.cycles.value;
  m.vae_stage = VaeStage::circuit;
  for (const ProgramStorage storage : {ProgramStorage::held, ProgramStorage::streamed}) {
    m.program_storage = storage;
    const Report report = estimate(application, m);
    ASSERT_TRUE(report.outcome.feasible);
    EXPECT_EQ(report.stages.at(1).imem_bytes, Bytes(0));
    EXPECT_EQ(report.stages.at(1).dram_program, Bytes(0));
    EXPECT_EQ(report.stages.at(1).energy_parts[static_cast<std::size_t>(EnergyPart::control)], 0);
    EXPECT_GT(report.stages.at(0).energy_parts[static_cast<std::size_t>(EnergyPart::control)], 0);
    EXPECT_LT(report.load.cycles.value, loaded);
  }
  m.program_storage = ProgramStorage::held;
  BatchEvaluator batch(application);
  Outcome outcome;
  batch.evaluate(std::span(&m, 1), std::span(&outcome, 1));
  EXPECT_TRUE(outcome.feasible);
  EXPECT_EQ(batch.counts().alone, 0) << "no reason to go alone";
}

TEST(circuits, are_of_those_families_alone_that_their_network_has) {
  const Application application = core_and_decoder();
  const Breakdown left_out = area_of(application, small_machine(VaeStage::off_chip));
  const Machine m = small_machine(VaeStage::circuit);
  const Breakdown area = area_of(application, m);
  for (const char* block : {"conv2d", "linear", "matmul", "norm"})
    EXPECT_EQ(block_of(area, block), block_of(left_out, block)) << block;
  for (const char* block : {"vector", "softmax"})  // 2 lanes of the core, 8 of the circuit
    EXPECT_DOUBLE_EQ(block_of(area, block), 5 * block_of(left_out, block)) << block;
  for (const char* block : {"dsram", "stackram", "psram"})
    EXPECT_DOUBLE_EQ(block_of(area, block), 2 * block_of(left_out, block)) << block;
  EXPECT_EQ(block_of(area, "imem"), block_of(left_out, "imem"));
  EXPECT_EQ(stage_mac_lanes(application.stages[1], m), 1) << "none, but a share of none is none";
  Machine shared = m;  // all work that is no product on the vector lanes
  shared.granularity = Granularity::micro_operation;
  EXPECT_EQ(stage_lanes(application.stages[1], shared).vector, 8);
  EXPECT_EQ(stage_lanes(application.stages[1], shared).softmax, 0);
}

TEST(circuits, share_an_array_where_macs_are_shared) {
  CompiledStage stage = two_operators(Role::encoder);
  stage.program.classes[0].work.family = Family::matmul;
  Machine m = small_machine(VaeStage::circuit);
  m.vae_encoder_matmul_lanes_m = m.vae_encoder_matmul_lanes_n = 2;
  m.vae_encoder_matmul_lanes_k = 3;
  EXPECT_EQ(stage_lanes(stage, m).matmul, 2 * 2 * 3);
  EXPECT_EQ(stage_lanes(stage, m).conv2d, 0);
  EXPECT_EQ(stage_mac_lanes(stage, m), 12);
  m.mac_sharing = MacSharing::shared;
  m.vae_encoder_conv_lanes_in = m.vae_encoder_conv_lanes_out = m.vae_encoder_conv_lanes_pixel = 2;
  EXPECT_EQ(stage_lanes(stage, m).matmul, 0);
  EXPECT_EQ(stage_lanes(stage, m).conv2d, 8);
}

/// Whichever family it is that works there, an array that several share is built.
TEST(circuits, are_built_for_any_one_family_that_shares_them) {
  Machine m = small_machine(VaeStage::circuit);
  const auto lanes_of = [&](Family family) {
    CompiledStage stage = two_operators(Role::encoder);
    stage.program.classes = {eight_elements(family, 1)};
    return stage_lanes(stage, m);
  };
  constexpr Family products[] = {Family::conv2d, Family::linear, Family::matmul};
  constexpr Family rows[] = {Family::vector, Family::softmax, Family::norm, Family::transpose};
  m.granularity = Granularity::micro_operation;
  for (const MacSharing sharing : {MacSharing::shared, MacSharing::separate})
    for (const Family family : products) {
      m.mac_sharing = sharing;
      EXPECT_GT(lanes_of(family).conv2d, 0) << family_text(family);
      EXPECT_EQ(lanes_of(family).vector, 0) << family_text(family);
    }
  for (const Family family : rows) {
    EXPECT_EQ(lanes_of(family).conv2d, 0) << family_text(family);
    EXPECT_GT(lanes_of(family).vector, 0) << family_text(family);
  }
  m.granularity = Granularity::per_operator;
  for (const Family family : products) EXPECT_EQ(lanes_of(family).conv2d > 0, family == Family::conv2d);
}

TEST(circuits, are_controlled_as_from_one_place) {
  const Application application = core_and_decoder();
  Machine m = small_machine(VaeStage::circuit);
  const double central = block_of(area_of(application, m), "control");
  m.sequencer = Sequencer::distributed;
  const double distributed = block_of(area_of(application, m), "control");
  m.vae_stage = VaeStage::off_chip;
  const double without = block_of(area_of(application, m), "control");
  m.sequencer = Sequencer::central;
  const double central_without = block_of(area_of(application, m), "control");
  EXPECT_GT(distributed, central);
  EXPECT_GT(without, central_without);
  const double psram = block_of(area_of(application, m), "psram");  // a second one stands beside the circuit's
  EXPECT_NEAR(distributed - central,
              (without - central_without) + psram * (control_over_datapath(process_of(m), Sequencer::distributed) -
                                                     control_over_datapath(process_of(m), Sequencer::central)),
              1e-12);
}

TEST(circuits, of_a_part_of_programmable_logic_take_blocks_for_their_lanes) {
  const Application application = core_and_decoder();
  Machine m = small_machine(VaeStage::circuit);
  m.technology_node = TechnologyNode::fpga_vc1902;
  enum : std::size_t { dsp = 0, lut = 3 };
  const auto blocks = [&](std::size_t resource, std::int64_t lanes) {
    set_row_lanes(m, lanes);
    return fpga_use(application, m)->resources[resource].needed;
  };
  const Process process = process_of(m);
  EXPECT_DOUBLE_EQ(blocks(dsp, 66) - blocks(dsp, 33), 2 * 33 * fpga_dsp_blocks(process, NumberFormat::int8))
      << "vector and softmax";
  EXPECT_DOUBLE_EQ(blocks(lut, 66) - blocks(lut, 33), 2 * 33 * fpga_lane_luts(process, NumberFormat::int8));
}

/// With tiny-sd area, energy and latency are the sums of their parts, and the executor takes as long.
TEST(circuits, of_tiny_sd_are_faster_by_their_lanes_and_smaller_without_them) {
  Machine m = find_preset("essay")->machine;
  m.mode = Mode::image_to_image;
  const Report on_cores = report_of(m);
  m.vae_stage = VaeStage::circuit;
  const Report as_cores = report_of(m);
  m.vae_encoder_conv_lanes_in = m.vae_encoder_conv_lanes_out = m.vae_encoder_conv_lanes_pixel = 2;
  m.vae_decoder_conv_lanes_in = m.vae_decoder_conv_lanes_out = m.vae_decoder_conv_lanes_pixel = 2;
  const Report small = report_of(m);
  for (const Report* report : {&as_cores, &small}) {
    EXPECT_NEAR(sum_of_parts(report->area_mm2), value(*report, Metric::area_mm2), 1e-9);
    EXPECT_NEAR(sum_of_parts(report->energy_j), value(*report, Metric::energy_j_per_frame), 1e-12);
    EXPECT_NEAR(sum_of_parts(report->latency_s), value(*report, Metric::latency_s), 1e-15);
  }
  for (std::size_t s = 0; s < as_cores.stages.size(); ++s) {
    const StageReport &before = on_cores.stages[s], &after = as_cores.stages[s];
    const bool vae = after.role == Role::encoder || after.role == Role::decoder;
    EXPECT_EQ(after.steady_cycles < before.steady_cycles, vae) << after.name;
    EXPECT_EQ(small.stages[s].steady_cycles > after.steady_cycles, vae) << after.name;
    EXPECT_EQ(after.dram_weights, before.dram_weights);
  }
  EXPECT_EQ(value(as_cores, Metric::area_mm2), value(on_cores, Metric::area_mm2)) << "a VAE has every family";
  EXPECT_LT(value(small, Metric::area_mm2), value(as_cores, Metric::area_mm2));
}

TEST(circuits, are_explained_by_their_own_lanes) {
  const Application application = core_and_decoder();
  const Explanation e = explain(application, small_machine(VaeStage::circuit), 4);
  ASSERT_TRUE(e.feasible);
  EXPECT_EQ(e.stages.at(1).mac_lanes, 1);
  for (const LayerExplanation& kind : e.worst)
    for (const FilledTerm& term : kind.terms)
      if (term.what == "time") {
        EXPECT_EQ(term.value, kind.layer.cycles);
      }
  const auto decoder = std::ranges::find_if(e.worst, [](const LayerExplanation& k) { return k.layer.stage == 1; });
  ASSERT_NE(decoder, e.worst.end());
  EXPECT_EQ(decoder->bound_cycles, 3) << "3 passes x ceil(8 / 8)";
}

TEST(circuits, say_where_there_are_none) {
  Application application;
  application.stages = {two_operators(Role::core)};
  Machine m = small_machine(VaeStage::circuit);
  EXPECT_THAT(estimate(application, m).notes, Contains("vae_stage=circuit does nothing: the workload has no VAE."));
  EXPECT_EQ(value(estimate(application, m), Metric::area_mm2),
            value(estimate(application, small_machine(VaeStage::core)), Metric::area_mm2));
  EXPECT_THAT(estimate(core_and_decoder(), m).notes,
              Contains("The rows of vae_encoder do nothing: the workload has no such stage."));
  EXPECT_THAT(estimate(core_and_decoder(), small_machine(VaeStage::core)).notes, Not(Contains(HasSubstr("vae_"))));
  m.vae_stage = VaeStage::off_chip;
  EXPECT_THAT(estimate(core_and_decoder(), m).notes,
              Contains("The rows of vae_decoder do nothing: the stage is off chip."));
}

}  // namespace
}  // namespace sdip
