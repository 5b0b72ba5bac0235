// Are equal tile operations counted and not run, whatever they load and store, and do they last what running takes?
#include <gtest/gtest.h>

#include "core/cost/time/timeline.h"
#include "core/exec/clock/step.h"
#include "tests/core/channel.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

Machine tiled_machine() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.scale_granularity = ScaleGranularity::tensor;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 1;
  m.dsram_port_bits = m.stackram_port_bits = m.psram_port_bits = 64;
  set_channel(m, 8, 150), m.dram_efficiency = Decimal{100};  // 3 bytes a cycle
  m.dram_burst_bytes = 4;
  m.psram_bytes = 30;
  m.dispatch_cycles = 5;
  m.pipeline_stages = 2;
  return m;
}

/// `tiles` rows by 2 sums by 3 channels, a row an operation.
InstructionClass rows_of(std::int64_t tiles) {
  InstructionClass c = linear_class(tiles, 2, 3, Place::stackram);
  c.mapping = {1, 1, 3, 2, rows_outermost};
  return c;
}

Program program_of(const InstructionClass& c) {
  Program program;
  program.classes = {c};
  program.instructions.resize(1);
  return program;
}

PassCost first_pass(const InstructionClass& c, const Machine& m) {
  const Program program = program_of(c);
  const List<ClassCost> costs{class_cost(c, m)};
  return run_timeline(program, costs, timeline_rules(m, Decimal{100}, 1, Bytes(0)), 1).passes[0];
}

/// 300 and 600 tiles as the executor steps them; of a billion, 300 more last as long as of 300.
template <class Made>
void expect_counted(const Machine& m, Made&& made) {
  std::int64_t cycles[2] = {}, bytes[2] = {};
  for (const std::int64_t i : {0, 1}) {
    const InstructionClass c = made(300 * (i + 1));
    const InstructionCounts counted = step(program_of(c), m, Decimal{100}, 1, 1).passes[0][0];
    const PassCost pass = first_pass(c, m);
    EXPECT_EQ(pass.cycles, counted.end);
    EXPECT_EQ(pass.stall_activations, counted.stall_activations);
    EXPECT_EQ(pass.stall_weights, counted.stall_weights);
    EXPECT_EQ(pass.weight_bytes, counted.weight_bytes);
    EXPECT_EQ(pass.activation_in_bytes, counted.activation_in_bytes);
    EXPECT_EQ(pass.activation_out_bytes, counted.activation_out_bytes);
    cycles[i] = counted.end;
    bytes[i] = counted.activation_in_bytes + counted.activation_out_bytes + counted.weight_bytes;
  }
  const std::int64_t billion = 1'000'000'000;
  const PassCost many = first_pass(made(billion), m), more = first_pass(made(billion + 300), m);
  EXPECT_EQ(more.cycles - many.cycles, cycles[1] - cycles[0]);
  EXPECT_EQ(more.activation_in_bytes + more.activation_out_bytes + more.weight_bytes - many.activation_in_bytes -
                many.activation_out_bytes - many.weight_bytes,
            bytes[1] - bytes[0]);
}

/// On both kinds of buffers, of tiles that are instructions or not, dispatched by one that waits or not.
template <class Made>
void expect_counted_everywhere(Made&& made) {
  for (const Buffering buffering : {Buffering::single_buffer, Buffering::double_buffer})
    for (const Granularity granularity : {Granularity::per_operator, Granularity::per_tile})
      for (const Sequencer sequencer : {Sequencer::central, Sequencer::distributed}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(buffering) << static_cast<int>(granularity)
                                        << static_cast<int>(sequencer));
        Machine m = tiled_machine();
        m.tile_buffering = m.weight_buffering = buffering;
        m.granularity = granularity;
        m.sequencer = sequencer;
        expect_counted(m, made);
        m.dram_rate_mtps = 100000;  // no stream is waited for
        expect_counted(m, made);
      }
}

TEST(equal_tiles, that_load_their_rows) {
  expect_counted_everywhere([](std::int64_t tiles) {
    InstructionClass c = rows_of(tiles);
    c.operand_a = Place::dram;
    return c;
  });
}

TEST(equal_tiles, that_load_the_second_operand_anew) {
  expect_counted_everywhere([](std::int64_t tiles) {
    InstructionClass c = rows_of(1);
    c.work.nest.out_channels = 3 * tiles;
    c.out_elements = 3 * tiles;
    c.operand_b = Place::dram;
    c.mapping = {1, 1, 3, 2, channels_outermost};
    return c;
  });
}

TEST(equal_tiles, that_store_their_results_and_load_a_share_of_an_operand) {
  expect_counted_everywhere([](std::int64_t tiles) {
    InstructionClass c = rows_of(tiles);
    c.to_dram = true;
    return c;
  });
  expect_counted_everywhere([](std::int64_t tiles) {
    InstructionClass c = rows_of(tiles);
    c.to_dram = true;
    c.fused_operators = c.fused_passes = 1;
    c.fetches = {{Place::dram, 3 * tiles, 1, true}};
    return c;
  });
}

TEST(equal_tiles, that_send_partial_sums_out_and_back) {
  expect_counted_everywhere([](std::int64_t tiles) {
    InstructionClass c = rows_of(tiles);
    c.mapping = {1, 1, 3, 1, {Loop::sums, Loop::rows, Loop::columns, Loop::channels}};
    c.to_dram = true;
    return c;
  });
}

TEST(equal_tiles, of_weights_through_a_psram_of_one_two_or_five) {
  for (const std::int64_t psram_bytes : {6, 12, 30})
    for (const Buffering buffering : {Buffering::single_buffer, Buffering::double_buffer}) {
      Machine m = tiled_machine();
      m.psram_bytes = psram_bytes;
      m.weight_buffering = buffering;
      for (const bool loads : {false, true})
        expect_counted(m, [&](std::int64_t tiles) {
          InstructionClass c = rows_of(1);
          c.work.nest.out_channels = 3 * tiles;
          c.out_elements = 3 * tiles;
          c.operand_b = Place::psram;
          c.weight_elements_per_channel = 2;
          c.to_dram = loads;
          c.mapping = {1, 1, 3, 2, channels_outermost};
          return c;
        });
    }
}

TEST(equal_tiles, in_loops_within_loops) {
  const auto nested = [](std::int64_t tiles) {
    InstructionClass c = rows_of(tiles);
    c.operand_a = Place::dram;
    c.work.nest.out_channels = 3 * 40;
    c.out_elements = 120 * tiles;
    return c;
  };
  expect_counted(tiled_machine(), nested);
  expect_counted(tiled_machine(), [&](std::int64_t tiles) {
    InstructionClass c = nested(tiles);
    c.operand_b = Place::psram;
    c.weight_elements_per_channel = 2;
    return c;
  });
}

}  // namespace
}  // namespace sdip
