// Instructions finer than an operator, programs larger than IMEM, operators on the host: the worked examples of
// docs/model/work.md, and what these options must do.
#include "core/cost/work/micro_operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/cost/price/area.h"
#include "core/cost/price/estimate.h"
#include "core/cost/time/timeline.h"
#include "tests/core/channel.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

double part(const Breakdown& parts, std::string_view name) {
  for (const auto& [part, value] : parts)
    if (part == name) return value;
  ADD_FAILURE() << "no part " << name;
  return 0;
}

std::vector<InstructionTime> cold_pass_of_program(const Program& program, const Machine& m) {
  List<ClassCost> costs;
  for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
  std::vector<InstructionTime> trace;
  run_timeline(program, costs, timeline_rules(m, Decimal{100}, 1, Bytes(0)), 1, &trace);
  return trace;
}

/// One MAC, one vector lane, int8, a byte a cycle from DRAM.
Machine small() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.conv_lanes_in = m.conv_lanes_out = m.conv_lanes_pixel = m.vector_lanes = 1;
  set_channel(m, 8, 50), m.dram_efficiency = Decimal{100};
  m.dram_burst_bytes = 1;
  m.dispatch_cycles = 0;
  m.pipeline_stages = 1;
  return m;
}

/// A split_convolution of 2 results over 2 input channels, SiLU behind it, kept and pushed; its sums in two tiles.
Program split_convolution() {
  Program program;
  InstructionClass c;
  c.work.family = Family::conv2d;
  c.work.nest.out_h = c.work.nest.in_h = 2;
  c.work.nest.in_channels = 2;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = 2;
  c.mapping = {2, 1, 1, 1, rows_outermost};
  c.out_elements = 2;
  c.fused_operators = c.fused_passes = 1;
  c.push = true;
  program.classes.push_back(c);
  program.instructions.resize(1);
  return program;
}

TEST(micro_operations, of_a_convolution_in_two_sums_tiles_are_four_and_seven) {
  Machine m = small();
  m.granularity = Granularity::micro_operation;
  const Program program = split_convolution();
  const ClassCost cost = class_cost(program.classes[0], m);
  ASSERT_EQ(cost.shapes.size(), 2U);
  EXPECT_EQ(cost.shapes[0].micro_operations, 4);
  EXPECT_EQ(cost.shapes[1].micro_operations, 7);
  EXPECT_EQ(instruction_bytes(program.instructions[0], cost, m.granularity), 11 * 64);
  m.dispatch_cycles = 10;
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).overhead, 40 + 70 + 2);  // two stages of pipeline
  m.weight_storage = WeightStorage::hard_coded;                             // wires are not read
  EXPECT_EQ(class_cost(program.classes[0], m).shapes[0].micro_operations, 3);
}

TEST(micro_operations, pay_dispatch_each_and_fill_the_pipeline_once_a_tile_operation) {
  Machine m = small();
  const Program program = split_convolution();
  m.weight_storage = WeightStorage::hard_coded;
  const std::int64_t operations = 2 + 4 + 2;  // A's beats, then A's and the partial sums'; one stage each
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, operations - 1);
  m.granularity = Granularity::micro_operation;
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, operations);
  m.dispatch_cycles = 10;
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, 10 * (3 + 6) + operations);
  m.sequencer = Sequencer::distributed;  // 30 cycles of dispatch and the first operation's 3 are hidden of 60
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, 30 + 3 + (60 - 33) + 5);
}

TEST(micro_operations, take_turns_at_the_vector_unit) {
  Machine m = small();
  InstructionClass c = split_convolution().classes[0];
  c.mapping.tile_sums = 2;
  c.fused_operators = 3;
  c.fused_passes = 2;
  c.prologue_passes = 2;
  c.statistics_passes = 1;
  m.norm_lanes = 4;
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 4);  // products; fused 2 x 2; prologue 2 x 1; sums 1
  m.granularity = Granularity::micro_operation;
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute],
            2 * 4 + 3 * 2 + 2);  // prologue of 2 x 2 elements, fused, sums
  c.work = {};
  c.work.family = Family::norm;
  c.work.rows = 1;
  c.work.row_length = 2;
  c.work.passes = 2;
  c.mapping = {1, 1, 2, 1};
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 2 * 2 + 3 * 2 + 2);
}

