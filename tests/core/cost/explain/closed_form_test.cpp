// Do small cases cost what pencil and paper say? The worked examples of docs/model/.
#include <gmock/gmock.h>

#include "core/cost/time/timeline.h"
#include "core/cost/work/fold.h"
#include "core/exec/clock/operations.h"
#include "core/exec/clock/step.h"
#include "tests/core/channel.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

using testing::ElementsAre;

InstructionClass product(Family family, std::int64_t rows, std::int64_t sum, std::int64_t channels) {
  InstructionClass c;
  c.work.family = family;
  c.work.nest.out_h = c.work.nest.in_h = rows;
  c.work.nest.in_channels = sum;
  c.work.nest.out_channels = channels;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.mapping = {rows, c.work.nest.out_w, channels, c.work.nest.in_channels};
  c.out_elements = rows * channels;
  c.weight_elements_per_channel = sum;
  return c;
}

TEST(fold, ten_elements_on_four_lanes_through_a_32_bit_port_take_five_beats) {
  EXPECT_EQ(fold(10, 4).full, 2);
  EXPECT_EQ(fold(10, 4).edge, 2);
  EXPECT_EQ(folded_beats(fold(10, 4), 16, 32), 2 + 2 + 1);
  EXPECT_EQ(fold(8, 4).count(), 2);
}

TEST(fold, two_dimensions_round_each_pair_of_folds_up) {
  // 3 x 3 elements of 8 bit on 2 x 2 lanes, port 16 bit: folds of 4, 2, 2, 1 elements take 2 + 1 + 1 + 1.
  EXPECT_EQ(folded_beats(fold(3, 2), fold(3, 2), 8, 16), 5);
}

TEST(linear, of_4096_by_320_by_320_lasts_51200_cycles) {
  Machine m;  // lanes 16 x 32 x 16, ports 4096 and 8192, fp16
  m.dma_port = DmaPort::own;
  const ClassCost cost = class_cost(product(Family::linear, 4096, 320, 320), m);
  EXPECT_EQ(cost.busy[Resource::compute], 256 * 10 * 20);
  EXPECT_EQ(cost.busy[Resource::dsram_read], 51'200);
  EXPECT_EQ(cost.busy[Resource::psram_read], 51'200);
  EXPECT_EQ(cost.busy[Resource::dsram_write], 5'120);
  EXPECT_EQ(cost.cycles, 51'200);
  EXPECT_EQ(cost.macs, 4096LL * 320 * 320);
}

TEST(linear, a_port_of_half_the_fold_s_width_doubles_the_time) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.dsram_port_bits = 2048;
  EXPECT_EQ(class_cost(product(Family::linear, 4096, 320, 320), m).cycles, 2 * 51'200);
}

TEST(conv2d, sd15_s_first_convolution_tiles_128_128_64_channels_of_9472_bytes) {
  Machine m = find_preset("essay")->machine;
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::core, "sd15-unet", m));
  const Application application = compile(workload, m);
  ASSERT_TRUE(application.feasible) << application.reason;
  const Program& program = application.stages[0].program;
  const auto first = std::ranges::find_if(program.instructions, [&](const Instruction& i) {
    return program.classes[static_cast<std::size_t>(i.instruction_class)].work.family == Family::conv2d;
  });
  const InstructionClass& c = program.classes[static_cast<std::size_t>(first->instruction_class)];
  EXPECT_EQ(c.mapping.tile_rows, 64);
  EXPECT_EQ(c.mapping.tile_channels, 128);
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.plan.channels.full, 2);
  EXPECT_EQ(cost.plan.channels.edge, 64);
  EXPECT_EQ(cost.plan.multiplicity, 2);
  EXPECT_EQ(cost.shapes[0].weight_bytes, 9472);
  // rows 2 x 64 x 64 on 16 lanes, 320 channels on 32, 9 kernel positions, 4 channels on 16.
  EXPECT_EQ(cost.busy[Resource::compute], 512 * 10 * 9 * 1);
}

TEST(dataflow, stationary_operands_are_read_once_and_partial_sums_travel) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 2;
  m.dsram_port_bits = m.psram_port_bits = 64;  // 4 elements of fp16; partial sums in fp32, 2 to a beat
  const InstructionClass c = product(Family::linear, 4, 6, 4);  // 2 x 2 x 3 folds
  const auto busy = [&](Dataflow dataflow) {
    m.dataflow = dataflow;
    return class_cost(c, m).busy;
  };
  const Busy output = busy(Dataflow::output_stationary), weight = busy(Dataflow::weight_stationary),
             input = busy(Dataflow::input_stationary);
  EXPECT_EQ(output[Resource::compute], 12);
  EXPECT_EQ(output[Resource::dsram_read], 12);
  EXPECT_EQ(output[Resource::psram_read], 12);
  EXPECT_EQ(output[Resource::dsram_write], 4);
  EXPECT_EQ(weight[Resource::psram_read], 6);  // each (channel, sum) fold once
  EXPECT_EQ(weight[Resource::dsram_write],
            4 + 2 * 4 * 2);  // 2 of 3 sum folds write 4 partial sums of 32 bit, 2 beats
  EXPECT_EQ(weight[Resource::dsram_read], 12 + 2 * 4 * 2);
  EXPECT_EQ(input[Resource::psram_read], 12);
  EXPECT_EQ(input[Resource::dsram_read], 6 + 2 * 4 * 2);
}

