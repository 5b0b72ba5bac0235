// What the timeline runs, and what not; what it makes of transfers, cycle by cycle; what it is given and leaves.
#include "core/cost/time/timeline.h"

#include "tests/core/cost/time/timed.h"

namespace sdip::timing {
namespace {

/// One loop of `tiles` that change A and B, an operation each.
ClassCost loop_of(std::int64_t tiles, TileCost tile, WindowBytes window = {}) {
  ClassCost c;
  tile.cycles = 4;
  c.order.loops.push_back({1, true, true, false});
  c.order.runs.push_back({tiles, 0, 0});
  c.shapes.push_back(tile);
  c.windows.push_back(window);
  c.weighted = tile.weight_bytes > 0;
  c.streams_activations = true;
  return c;
}

constexpr std::int64_t billion = 1'000'000'000;

/// Rules under which 20 bytes take 2 cycles, half of an operation; weights have 100 bytes.
TimelineRules fast() {
  TimelineRules r;
  r.rate = {10, 1};
  r.burst_bytes = 1;
  r.psram_bytes = 100;
  return r;
}

/// Operations run, of one pass, on double and on single buffers, of tiles that are instructions and that are not.
Numbers operations_run(const ClassCost& c, const TimelineRules& rules) {
  Numbers counts;
  for (const bool doubled : {true, false})
    for (const bool instructions : {false, true}) {
      TimelineRules r = rules;
      r.weights_double_buffered = r.tiles_double_buffered = doubled;
      r.dispatches_tiles = instructions;
      r.dispatch_cycles = 3;
      r.dispatch_overlaps = true;
      counts.push_back(timed({c}, 1, r).run(1).operations_run);
    }
  return counts;
}

/// The first fills what it finds empty, the second may still wait for that, the third lasts as long as the second.
TEST(timeline, of_a_billion_equal_operations_a_few_are_run) {
  const Numbers three(4, 3), none_and_three{0, 3, 0, 3};
  TimelineRules slow = fast();
  slow.rate = {1, 1};
  TileCost b, split, partial, out, weights;
  b.b_bytes = split.split_in_bytes = partial.partial_in_bytes = out.out_bytes = 20;
  weights.weight_bytes = weights.weight_stored_bytes = 20;
  // What moves nothing lasts as long as all its operations, unless each is dispatched.
  for (const std::int64_t tiles : {1, 2, 3})
    EXPECT_EQ(operations_run(loop_of(tiles, {}), fast()), (Numbers{0, tiles, 0, tiles}));
  for (const TimelineRules& rules : {fast(), slow}) {
    EXPECT_EQ(operations_run(loop_of(4, {}), rules), none_and_three);
    EXPECT_EQ(operations_run(loop_of(billion, {}), rules), none_and_three);
    ClassCost holds = loop_of(billion, {});
    holds.held_weight_bytes = holds.held_weight_stored_bytes = 100;
    EXPECT_EQ(operations_run(holds, rules), three);
  }
  // The buffer before last is free a repetition later.
  const Numbers doubled{4, 4, 3, 3};
  EXPECT_EQ(operations_run(loop_of(billion, {}, {20, 20}), fast()), doubled);
  EXPECT_EQ(operations_run(loop_of(billion, {}, {20, 20}), slow), three);
  for (const TileCost& tile : {b, split, partial}) {
    EXPECT_EQ(operations_run(loop_of(billion, tile), fast()), doubled);
    EXPECT_EQ(operations_run(loop_of(billion, tile), slow), three);
  }
  EXPECT_EQ(operations_run(loop_of(billion, out), fast()), three);
  EXPECT_EQ(operations_run(loop_of(billion, out), slow), (Numbers{3, 4, 3, 3}));
  // Five tiles of weights fill PSRAM; what is in it is compared where two repetitions lasted the same.
  EXPECT_EQ(operations_run(loop_of(billion, weights), fast()), (Numbers{10, 10, 3, 3}));
  EXPECT_EQ(operations_run(loop_of(billion, weights), slow), three);
}

/// On chip behind what moved the channel: a loop in which that stands still, and then one that waits for it.
TEST(timeline, a_billion_operations_on_chip_between_transfers_are_counted) {
  TimelineRules rules = fast();
  rules.rate = {1, 1};
  ClassCost c = loop_of(billion, {}, {20, 20});
  c.order.loops = {{2, true, false, false}, {1, false, false, false}};
  c.order.runs = {{1, 0, 0}, {2, 0, 0}, {billion, 0, 0}};
  const auto last = [&](std::int64_t tiles) {
    c.order.runs[2].tiles = tiles;
    return timed({c}, 1, rules).run(1);
  };
  const TimelineResult ten = last(10), many = last(billion);
  EXPECT_EQ(many.operations_run, 9);
  EXPECT_EQ(many.passes[0].cycles - ten.passes[0].cycles, 3 * 4 * (billion - 10));
  EXPECT_EQ(many.passes[0].activation_in_bytes, 60);
  EXPECT_EQ(many.passes[0].stall_activations, ten.passes[0].stall_activations);
}

/// It takes another cycle, since its operand comes from DRAM.
ClassCost loads() {
  TileCost operand;
  operand.b_bytes = 1;
  return loop_of(1, operand);
}

/// 130 operations, an instruction each: state is compared before the 64th and the 128th.
TEST(timeline, a_pass_is_run_up_to_where_it_rejoins_the_one_before) {
  const Timed t = timed({loads()}, 130, fast());
  const TimelineResult r = t.run(64);
  EXPECT_EQ(r.operations_run, 130 + 63);
  EXPECT_TRUE(r.repeats);
  EXPECT_EQ(r.passes.size(), 2u);
  EXPECT_EQ(r.passes[0].cycles, 130 * 5);
  EXPECT_EQ(r.passes[1].cycles, 130 * 5);
}

/// The last instruction alone fetches, in the first pass: the second finds another duration before it, and is no
/// cold one; the third rejoins the second.
TEST(timeline, a_cold_pass_is_not_rejoined) {
  TileCost weights;
  weights.weight_bytes = weights.weight_stored_bytes = 100;
  ClassCost fetches = loop_of(1, weights);
  Timed t = timed({loads(), fetches}, 130, fast());
  t.rules.dispatch_overlaps = true;
  for (Instruction& i : t.program.instructions) i.instruction_class = 0;
  t.program.instructions.back().instruction_class = 1;
  t.program.classes[1].pinned = true;
  t.rules.rate = {1, 100};  // longer than all operations
  const TimelineResult r = t.run(64);
  EXPECT_TRUE(r.repeats);
  EXPECT_EQ(r.passes[0].weight_bytes, 100);
  EXPECT_EQ(r.passes[1].weight_bytes, 0);
  EXPECT_EQ(r.passes.size(), 3u);
  EXPECT_EQ(r.operations_run, 130 + 130 + 63);
}

/// What the channel had free long ago counts only where something may use it before its instruction begins.
TEST(timeline, a_channel_long_idle_keeps_no_pass_from_repeating) {
  ClassCost weighted = loop_of(1, {});
  weighted.weighted = true;
  TimelineRules wired = fast();
  wired.psram_bytes = 0;
  EXPECT_EQ(timed({weighted}, 3, wired).run(64).passes.size(), 2u);
  Timed pinned = timed({weighted}, 3, fast());
  pinned.program.classes[0].pinned = true;
  EXPECT_EQ(pinned.run(64).passes.size(), 2u);
  EXPECT_EQ(timed({loop_of(1, {})}, 3, fast()).run(64).passes.size(), 2u);
}

/// PSRAM of a byte: it is free when the first operation has ended, and filled while the second, of a hundred
/// cycles, runs.
TEST(timeline, weights_come_while_the_pass_before_still_runs) {
  TileCost byte;
  byte.weight_bytes = byte.weight_stored_bytes = 1;
  ClassCost streams = loop_of(1, byte), holds = loop_of(1, {}), works = loop_of(1, {});
  holds.held_weight_bytes = holds.held_weight_stored_bytes = 1;
  works.shapes[0].cycles = 100;
  TimelineRules rules = fast();
  rules.psram_bytes = 1;
  rules.rate = {1, 50};
  for (const ClassCost& fetches : {streams, holds}) {
    const TimelineResult r = timed({fetches, works}, 2, rules).run(3);
    EXPECT_EQ(r.passes[0].stall_weights, 50);
    EXPECT_EQ(r.passes[1].stall_weights, 0);
    EXPECT_EQ(r.passes[1].cycles, 104);
  }
}

TEST(timeline, overhead_is_what_is_neither_work_nor_waiting) {
  TileCost weights;
  weights.weight_bytes = weights.weight_stored_bytes = 100;
  weights.out_bytes = 40;
  Timed t = timed({loop_of(1, weights, {20, 20})}, 1, fast());
  t.costs[0].cycles = 4;
  t.rules.dispatch_cycles = 3;
  t.rules.pipeline_stages = 2;
  std::vector<InstructionTime> trace;
  t.run(1, &trace);
  // Weights 0..10, activations 10..12, work 12..16 instead of 3..7, results 16..20.
  EXPECT_EQ(trace.at(0).stall_weights, 0);
  EXPECT_EQ(trace.at(0).stall_activations, 12 - 3 + 4);
  EXPECT_EQ(trace.at(0).overhead, 3 + 2);
  t.costs[0].windows[0] = {};
  t.run(1, &trace);
  EXPECT_EQ(trace.at(0).stall_weights, 10 - 3);
  EXPECT_EQ(trace.at(0).overhead, 3 + 2);
}

/// 19 cycles of weights in 20 of work, so often: the channel gains one each time until PSRAM is full.
Timed gaining(std::size_t instructions) {
  TileCost weights;
  weights.weight_bytes = weights.weight_stored_bytes = 1;
  ClassCost c = loop_of(1, weights);
  c.shapes[0].cycles = 20;
  TimelineRules rules = fast();
  rules.psram_bytes = 1'000'000;
  rules.rate = {1, 19};
  return timed({c}, instructions, rules);
}

TEST(timeline, more_than_a_pass_that_never_repeats_is_simulated_as_far_as_is_asked) {
  const TimelineResult r = gaining(1).run(30);
  EXPECT_FALSE(r.repeats);
  EXPECT_EQ(r.passes.size(), 30u);
}

/// As the one above, 70 times: what it finds before the 64th is never what the pass before found.
TEST(timeline, a_pass_that_found_another_state_is_not_rejoined) {
  const TimelineResult r = gaining(70).run(3);
  EXPECT_FALSE(r.repeats);
  EXPECT_EQ(r.operations_run, 3 * 70);
}

TEST(timeline, instructions_side_by_side_are_all_run) {
  TimelineRules rules = fast();
  rules.overlaps = true;
  const TimelineResult r = timed({loads()}, 130, rules).run(64);
  EXPECT_TRUE(r.repeats);
  EXPECT_EQ(r.operations_run, 2 * 130);
}

/// Two words take 64 bytes: in 127 only one instruction's have room, and the next ones come when it has retired.
TEST(timeline, words_come_when_there_is_room_for_the_last_byte) {
  TimelineRules rules = fast();
  rules.rate = {64, 1};
  rules.imem_bytes = 127;
  const Timed t = timed({loop_of(1, {})}, 3, rules);
  EXPECT_EQ(t.run(1).passes[0].stall_program, 3);
  rules.imem_bytes = 128;
  EXPECT_EQ(timed({loop_of(1, {})}, 3, rules).run(1).passes[0].stall_program, 1);
}

TEST(timeline, a_byte_of_each_operand_is_moved) {
  TimelineRules rules = fast();
  rules.rate = {1, 1};
  TileCost b, split, partial, out;
  b.b_bytes = split.split_in_bytes = partial.partial_in_bytes = out.out_bytes = 1;
  for (const TileCost& tile : {b, split, partial})
    for (const bool doubled : {true, false}) {
      rules.tiles_double_buffered = doubled;
      const PassCost pass = timed({loop_of(2, tile)}, 1, rules).run(1).passes[0];
      EXPECT_EQ(pass.activation_in_bytes, 2);
      EXPECT_EQ(pass.stall_activations, doubled ? 1 : 2);
    }
  // One buffer: the second operation waits for the first one's result to leave, the end for its own.
  const PassCost pass = timed({loop_of(2, out)}, 1, rules).run(1).passes[0];
  EXPECT_EQ(pass.activation_out_bytes, 2);
  EXPECT_EQ(pass.stall_activations, 2);
}

/// Weights of 20 bytes in 3 cycles, PSRAM of three, operations of 4; behind 12 of them a tile as large as two: its
/// fetch waits for the last but one.
TEST(timeline, what_weights_counted_leave_in_psram_is_waited_for) {
  TimelineRules rules = fast();
  rules.rate = {20, 3};
  rules.psram_bytes = 60;
  TileCost small;
  small.weight_bytes = small.weight_stored_bytes = 20;
  ClassCost c = loop_of(12, small);
  c.shapes.push_back(c.shapes[0]);
  c.shapes[1].weight_bytes = c.shapes[1].weight_stored_bytes = 40;
  c.order.loops[0].runs = 2;
  c.order.runs.push_back({1, 1, 0});
  const Timed t = timed({c}, 1, rules);
  expect_as_unrolled(t);
  EXPECT_EQ(t.run(1).passes[0].stall_weights, 3 + 2);
  EXPECT_LT(t.run(1).operations_run, 13);
}

/// The first tile is used to 14, the second fetched from 13: for a cycle both are there.
TEST(timeline, weights_are_in_psram_until_they_are_used) {
  TileCost weights;
  weights.weight_bytes = weights.weight_stored_bytes = 100;
  ClassCost c = loop_of(2, weights, {30, 30});
  c.order.loops[0].a = false;
  c.shapes[0].cycles = 1;
  TimelineRules rules = fast();
  rules.psram_bytes = 200;
  const TimelineResult r = timed({c}, 1, rules).run(1);
  EXPECT_EQ(r.passes[0].cycles, 24);
  EXPECT_EQ(r.psram_peak_bytes, 200);
  std::vector<InstructionTime> trace;
  timed({loop_of(1, {})}, 1, rules).run(1, &trace);
  EXPECT_EQ(trace.at(0).psram_bytes, 0);
}

/// One byte a cycle: five that are stored as one take five.
TEST(timeline, a_decompressor_of_a_byte_a_cycle_is_one) {
  TileCost weights;
  weights.weight_bytes = 5;
  weights.weight_stored_bytes = 1;
  TimelineRules rules = fast();
  rules.decompressor_bytes = 1;
  EXPECT_EQ(timed({loop_of(1, weights)}, 1, rules).run(1).passes[0].stall_weights, 5);
}

/// Two instructions of a pinned class: both bring their tile in the first pass, and none later.
TEST(timeline, pinned_weights_come_in_the_first_pass_alone_and_are_traced_there) {
  TileCost weights;
  weights.weight_bytes = 30;
  weights.weight_stored_bytes = 20;
  Timed t = timed({loop_of(1, weights)}, 2, fast());
  t.program.classes[0].pinned = true;
  std::vector<InstructionTime> cold, warm;
  const PassCost first = t.run(1, &cold).passes[0];
  const TimelineResult all = t.run(3, &warm);
  EXPECT_EQ(numbers_of(all.passes[0]), numbers_of(first));
  EXPECT_EQ(first.weight_bytes, 40);
  EXPECT_EQ(first.weight_psram_bytes, 60);
  EXPECT_EQ(all.passes[1].weight_bytes + all.passes[1].weight_psram_bytes, 0);
  for (const InstructionTime& i : cold) {
    EXPECT_EQ(i.weight_bytes, 20);
    EXPECT_EQ(i.weight_psram_bytes, 30);
  }
  for (const InstructionTime& i : warm) EXPECT_EQ(i.weight_bytes + i.weight_psram_bytes, 0);
}

PassCost numbered() { return {1, 2, 3, 4, 5, 6, 7, 8, 9}; }

TEST(pass_cost, is_added_and_multiplied_number_by_number) {
  EXPECT_EQ(numbers_of(numbered()), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  PassCost sum;
  EXPECT_EQ(numbers_of(sum), Numbers(9, 0));
  sum += numbered();
  sum += numbered();
  EXPECT_EQ(numbers_of(sum), (Numbers{2, 4, 6, 8, 10, 12, 14, 16, 18}));
  EXPECT_EQ(numbers_of(numbered() * 3), (Numbers{3, 6, 9, 12, 15, 18, 21, 24, 27}));
}

TEST(timeline, what_nothing_has_set_is_nothing) {
  EXPECT_EQ(numbers_of(InstructionTime{}), Numbers(13, 0));
  const TimelineResult result;
  EXPECT_EQ(result.steady + static_cast<std::size_t>(result.psram_peak_bytes + result.operations_run), 0u);
  EXPECT_EQ(result.running_cycles, 0);
  EXPECT_EQ(result.waiting_cycles, 0);
  const TimelineRules r;
  for (const std::int64_t none : {r.decompressor_bytes, r.psram_bytes, r.pinned_bytes, r.dispatch_cycles,
                                  r.pipeline_stages, r.host_command_cycles, r.imem_bytes})
    EXPECT_EQ(none, 0);
  for (const bool off : {r.dispatch_overlaps, r.dispatches_tiles, r.overlaps}) EXPECT_FALSE(off);
  EXPECT_TRUE(r.weights_double_buffered && r.tiles_double_buffered);
  EXPECT_EQ(r.burst_bytes, 64);
  EXPECT_EQ(r.cores, 1);
}

TEST(timeline_rules, are_of_the_whole_share_and_only_weights_stored_smaller_pass_the_decompressor) {
  Machine m;
  EXPECT_EQ(timeline_rules(m, Decimal{100}, 1, Bytes(0)).rate.time_for(Bytes(1 << 20)),
            dram_rate(m, Decimal{100}, 1000).time_for(Bytes(1 << 20)));
  m.decompressor_bytes_per_cycle = 7;
  m.weight_compression = Decimal{100};
  EXPECT_EQ(timeline_rules(m, Decimal{100}, 1, Bytes(0)).decompressor_bytes, 0);
  m.weight_compression = Decimal{101};
  EXPECT_EQ(timeline_rules(m, Decimal{100}, 1, Bytes(0)).decompressor_bytes, 7);
}

/// Dispatch of 2^20 cycles for each of 2^10 micro-operations: 2^30 cycles an instruction, twice, since tile
/// operations dispatch and the instruction does.
TEST(countable, passes_are_up_to_two_to_the_58_cycles_and_bytes) {
  ClassCost c = loop_of(1, {});
  c.shapes[0].cycles = 0;
  c.shapes[0].times = 1;
  c.shapes[0].micro_operations = 1 << 10;
  Timed t = timed({c}, 1, fast());
  t.rules.dispatch_cycles = 1 << 20;
  const auto fits = [&](std::int64_t passes) { return countable(t.program, t.costs, t.rules, passes); };
  EXPECT_TRUE(fits((std::int64_t{1} << 28) - 1));
  EXPECT_FALSE(fits(std::int64_t{1} << 28));
  t.rules.dispatches_tiles = true;
  EXPECT_TRUE(fits((std::int64_t{1} << 27) - 1));
  EXPECT_FALSE(fits(std::int64_t{1} << 27));
}

}  // namespace
}  // namespace sdip::timing
