// What a strip costs: its parts one after the other, each as an instruction of one tile operation.
#include "core/cost/strips.h"

#include "core/program/strips.h"

namespace sdip {
namespace {

struct StripCost {
  TileCost tile;
  std::int64_t macs = 0, spent_macs = 0, lane_operations = 0;
};

StripCost strip_cost(const InstructionClass& c, const Machine& m, std::int64_t rows) {
  const std::int64_t bits = bits_of(m.activation_format);
  const auto bytes = [&](std::int64_t elements) { return ceil_div(elements * bits, 8); };
  const StripRows strip = strip_rows(c, rows);
  StripCost cost;
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    const ClassCost part = class_cost(part_class(c, p, strip), m);
    cost.tile.busy += part.busy;
    cost.tile.cycles += part.cycles;
    cost.macs += part.macs;
    cost.spent_macs += part.spent_macs;
    cost.lane_operations += part.lane_operations;
    for (const Fetch& fetch : c.parts[p].fetches)
      if (fetch.place == Place::dram)
        cost.tile.split_in_bytes += bytes(strip_fetch_elements(c, c.parts[p], fetch, strip.made[p]));
  }
  if (c.operand_a == Place::dram) cost.tile.a_bytes = bytes(strip_a_elements(c, strip.loaded));
  if (c.to_dram) cost.tile.out_bytes = bytes(strip_out_elements(c, rows));
  return cost;
}

}  // namespace

ClassCost strips_cost(const InstructionClass& c, const Machine& m) {
  ClassCost cost;
  cost.plan = strip_plan(c);
  cost.weighted = true;
  cost.channels_outer = false;
  for (std::size_t edge = 0; edge < 2; ++edge) {
    const std::int64_t count = edge == 0 ? cost.plan.rows.full : (cost.plan.rows.edge != 0);
    if (count == 0) continue;
    const StripCost strip = strip_cost(c, m, edge == 0 ? cost.plan.tile_rows : cost.plan.rows.edge);
    const std::int64_t times = cost.plan.repeats * count;
    const TileCost& tile = cost.shapes[edge][0] = strip.tile;
    cost.busy += tile.busy * times;
    cost.cycles += tile.cycles * times;
    cost.macs += strip.macs * times;
    cost.spent_macs += strip.spent_macs * times;
    cost.lane_operations += strip.lane_operations * times;
    cost.streams_activations |= tile.a_bytes + tile.split_in_bytes + tile.out_bytes > 0;
  }
  const WeightForm form = weight_form(m);
  cost.held_weight_bytes = held_weight_bytes(c, form);
  cost.held_weight_stored_bytes = stored_bytes(cost.held_weight_bytes, form);
  return cost;
}

}  // namespace sdip
