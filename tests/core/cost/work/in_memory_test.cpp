// Products made inside FeFET weight memories: what they cost, and what a machine with them need not have.
#include "core/cost/work/in_memory.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/cost/explain/explain.h"
#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"
#include "core/cost/price/floor_plan.h"
#include "core/cost/price/fpga.h"
#include "core/exec/clock/operations.h"
#include "core/machine/technology.h"
#include "core/program/form/format_text.h"
#include "tests/core/cost/reports.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

using testing::Contains;
using testing::HasSubstr;

Machine fefet_machine() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.in_memory_weights = InMemoryWeights::fefet;
  m.mode = Mode::image_to_image;
  m.psram_bytes = 24 * 1024;  // less than any stage of tiny-sd has weights
  return m;
}

Machine array_machine() {
  Machine m = fefet_machine();
  m.in_memory_weights = InMemoryWeights::off;
  return m;
}

/// The worked example of docs/model/sparsity.md: 3 rows by 200 sums by 40 channels, int8 by int4.
InstructionClass linear_of_the_example() { return linear_class(3, 200, 40); }
Machine machine_of_the_example() {
  Machine m = fefet_machine();
  m.weight_format = NumberFormat::int4;
  m.fefet_input_bits = 2;
  m.fefet_columns_per_converter = 8;
  m.dsram_port_bits = 64;
  return m;
}

double block_mm2(const Report& report, std::string_view part) {
  for (const auto& [name, mm2] : report.area_mm2)
    if (name == part) return mm2;
  return 0;
}

void expect_counted_alike(const InstructionClass& c, const Machine& m) {
  const ClassCost cost = class_cost(c, m, Role::core);
  exec::Needs sum;
  std::int64_t cycles = 0;
  for (const exec::Operation& o : exec::expand(c, m, Role::core)) sum += o.needs, cycles += o.cycles();
  EXPECT_EQ(cost.busy[Resource::compute], sum.compute);
  EXPECT_EQ(cost.busy[Resource::dsram_read], sum[exec::Port::dsram_read]);
  EXPECT_EQ(cost.busy[Resource::dsram_write], sum[exec::Port::dsram_write]);
  EXPECT_EQ(cost.busy[Resource::psram_read], sum[exec::Port::psram_read]);
  EXPECT_EQ(cost.cycles, cycles);
}

TEST(in_memory, a_row_takes_each_part_of_its_bits_column_after_column) {
  const Machine m = machine_of_the_example();
  const InstructionClass c = linear_of_the_example();
  const ClassCost cost = class_cost(c, m, Role::core);
  EXPECT_EQ(memory_row_cycles(c, resolve(c, m, Role::core)), 32);
  EXPECT_EQ(cost.busy[Resource::compute], 96);
  EXPECT_EQ(cost.memory_cycles, 96);
  EXPECT_EQ(cost.busy[Resource::dsram_read], 3 * 25) << "200 x 8 bits of a row, once";
  EXPECT_EQ(cost.busy[Resource::dsram_write], 3 * 5) << "40 x 8 bits of a row";
  EXPECT_EQ(cost.busy[Resource::psram_read], 0);
  EXPECT_EQ(cost.macs, 3 * 200 * 40);
  EXPECT_EQ(cost.spent_macs, 0) << "no lane makes them";
  EXPECT_EQ(cost.conversions, 3840);
  expect_counted_alike(c, m);
}

TEST(in_memory, more_bits_at_once_take_fewer_parts_and_never_less_than_one) {
  const InstructionClass c = linear_of_the_example();
  Machine m = machine_of_the_example();
  for (const auto& [bits, cycles] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 64}, {2, 32}, {3, 24}, {4, 16}, {7, 16}, {8, 8}, {32, 8}}) {
    m.fefet_input_bits = bits;
    EXPECT_EQ(memory_row_cycles(c, resolve(c, m, Role::core)), cycles) << bits;
  }
}

/// No lanes: neither theirs nor the dataflow change anything.
TEST(in_memory, lanes_and_dataflow_do_not_matter_to_a_weighted_product) {
  Machine m = machine_of_the_example();
  const ClassCost before = class_cost(linear_of_the_example(), m, Role::core);
  for (const Dataflow dataflow : {Dataflow::weight_stationary, Dataflow::input_stationary}) {
    m.dataflow = dataflow;
    m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 1;
    const ClassCost cost = class_cost(linear_of_the_example(), m, Role::core);
    EXPECT_EQ(cost.busy[Resource::compute], before.busy[Resource::compute]);
    EXPECT_EQ(cost.busy[Resource::dsram_read], before.busy[Resource::dsram_read]);
    EXPECT_EQ(cost.busy[Resource::dsram_write], before.busy[Resource::dsram_write]);
    expect_counted_alike(linear_of_the_example(), m);
  }
}

