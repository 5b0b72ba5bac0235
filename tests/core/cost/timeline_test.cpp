// Does the timeline count what it does not run as if it ran it, and does it run no more than it must?
#include <gtest/gtest.h>

#include <random>

#include "core/cost/timeline.h"

namespace sdip {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers_of(const PassCost& p) {
  return {p.cycles,
          p.stall_weights,
          p.stall_activations,
          p.weight_bytes,
          p.activation_in_bytes,
          p.activation_out_bytes,
          p.weight_psram_bytes,
          p.stall_program,
          p.program_bytes};
}

Numbers numbers_of(const InstructionTime& t) {
  return {t.start,         t.end,
          t.overhead,      t.stall_weights,
          t.waiting,       t.stall_activations,
          t.weight_bytes,  t.weight_psram_bytes,
          t.psram_bytes,   t.activation_in_bytes,
          t.stall_program, t.activation_out_bytes,
          t.program_bytes};
}

/// A program of these costs, instruction by instruction of class 0, 1, ..., 0, 1, ...
struct Timed {
  Program program;
  std::vector<ClassCost> costs;
  TimelineRules rules;

  TimelineResult run(std::int64_t passes, std::vector<InstructionTime>* trace = nullptr) const {
    return run_timeline(program, costs, rules, passes, trace);
  }
};

Timed timed(std::vector<ClassCost> costs, std::size_t instructions, const TimelineRules& rules = {}) {
  Timed t;
  t.costs = std::move(costs);
  t.rules = rules;
  t.program.classes.resize(t.costs.size());
  t.program.instructions.resize(instructions);
  for (std::size_t i = 0; i < instructions; ++i)
    t.program.instructions[i].instruction_class = static_cast<std::int32_t>(i % t.costs.size());
  return t;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : dice_(seed) {}
  std::int64_t from(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(dice_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool once_in(std::int64_t n) { return from(1, n) == 1; }
  std::int64_t some_bytes() { return once_in(2) ? 0 : from(1, 20); }

 private:
  std::mt19937_64 dice_;
};

/// Up to three loops of a few runs; each run of a loop adds to the shape's and the window's number a bit of its
/// own.
ClassCost random_cost(Dice& dice, std::int64_t most_tiles) {
  ClassCost c;
  const std::int64_t loops = dice.from(0, 3);
  for (std::int64_t l = 0; l < loops; ++l) {
    TileLoop loop{static_cast<std::int32_t>(dice.from(1, 3)), dice.once_in(2), dice.once_in(2), dice.once_in(3)};
    c.order.loops.push_back(loop);
    for (std::int32_t r = 0; r < loop.runs; ++r)
      c.order.runs.push_back({dice.from(1, most_tiles), static_cast<std::int32_t>(dice.from(0, 1) << l),
                              static_cast<std::int32_t>(dice.from(0, 1) << l)});
  }
  c.weighted = dice.once_in(2);
  c.streams_activations = true;
  for (int s = 0; s < 1 << loops; ++s) {
    TileCost tile;
    tile.cycles = dice.from(1, 20);
    tile.micro_operations = dice.from(1, 2);
    tile.weight_stored_bytes = dice.some_bytes();
    tile.weight_bytes = tile.weight_stored_bytes > 0 ? dice.from(1, 20) : 0;
    if (dice.once_in(3)) tile.b_bytes = dice.some_bytes();
    if (dice.once_in(3)) tile.split_in_bytes = dice.some_bytes();
    if (dice.once_in(3)) tile.partial_in_bytes = dice.some_bytes();
    if (dice.once_in(3)) tile.out_bytes = dice.some_bytes();
    c.shapes.push_back(tile);
    const std::int64_t window = dice.once_in(2) ? 0 : dice.some_bytes();
    c.windows.push_back({window, dice.from(0, window)});
  }
  if (dice.once_in(3)) c.held_weight_stored_bytes = c.held_weight_bytes = dice.some_bytes();
  c.cores = dice.from(1, 2);
  c.on_host = dice.once_in(5);
  c.link_in_cycles = dice.from(0, 3);
  c.link_out_cycles = dice.from(0, 3);
  c.circuit = static_cast<Circuit>(dice.from(0, 7));
  c.owned = Owned(static_cast<unsigned long>(dice.from(0, (1 << ownable_count) - 1)));
  return c;
}

TimelineRules random_rules(Dice& dice) {
  TimelineRules r;
  r.rate = {dice.from(1, 7), dice.from(1, 5)};
  r.burst_bytes = dice.from(1, 8);
  if (dice.once_in(3)) r.decompressor_bytes = dice.from(1, 4);
  if (!dice.once_in(4)) r.psram_bytes = dice.from(45, 160);
  r.weights_double_buffered = dice.once_in(2);
  r.tiles_double_buffered = dice.once_in(2);
  r.dispatch_cycles = dice.from(0, 9);
  r.pipeline_stages = dice.from(0, 3);
  r.host_command_cycles = dice.from(0, 5);
  r.dispatch_overlaps = dice.once_in(2);
  r.dispatches_tiles = dice.once_in(2);
  r.cores = dice.from(1, 2);
  if (dice.once_in(3)) r.imem_bytes = 200;
  return r;
}

Timed random_program(std::uint64_t seed, std::int64_t most_tiles, std::size_t classes, std::size_t instructions) {
  Dice dice(seed);
  std::vector<ClassCost> costs;
  for (std::size_t c = 0; c < classes; ++c) costs.push_back(random_cost(dice, most_tiles));
  Timed t = timed(std::move(costs), instructions, random_rules(dice));
  for (InstructionClass& c : t.program.classes) c.pinned = dice.once_in(4);
  for (Instruction& i : t.program.instructions) i.words = dice.from(1, 4);
  return t;
}

/// The same operations, each in a run of its own: nothing is repeated that could be counted.
Timed unrolled(const Timed& t) {
  Timed all = t;
  for (ClassCost& c : all.costs) {
    TileLoops order;
    const TileRun* run = c.order.runs.data();
    for (TileLoop loop : c.order.loops) {
      std::int64_t tiles = 0;
      for (std::int32_t r = 0; r < loop.runs; ++r, ++run)
        for (std::int64_t i = 0; i < run->tiles; ++i, ++tiles) order.runs.push_back({1, run->shape, run->window});
      loop.runs = static_cast<std::int32_t>(tiles);
      order.loops.push_back(loop);
    }
    c.order = order;
  }
  return all;
}

void expect_same_passes(const TimelineResult& a, const TimelineResult& b) {
  ASSERT_EQ(a.passes.size(), b.passes.size());
  for (std::size_t p = 0; p < a.passes.size(); ++p) EXPECT_EQ(numbers_of(a.passes[p]), numbers_of(b.passes[p]));
  EXPECT_EQ(a.psram_peak_bytes, b.psram_peak_bytes);
  EXPECT_EQ(a.repeats, b.repeats);
}

void expect_as_unrolled(const Timed& t) {
  std::vector<InstructionTime> trace, each;
  const TimelineResult counted = t.run(3, &trace), run = unrolled(t).run(3, &each);
  expect_same_passes(counted, run);
  EXPECT_LE(counted.operations_run, run.operations_run);
  ASSERT_EQ(trace.size(), each.size());
  for (std::size_t i = 0; i < trace.size(); ++i) EXPECT_EQ(numbers_of(trace[i]), numbers_of(each[i]));
}

TEST(timeline, repetitions_counted_last_what_they_last_run) {
  for (std::uint64_t seed = 1; seed <= 100 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_as_unrolled(random_program(seed, 9, 3, 3));
  }
}

TEST(timeline, many_repetitions_counted_last_what_they_last_run) {
  for (std::uint64_t seed = 1; seed <= 12 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    expect_as_unrolled(random_program(seed, 25, 2, 4));
  }
}

TEST(timeline, repetitions_side_by_side_last_what_they_last_run) {
  for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Timed t = random_program(seed, 6, 4, 6);
    t.rules.overlaps = true;
    t.program.instructions[3].after = {0, 1};
    t.program.instructions[5].after = {3};
    expect_as_unrolled(t);
  }
}

TEST(timeline, a_pass_that_rejoins_the_one_before_goes_on_as_that_one_did) {
  std::int64_t spared = 0;
  for (std::uint64_t seed = 1; seed <= 40 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Timed t = random_program(seed, 2, 5, 131);
    std::vector<InstructionTime> trace;
    const TimelineResult all = t.run(6, &trace), ended = t.run(6);
    expect_same_passes(all, ended);
    EXPECT_EQ(trace.size(), 131u);
    EXPECT_EQ(trace.back().end, all.passes.back().cycles);
    EXPECT_EQ(ended.steady, ended.passes.size() - 1);
    spared += all.operations_run - ended.operations_run;
    t.rules.overlaps = true;
    expect_same_passes(t.run(6, &trace), t.run(6));
  }
  EXPECT_GT(spared, 0);
}

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
  const Numbers three(4, 3);
  TimelineRules slow = fast();
  slow.rate = {1, 1};
  TileCost b, split, partial, out, weights;
  b.b_bytes = split.split_in_bytes = partial.partial_in_bytes = out.out_bytes = 20;
  weights.weight_bytes = weights.weight_stored_bytes = 20;
  for (const std::int64_t tiles : {1, 2, 3})
    EXPECT_EQ(operations_run(loop_of(tiles, {}), fast()), Numbers(4, tiles));
  for (const TimelineRules& rules : {fast(), slow}) {
    EXPECT_EQ(operations_run(loop_of(4, {}), rules), three);
    EXPECT_EQ(operations_run(loop_of(billion, {}), rules), three);
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
  EXPECT_EQ(operations_run(loop_of(billion, weights), fast()), (Numbers{10, 10, 4, 4}));
  EXPECT_EQ(operations_run(loop_of(billion, weights), slow), Numbers(4, 4));
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

/// 130 operations on chip, an instruction each: state is compared before the 64th and the 128th.
TEST(timeline, a_pass_is_run_up_to_where_it_rejoins_the_one_before) {
  const Timed t = timed({loop_of(1, {})}, 130);
  const TimelineResult r = t.run(64);
  EXPECT_EQ(r.operations_run, 130 + 63);
  EXPECT_TRUE(r.repeats);
  EXPECT_EQ(r.passes.size(), 2u);
  EXPECT_EQ(r.passes[0].cycles, 130 * 4);
  EXPECT_EQ(r.passes[1].cycles, 130 * 4);
}

/// The last instruction alone fetches, in the first pass: the second finds another duration before it, and is no
/// cold one; the third rejoins the second.
TEST(timeline, a_cold_pass_is_not_rejoined) {
  TileCost weights;
  weights.weight_bytes = weights.weight_stored_bytes = 100;
  ClassCost fetches = loop_of(1, weights);
  Timed t = timed({loop_of(1, {}), fetches}, 130, fast());
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

TEST(timeline, more_than_a_pass_that_never_repeats_is_simulated_as_far_as_is_asked) {
  // 19 cycles of weights in 20 of work: the channel gains one a pass until PSRAM is full of 19-byte tiles.
  TileCost weights;
  weights.weight_bytes = weights.weight_stored_bytes = 1;
  ClassCost c = loop_of(1, weights);
  c.shapes[0].cycles = 20;
  TimelineRules rules = fast();
  rules.psram_bytes = 1'000'000;
  rules.rate = {1, 19};
  const TimelineResult r = timed({c}, 1, rules).run(30);
  EXPECT_FALSE(r.repeats);
  EXPECT_EQ(r.passes.size(), 30u);
}

PassCost numbered() { return {1, 2, 3, 4, 5, 6, 7, 8, 9}; }

TEST(pass_cost, is_added_taken_and_multiplied_number_by_number) {
  EXPECT_EQ(numbers_of(numbered()), (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  PassCost sum;
  EXPECT_EQ(numbers_of(sum), Numbers(9, 0));
  sum += numbered();
  sum += numbered();
  EXPECT_EQ(numbers_of(sum), (Numbers{2, 4, 6, 8, 10, 12, 14, 16, 18}));
  EXPECT_EQ(numbers_of(sum - numbered()), numbers_of(numbered()));
  EXPECT_EQ(numbers_of(numbered() * 3), (Numbers{3, 6, 9, 12, 15, 18, 21, 24, 27}));
}

TEST(timeline, what_nothing_has_set_is_nothing) {
  EXPECT_EQ(numbers_of(InstructionTime{}), Numbers(13, 0));
  const TimelineResult result;
  EXPECT_EQ(result.steady + static_cast<std::size_t>(result.psram_peak_bytes + result.operations_run), 0u);
  EXPECT_EQ(result.running, 0);
  EXPECT_EQ(result.waiting, 0);
  const TimelineRules r;
  for (const std::int64_t none : {r.decompressor_bytes, r.psram_bytes, r.pinned_bytes, r.dispatch_cycles,
                                  r.pipeline_stages, r.host_command_cycles, r.imem_bytes})
    EXPECT_EQ(none, 0);
  for (const bool off : {r.dispatch_overlaps, r.dispatches_tiles, r.overlaps}) EXPECT_FALSE(off);
  EXPECT_TRUE(r.weights_double_buffered && r.tiles_double_buffered);
  EXPECT_EQ(r.burst_bytes, 64);
  EXPECT_EQ(r.cores, 1);
}

TEST(timeline_rules, only_weights_stored_smaller_pass_the_decompressor) {
  Machine m;
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
}  // namespace sdip