TEST(sparsity, skipping_half_the_weights_halves_the_folds_and_stores_a_mask) {
  Machine m;
  m.dma_port = DmaPort::own;
  const InstructionClass c = product(Family::linear, 16, 64, 32);
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 4);
  EXPECT_EQ(class_cost(c, m).shapes[0].weight_bytes, 64 * 32 * 2);
  m.sparsity = Sparsity::skipping;
  m.weight_density = Decimal{50};
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 2);
  EXPECT_EQ(class_cost(c, m).shapes[0].weight_bytes, 64 * 32 + 64 * 32 / 8);
  EXPECT_EQ(class_cost(c, m).spent_macs, 16 * 32 * 32);
}

TEST(sparsity, two_of_four_halve_the_folds_and_store_their_places) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.sparsity = Sparsity::skipping;
  m.weight_density = Decimal{50};
  m.sparsity_group = 4;
  const InstructionClass even = product(Family::linear, 16, 64, 32);
  EXPECT_EQ(class_cost(even, m).busy[Resource::compute], 2);
  EXPECT_EQ(class_cost(even, m).shapes[0].weight_bytes, 64 * 32 / 2 * (16 + 2) / 8);
  EXPECT_EQ(class_cost(even, m).spent_macs, 16 * 32 * 32);
  m.sparsity_group = 16;
  EXPECT_EQ(class_cost(even, m).shapes[0].weight_bytes, 64 * 32 / 2 * (16 + 4) / 8);
  m.sparsity_group = 4;
  // 2 + 2 + 1 of 9 sums stay, where any 5 of them may be as many, and 2 + 2 + 2 of 11.
  EXPECT_EQ(class_cost(product(Family::linear, 16, 9, 32), m).spent_macs, 16 * 32 * 5);
  EXPECT_EQ(class_cost(product(Family::linear, 16, 11, 32), m).spent_macs, 16 * 32 * 6);
  // 3 x 3 positions of 5 channels: 9 x (2 + 1) products, where 23 of 45 may be anywhere.
  InstructionClass conv = product(Family::conv2d, 16, 5, 32);
  conv.work.nest.kernel_h = conv.work.nest.kernel_w = 3;
  conv.weight_elements_per_channel = 45;
  m.conv_lanes_in = 8;
  EXPECT_EQ(class_cost(conv, m).spent_macs, 16 * 32 * 27);
  EXPECT_EQ(class_cost(conv, m).shapes[0].weight_bytes, 32 * 27 * 18 / 8);
  EXPECT_EQ(class_cost(conv, m).busy[Resource::compute], 4);  // 27 on 8 lanes
  const exec::Operation stepped = exec::expand(conv, m).at(0);
  EXPECT_EQ(stepped.needs.compute, 4);
  EXPECT_EQ(stepped.weight_psram_bytes, 32 * 27 * 18 / 8);
  m.sparsity_group = 0;
  EXPECT_EQ(class_cost(conv, m).spent_macs, 16 * 32 * 23);
  EXPECT_EQ(class_cost(conv, m).busy[Resource::compute], 3);
}