/// Two tiles of 128 and 72 sums: every row twice, its partial sums of 32 bits out of the first and into the second.
TEST(in_memory, tiles_of_sums_take_every_row_again_and_hand_on_partial_sums) {
  const Machine m = machine_of_the_example();
  InstructionClass c = linear_of_the_example();
  c.mapping.tile_sums = 128;
  const ClassCost cost = class_cost(c, m, Role::core);
  EXPECT_EQ(cost.busy[Resource::compute], 2 * 96);
  EXPECT_EQ(cost.memory_cycles, 96) << "the bound takes each row once";
  EXPECT_EQ(cost.busy[Resource::dsram_read], 3 * 16 + 3 * 9 + 3 * 20);
  EXPECT_EQ(cost.busy[Resource::dsram_write], 3 * 20 + 3 * 5);
  EXPECT_EQ(cost.conversions, 3840) << "an array of 128 rows each";
  expect_counted_alike(c, m);
}

/// A convolution of 2 groups, 3 x 3, 4 x 5 pixels of 2 frames: a row is a pixel with its whole window, group after
/// group.
TEST(in_memory, a_convolution_takes_a_window_a_row_and_its_groups_in_turn) {
  Machine m = machine_of_the_example();
  m.fefet_input_bits = 8;
  InstructionClass c;
  c.work.family = Family::conv2d;
  LoopNest& n = c.work.nest;
  n.groups = n.batch = 2;
  n.in_channels = 3, n.out_channels = 4;
  n.in_h = n.out_h = 4, n.in_w = n.out_w = 5;
  n.kernel_h = n.kernel_w = 3;
  n.pad_top = n.pad_left = n.pad_bottom = n.pad_right = 1;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.mapping = {4, 5, 8, 3};
  c.out_elements = 2 * 2 * 4 * 20;
  c.weight_elements_per_channel = 27;
  const ClassCost cost = class_cost(c, m, Role::core);
  EXPECT_EQ(cost.busy[Resource::compute], 2 * 40 * 8) << "groups x pixels of both frames x columns";
  EXPECT_EQ(cost.busy[Resource::dsram_read], 2 * 40 * 4) << "27 x 8 bits a window";
  EXPECT_EQ(cost.busy[Resource::dsram_write], 2 * 40 * 1);
  expect_counted_alike(c, m);
}

TEST(in_memory, a_product_of_two_activations_stays_on_its_lanes) {
  InstructionClass c = linear_of_the_example();
  c.work.family = Family::matmul;
  c.operand_b = Place::dsram;
  const Machine with = machine_of_the_example();
  Machine without = with;
  without.in_memory_weights = InMemoryWeights::off;
  const ClassCost cost = class_cost(c, with, Role::core), before = class_cost(c, without, Role::core);
  EXPECT_EQ(cost.busy[Resource::compute], before.busy[Resource::compute]);
  EXPECT_EQ(cost.busy[Resource::dsram_read], before.busy[Resource::dsram_read]);
  EXPECT_EQ(cost.spent_macs, before.spent_macs);
  EXPECT_EQ(cost.memory_cycles, 0);
}

TEST(in_memory, what_is_in_rom_is_multiplied_by_lanes) {
  Machine m = fefet_machine();
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = HardCodedPart::vae;
  EXPECT_EQ(weight_place(m, Role::decoder), WeightPlace::rom);
  EXPECT_EQ(weight_place(m, Role::core), WeightPlace::fefet);
  EXPECT_EQ(weight_place(array_machine(), Role::core), WeightPlace::psram);
  EXPECT_EQ(class_cost(linear_of_the_example(), m, Role::decoder).memory_cycles, 0);
  EXPECT_GT(class_cost(linear_of_the_example(), m, Role::core).memory_cycles, 0);
}

TEST(in_memory, weights_move_through_no_dram_and_no_psram_but_are_loaded_once) {
  const Report streamed = report_of(array_machine()), report = report_of(fefet_machine());
  ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
  for (const StageReport& stage : report.stages) {
    SCOPED_TRACE(stage.name);
    EXPECT_EQ(stage.dram_weights, Bytes(0));
    EXPECT_EQ(stage.stall_weights, Cycles(0));
    EXPECT_EQ(stage.psram_peak, Bytes(0));
    EXPECT_GT(stage.weight_bytes, Bytes(0));
    EXPECT_GE(stage.steady_cycles, stage.bound_cycles);
  }
  EXPECT_EQ(block_mm2(report, "psram"), 0);
  EXPECT_GT(block_mm2(report, "fefet"), 0);
  EXPECT_GE(report.load.cycles, streamed.load.cycles * 9 / 10);
  EXPECT_LE(value(report, Metric::utilization), 1);
  EXPECT_THAT(report.notes, Contains(HasSubstr("converters lose nothing")));
}

