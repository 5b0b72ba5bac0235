// Which tape does a program have, and which machines share it?
#include "core/cost/tape.h"

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
  std::int64_t TileCost::*tile_bytes[] = {&TileCost::weight_stored_bytes, &TileCost::b_bytes,
                                          &TileCost::split_in_bytes, &TileCost::partial_in_bytes,
                                          &TileCost::out_bytes};
  std::vector<std::vector<std::int64_t>> all;
  const auto add = [&](auto change) {
    const auto likeness = tape_with([&](ClassCost& cost, TimelineRules& rules, bool&) {
                            cost.weighted = true;
                            change(cost, rules);
                          }).likeness;
    all.push_back(likeness);
  };
  add([](ClassCost&, TimelineRules&) {});
  for (auto bytes : tile_bytes) {
    add([&](ClassCost& cost, TimelineRules&) { cost.shapes[0].*bytes = 1; });
    const auto one = all.back();
    add([&](ClassCost& cost, TimelineRules&) { cost.shapes[0].*bytes = 77; });
    EXPECT_EQ(all.back(), one);
    all.pop_back();
  }
  add([](ClassCost& cost, TimelineRules&) { cost.windows[0].all = 1; });
  add([](ClassCost& cost, TimelineRules&) { cost.windows[0].fresh = 1; });
  add([](ClassCost& cost, TimelineRules&) { cost.held_weight_stored_bytes = 1; });
  add([](ClassCost& cost, TimelineRules&) { cost.weighted = false; });
  for (const std::int64_t bytes : {1, 2}) {
    add([&](ClassCost& cost, TimelineRules&) { cost.shapes[0].weight_bytes = bytes; });
    add([&](ClassCost& cost, TimelineRules&) { cost.held_weight_bytes = bytes; });
  }
  add([](ClassCost&, TimelineRules& rules) { rules.psram_bytes = 1; });
  add([](ClassCost&, TimelineRules& rules) { rules.pinned_bytes = 1; });
  add([](ClassCost&, TimelineRules& rules) { rules.weights_double_buffered = false; });
  add([](ClassCost&, TimelineRules& rules) { rules.tiles_double_buffered = false; });
  add([](ClassCost&, TimelineRules& rules) { rules.dispatch_overlaps = true; });
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  add([](ClassCost& cost, TimelineRules&) { cost.weighted = false; });
  const auto plain = all.back();
  add([](ClassCost& cost, TimelineRules&) {
    cost.weighted = false;
    cost.shapes[0].weight_bytes = 5;  // never fetched
  });
  EXPECT_EQ(all.back(), plain);
}

TEST(tape, of_many_shapes_and_windows_is_another_where_the_first_moves_more) {
  const auto likeness = [](std::int64_t b_bytes, std::int64_t fresh) {
    return tape_with([&](ClassCost& cost, TimelineRules&, bool&) {
             cost.shapes.resize(40);
             cost.windows.resize(80);
             cost.shapes[0].b_bytes = b_bytes;
             cost.windows[0].fresh = fresh;
           })
        .likeness;
  };
  EXPECT_NE(likeness(0, 0), likeness(1, 0));
  EXPECT_NE(likeness(0, 0), likeness(0, 1));
}

}  // namespace
}  // namespace sdip
