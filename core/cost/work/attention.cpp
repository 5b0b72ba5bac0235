// The cost of fused attention's tile operations.
#include "core/cost/work/attention.h"

#include <vector>

#include "core/cost/work/micro_operations.h"

namespace sdip {

using namespace cost;
namespace {

/// `heads` independent copies (of every frame) of `rows` queries by `keys`, each of `depth` elements; results have
/// `values` elements a row.
struct AttentionSizes {
  std::int64_t heads, rows, keys, depth, values;
};
AttentionSizes attention_sizes(const InstructionClass& c) {
  const LoopNest& scores = c.work.nest;
  return {scores.batch * scores.groups, scores.out_h, scores.out_channels, scores.in_channels,
          c.parts[2].work.nest.out_channels};
}

/// Each head, row tiles outer, key tiles inner: `channels` are these. The last of them, which divides and writes,
/// is the edge, also where it is as large as the others.
TilePlan attention_plan(const InstructionClass& c) {
  const AttentionSizes sizes = attention_sizes(c);
  TilePlan plan;
  plan.nest = true;
  plan.repeats = sizes.heads;
  plan.tile_rows = c.mapping.tile_rows;
  plan.tile_channels = c.mapping.tile_channels;
  plan.rows = cut(sizes.rows, plan.tile_rows);
  plan.channels.full = (sizes.keys - 1) / plan.tile_channels;
  plan.channels.edge = sizes.keys - plan.channels.full * plan.tile_channels;
  return plan;
}

/// A size that tiles of a dimension have, and how many have it.
struct Kind {
  std::int64_t size, count;
};
std::vector<Kind> kinds_of(const Cut& cut, std::int64_t full) {
  std::vector<Kind> kinds;
  if (cut.full > 0) kinds.push_back({full, cut.full});
  if (cut.edge > 0) kinds.push_back({cut.edge, 1});
  return kinds;
}

/// A loop over tiles of these kinds, whose shapes stand `shapes` apart; each has its window of A, if A changes.
void add_loop(const std::vector<Kind>& kinds, std::int32_t shapes, TileLoop loop, TileLoops& order) {
  if (kinds.size() == 1 && kinds[0].count == 1) return;
  for (const Kind& kind : kinds) {
    order.runs.push_back({kind.count, loop.runs * shapes, loop.a ? loop.runs : 0});
    ++loop.runs;
  }
  order.loops.push_back(loop);
}

class AttentionCost {
 public:
  AttentionCost(const InstructionClass& c, const Resolved& r)
      : c_(c), r_(r), sizes_(attention_sizes(c)), plan_(attention_plan(c)) {}

  ClassCost run() const {
    const auto needs_of = [](const InstructionClass& step, const Resolved& r) { return step_cost(step, r).busy; };
    const AttentionSteps<std::int64_t, decltype(needs_of)> steps(c_, r_, plan_, needs_of);
    ClassCost cost;
    cost.plan = plan_;
    cost.operations = plan_.result_tiles();
    const std::vector<Kind> rows = kinds_of(plan_.rows, plan_.tile_rows);
    const std::vector<Kind> keys = kinds_of(plan_.channels, plan_.tile_channels);
    for (const Kind& r : rows) {
      cost.windows.push_back({moved(c_.operand_a, r.size * sizes_.depth), {}});  // no loop slides
      for (const Kind& k : keys) {
        TileCost& tile = cost.shapes.emplace_back(tile_of(steps, r.size, k.size, &k == &keys.back()));
        tile.times = plan_.repeats * r.count * k.count;
        add_operation(tile, cost);
      }
    }
    cost.streams_activations = moves_activations(cost);
    add_loop({{{}, plan_.repeats}}, {}, {.a = true, .b = true}, cost.order);
    add_loop(rows, static_cast<std::int32_t>(keys.size()), {.a = true}, cost.order);
    add_loop(keys, 1, {.b = true}, cost.order);
    cost.held_weight_bytes = held_weight_bytes(c_, r_.form);
    cost.held_weight_stored_bytes = cost.held_weight_bytes;
    const std::int64_t scores = sizes_.heads * sizes_.rows * sizes_.keys;
    const std::int64_t results = sizes_.heads * sizes_.rows * sizes_.values;
    cost.macs = cost.spent_macs = scores * (sizes_.depth + sizes_.values);
    cost.lane_operations = (2 + c_.fused_operators) * scores + results;
    if (steps.rescales()) cost.lane_operations += plan_.channels.count() * results;
    return cost;
  }

 private:
  TileCost tile_of(const auto& needs, std::int64_t rows, std::int64_t keys, bool last) const {
    Steps steps;
    for (const StepOf<std::int64_t>& step : needs.of(rows, keys, last)) steps.add_step(step.busy, step.times);
    TileCost tile;
    if (r_.shares_units) tile.micro_operations = attention_micro_operations(c_, needs.rescales(), last, r_.wired());
    tile.busy = steps.busy;
    tile.cycles = steps.cycles;
    tile.b_bytes = moved(c_.operand_b, keys * sizes_.depth) + moved(c_.parts[2].operand_b, keys * sizes_.values);
    for (const Fetch& mask : c_.fetches)
      tile.split_in_bytes += moved(mask.place, mask.per_fold ? keys * rows : needs.held_part(mask));
    if (last && c_.to_dram) tile.out_bytes = moved(Place::dram, rows * sizes_.values);
    return tile;
  }

  std::int64_t moved(Place place, std::int64_t elements) const {
    return place == Place::dram ? bytes_of(elements, r_.activation_bits) : 0;
  }

  const InstructionClass& c_;
  const Resolved& r_;
  const AttentionSizes sizes_;
  const TilePlan plan_;
};

}  // namespace

ClassCost attention_cost(const InstructionClass& c, const Resolved& r) { return AttentionCost(c, r).run(); }

}  // namespace sdip
