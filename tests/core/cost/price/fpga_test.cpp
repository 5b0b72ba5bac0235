// Does an FPGA part hold a machine, and what limits?
#include "core/cost/price/fpga.h"

#include <gtest/gtest.h>

#include "core/cost/price/area.h"
#include "core/exec/clock/step.h"
#include "core/machine/technology.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/exec/pass_sum.h"

namespace sdip {
namespace {

/// 4 x 4 x 4 int8 products and 16 lanes beside, 4 KiB in each memory.
Machine zynq_machine() {
  Machine m = find_preset("pynq-attention")->machine;
  m.technology_node = TechnologyNode::fpga_zynq7020;
  m.host_operators = HostOperators::no_operators;
  return m;
}

Application one_stage() {
  Application application;
  CompiledStage& stage = application.stages.emplace_back();
  stage.name = "product";
  InstructionClass& c = stage.program.classes.emplace_back();
  c.work.family = Family::linear;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.out_elements = 1;
  stage.program.instructions.emplace_back().name = "product";
  return application;
}

double needed(const Machine& m, std::size_t resource) {
  return fpga_use(one_stage(), m)->resources[resource].needed;
}
enum : std::size_t { dsp, bram, uram, lut };

TEST(fpga, a_machine_of_another_node_takes_no_part) {
  Machine m = zynq_machine();
  m.technology_node = TechnologyNode::n28;
  EXPECT_FALSE(fpga_use(one_stage(), m));
}

TEST(fpga, lanes_take_dsp_blocks_and_luts_by_their_format) {
  Machine m = zynq_machine();
  // 64 of conv2d, shared; 16 + 1 + 1 of vector, softmax and norm.
  EXPECT_EQ(needed(m, dsp), 82);
  EXPECT_EQ(needed(m, lut), 82 * 50 + 3000);
  m.weight_format = NumberFormat::fp32;
  EXPECT_EQ(needed(m, dsp), 64 * 5 + 18);
  EXPECT_EQ(needed(m, lut), 64 * 400 + 18 * 50 + 3000);
  m.weight_format = NumberFormat::int8;
  m.technology_node = TechnologyNode::fpga_vc1902;
  EXPECT_EQ(needed(m, dsp), 22 + 6) << "three int8 products a block";
  m.cores = 3;
  EXPECT_EQ(needed(m, dsp), 3 * 28);
  EXPECT_EQ(needed(m, lut), 3 * 82 * 50 + 3000);
  m.mac_sharing = MacSharing::separate;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 2;
  m.matmul_lanes_m = m.matmul_lanes_n = m.matmul_lanes_k = 1;
  EXPECT_EQ(needed(m, lut), 3 * (82 + 8 + 1) * 50 + 3000);
}

TEST(fpga, a_memory_takes_as_many_blocks_as_its_bits_or_its_port_need) {
  Machine m = zynq_machine();
  EXPECT_EQ(needed(m, bram), 5) << "two DSRAMs, STACKRAM, PSRAM, IMEM";
  m.psram_port_bits = 512;
  EXPECT_EQ(needed(m, bram), 4 + 8);
  m.psram_port_bits = 32;
  m.psram_bytes = 64 * 1024;
  EXPECT_EQ(needed(m, bram), 4 + 15);
  m.stackram_bytes = 0;
  EXPECT_EQ(needed(m, bram), 3 + 15);
  m.cores = 4;
  EXPECT_EQ(needed(m, bram), 8 + 15 + 1);
  m.operator_dsram = OperatorDsram::per_operator;
  EXPECT_EQ(needed(m, bram), 56 + 15 + 1);
  EXPECT_EQ(needed(m, uram), 0);
}

/// Blocks of all five memories where `change` was made; 5 where it changes none.
template <class Change>
double bram_with(Change change) {
  Machine m = zynq_machine();
  change(m);
  return needed(m, bram);
}

TEST(fpga, blocks_are_counted_to_the_byte_and_to_the_bit_of_a_port) {
  EXPECT_EQ(bram_with([](Machine& m) { m.dsram_bytes = 2 * 4608; }), 2 * 2 + 3);
  EXPECT_EQ(bram_with([](Machine& m) { m.dsram_bytes = 2 * 4608 + 1; }), 2 * 3 + 3);
  EXPECT_EQ(bram_with([](Machine& m) { m.dsram_port_bits = 2 * 72; }), 2 * 2 + 3);
  EXPECT_EQ(bram_with([](Machine& m) { m.dsram_port_bits = 2 * 72 + 1; }), 2 * 3 + 3);
  EXPECT_EQ(bram_with([](Machine& m) { m.stackram_bytes = 2 * 4608; }), 2 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.stackram_bytes = 2 * 4608 + 1; }), 3 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.stackram_bytes = 1; }), 1 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.stackram_port_bits = 2 * 72; }), 2 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.stackram_port_bits = 2 * 72 + 1; }), 3 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.psram_port_bits = 2 * 72; }), 2 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.psram_port_bits = 2 * 72 + 1; }), 3 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.imem_bytes = 2 * 4608; }), 2 + 4);
  EXPECT_EQ(bram_with([](Machine& m) { m.imem_bytes = 2 * 4608 + 1; }), 3 + 4);
}

