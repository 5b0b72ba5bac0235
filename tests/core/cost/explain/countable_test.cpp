// Is a pass's longest conceivable time, with no two things at once, what the rule says: cycles, and for every
// transfer its bytes and a burst more, and the cycles that they take?
#include <gtest/gtest.h>

#include "core/cost/time/timeline.h"
#include "tests/core/channel.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

/// A byte and its half cycle; bursts of 7 bytes.
constexpr double cost_of_a_byte = 1.5, burst = 7;

Machine two_bytes_a_cycle() {
  Machine m;
  m.dma_port = DmaPort::own;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.scale_granularity = ScaleGranularity::tensor;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 1;
  m.dram_burst_bytes = 7;
  set_channel(m, 8, 100), m.dram_efficiency = Decimal{100};
  m.dispatch_cycles = 3, m.pipeline_stages = 2;
  return m;
}

/// 4 rows by 10 sums by 3 channels, one tile, on chip: 120 cycles.
Program on_chip_product() {
  Program program;
  program.classes = {linear_class(4, 10, 3, Place::stackram)};
  program.instructions.resize(1);
  return program;
}

/// The sum of a pass: what makes 2^58 when it is done as often as may just be counted.
double longest_pass(const Program& program, const Machine& m, std::int64_t cores = 1) {
  List<ClassCost> costs;
  for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
  const TimelineRules rules = timeline_rules(m, Decimal{100}, cores, Bytes(0));
  std::int64_t low = 1, high = std::int64_t{1} << 60;  // countable; not
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (countable(program, costs, rules, middle) ? low : high) = middle;
  }
  return 0x1p58 / static_cast<double>(high);
}

void expect_pass(const Program& program, const Machine& m, double sum, std::int64_t cores = 1) {
  EXPECT_NEAR(longest_pass(program, m, cores), sum, 1e-9 * sum);
}

double moving_cycles(double bytes, double copies = 1) { return (bytes + burst) * copies * cost_of_a_byte; }

TEST(longest_pass, of_what_lies_on_chip_is_work_dispatch_and_pipeline) {
  Program program = on_chip_product();
  const Machine m = two_bytes_a_cycle();
  expect_pass(program, m, 120 + 3 + 2);
  program.instructions.resize(3);
  expect_pass(program, m, 3 * (120 + 3 + 2));
}

TEST(longest_pass, adds_every_tile_of_weights_once_whatever_the_cores) {
  Program program = on_chip_product();
  program.classes[0].operand_b = Place::psram;
  program.classes[0].weight_elements_per_channel = 10;
  program.classes[0].mapping = {4, 1, 1, 10};
  expect_pass(program, two_bytes_a_cycle(), 120 + 3 + 2 + 3 * moving_cycles(10));
  expect_pass(program, two_bytes_a_cycle(), 120 + 3 + 2 + 3 * moving_cycles(10), 5);
}

TEST(longest_pass, adds_activations_of_every_core) {
  Program program = on_chip_product();
  InstructionClass& c = program.classes[0];
  c.operand_a = Place::dram;
  c.mapping = {3, 1, 3, 10};  // windows of 3 rows and 1: the larger counts for both operations
  expect_pass(program, two_bytes_a_cycle(), 120 + 3 + 2 + 2 * moving_cycles(30, 5), 5);
  c.operand_a = Place::dsram;
  c.operand_b = Place::dram;  // its tiles are read from DSRAM, as A's are: 240 beats
  expect_pass(program, two_bytes_a_cycle(), 240 + 3 + 2 + 2 * moving_cycles(30, 5), 5);
  c.operand_b = Place::stackram;
  c.to_dram = true;
  expect_pass(program, two_bytes_a_cycle(), 120 + 3 + 2 + moving_cycles(9, 5) + moving_cycles(3, 5), 5);
  c.to_dram = false;
  c.fetches = {{Place::dram, 12, 1, true}};  // a beat of each operation more
  c.fused_operators = c.fused_passes = 1;
  expect_pass(program, two_bytes_a_cycle(), 122 + 3 + 2 + 2 * moving_cycles(6, 5), 5);
}

TEST(longest_pass, adds_partial_sums_on_both_ways) {
  Program program = on_chip_product();
  InstructionClass& c = program.classes[0];
  // Two tiles of sums, two of channels inside: four operations of 5 sums by 2 channels and by 1.
  c.mapping = {4, 1, 2, 5, {Loop::sums, Loop::rows, Loop::columns, Loop::channels}};
  const double out = moving_cycles(4 * 4 * 2) + moving_cycles(4 * 4 * 1);
  const Machine m = two_bytes_a_cycle();
  expect_pass(program, m, static_cast<double>(class_cost(c, m).cycles) + 3 + 2 + 2 * out);
}

TEST(longest_pass, of_operations_that_are_instructions_dispatches_each) {
  Program program = on_chip_product();
  program.classes[0].mapping = {1, 1, 3, 10};
  Machine m = two_bytes_a_cycle();
  expect_pass(program, m, 120 + 3 + 2);
  m.granularity = Granularity::per_tile;
  expect_pass(program, m, 120 + (4 + 1) * (3 + 2));
}

TEST(longest_pass, adds_words_that_stream) {
  Program program = on_chip_product();
  program.instructions[0].words = 3;
  Machine m = two_bytes_a_cycle();
  m.program_storage = ProgramStorage::streamed;
  m.imem_bytes = 1;
  expect_pass(program, m, 120 + 3 + 2 + moving_cycles(3 * 32));
}

TEST(longest_pass, adds_what_goes_over_links_at_a_bit_a_cycle) {
  Program program = on_chip_product();
  program.latent_bytes = Bytes(11);
  program.context_bytes = Bytes(6);
  expect_pass(program, two_bytes_a_cycle(), 120 + 3 + 2 + 8 * 17);
}

TEST(longest_pass, of_heads_on_three_cores_moves_three_parts_and_adds_their_links) {
  Program program = on_chip_product();
  InstructionClass& c = program.classes[0];
  c.work.family = Family::matmul;
  c.spread_cores = 3;
  c.operand_b = Place::dram;
  Machine m = two_bytes_a_cycle();
  m.matmul_lanes_m = m.matmul_lanes_n = m.matmul_lanes_k = 1;
  m.link_bits = 4;
  // In: 2 parts of 40 bytes over 4 bits; out: 2 of 12 bytes.
  expect_pass(program, m, 240 + 3 + 2 + moving_cycles(30, 3 * 5) + 2 * 40 * 2 + 2 * 12 * 2, 5);
}

TEST(longest_pass, of_an_operator_of_the_host_adds_its_command_and_held_weights) {
  Program program;
  InstructionClass& c = program.classes.emplace_back();
  c.work.family = Family::norm;
  c.work.rows = 2;
  c.work.row_length = 5;
  c.work.passes = 2;
  c.mapping = {2, 1, 5, 1};
  c.out_elements = 10;
  c.weight_elements = 20;
  program.instructions.resize(1);
  Machine m = two_bytes_a_cycle();
  m.norm_lanes = 5;
  m.host_command_cycles = 1000;
  expect_pass(program, m, 4 + 3 + 2 + moving_cycles(20));
  m.host_operators = HostOperators::softmax_and_norm;
  m.host_cycles_per_element = Decimal{200};
  m.host_bus_bits = 8;
  expect_pass(program, m, 10 * 2 * 2 + 10 + 3 + 2 + 1000 + moving_cycles(20));
}

}  // namespace
}  // namespace sdip
