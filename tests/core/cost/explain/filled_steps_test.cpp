// Are the formulas of tile operations those of the examples in their headers?
#include "core/cost/explain/filled_steps.h"

#include <gtest/gtest.h>

#include "core/cost/explain/explain.h"
#include "tests/core/cost/explain/evaluate_filled.h"
#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// rows x sum by sum x channels, weights from PSRAM.
InstructionClass product_class(std::int64_t rows, std::int64_t sum, std::int64_t channels) {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest.out_h = c.work.nest.in_h = rows;
  c.work.nest.in_channels = sum;
  c.work.nest.out_channels = channels;
  c.out_elements = rows * channels;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = sum;
  c.mapping = cost::one_tile;
  return c;
}

/// The worked example of filled_busy.h, and of docs/model/work.md.
TEST(filled_busy, a_linear_reads_as_section_4_has_it) {
  const Machine m;
  const InstructionClass c = product_class(4096, 320, 320);
  const auto shapes = filled_steps(c, resolve(c, m), class_cost(c, m));
  ASSERT_EQ(shapes.size(), 1U);
  ASSERT_EQ(shapes[0].size(), 1U);
  const FilledBusy& busy = shapes[0][0].busy;
  EXPECT_EQ(busy[Resource::compute].text(), "ceil(4096/16) x ceil(320/32) x ceil(320/16)");
  EXPECT_EQ(busy[Resource::compute].value(), 51'200);
  EXPECT_EQ(busy[Resource::dsram_read].text(), "10 x 5120 x ceil(16 x 16 x 16/4096)");
  EXPECT_EQ(busy[Resource::dsram_read].value(), 51'200);
  EXPECT_EQ(busy[Resource::dsram_write].text(), "2560 x ceil(16 x 32 x 16/4096)");
  EXPECT_EQ(duration_of(shapes[0]).text(), "max(51200, 51200, 5120, 51200)");
}

/// The worked example of host.h, and its softmax in one pass apart.
TEST(filled_busy, a_softmax_of_the_host_is_three_steps) {
  Machine m;
  m.activation_format = NumberFormat::int8;
  m.host_operators = HostOperators::softmax;
  m.host_bus_bits = 32;
  m.host_cycles_per_element = Decimal{150};
  m.dsram_port_bits = 64;
  InstructionClass c;
  c.work.family = Family::softmax;
  c.work.rows = 2;
  c.work.row_length = 5;
  c.work.passes = 3;
  c.out_elements = 10;
  c.mapping = cost::one_tile;
  c.fetches = {{.place = Place::dsram, .passes = 3, .per_fold = true}};
  const auto texts = [&] {
    const auto shapes = filled_steps(c, resolve(c, m), class_cost(c, m));
    std::vector<std::string> of;
    for (const FilledSteps& steps : shapes)
      for (const StepOf<Filled>& step : steps) of.push_back(step.busy[Resource::compute].text());
    return of;
  };
  EXPECT_EQ(texts(), (std::vector<std::string>{"ceil(10 x 8/32)", "ceil(10 x 3 x 150/100)", "ceil(10 x 8/32)"}));
  m.host_access_cycles = 316;
  m.host_result_bits = 32;
  m.host_cycles_per_element = Decimal{1000};
  EXPECT_EQ(texts(), (std::vector<std::string>{"ceil(10 x 8/32) x 316", "10 x 3 x 10", "ceil(10 x 32/32) x 316"}));
  m.host_cycles_per_element = Decimal{100'000};
  const auto many = std::vector<std::string>{"ceil(10 x 8/32) x 316", "10 x 3 x 1000", "ceil(10 x 32/32) x 316"};
  EXPECT_EQ(texts(), many);
  // Neither a factor of the command nor what an operator has none of goes over the bus.
  for (const Place place : {Place::scalar, Place::nowhere}) {
    c.fetches.push_back({.place = place, .elements = 10});
    EXPECT_EQ(texts(), many);
  }
}

/// That of the worked example of docs/model/fusion.md#attention.
InstructionClass attention_class() {
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
  return c;
}

bool is_said(const InstructionClass& c, const Machine& m) {
  return !filled_steps(c, resolve(c, m), class_cost(c, m)).empty();
}

TEST(filled_steps, an_attentions_steps_stand_one_after_the_other) {
  const InstructionClass c = attention_class();
  Machine m;
  m.matmul_lanes_m = m.matmul_lanes_n = m.matmul_lanes_k = 2;
  m.softmax_lanes = 4;
  m.dsram_port_bits = m.stackram_port_bits = 8192;
  const auto shapes = filled_steps(c, resolve(c, m), class_cost(c, m));
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].size(), 3U);
  EXPECT_EQ(shapes[1].size(), 4U);
  EXPECT_EQ(duration_of(shapes[0]).value(), 4 + 7 + 6);
  EXPECT_EQ(evaluate_filled(duration_of(shapes[1]).text()), 4 + 7 + 6 + 3);
}

TEST(filled_steps, an_attentions_mask_is_read_in_equal_parts) {
  Machine m;
  m.dsram_port_bits = 8;
  m.activation_format = NumberFormat::int8;
  InstructionClass c = attention_class();
  c.fused_operators = c.fused_passes = 1;
  for (const std::int64_t elements : {7, 8, 9}) {
    c.fetches = {{.place = Place::dsram, .elements = elements}};
    EXPECT_TRUE(is_said(c, m)) << elements;
  }
}

TEST(filled_steps, operands_of_a_part_may_name_the_instructions_own_pair) {
  Machine m;
  m.operator_dsram = OperatorDsram::per_operator;
  InstructionClass c =
      example_of("machine\ni0 strips convolutions=2 rows=4 kernel=3 tile_rows=2 a=dsram to=dsram\n", m)
          .stages[0]
          .program.classes[0];
  m.operator_dsram = OperatorDsram::per_operator;
  c.parts[1].fused_operators = c.parts[1].fused_passes = 1;
  for (const Family pair : {Family::conv2d, Family::linear}) {
    c.parts[1].fetches = {{.place = Place::dsram, .elements = 5, .pair = pair}};
    EXPECT_TRUE(is_said(c, m));
  }
}

TEST(filled_steps, partial_sums_go_to_the_memory_of_the_results) {
  Machine m;
  m.dataflow = Dataflow::weight_stationary;
  m.stackram_port_bits = 64;
  InstructionClass c = product_class(40, 64, 8);
  for (const bool push : {false, true})
    for (const bool to_dsram : {false, true})
      for (const bool to_dram : {false, true}) {
        c.push = push, c.to_dsram = to_dsram, c.to_dram = to_dram;
        EXPECT_TRUE(is_said(c, m)) << push << to_dsram << to_dram;
      }
}

TEST(filled_steps, a_class_of_formats_of_its_own_is_said_in_these) {
  const Machine m;
  InstructionClass c = product_class(40, 64, 8);
  EXPECT_TRUE(is_said(c, m));
  c.formats = Formats{NumberFormat::int8, NumberFormat::fp32, NumberFormat::int8, {}};
  EXPECT_TRUE(is_said(c, m));
}

/// 320 results of 4 bits in runs of 19, 10 beats of 8 bits each: 16 runs and one of 16 take 168.
TEST(filled_steps, turned_results_go_run_by_run) {
  Machine m;
  m.activation_format = NumberFormat::int4;
  m.dsram_port_bits = 8;
  InstructionClass c = product_class(40, 8, 8);
  c.turned_run = 19;
  const auto shapes = filled_steps(c, resolve(c, m), class_cost(c, m));
  ASSERT_EQ(shapes.size(), 1U);
  EXPECT_EQ(shapes[0][0].busy[Resource::dsram_write].value(), 168);
}

TEST(filled_steps, strips_are_written_out) {
  for (const Strips strips : {Strips::halo_recompute, Strips::line_buffers}) {
    Machine m;
    m.cores = 1;
    m.psram_bytes = 256 * 1024;
    m.dsram_bytes = 16 * 1024;
    m.stackram_bytes = 24 * 1024;
    m.fusion = Fusion::norm;
    m.strips = strips;
    const Application application = compile(tiny_sd(m), m);
    const Explanation e = explain(application, m, SIZE_MAX);
    ASSERT_TRUE(e.feasible) << e.reason;
    std::size_t compounds = 0;
    for (const LayerExplanation& layer : e.worst) {
      const Program& program = application.stages[layer.layer.stage].program;
      const auto number = program.instructions[layer.layer.index].instruction_class;
      compounds += program.classes[static_cast<std::size_t>(number)].compound == Compound::strips;
      EXPECT_TRUE(layer.written_out) << program.instructions[layer.layer.index].mnemonic;
    }
    EXPECT_GT(compounds, 0U);
  }
}

/// As FilledBusy says of all steps, as the engine counts it.
void expect_needs(const FilledBusy& said, const Busy& counted) {
  const auto expect = [](const Filled& f, std::int64_t value) {
    EXPECT_EQ(f.value(), value) << f.text();
    EXPECT_EQ(evaluate_filled(f.text()), value) << f.text();
  };
  for (std::size_t need = 0; need < core_resources; ++need) expect(said.needs[need], counted.needs[need]);
  expect(said.accumulator_writes, counted.accumulator_writes);
  expect(said.accumulator_reads, counted.accumulator_reads);
  expect(said.register_writes, counted.register_writes);
  for (std::size_t pair = 0; pair < pair_families; ++pair)
    expect(said.other_pairs.beats[pair], counted.other_pairs.beats[pair]);
}

/// Whether all is said of the classes of a drawn program, and is right.
bool all_is_said(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Dice dice(seed);
  Machine m = random_machine(dice);
  Program program = seed % 3 == 0 ? random_attentions(dice, m) : random_program(dice, m);
  m.hard_coded_part = dice.one_of({HardCodedPart::all, HardCodedPart::core});
  const Role role = dice.one_of({Role::network, Role::core});
  for (InstructionClass& c : program.classes) {
    if (dice.one_in(4)) c.formats = Formats{.weights = NumberFormat::int8, .results = NumberFormat::fp32};
    if (c.formats && m.sparsity != Sparsity::dense && dice.one_in(2)) c.formats->density_hundredths = 30;
    const ClassCost cost = class_cost(c, m, role);
    const auto shapes = filled_steps(c, resolve(c, m, role), cost);
    EXPECT_EQ(shapes.size(), cost.shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      expect_needs(sum_of(shapes[i]), cost.shapes[i].busy);
      const Filled duration = duration_of(shapes[i]);
      EXPECT_EQ(duration.value(), cost.shapes[i].cycles);
      EXPECT_EQ(evaluate_filled(duration.text()), duration.value()) << duration.text();
    }
  }
  return !testing::Test::HasFailure();
}

TEST(filled_steps, are_said_of_every_class_of_drawn_programs) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    if (!all_is_said(seed)) return;
}