TEST(fpga, the_largest_memories_take_ultraram_while_there_is_some) {
  Machine m = zynq_machine();
  m.technology_node = TechnologyNode::fpga_vc1902;
  m.psram_bytes = 36 * 1024 * 460;  // 460 blocks of 463
  m.stackram_bytes = 36 * 1024 * 2;
  EXPECT_EQ(needed(m, uram), 462 + 1) << "PSRAM, STACKRAM, and IMEM's one after the two DSRAMs found no room";
  EXPECT_EQ(needed(m, bram), 2);
  m.psram_bytes = 36 * 1024 * 464;
  EXPECT_EQ(needed(m, bram), 464 * 8);
}

TEST(fpga, weights_in_rom_take_blocks_too) {
  Machine m = zynq_machine();
  Application application = one_stage();
  application.stages[0].program.stored_weight_bytes = Bytes(4608 * 3);
  EXPECT_EQ(fpga_use(application, m)->resources[bram].needed, 5);
  m.weight_storage = WeightStorage::hard_coded;
  EXPECT_EQ(fpga_use(application, m)->resources[bram].needed, 4 + 3);
  application.stages[0].program.stored_weight_bytes = Bytes(4608 * 3 + 1);
  EXPECT_EQ(fpga_use(application, m)->resources[bram].needed, 4 + 4);
  m.psram_port_bits = 5 * 72;
  EXPECT_EQ(fpga_use(application, m)->resources[bram].needed, 4 + 5);
  m.psram_port_bits = 5 * 72 + 1;
  EXPECT_EQ(fpga_use(application, m)->resources[bram].needed, 4 + 6);
}

TEST(fpga, weights_of_a_stage_off_the_chip_take_no_blocks) {
  Machine m = zynq_machine();
  m.weight_storage = WeightStorage::hard_coded;
  m.vae_stage = VaeStage::off_chip;
  Application application = one_stage();
  application.stages[0].role = Role::decoder;
  const double before = fpga_use(application, m)->resources[bram].needed;
  application.stages[0].program.stored_weight_bytes = Bytes(4608 * 3);
  EXPECT_EQ(fpga_use(application, m)->resources[bram].needed, before);
}

TEST(fpga, a_clock_as_fast_as_the_part_is_not_told_and_one_beyond_its_value_is) {
  Machine m = zynq_machine();
  m.pipeline_stages = 8;
  const auto told = [&](TechnologyNode node, std::int64_t mhz) {
    m.technology_node = node;
    m.core_clock_mhz = mhz;
    const Report report = estimate(one_stage(), m);
    std::string all = report.outcome.reason;
    for (const std::string& note : report.notes) all += note;
    return all.find(" may be beyond the fastest clock") != std::string::npos ? "may be"
           : all.find(" is beyond the fastest clock") != std::string::npos   ? "is"
                                                                             : "";
  };
  EXPECT_STREQ(told(TechnologyNode::fpga_zynq7020, 388), "");
  EXPECT_STREQ(told(TechnologyNode::fpga_zynq7020, 389), "is");
  EXPECT_STREQ(told(TechnologyNode::fpga_vc1902, 400), "");
  EXPECT_STREQ(told(TechnologyNode::fpga_vc1902, 600), "may be");
  EXPECT_STREQ(told(TechnologyNode::fpga_vc1902, 601), "is");
}

TEST(energy, that_leaks_while_a_stage_runs_is_that_of_its_instructions) {
  const Report report = estimate(one_stage(), zynq_machine());
  const StageReport& stage = report.stages[0];
  const auto leakage = static_cast<std::size_t>(EnergyPart::leakage);
  EXPECT_GT(stage.energy_parts[leakage], 0);
  EXPECT_DOUBLE_EQ(stage.instructions[0].energy_parts[leakage], stage.energy_parts[leakage]);
}

TEST(fpga, what_is_not_needed_limits_nothing_and_an_infeasible_application_uses_nothing) {
  Application application = one_stage();
  EXPECT_EQ(fpga_use(application, zynq_machine())->limit, "dsp") << "82 of 220; no UltraRAM of none";
  EXPECT_TRUE(estimate(application, zynq_machine()).fpga);
  application.feasible = false;
  EXPECT_FALSE(estimate(application, zynq_machine()).fpga);
}

TEST(fpga, a_part_fits_to_the_last_block_and_names_what_limits) {
  Machine m = zynq_machine();
  m.vector_lanes = 220 - 64 - 2;
  FpgaUse use = *fpga_use(one_stage(), m);
  EXPECT_TRUE(use.fits);
  EXPECT_EQ(use.limit, "dsp");
  EXPECT_TRUE(estimate(one_stage(), m).outcome.feasible);
  ++m.vector_lanes;
  use = *fpga_use(one_stage(), m);
  EXPECT_FALSE(use.fits);
  const Report report = estimate(one_stage(), m);
  EXPECT_FALSE(report.outcome.feasible);
  EXPECT_EQ(report.outcome.reason, "fpga_zynq7020: the machine needs 221 dsp, the part has 220");
  ASSERT_TRUE(report.fpga);
  EXPECT_FALSE(report.fpga->fits);
  m.vector_lanes = 1;
  m.psram_bytes = 136 * 4608;
  EXPECT_EQ(fpga_use(one_stage(), m)->limit, "bram");
  EXPECT_TRUE(fpga_use(one_stage(), m)->fits);
  m.psram_bytes += 1;
  EXPECT_FALSE(fpga_use(one_stage(), m)->fits);
}