TEST(sparsity, groups_are_counted_within_a_tile_of_sums) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.sparsity = Sparsity::skipping;
  m.weight_density = Decimal{50};
  m.sparsity_group = 4;
  InstructionClass c = product(Family::linear, 16, 12, 32);
  EXPECT_EQ(class_cost(c, m).shapes[0].weight_bytes, 32 * 6 * 18 / 8);
  c.mapping.tile_sums = 6;  // 2 + 2 of each 6: cut groups keep more
  std::int64_t bytes = 0;
  for (const TileCost& tile : class_cost(c, m).shapes) bytes += tile.times * tile.weight_bytes;
  EXPECT_EQ(bytes, 2 * 32 * 4 * 18 / 8);
}

TEST(softmax, of_short_rows_shares_folds_and_takes_three_passes) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.softmax_lanes = 10;
  InstructionClass c;
  c.work.family = Family::softmax;
  c.work.rows = 7;
  c.work.row_length = 4;
  c.work.passes = 3;
  c.mapping = {7, 1, 4, 1};
  c.out_elements = 28;
  c.fetches = {{Place::dsram, 28, 3, true}};
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 3 * 4);  // 2 rows of 4 share 10 lanes: 4 folds a pass
  m.softmax_lanes = 3;
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 3 * 7 * 2);  // each row folds apart: 3 + 1
}

/// One instruction with three weight tiles of 100 bytes, 4 cycles of work each.
Program three_weight_tiles(Machine& m) {
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.linear_lanes_m = 1, m.linear_lanes_n = 10, m.linear_lanes_k = 10;
  set_channel(m, 8, 500), m.dram_efficiency = Decimal{100};  // 10 bytes a cycle
  m.dram_burst_bytes = 1;
  m.psram_bytes = 200;
  m.dispatch_cycles = 0;
  m.pipeline_stages = 1;
  Program program;
  program.classes.push_back(product(Family::linear, 4, 10, 30));
  program.classes[0].mapping = {4, 1, 10, 10};
  program.instructions.resize(1);
  return program;
}

std::vector<InstructionTime> cold_pass(const Program& program, const Machine& m) {
  List<ClassCost> costs;
  for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
  std::vector<InstructionTime> trace;
  run_timeline(program, costs, timeline_rules(m, Decimal{100}, 1, Bytes(0)), 1, &trace);
  return trace;
}

TEST(timeline, three_weight_tiles_in_a_psram_of_two_stall_10_6_and_6_cycles) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = three_weight_tiles(m);
  const InstructionTime time = cold_pass(program, m).at(0);
  EXPECT_EQ(time.stall_weights, 10 + 6 + 6);
  EXPECT_EQ(time.stall_activations, 0);
  EXPECT_EQ(time.end, 34 + 1);
  EXPECT_EQ(time.weight_bytes, 300);
}

TEST(timeline, single_buffering_fetches_a_tile_only_when_the_one_before_is_used_up) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = three_weight_tiles(m);
  m.weight_buffering = Buffering::single_buffer;
  EXPECT_EQ(cold_pass(program, m).at(0).end, 3 * (10 + 4) + 1);
}

TEST(timeline, a_psram_of_one_tile_waits_as_single_buffering_does) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = three_weight_tiles(m);
  m.psram_bytes = 199;
  EXPECT_EQ(cold_pass(program, m).at(0).end, 3 * (10 + 4) + 1);
}

TEST(timeline, bursts_round_each_tile_up_and_a_decompressor_can_be_the_slower_one) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = three_weight_tiles(m);
  m.dram_burst_bytes = 64;
  EXPECT_EQ(cold_pass(program, m).at(0).weight_bytes, 3 * 128);
  m.dram_burst_bytes = 1;
  m.weight_compression = Decimal{200};
  EXPECT_EQ(cold_pass(program, m).at(0).weight_bytes, 300);  // tiles of 100 bytes stand as they are
  Program large = program;
  large.classes[0] = product(Family::linear, 4, 110, 30);
  large.classes[0].mapping = {4, 1, 10, 110};
  m.psram_bytes = 2200;
  m.decompressor_bytes_per_cycle = 11;  // 1100 bytes in 100 cycles, against 550 packed bytes in 55
  EXPECT_EQ(cold_pass(large, m).at(0).weight_bytes, 3 * 550);
  EXPECT_EQ(cold_pass(large, m).at(0).stall_weights, 100 + 56 + 56);  // 44 cycles of work each
}