TEST(micro_operations, leave_the_circuits_of_other_families_out_of_the_chip) {
  Machine m;
  const Report own = report_of(m);
  m.granularity = Granularity::micro_operation;
  m.imem_bytes = 1 << 30;
  m.sram_banks = 1024;
  const Report shared = report_of(m);
  ASSERT_TRUE(shared.outcome.counted()) << shared.outcome.reason;
  for (const char* name : {"linear", "matmul", "softmax", "norm"}) {
    EXPECT_GT(part(own.area_mm2, name), 0) << name;
    EXPECT_EQ(part(shared.area_mm2, name), 0) << name;
  }
  EXPECT_EQ(part(shared.area_mm2, "vector"), part(own.area_mm2, "vector"));
  m.softmax_lanes = m.norm_lanes = m.transpose_lanes = m.linear_lanes_k = m.matmul_lanes_m = 1;
  EXPECT_EQ(value(report_of(m), Metric::step_cycles), value(shared, Metric::step_cycles));
}

TEST(program_storage, words_of_an_instruction_wait_for_the_one_before_the_last_to_retire) {
  Machine m = small();
  Program program = split_convolution();
  program.classes[0].fused_operators = program.classes[0].fused_passes = 0;
  program.classes[0].mapping.tile_sums = 2;
  program.classes[0].operand_b = Place::stackram;  // 4 cycles, on chip
  program.instructions.resize(3);
  m.imem_bytes = 128;
  m.program_storage = ProgramStorage::streamed;
  const auto times = cold_pass_of_program(program, m);
  const std::int64_t ends[] = {69, 133, 197}, stalls[] = {64, 59, 59};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(times[i].end, ends[i]);
    EXPECT_EQ(times[i].stall_program, stalls[i]);
    EXPECT_EQ(times[i].program_bytes, 64);
    EXPECT_EQ(times[i].overhead, 1);
  }
  Machine hiding = m;  // of 10 cycles of dispatch, what is left behind the words
  hiding.sequencer = Sequencer::distributed;
  hiding.dispatch_cycles = 10;
  const auto behind = cold_pass_of_program(program, hiding);
  const std::int64_t hiding_ends[] = {79, 143, 207}, overheads[] = {11, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(behind[i].end, hiding_ends[i]);
    EXPECT_EQ(behind[i].stall_program, stalls[i]);
    EXPECT_EQ(behind[i].overhead, overheads[i]);
  }
  m.imem_bytes = 64;  // no room for the next before this one has retired
  EXPECT_EQ(cold_pass_of_program(program, m).at(2).end, 3 * (64 + 4 + 1));
}

TEST(program_storage, a_program_that_fits_is_loaded_once_and_one_byte_less_of_imem_streams_it) {
  Machine m;
  m.program_storage = ProgramStorage::streamed;
  std::int64_t longest = 0;
  for (const StageReport& stage : report_of(m).stages) longest = std::max(longest, stage.imem_bytes.value);
  m.imem_bytes = longest;
  const Report fits = report_of(m);
  EXPECT_EQ(value(fits, Metric::program_bytes_per_frame), 0);
  EXPECT_EQ(part(fits.energy_j, "dram_program"), 0);
  Machine held = m;
  held.program_storage = ProgramStorage::held;
  EXPECT_EQ(value(fits, Metric::latency_s), value(report_of(held), Metric::latency_s));
  m.imem_bytes = longest - 1;
  const Report streamed = report_of(m);
  EXPECT_GE(value(streamed, Metric::program_bytes_per_frame), static_cast<double>(longest));
  EXPECT_GT(part(streamed.energy_j, "dram_program"), 0);
  EXPECT_EQ(value(streamed, Metric::area_mm2) < value(fits, Metric::area_mm2), true);
}

TEST(program_storage, imem_of_the_longest_instruction_is_enough_and_one_byte_less_names_it) {
  Machine m;
  m.program_storage = ProgramStorage::streamed;
  m.granularity = Granularity::per_tile;
  m.psram_bytes = 96 * 1024;
  m.imem_bytes = 1 << 30;
  const Application application = compile(tiny_sd(m), m);
  std::int64_t longest = 0;
  std::string name;
  for (const CompiledStage& stage : application.stages)
    for (const Instruction& i : stage.program.instructions) {
      const auto number = static_cast<std::size_t>(i.instruction_class);
      const std::int64_t bytes =
          instruction_bytes(i, class_cost(stage.program.classes[number], m, stage.role), m.granularity);
      if (bytes <= longest) continue;
      longest = bytes;
      name = i.name;
    }
  m.imem_bytes = longest;
  EXPECT_TRUE(evaluate(application, m).feasible);
  --m.imem_bytes;
  const Outcome outcome = evaluate(application, m);
  EXPECT_FALSE(outcome.feasible);
  EXPECT_NE(outcome.reason.find(name + " needs " + std::to_string(longest) + " B of IMEM"), std::string::npos)
      << outcome.reason;
}