/// 16 x 16 x 8 products and 3 x 64 lanes beside are 2,240 of int8, three a block: ceil(2,240 / 3) DSP58.
TEST(fpga, a_step_of_tiny_sd_fits_vc1902_and_takes_what_it_steps) {
  Machine m = find_preset("edge")->machine;
  m.core_clock_mhz = 400;
  m.conv_lanes_out = m.conv_lanes_in = 16;
  m.conv_lanes_pixel = 8;
  m.vector_lanes = m.softmax_lanes = m.norm_lanes = 64;
  m.technology_node = TechnologyNode::fpga_vc1902;
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::network, "tiny-sd-unet", m));
  const Application application = compile(workload, m);
  const Report report = estimate(application, m);
  ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
  EXPECT_TRUE(report.fpga->fits);
  EXPECT_EQ(report.fpga->resources[dsp].needed, 747);
  const StepCounts run = step(application.stages[0], m, Decimal{100}, 1, 2);
  EXPECT_EQ(report.stages[0].cold_cycles.value, sum_of(run.passes[0]).end);
  EXPECT_EQ(report.stages[0].steady_cycles.value, sum_of(run.passes[1]).end);
  m.dsram_bytes *= 16;
  EXPECT_FALSE(estimate(compile(workload, m), m).outcome.feasible) << "64 MiB are more than the part has";
}

/// So few sums of a result and weights of a lane lie in one table for each of their bits.
TEST(fpga, accumulators_and_weight_registers_of_each_array_lie_in_tables) {
  Machine m = zynq_machine();
  const double none = needed(m, lut);
  m.accumulator_folds = 2;
  m.weight_registers = 3;
  const auto bits = [&](Family family) {
    const HeldBits held = held_bits(m, family, m.weight_format, m.accumulator_format);
    return static_cast<double>(held.sums + held.weights);
  };
  EXPECT_EQ(needed(m, lut) - none, bits(Family::conv2d)) << "one array for all products";
  Machine apart = zynq_machine();
  apart.mac_sharing = m.mac_sharing = MacSharing::separate;
  EXPECT_EQ(needed(m, lut) - needed(apart, lut),
            bits(Family::conv2d) + bits(Family::linear) + bits(Family::matmul));
}

TEST(fpga, each_operator_s_two_dsrams_are_built_in_their_size) {
  Machine m = zynq_machine();
  m.operator_dsram = OperatorDsram::per_operator;
  const double alike = needed(m, bram);
  m.softmax_dsram_bytes = 4 * m.dsram_bytes;
  ASSERT_TRUE(has_own_pairs(m));
  EXPECT_EQ(needed(m, bram) - alike, 2 * 3);
}

TEST(fpga, a_part_without_fefet_memories_is_limited_by_them_and_by_nothing_else) {
  Machine m = zynq_machine();
  m.in_memory_weights = InMemoryWeights::fefet;
  for (const std::int64_t bytes : {std::int64_t{4608}, std::int64_t{1} << 30}) {  // of DSRAM: fits, and would not
    m.dsram_bytes = bytes;
    const Report report = estimate(one_stage(), m);
    EXPECT_EQ(report.outcome.reason, "product: a part of programmable logic has no FeFET memory for its weights");
    ASSERT_TRUE(report.fpga);
    EXPECT_FALSE(report.fpga->fits);
    EXPECT_EQ(report.fpga->limit, "fefet");
  }
  m.dsram_bytes = 4608;
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = HardCodedPart::all;  // in ROM, which is block RAM here
  EXPECT_EQ(estimate(one_stage(), m).outcome.reason, "");
  EXPECT_EQ(fpga_use(one_stage(), m)->limit, "dsp");
}

TEST(fpga, a_part_leaks_as_a_whole_and_its_area_is_called_programmable_logic) {
  const Machine m = zynq_machine();
  const Report report = estimate(one_stage(), m);
  ASSERT_EQ(report.leakage_w.size(), 1U);
  EXPECT_EQ(report.leakage_w[0].first, "part");
  EXPECT_DOUBLE_EQ(report.leakage_w[0].second, 0.2);
  bool told = false;
  for (const std::string& note : report.notes) told |= note.find("programmable logic") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(fpga, the_students_machine_fits_the_part_that_they_built_it_on_at_its_clock) {
  const Machine& m = find_preset("pynq-attention")->machine;
  const FpgaUse use = *fpga_use(one_stage(), m);
  EXPECT_TRUE(use.fits);
  EXPECT_GT(clock_limit_mhz(m.technology_node, m.weight_format, m.pipeline_stages),
            static_cast<double>(m.core_clock_mhz));
}

}  // namespace
}  // namespace sdip