TEST(timeline, a_total_of_passes_is_their_sum_also_beyond_those_simulated) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = three_weight_tiles(m);
  const List<ClassCost> costs{class_cost(program.classes[0], m)};
  const TimelineResult result = run_timeline(program, costs, timeline_rules(m, Decimal{100}, 1, Bytes(0)), 64);
  ASSERT_TRUE(result.repeats);
  EXPECT_LT(result.passes.size(), 10U);
  std::int64_t sum = 0;
  const StepCounts run = step(program, m, Decimal{100}, 1, 40);
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    EXPECT_EQ(result.total(static_cast<std::int64_t>(i)), sum);
    sum += run.passes[i].back().end;
  }
  EXPECT_EQ(result.total(40), sum);
}

TEST(timeline, what_64_bits_cannot_count_is_refused_before_it_is_run) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = three_weight_tiles(m);
  const List<ClassCost> costs{class_cost(program.classes[0], m)};
  const TimelineRules rules = timeline_rules(m, Decimal{100}, 1, Bytes(0));
  EXPECT_TRUE(countable(program, costs, rules, 1'000'000));
  EXPECT_FALSE(countable(program, costs, rules, std::int64_t{1} << 56));
}

TEST(timeline, results_for_dram_hold_up_the_operation_two_writes_later) {
  Machine m;
  m.dma_port = DmaPort::own;
  Program program = three_weight_tiles(m);
  InstructionClass& c = program.classes[0];
  c = product(Family::linear, 4, 10, 10);
  c.operand_b = Place::stackram;  // no weights
  c.mapping = {
      1, 1, 10, 10,
      rows_outermost};  // 4 operations of 1 cycle, each with 10 results: 1 byte each, 1 cycle on the channel
  c.to_dsram = false, c.to_dram = true;
  EXPECT_EQ(cold_pass(program, m).at(0).end, 4 + 1 + 1);  // work, the last results, the pipeline
  set_channel(m, 8, 50);                                  // 1 byte a cycle: 10 cycles a result
  // op 0 ends at 1, its results leave at 11; op 1 ends at 2, leave at 21; op 2 starts at 11, leaves at 31;
  // op 3 starts at 21, ends at 22, its results leave at 41: the instruction waits 19 for them.
  const InstructionTime time = cold_pass(program, m).at(0);
  EXPECT_EQ(time.stall_activations, 9 + 9 + 19);
  EXPECT_EQ(time.end, 41 + 1);
  m.tile_buffering = Buffering::single_buffer;  // one buffer: ops start at 0, 11, 22, 33
  EXPECT_EQ(cold_pass(program, m).at(0).end, 44 + 1);
}

TEST(timeline, a_distributed_sequencer_hides_dispatch_behind_the_instruction_before) {
  Machine m;
  m.dma_port = DmaPort::own;
  Program program = three_weight_tiles(m);
  program.classes[0].operand_b = Place::stackram;
  program.instructions.resize(2);
  m.dispatch_cycles = 20;  // an instruction works for 12 cycles and 1 of fill
  EXPECT_EQ(cold_pass(program, m).at(1).end, 2 * (20 + 13));
  m.sequencer = Sequencer::host;
  m.host_command_cycles = 100;
  EXPECT_EQ(cold_pass(program, m).at(1).end, 2 * (120 + 13));
  m.sequencer = Sequencer::distributed;
  EXPECT_EQ(cold_pass(program, m).at(1).end, (20 + 13) + 13);
}

