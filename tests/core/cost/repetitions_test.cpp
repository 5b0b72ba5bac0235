// Does the timeline count what it does not run as if it ran it? Random programs, unrolled.
#include <random>

#include "tests/core/cost/timed.h"

namespace sdip::timing {
namespace {

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

}  // namespace
}  // namespace sdip::timing
