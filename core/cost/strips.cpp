// What a strip costs: its parts one after the other, each as an instruction of one tile operation.
#include "core/cost/strips.h"

#include "core/cost/micro_operations.h"
#include "core/program/strips.h"

namespace sdip {
namespace {

struct StripCost {
  TileCost tile;
  std::int64_t a_bytes = 0, macs = 0, spent_macs = 0, lane_operations = 0;
};

StripCost strip_cost(const InstructionClass& c, const Machine& m, Role role, std::int64_t rows) {
  const std::int64_t bits = bits_of(m.activation_format);
  const auto bytes = [&](std::int64_t elements) { return ceil_div(elements * bits, 8); };
  const StripRows strip = strip_rows(c, rows);
  StripCost cost;
  std::int64_t micro_operations = 0;
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    const ClassCost part = class_cost(part_class(c, p, strip), m, role);
    cost.tile.busy += part.busy;
    cost.tile.cycles += part.cycles;
    micro_operations += part.shapes[0].micro_operations;
    cost.macs += part.macs;
    cost.spent_macs += part.spent_macs;
    cost.lane_operations += part.lane_operations;
    for (const Fetch& fetch : c.parts[p].fetches)
      if (fetch.place == Place::dram)
        cost.tile.split_in_bytes += bytes(strip_fetch_elements(c, c.parts[p], fetch, strip.made[p]));
  }
  if (shares_units(m)) cost.tile.micro_operations = micro_operations;
  if (c.operand_a == Place::dram) cost.a_bytes = bytes(strip_a_elements(c, strip.loaded));
  if (c.to_dram) cost.tile.out_bytes = bytes(strip_out_elements(c, rows));
  return cost;
}

/// Strips in order: frames, and in each the full strips and the edge. Each loads its own window.
TileLoops order_of(const TilePlan& plan) {
  TileLoops order;
  if (plan.repeats > 1) {
    order.runs.push_back({plan.repeats, 0, 0});
    order.loops.push_back({1, true, false, false});
  }
  if (plan.rows.count() == 1) return order;
  order.runs.push_back({plan.rows.full, 0, 0});
  if (plan.rows.edge > 0) order.runs.push_back({1, 1, 1});
  order.loops.push_back({plan.rows.edge > 0 ? 2 : 1, true, false, false});
  return order;
}

}  // namespace

ClassCost strips_cost(const InstructionClass& c, const Machine& m, Role role) {
  ClassCost cost;
  cost.plan = strip_plan(c);
  cost.operations = cost.plan.operations();
  cost.weighted = true;
  cost.order = order_of(cost.plan);
  for (const bool edge : {false, true}) {
    if (edge && cost.plan.rows.edge == 0) continue;
    StripCost strip = strip_cost(c, m, role, edge ? cost.plan.rows.edge : cost.plan.tile_rows);
    const std::int64_t times = strip.tile.times = cost.plan.repeats * (edge ? 1 : cost.plan.rows.full);
    cost.shapes.push_back(strip.tile);
    cost.windows.push_back({strip.a_bytes, strip.a_bytes});
    cost.busy += strip.tile.busy * times;
    cost.cycles += strip.tile.cycles * times;
    cost.macs += strip.macs * times;
    cost.spent_macs += strip.spent_macs * times;
    cost.lane_operations += strip.lane_operations * times;
    cost.streams_activations |= strip.a_bytes + strip.tile.split_in_bytes + strip.tile.out_bytes > 0;
  }
  const WeightForm form = weight_form(m);
  cost.held_weight_bytes = held_weight_bytes(c, form);
  cost.held_weight_stored_bytes = held_stored_bytes(c, form);
  return cost;
}

}  // namespace sdip