/// A product of two activations on chip, 1 x 4 by 4 x 4, in tiles of 2 channels and 2 sums; results go to DRAM at a
/// byte a cycle.
Program four_tiles_in_two_sums(Machine& m, const LoopOrder& order) {
  Program program = three_weight_tiles(m);
  m.linear_lanes_m = 1, m.linear_lanes_n = m.linear_lanes_k = 2;
  set_channel(m, 8, 50);
  m.accumulator_format = NumberFormat::int32;
  InstructionClass& c = program.classes[0];
  c = product(Family::linear, 1, 4, 4);
  c.operand_b = Place::stackram;
  c.to_dsram = false, c.to_dram = true;
  c.mapping = {1, 1, 2, 2, order};
  return program;
}

TEST(sums, cut_inside_channels_keep_their_partial_sums_on_chip) {
  Machine m;
  m.dma_port = DmaPort::own;
  const Program program = four_tiles_in_two_sums(m, rows_outermost);
  const InstructionTime time = cold_pass(program, m).at(0);
  EXPECT_EQ(time.activation_in_bytes, 0);
  EXPECT_EQ(time.activation_out_bytes, 4);
  const Busy busy = class_cost(program.classes[0], m).busy;
  EXPECT_EQ(busy[Resource::dsram_read], 4 + 2);   // A, and each partial sum once
  EXPECT_EQ(busy[Resource::dsram_write], 2 + 2);  // results, and each partial sum once
}

TEST(sums, cut_outside_channels_send_partial_sums_out_and_back) {
  Machine m;
  m.dma_port = DmaPort::own;
  const LoopOrder order{Loop::sums, Loop::rows, Loop::columns, Loop::channels};
  const Program program = four_tiles_in_two_sums(m, order);
  // Operations 0 and 1 take a cycle, 2 and 3, which also read partial sums, 2. Partial sums of a tile: 8 bytes.
  // 0 works 0..1, 1 works 1..2; what 0 leaves goes 1..9 and comes back 9..17; what 1 leaves goes 17..25;
  // 2 works 17..19; 1's come back 25..33; 2's results go 33..35; 3 works 33..35, its results go 35..37.
  InstructionTime time = cold_pass(program, m).at(0);
  EXPECT_EQ(time.activation_in_bytes, 2 * 8);
  EXPECT_EQ(time.activation_out_bytes, 2 * 8 + 4);
  EXPECT_EQ(time.stall_activations, 15 + 14 + 2);
  EXPECT_EQ(time.end, 37 + 1);
  // One buffer: 0 leaves 1..9, 1 works 9..10 and leaves 10..18; 0's back 18..26, 2 works 26..28, leaves 28..30;
  // 1's back 30..38, 3 works 38..40, leaves 40..42.
  m.tile_buffering = Buffering::single_buffer;
  time = cold_pass(program, m).at(0);
  EXPECT_EQ(time.stall_activations, 8 + 16 + 10 + 2);
  EXPECT_EQ(time.end, 42 + 1);
}

TEST(sums, of_weights_bring_the_bias_with_their_first_tile) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.weight_format = NumberFormat::int8;
  m.scale_granularity = ScaleGranularity::tensor;
  InstructionClass c = product(Family::linear, 1, 5, 4);
  c.bias_elements_per_channel = 1;
  c.mapping = {1, 1, 4, 2};
  const ClassCost cost = class_cost(c, m);
  ASSERT_EQ(cost.shapes.size(), 3U);  // the first, that between, the last
  EXPECT_EQ(cost.shapes[0].weight_bytes, 4 * 2 + 4);
  EXPECT_EQ(cost.shapes[1].weight_bytes, 4 * 2);
  EXPECT_EQ(cost.shapes[2].weight_bytes, 4 * 1);
}

TEST(windows, of_a_padded_convolution_load_only_rows_or_columns_that_are_new) {
  Machine m;
  m.dma_port = DmaPort::own;
  Program program = three_weight_tiles(m);
  InstructionClass& c = program.classes[0];
  c = product(Family::conv2d, 4, 1, 1);
  LoopNest& n = c.work.nest;
  n.out_w = n.in_w = 4;
  n.kernel_h = n.kernel_w = 3;
  n.pad_top = n.pad_left = n.pad_bottom = n.pad_right = 1;
  c.out_elements = 16;
  c.weight_elements_per_channel = 9;
  c.operand_a = Place::dram;
  const auto loaded = [&](std::int64_t rows, std::int64_t columns, bool rows_inside) {
    c.mapping = {rows, columns, 1, 1, rows_outermost};
    if (rows_inside) c.mapping.order = {Loop::columns, Loop::rows, Loop::channels, Loop::sums};
    return cold_pass(program, m).at(0).activation_in_bytes;
  };
  EXPECT_EQ(loaded(4, 4, false), 16);
  EXPECT_EQ(loaded(2, 4, false), 3 * 4 + 1 * 4);
  EXPECT_EQ(loaded(2, 2, false), 2 * (3 * 4));  // columns slide inside rows 0 to 2, then 1 to 3
  EXPECT_EQ(loaded(2, 2, true), 2 * (4 * 3));
  EXPECT_EQ(loaded(1, 4, false), 2 * 4 + 4 + 4);
}

