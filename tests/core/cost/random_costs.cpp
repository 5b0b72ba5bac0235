// Costs of classes drawn from a seed.
#include "tests/core/cost/random_costs.h"

namespace sdip::timing {
namespace {

std::int64_t some_bytes(Dice& dice) { return dice.one_in(2) ? 0 : dice.between(1, 20); }

}  // namespace

// Each run of a loop adds to the shape's and the window's number a bit of its own.
ClassCost random_cost(Dice& dice, std::int64_t most_tiles) {
  ClassCost c;
  const std::int64_t loops = dice.between(0, 3);
  for (std::int64_t l = 0; l < loops; ++l) {
    TileLoop loop{static_cast<std::int32_t>(dice.between(1, 3)), dice.one_in(2), dice.one_in(2), dice.one_in(3)};
    c.order.loops.push_back(loop);
    for (std::int32_t r = 0; r < loop.runs; ++r)
      c.order.runs.push_back({dice.between(1, most_tiles), static_cast<std::int32_t>(dice.between(0, 1) << l),
                              static_cast<std::int32_t>(dice.between(0, 1) << l)});
  }
  c.weighted = dice.one_in(2);
  c.streams_activations = true;
  for (int s = 0; s < 1 << loops; ++s) {
    TileCost tile;
    tile.cycles = dice.between(1, 20);
    tile.micro_operations = dice.between(1, 2);
    tile.weight_stored_bytes = some_bytes(dice);
    tile.weight_bytes = tile.weight_stored_bytes > 0 ? dice.between(1, 20) : 0;
    if (dice.one_in(3)) tile.b_bytes = some_bytes(dice);
    if (dice.one_in(3)) tile.split_in_bytes = some_bytes(dice);
    if (dice.one_in(3)) tile.partial_in_bytes = some_bytes(dice);
    if (dice.one_in(3)) tile.out_bytes = some_bytes(dice);
    c.shapes.push_back(tile);
    const std::int64_t window = dice.one_in(2) ? 0 : some_bytes(dice);
    c.windows.push_back({window, dice.between(0, window)});
  }
  if (dice.one_in(3)) c.held_weight_stored_bytes = c.held_weight_bytes = some_bytes(dice);
  c.cores = dice.between(1, 2);
  c.on_host = dice.one_in(5);
  c.link_in_cycles = dice.between(0, 3);
  c.link_out_cycles = dice.between(0, 3);
  c.circuit = static_cast<Circuit>(dice.between(0, 7));
  c.owned = Owned(static_cast<unsigned long>(dice.between(0, (1 << ownable_count) - 1)));
  return c;
}

TimelineRules random_rules(Dice& dice) {
  TimelineRules r;
  r.rate = {dice.between(1, 7), dice.between(1, 5)};
  r.burst_bytes = dice.between(1, 8);
  if (dice.one_in(3)) r.decompressor_bytes = dice.between(1, 4);
  if (!dice.one_in(4)) r.psram_bytes = dice.between(45, 160);
  r.weights_double_buffered = dice.one_in(2);
  r.tiles_double_buffered = dice.one_in(2);
  r.dispatch_cycles = dice.between(0, 9);
  r.pipeline_stages = dice.between(0, 3);
  r.host_command_cycles = dice.between(0, 5);
  r.dispatch_overlaps = dice.one_in(2);
  r.dispatches_tiles = dice.one_in(2);
  r.cores = dice.between(1, 2);
  if (dice.one_in(3)) r.imem_bytes = 200;
  return r;
}

Timed random_timed(std::uint64_t seed, std::int64_t most_tiles, std::size_t classes, std::size_t instructions) {
  Dice dice(seed);
  List<ClassCost> costs;
  for (std::size_t c = 0; c < classes; ++c) costs.push_back(random_cost(dice, most_tiles));
  Timed t = timed(std::move(costs), instructions, random_rules(dice));
  for (InstructionClass& c : t.program.classes) c.pinned = dice.one_in(4);
  for (Instruction& i : t.program.instructions) i.words = dice.between(1, 4);
  return t;
}

}  // namespace sdip::timing