TEST(in_memory, arrays_are_those_of_the_technology_table) {
  const auto row = std::ranges::find(technology_rows(), "fefet.array", &TechnologyRow::name);
  EXPECT_EQ(row->value, static_cast<double>(fefet_array_cells));
}

TEST(in_memory, no_mac_splits_for_products_that_none_makes) {
  Machine m = machine_of_the_example();  // int8 by int4
  m.composable_macs = ComposableMacs::on;
  EXPECT_EQ(class_cost(linear_of_the_example(), m, Role::core).products_in_mac, 1);
  InstructionClass row = linear_of_the_example();
  row.work.nest.out_h = row.work.nest.in_h = row.mapping.tile_rows = 1;
  m.fefet_input_bits = 8;
  m.fefet_columns_per_converter = 1;
  const ClassCost least = class_cost(row, m, Role::core);  // a cycle
  EXPECT_EQ(least.memory_cycles, 1);
  EXPECT_EQ(least.products_in_mac, 1);
  EXPECT_EQ(core_events(row, least, m).memory_macs, 200 * 40);
  m.in_memory_weights = InMemoryWeights::off;
  EXPECT_EQ(class_cost(linear_of_the_example(), m, Role::core).products_in_mac, 2);
}

TEST(in_memory, strips_count_what_their_parts_count_strip_by_strip) {
  Machine m = fefet_machine();
  m.fefet_columns_per_converter = 8;
  m.strips = Strips::line_buffers;
  m.dsram_bytes = 24 * 1024;
  std::int64_t several = 0;
  for (const CompiledStage& stage : compile(tiny_sd(m), m).stages)
    for (const InstructionClass& c : stage.program.classes) {
      if (c.compound != Compound::strips) continue;
      const ClassCost cost = class_cost(c, m, stage.role);
      double conversions = 0;  // of rows x channels x bits of weights x parts of inputs, by arrays of sums
      std::int64_t cycles = 0;
      for (const Part& part : c.parts) {
        const LoopNest& n = part.work.nest;
        if (part.operand_b != Place::psram) continue;
        const std::int64_t rows = n.groups * n.batch * n.out_h * n.out_w;
        cycles += rows * 8 * 8;
        conversions += static_cast<double>(rows * n.out_channels * 8 * 8) *
                       static_cast<double>(ceil_div(n.in_channels * n.kernel_h * n.kernel_w, std::int64_t{128}));
      }
      EXPECT_GE(cost.memory_cycles, cycles);  // line buffers make no row twice, but channels take turns
      EXPECT_LE(cost.memory_cycles, 2 * cycles);
      EXPECT_GE(cost.conversions, conversions * 0.99);
      EXPECT_LE(cost.conversions, conversions * 1.5);
      several += cost.operations > 1;
    }
  EXPECT_GT(several, 0);
  const Application application = compile(tiny_sd(m), m);
  for (const LayerExplanation& layer : explain(application, m, 1000).worst) {
    const CompiledStage& stage = application.stages[layer.layer.stage];
    const auto number = static_cast<std::size_t>(stage.program.instructions[layer.layer.index].instruction_class);
    const InstructionClass& c = stage.program.classes[number];
    if (c.compound != Compound::strips) continue;
    EXPECT_EQ(layer.bound_cycles, class_cost(c, m, stage.role).memory_cycles);
  }
}

std::vector<std::string> blocks_on(const Machine& m) {
  std::vector<std::string> names;
  for (const auto& [block, mm2] : area_of(Application(), m)) names.emplace_back(block);
  return names;
}

TEST(in_memory, a_block_is_told_where_there_is_one) {
  Machine m = array_machine();
  EXPECT_THAT(blocks_on(m), testing::Not(Contains("fefet")));
  EXPECT_THAT(blocks_on(m), testing::Not(Contains("crossbar")));
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  EXPECT_THAT(blocks_on(m), testing::Not(Contains("fefet")));
  EXPECT_THAT(blocks_on(m), Contains("crossbar"));
  m = fefet_machine();
  EXPECT_THAT(blocks_on(m), Contains("fefet"));
  EXPECT_THAT(blocks_on(m), testing::Not(Contains("crossbar")));
}