TEST(loops, five_rows_in_tiles_of_two_inside_two_channel_tiles_have_shapes_0_0_1_0_0_1) {
  Machine m;
  m.dma_port = DmaPort::own;
  InstructionClass c = product(Family::linear, 5, 3, 4);
  c.operand_a = Place::dram;
  c.mapping = {2, 1, 2, 3, channels_outermost};
  const ClassCost cost = class_cost(c, m);
  ASSERT_EQ(cost.order.loops.size(), 2U);
  EXPECT_TRUE(cost.order.loops[0].b && !cost.order.loops[0].a);
  EXPECT_TRUE(cost.order.loops[1].a && !cost.order.loops[1].b);
  ASSERT_EQ(cost.order.runs.size(), 3U);
  EXPECT_EQ(cost.order.runs[0].tiles, 2);
  EXPECT_EQ(cost.order.runs[1].tiles, 2);
  EXPECT_EQ(cost.order.runs[2].shape, 1);
  EXPECT_EQ(cost.shapes[0].times, 4);
  EXPECT_EQ(cost.shapes[1].times, 2);
}

TEST(windows, of_more_than_256_clipped_tiles_are_taken_as_in_an_input_without_edges) {
  Machine m;
  m.dma_port = DmaPort::own;
  Program program = three_weight_tiles(m);
  const auto loaded = [&](std::int64_t pad) {
    InstructionClass& c = program.classes[0];
    c = product(Family::conv2d, 10 + 2 * pad, 1, 1);
    c.work.nest.in_h = 10;
    c.work.nest.pad_top = c.work.nest.pad_bottom = pad;
    c.operand_a = Place::dram;
    c.mapping = {1, 1, 1, 1, rows_outermost};
    return cold_pass(program, m).at(0).activation_in_bytes;
  };
  EXPECT_EQ(loaded(128), 10);        // what lies in the padding alone loads nothing
  EXPECT_EQ(loaded(129), 10 + 258);  // a row each
}

TEST(timeline, a_billion_tiles_of_weights_are_counted_and_not_run) {
  Machine m;
  m.dma_port = DmaPort::own;
  Program program = three_weight_tiles(m);
  const auto end = [&](std::int64_t sums) {
    program.classes[0] = product(Family::linear, 4, sums, 10);
    program.classes[0].mapping.tile_sums = 1;
    return cold_pass(program, m).at(0).end;
  };
  const std::int64_t billion = 1'000'000'000;
  EXPECT_EQ(end(2 * billion) - end(billion), (end(1100) - end(100)) * (billion / 1000));
}

TEST(timeline, tile_operations_that_are_instructions_pay_dispatch_fill_and_drain_each) {
  Machine m;
  m.dma_port = DmaPort::own;
  Program program = three_weight_tiles(m);
  program.classes[0].operand_b = Place::stackram;  // three operations of 4 cycles
  program.instructions.resize(2);
  m.dispatch_cycles = 20;
  m.granularity = Granularity::per_tile;
  EXPECT_EQ(cold_pass(program, m).at(1).end, 6 * (20 + 4 + 1));
  m.sequencer = Sequencer::distributed;  // a tile hides 5 of 20 cycles behind it, or the 25 of the first
  EXPECT_EQ(cold_pass(program, m).at(0).end, (20 + 5) + 5 + (15 + 5));
  EXPECT_EQ(cold_pass(program, m).at(0).overhead, 20 + 1 + 1 + 15 + 1);
}

}  // namespace
}  // namespace sdip
