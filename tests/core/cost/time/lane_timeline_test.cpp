// Passes of machines side by side that are long in repeating themselves.
#include "core/cost/time/lane_timeline.h"

#include <gtest/gtest.h>

namespace sdip {
namespace {

/// A tile of a byte, and as many cycles of work.
ClassCost tile_of(std::int64_t cycles) {
  ClassCost cost;
  TileCost tile;
  tile.cycles = cost.cycles = cycles;
  tile.times = 1;
  tile.weight_bytes = tile.weight_stored_bytes = 1;
  cost.shapes.push_back(tile);
  cost.windows.push_back({});
  cost.weighted = true;
  return cost;
}

/// A byte a cycle; each pass has a cycle more work than transfers, so that in each the channel runs a tile further
/// ahead until PSRAM is full.
TEST(lanes, that_run_ahead_pass_by_pass_forget_tiles_and_nothing_else) {
  const List<ClassCost> costs = {tile_of(1), tile_of(2)};
  Program program;
  program.classes.resize(2);
  program.instructions.resize(3000);
  program.instructions.back().instruction_class = 1;
  TimelineRules rules;
  rules.burst_bytes = 1;
  rules.psram_bytes = 40;
  const Tape tape = make_tape(program, costs, rules);
  const TapeNumbers numbers = tape_numbers(tape, program, costs, rules);
  std::vector<LaneMachine> machines;
  for (const std::int64_t q : {1, 2, 3}) machines.push_back({&numbers, {3, q}, 1});
  std::vector<LaneTimes> times(machines.size());
  LaneRunner().run(tape, machines, 64, times);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    rules.rate = machines[i].rate;
    const TimelineResult alone = run_timeline(program, costs, rules, 64);
    EXPECT_EQ(times[i].psram_peak_bytes, alone.psram_peak_bytes);
    for (std::size_t pass = 0; pass < 64; ++pass)
      ASSERT_EQ(times[i].pass_cycles[std::min(pass, times[i].pass_cycles.size() - 1)],
                alone.passes[std::min(pass, alone.passes.size() - 1)].cycles)
          << "machine " << i << ", pass " << pass;
  }
  EXPECT_GT(times[0].pass_cycles.size(), 30u);
}

/// Tiles of so many bytes that the product with the rate, or the time, is not a real number's to hold.
TEST(lanes, divide_one_by_one_what_is_too_large_for_all_together) {
  struct Large {
    std::int64_t bytes;
    DramRate rate;
  };
  const std::int64_t one = 1, most_q = 8'000'000'000;
  const Large all[] = {
      {one << 28, {1, one << 25}}, {(one << 31) - 1, {(one << 20) + 1, most_q}}, {one << 32, {7, 3}}};
  for (const Large& large : all) {
    List<ClassCost> costs = {tile_of(1)};
    costs[0].shapes[0].weight_stored_bytes = large.bytes;
    Program program;
    program.classes.resize(1);
    program.instructions.resize(1);
    TimelineRules rules;
    rules.burst_bytes = 1;
    rules.psram_bytes = 40;
    const Tape tape = make_tape(program, costs, rules);
    const TapeNumbers numbers = tape_numbers(tape, program, costs, rules);
    std::vector<LaneTimes> times(3);
    const LaneMachine usual = {&numbers, {10, 1}, 1};
    LaneRunner().run(tape, std::vector<LaneMachine>{usual, {&numbers, large.rate, 1}, usual}, 1, times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      rules.rate = i == 1 ? large.rate : usual.rate;
      EXPECT_EQ(times[i].pass_cycles[0], run_timeline(program, costs, rules, 1).passes[0].cycles) << large.bytes;
    }
  }
}

TEST(lanes, take_other_numbers_from_where_some_stood) {
  List<ClassCost> costs = {tile_of(5)};
  Program program;
  program.classes.resize(1);
  program.instructions.resize(1);
  TimelineRules rules;
  rules.burst_bytes = 1;
  rules.psram_bytes = 40;
  const Tape tape = make_tape(program, costs, rules);
  TapeNumbers numbers = tape_numbers(tape, program, costs, rules);
  const std::vector<LaneMachine> machines = {{&numbers, {1, 1}, 1}};
  std::vector<LaneTimes> times(1);
  LaneRunner lanes;
  lanes.run(tape, machines, 1, times);
  EXPECT_EQ(times[0].pass_cycles[0], 6);
  costs = {tile_of(8)};
  numbers = tape_numbers(tape, program, costs, rules);
  lanes.run(tape, machines, 1, times);
  EXPECT_EQ(times[0].pass_cycles[0], 9);
}

}  // namespace
}  // namespace sdip