TEST(filled_steps, what_is_kept_of_skipped_zeros_is_rounded_up) {
  Machine m;
  m.sparsity = Sparsity::skipping;
  m.weight_density = Decimal{1};
  for (const std::int64_t sums : {1, 100, 101, 1600, 1601}) {
    const InstructionClass c = product_class(16, sums, 32);
    const auto shapes = filled_steps(c, resolve(c, m), class_cost(c, m));
    ASSERT_EQ(shapes.size(), 1U) << sums;
    EXPECT_EQ(shapes[0][0].busy[Resource::compute].value(), sums > 1600 ? 2 : 1) << sums;
  }
}

TEST(filled_steps, what_differs_from_the_engine_is_not_said) {
  Machine m;
  m.operator_dsram = OperatorDsram::per_operator;
  const InstructionClass c = product_class(40, 8, 8);
  const ClassCost cost = class_cost(c, m);
  const auto said = [&](const ClassCost& other) {
    return filled_steps(c, resolve(c, m), other).size() == other.shapes.size();
  };
  EXPECT_TRUE(said(cost));
  for (const Resource need : {Resource::compute, Resource::dsram_read, Resource::dsram_write,
                              Resource::stackram_read, Resource::stackram_write, Resource::psram_read}) {
    ClassCost other = cost;
    other.shapes[0].busy[need] += 1;
    EXPECT_FALSE(said(other));
    other.shapes[0].busy[need] -= 2;
    EXPECT_FALSE(said(other));
  }
  for (std::size_t pair = 0; pair < pair_families; ++pair) {
    ClassCost other = cost;
    other.shapes[0].busy.other_pairs.add(pair, 1);
    EXPECT_FALSE(said(other));
  }
  ClassCost longer = cost, shorter = cost, more = cost;
  ++longer.shapes[0].cycles;
  --shorter.shapes[0].cycles;
  more.shapes.push_back(more.shapes[0]);
  EXPECT_FALSE(said(longer));
  EXPECT_FALSE(said(shorter));
  EXPECT_TRUE(filled_steps(c, resolve(c, m), more).empty());
}

}  // namespace
}  // namespace sdip