TEST(in_memory, sums_fill_arrays_of_128) {
  InstructionClass c = linear_of_the_example();
  c.work.nest.in_channels = c.mapping.tile_sums = c.weight_elements_per_channel = 258;
  EXPECT_EQ(class_cost(c, machine_of_the_example(), Role::core).conversions, 3.0 * 3 * 40 * 4 * 4);
}

TEST(in_memory, stages_off_chip_have_no_arrays) {
  Machine m = fefet_machine();
  m.weight_storage = WeightStorage::hard_coded;
  m.hard_coded_part = HardCodedPart::core;
  Application application = compile(tiny_sd(m), m);
  std::erase_if(application.stages, [](const CompiledStage& s) { return s.role == Role::text_encoder; });
  EXPECT_NE(stage_in_fefet(application, m), nullptr);
  m.vae_stage = VaeStage::off_chip;
  EXPECT_EQ(stage_in_fefet(application, m), nullptr);
}

TEST(in_memory, macs_that_split_for_activations_are_no_option_that_does_nothing) {
  Machine m = fefet_machine();
  m.weight_format = NumberFormat::int16;
  m.mac_sharing = MacSharing::shared;  // one array of 16 bits, for products of 8 by 8
  m.composable_macs = ComposableMacs::on;
  EXPECT_THAT(report_of(m).notes, testing::Not(Contains(HasSubstr("composable_macs"))));
  m.weight_format = NumberFormat::int8;
  EXPECT_THAT(report_of(m).notes, Contains(HasSubstr("composable_macs")));
}

TEST(in_memory, the_last_array_may_be_hardly_filled) {
  Machine m = fefet_machine();
  m.vae_stage = VaeStage::off_chip;
  Application application = compile(tiny_sd(m), m);
  const auto converters = [&](std::int64_t bytes) {  // with cells that are next to nothing of it
    for (CompiledStage& stage : application.stages)
      stage.program.stored_weight_bytes = Bytes(stage.role == Role::core ? bytes : 0);
    return block_mm2(estimate(application, m), "fefet") / static_cast<double>(m.cores) / 1200e-6;
  };
  EXPECT_GE(converters(2048 * 100), 100);
  EXPECT_NEAR(converters(2048 * 100 + 1) - converters(2048 * 100), 1, 0.01);
}

TEST(in_memory, cycles_beyond_what_a_stage_may_last_are_cut_and_not_wrapped) {
  InstructionClass c = linear_of_the_example();
  c.work.nest.out_h = c.work.nest.in_h = std::int64_t{1} << 50;
  c.work.nest.in_channels = c.work.nest.out_channels = 1;
  c.mapping = {c.work.nest.out_h, 1, 1, 1, rows_outermost};
  Machine m = machine_of_the_example();
  m.activation_format = NumberFormat::int16;
  m.fefet_input_bits = 1;
  m.fefet_columns_per_converter = 128;
  c.work.element_cycles = 8;  // 2^50 rows of 2^4 x 2^7 x 2^3 cycles are 2^64
  const ClassCost cost = class_cost(c, m, Role::core);
  EXPECT_EQ(cost.cycles, std::int64_t{1} << 58);
  EXPECT_EQ(cost.memory_cycles, std::int64_t{1} << 58);
}

/// A stage of B bytes has 8 B cells and, for each 16,384 of them, the converters of 128 columns.
TEST(in_memory, each_core_has_arrays_of_its_own) {
  Machine m = fefet_machine();
  m.fefet_input_bits = 3;
  m.fefet_columns_per_converter = 8;
  const Application application = compile(tiny_sd(m), m);
  const double mm2_a_cell = 0.324 / (8 << 20) * 0.2 * 2.5;
  const auto expected = [&](std::int64_t cores) {
    double mm2 = 0;
    for (const CompiledStage& stage : application.stages) {
      const std::int64_t bits = 8 * stage.program.stored_weight_bytes.value;
      const std::int64_t converters = ceil_div(bits, std::int64_t{16384}) * 128 / 8;
      const double one = static_cast<double>(bits) * mm2_a_cell + static_cast<double>(converters) * 1200e-6 * 4;
      mm2 += one * static_cast<double>(stage.role == Role::core ? cores : 1);
    }
    return mm2;
  };
  for (const std::int64_t cores : {1, 4, 7}) {
    m.cores = cores;
    EXPECT_NEAR(block_mm2(estimate(application, m), "fefet"), expected(cores), 1e-9 * expected(cores));
  }
  const Report report = estimate(application, m);
  double watts_a_mm2[2] = {};
  for (const auto& [block, watts] : report.leakage_w)
    if (block == "fefet" || block == "conv2d") watts_a_mm2[block == "fefet"] = watts / block_mm2(report, block);
  EXPECT_NEAR(watts_a_mm2[1] / watts_a_mm2[0], 0.01, 1e-12);
  m.in_memory_weights = InMemoryWeights::off;
  m.weight_storage = WeightStorage::hard_coded;
  const double without = block_mm2(estimate(compile(tiny_sd(m), m), m), "other");
  EXPECT_NEAR(block_mm2(report, "other") / without, 1, 0.2) << "no share of arrays";
  m = fefet_machine();
  m.fefet_columns_per_converter = 8;
  m.fefet_input_bits = 3;
  m.cores = 7;
  m.vae_stage = VaeStage::off_chip;
  EXPECT_LT(block_mm2(estimate(application, m), "fefet"), expected(7));
}