/// Softmax of 2 rows of 5.
InstructionClass softmax_class_of_two_rows() {
  InstructionClass c;
  c.work.family = Family::softmax;
  c.work.rows = 2;
  c.work.row_length = 5;
  c.work.passes = 3;
  c.mapping = {2, 1, 5, 1};
  c.out_elements = 10;
  c.fetches = {{Place::dsram, 10, 3, true}};
  return c;
}

Machine hosting() {
  Machine m = small();
  m.host_operators = HostOperators::softmax;
  m.host_bus_bits = 32;
  m.host_cycles_per_element = Decimal{150};
  m.dsram_port_bits = 64;
  return m;
}

TEST(host_operators, a_softmax_of_two_rows_of_five_is_3_cycles_in_45_of_work_and_3_out) {
  const ClassCost cost = class_cost(softmax_class_of_two_rows(), hosting());
  EXPECT_EQ(cost.cycles, 3 + 45 + 3);
  EXPECT_EQ(cost.busy[Resource::compute], 51);
  EXPECT_EQ(cost.busy[Resource::dsram_read], 2);
  EXPECT_EQ(cost.busy[Resource::dsram_write], 2);
  EXPECT_EQ(cost.lane_operations, 0);
  Machine narrow = hosting();
  narrow.dsram_port_bits = 8;  // the port is slower than the bus
  EXPECT_EQ(class_cost(softmax_class_of_two_rows(), narrow).cycles, 10 + 45 + 10);
  Machine slow = hosting();
  slow.host_access_cycles = 316;
  slow.host_result_bits = 32;  // floats come back
  EXPECT_EQ(class_cost(softmax_class_of_two_rows(), slow).cycles, 3 * 316 + 45 + 10 * 316);
}

TEST(host_operators, a_norm_is_the_host_s_only_when_asked_for_and_a_prologue_never) {
  InstructionClass norm = softmax_class_of_two_rows();
  norm.work.family = Family::norm;
  Machine m = hosting();
  EXPECT_FALSE(class_cost(norm, m).on_host);
  m.host_operators = HostOperators::softmax_and_norm;
  EXPECT_TRUE(class_cost(norm, m).on_host);
  InstructionClass nest = split_convolution().classes[0];
  nest.prologue_passes = 2;
  EXPECT_FALSE(class_cost(nest, m).on_host);
}

TEST(host_operators, a_command_is_paid_at_dispatch_once) {
  Machine m = hosting();
  Program program;
  program.classes.push_back(softmax_class_of_two_rows());
  program.instructions.resize(1);
  m.dispatch_cycles = 7;
  m.host_command_cycles = 100;
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, 107 + 51 + 1);
  m.sequencer = Sequencer::host;
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, 107 + 51 + 1);
  m.sequencer = Sequencer::central;
  m.granularity = Granularity::micro_operation;  // one operand sent, one command, one write
  EXPECT_EQ(cold_pass_of_program(program, m).at(0).end, 3 * 7 + 100 + 51 + 1);
}

TEST(host_operators, a_host_s_energy_and_area_are_not_the_chip_s_and_a_note_says_so) {
  Machine m;
  const Report own = report_of(m);
  m.host_operators = HostOperators::softmax_and_norm;
  const Report hosted = report_of(m);
  EXPECT_EQ(part(hosted.area_mm2, "softmax") + part(hosted.area_mm2, "norm"), 0);
  EXPECT_LT(part(hosted.energy_j, "vector"), part(own.energy_j, "vector"));
  EXPECT_GT(value(hosted, Metric::latency_s), value(own, Metric::latency_s));
  const auto says = [](const Report& report) {
    return std::ranges::any_of(report.notes, [](const auto& n) { return n.find("host") != std::string::npos; });
  };
  EXPECT_TRUE(says(hosted));
  EXPECT_FALSE(says(own));
  m.fusion = Fusion::norm;
  m.fused_attention = FusedAttention::on;
  const Report fused = report_of(m);
  EXPECT_GT(part(fused.area_mm2, "softmax"), 0);
  EXPECT_GT(part(fused.area_mm2, "norm"), 0);
}

TEST(host_operators, a_host_too_slow_to_be_counted_is_infeasible) {
  Machine m;
  m.host_operators = HostOperators::softmax;
  m.host_cycles_per_element = Decimal{1'000'000};
  Application application = compile(tiny_sd(m), m);
  EXPECT_TRUE(evaluate(application, m).feasible);
  for (InstructionClass& c : application.stages[1].program.classes)
    if (c.work.family == Family::softmax) c.work.rows = std::int64_t{1} << 44;
  const Outcome outcome = evaluate(application, m);
  EXPECT_FALSE(outcome.feasible);
  EXPECT_NE(outcome.reason.find("64 bits"), std::string::npos) << outcome.reason;
}

}  // namespace
}  // namespace sdip
