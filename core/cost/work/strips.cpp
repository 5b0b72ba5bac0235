// The cost of a strip: its parts one after the other, each as an instruction of one tile operation. Where weights
// are streamed, each of a part's tiles of channels is an operation of its own.
#include "core/cost/work/strips.h"

#include "core/cost/work/ports.h"
#include "core/cost/work/strip_plan.h"

namespace sdip {

using namespace cost;
namespace {

/// Strips of one height, and one operation of them after the other.
struct StripCost {
  const InstructionClass& c;
  const Resolved& r;
  const std::int64_t rows;
  const StripRows strip = strip_rows(c, rows);

  std::int64_t bytes(std::int64_t elements) const { return bytes_of(elements, r.activation_bits); }

  std::int64_t a_bytes() const {
    const LoopNest& first = c.parts.front().work.nest;
    return c.operand_a == Place::dram ? bytes(strip.loaded * first.in_w * first.groups * first.in_channels) : 0;
  }

  /// Adds `channels` of part `p` to a tile, and `times` of what they are to `sum`.
  void add(std::size_t p, std::int64_t channels, std::int64_t times, TileCost& tile, ClassCost& sum) const {
    const ClassCost part = step_cost(part_class(c, p, strip, channels), r);
    tile.cycles = at_most(static_cast<Int128>(tile.cycles) + part.cycles, most_cycles);
    if (tile.cycles < most_cycles) tile.busy += part.busy;
    if (r.shares_units) tile.micro_operations += part.shapes[0].micro_operations;
    sum.macs += part.macs * times;
    sum.spent_macs += part.spent_macs * times;
    sum.memory_cycles = at_most(sum.memory_cycles + static_cast<Int128>(part.memory_cycles) * times, most_cycles);
    sum.conversions += part.conversions * static_cast<double>(times);
    sum.scalings += part.scalings * times;
    sum.lane_operations += part.lane_operations * times;
    for (const Fetch& fetch : c.parts[p].fetches)
      if (fetch.place == Place::dram)
        tile.split_in_bytes += bytes(part_fetch_elements(c, p, fetch, strip.made[p], channels));
    tile.split_in_bytes += bytes(second_operand_elements(c, p));
    if (c.to_dram && p + 1 == c.parts.size()) tile.out_bytes = bytes(rows * c.parts[p].work.nest.out_w * channels);
  }

  void close(TileCost tile, ClassCost& sum) const {
    add_operation(tile, sum);
    sum.shapes.push_back(tile);
  }

  /// The shapes of `strips` such strips.
  void shapes(const std::vector<StripOperation>& operations, std::int64_t strips, ClassCost& sum) const {
    TileCost none_yet;
    if (r.shares_units) none_yet.micro_operations = 0;
    if (operations.empty()) {
      TileCost tile = none_yet;
      tile.times = strips;
      for (std::size_t p = 0; p < c.parts.size(); ++p) add(p, part_channels(c.parts[p]), strips, tile, sum);
      close(tile, sum);
    }
    for (const StripOperation& o : operations) {
      TileCost tile = none_yet;
      tile.times = strips * o.times;
      add(o.part, o.channels, tile.times, tile, sum);
      if (o.streamed) tile.weight_bytes = part_weight_bytes(c.parts[o.part], o.channels, r.form);
      tile.weight_stored_bytes = stored_bytes(tile.weight_bytes, r.form);
      close(tile, sum);
    }
    sum.windows.push_back({a_bytes(), {}});  // no loop slides
  }
};

/// Strips in order: frames, and in each the full strips and the edge. Each loads its own window; inside it stand
/// its operations, of which some fetch weights.
TileLoops order_of(const TilePlan& plan, const std::vector<StripOperation>& operations) {
  TileLoops order;
  if (plan.repeats > 1) {
    order.runs.push_back({plan.repeats, 0, 0});
    order.loops.push_back({.runs = 1, .a = true});
  }
  const auto shapes = static_cast<std::int32_t>(std::max<std::size_t>(1, operations.size()));
  if (plan.rows.count() > 1) {
    order.runs.push_back({plan.rows.full, 0, 0});
    if (plan.rows.edge > 0) order.runs.push_back({1, shapes, 1});
    order.loops.push_back({.runs = plan.rows.edge > 0 ? 2 : 1, .a = true});
  }
  if (operations.empty() || (operations.size() == 1 && operations[0].times == 1)) return order;
  std::int32_t shape = 0;
  for (const StripOperation& o : operations) order.runs.push_back({o.times, shape++, 0});
  order.loops.push_back({.runs = shapes, .b = true});
  return order;
}

}  // namespace

ClassCost strips_cost(const InstructionClass& c, const Resolved& r) {
  ClassCost cost;
  const std::vector<StripOperation> operations = strip_operations(c);
  cost.plan = strip_plan(c);
  cost.weighted = true;
  cost.order = order_of(cost.plan, operations);
  StripCost{c, r, cost.plan.tile_rows}.shapes(operations, cost.plan.repeats * cost.plan.rows.full, cost);
  if (cost.plan.rows.edge > 0) StripCost{c, r, cost.plan.rows.edge}.shapes(operations, cost.plan.repeats, cost);
  for (const TileCost& tile : cost.shapes) cost.operations += tile.times;
  cost.streams_activations = moves_activations(cost);
  cost.held_weight_bytes = strip_held_bytes(c, r.form);
  cost.held_weight_stored_bytes = stored_bytes(cost.held_weight_bytes, r.form);
  return cost;
}

}  // namespace sdip