/// 24,000 products of 8 by 4 bits, 3840 conversions for inputs of 2 bits, which take a bit more of a converter.
TEST(in_memory, energy_is_that_of_cells_and_conversions) {
  const Machine m = machine_of_the_example();
  const ClassCost cost = class_cost(linear_of_the_example(), m, Role::core);
  const EnergyPrices prices = energy_prices(m, Role::core, FloorPlan{});
  const double joules = 24000 * 32 * 0.00226e-12 + 3840 * 2 * 1.56e-12;
  EXPECT_NEAR(core_energy(core_events(linear_of_the_example(), cost, m), prices)[EnergyPart::mac], joules,
              1e-9 * joules);
  Machine gated = m;
  gated.sparsity = Sparsity::gating;
  gated.weight_density = Decimal{50};
  EXPECT_NEAR(core_energy(core_events(linear_of_the_example(), cost, m),
                          energy_prices(gated, Role::core, FloorPlan{}))[EnergyPart::mac],
              joules, 1e-9 * joules)
      << "a zero is a cell like others";
}

TEST(in_memory, a_machine_of_floats_or_of_packed_weights_is_refused) {
  const auto refused = [](auto change, const std::string& where) {
    Machine m = fefet_machine();
    change(m);
    try {
      check_machine(m);
      ADD_FAILURE() << where << " accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "value_conflict");
      EXPECT_EQ(error.where, where);
    }
  };
  check_machine(fefet_machine());
  refused([](Machine& m) { m.weight_format = NumberFormat::fp8_e4m3; }, "weight_format");
  refused([](Machine& m) { m.activation_format = NumberFormat::fp16; }, "activation_format");
  refused([](Machine& m) { m.sparsity = Sparsity::skipping; }, "sparsity");
  refused([](Machine& m) { m.weight_compression = Decimal{150}; }, "weight_compression");
  Machine fixed = fefet_machine();
  fixed.weight_format = fixed.activation_format = NumberFormat::q7_8;
  check_machine(fixed);
}

TEST(in_memory, an_fpga_has_none) {
  Machine m = fefet_machine();
  m.technology_node = TechnologyNode::fpga_vc1902;
  const Report report = report_of(m);
  EXPECT_FALSE(report.outcome.feasible);
  EXPECT_THAT(report.outcome.reason, HasSubstr("no FeFET memory"));
}

TEST(in_memory, a_layer_that_rules_make_one_of_floats_is_refused) {
  const Machine m = fefet_machine();
  CompileOptions options;
  options.format_rules = parse_formats("family=linear weights=fp16", "f");
  try {
    compile(tiny_sd(m), m, options);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "formats_invalid");
    EXPECT_THAT(error.what(), HasSubstr("in_memory_weights=fefet"));
    EXPECT_THAT(error.what(), HasSubstr("fp16"));
  }
  options.format_rules = parse_formats("family=linear weights=int4\nfamily=softmax activations=fp16", "f");
  EXPECT_TRUE(compile(tiny_sd(m), m, options).feasible);
}

TEST(in_memory, explanations_write_the_rows_out) {
  const Machine m = fefet_machine();
  const Application application = compile(tiny_sd(m), m);
  const Explanation e = explain(application, m, 10000);
  std::int64_t rows = 0;
  for (const LayerExplanation& layer : e.worst) {
    EXPECT_TRUE(layer.written_out);
    for (const FilledTerm& term : layer.terms)
      if (std::string_view(term.what) == "bound_cycles" &&
          std::string_view(term.formula).find("fefet_columns_per_converter") != std::string_view::npos) {
        ++rows;
        EXPECT_LE(term.value, layer.layer.needs[static_cast<std::size_t>(Needed::compute)]);
      }
  }
  EXPECT_GT(rows, 0);
}

}  // namespace
}  // namespace sdip
