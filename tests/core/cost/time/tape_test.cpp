// Which tape does a program have, and which machines share it?
#include "core/cost/time/tape.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sdip {
namespace {

/// A tape of one class of one tile, with what `change` does to it.
template <class Change>
Tape tape_with(Change change) {
  ClassCost cost;
  cost.shapes.push_back({});
  cost.windows.push_back({});
  TimelineRules rules;
  rules.psram_bytes = 0;
  Program program;
  program.classes.resize(1);
  program.instructions.resize(1);
  change(cost, rules, program.classes[0].pinned);
  return make_tape(program, {cost}, rules);
}

TEST(tape, runs_ahead_where_weights_come_from_dram_again_and_again) {
  for (int i = 0; i < 16; ++i) {
    const bool fetched = i % 2 == 1, pinned = i / 2 % 2 == 1, weighted = i / 4 % 2 == 1, held = i / 8 == 1;
    const Tape tape = tape_with([&](ClassCost& cost, TimelineRules& rules, bool& pins) {
      rules.psram_bytes = fetched ? 10 : 0;
      pins = pinned;
      cost.weighted = weighted;
      cost.held_weight_bytes = held ? 1 : 0;
    });
    EXPECT_EQ(tape.runs_ahead, fetched && !pinned && (weighted || held)) << i;
    EXPECT_EQ(tape.fetches_once, pinned) << i;
  }
}

TEST(tape, is_shared_by_what_moves_the_same_transfers_whatever_their_bytes) {
  const auto with = [](auto change) {
    return tape_with([&](ClassCost& cost, TimelineRules& rules, bool&) {
      cost.weighted = true;
      cost.shapes[0].weight_stored_bytes = 9;
      rules.psram_bytes = 10;
      change(cost, rules);
    });
  };
  std::vector<Tape> unlike;
  const auto add = [&](auto change) { unlike.push_back(with(change)); };
  add([](ClassCost&, TimelineRules&) {});
  for (auto bytes :
       {&TileCost::b_bytes, &TileCost::split_in_bytes, &TileCost::partial_in_bytes, &TileCost::out_bytes}) {
    add([&](ClassCost& cost, TimelineRules&) { cost.shapes[0].*bytes = 1; });
    EXPECT_EQ(with([&](ClassCost& cost, TimelineRules&) { cost.shapes[0].*bytes = 77; }), unlike.back());
  }
  for (auto bytes : {&WindowBytes::all, &WindowBytes::fresh})
    add([&](ClassCost& cost, TimelineRules&) { cost.windows[0].*bytes = 1; });
  add([](ClassCost& cost, TimelineRules&) { cost.held_weight_stored_bytes = 1; });
  for (const std::int64_t bytes : {1, 2}) {
    add([&](ClassCost& cost, TimelineRules&) { cost.shapes[0].weight_bytes = bytes; });
    add([&](ClassCost& cost, TimelineRules&) { cost.held_weight_bytes = bytes; });
  }
  add([](ClassCost&, TimelineRules& rules) { rules.psram_bytes = 0; });
  add([](ClassCost&, TimelineRules& rules) { rules.pinned_bytes = 1; });
  add([](ClassCost&, TimelineRules& rules) { rules.weights_double_buffered = false; });
  add([](ClassCost&, TimelineRules& rules) { rules.tiles_double_buffered = false; });
  add([](ClassCost&, TimelineRules& rules) { rules.dispatch_overlaps = true; });
  add([](ClassCost&, TimelineRules& rules) { rules.dispatches_tiles = true; });
  add([](ClassCost&, TimelineRules& rules) { rules.overlaps = true; });
  add([](ClassCost&, TimelineRules& rules) { rules.imem_bytes = 1; });
  for (std::size_t i = 0; i < unlike.size(); ++i)
    EXPECT_EQ(std::ranges::find(unlike, unlike[i]) - unlike.begin(), static_cast<std::ptrdiff_t>(i)) << i;
  EXPECT_EQ(with([](ClassCost& cost, TimelineRules&) { cost.weighted = false; }),
            with([](ClassCost&, TimelineRules& rules) { rules.psram_bytes = 0; }))
      << "weights that are not fetched";
}

}  // namespace
}  // namespace sdip
