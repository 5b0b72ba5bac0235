// What fused attention's tile operations cost.
//
// Worked example. 2 rows by 3 keys of 4 elements, results of 4, several key tiles; q in DSRAM, k and v in STACKRAM;
// matmul lanes 2 x 2 x 2, softmax lanes 4, ports as wide as any fold. Scores: 1 x 2 x 2 folds, 4 cycles. Softmax:
// two passes over rows of 3, one in a fold of 4 lanes, 2 x 2, and one over the accumulators, 2 rows of 4: 6 folds,
// but 4 beats of scores, 1 of maxima and sums and 2 of accumulators are read: 7 cycles. Product: 1 x 2 x 2 folds, 4
// beats of probabilities and 2 of sums: 6 cycles. Division, last key tile: 2 folds, 2 + 1 beats: 3 cycles. 17
// cycles; the last 20.
#include "core/cost/work/attention.h"

#include <vector>

#include "core/cost/work/fold.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"

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
  AttentionCost(const InstructionClass& c, const Machine& m, Role role)
      : c_(c),
        m_(m),
        role_(role),
        sizes_(attention_sizes(c)),
        plan_(attention_plan(c)),
        port_(m.dsram_port_bits),
        accumulator_bits_(bits_of(m.accumulator_format)),
        rescales_(plan_.channels.count() > 1) {
    m_.host_operators = HostOperators::no_operators;  // a softmax inside an instruction has its circuit
    wide_ = m_;
    wide_.activation_format = m.accumulator_format;
  }

  ClassCost run() const {
    ClassCost cost;
    cost.plan = plan_;
    cost.operations = plan_.result_tiles();
    const std::vector<Kind> rows = kinds_of(plan_.rows, plan_.tile_rows);
    const std::vector<Kind> keys = kinds_of(plan_.channels, plan_.tile_channels);
    for (const Kind& r : rows) {
      cost.windows.push_back({moved(c_.operand_a, r.size * sizes_.depth), {}});  // no loop slides
      for (const Kind& k : keys) {
        const bool last = &k == &keys.back();
        TileCost& tile = cost.shapes.emplace_back(tile_of(r.size, k.size, last));
        tile.times = plan_.repeats * r.count * k.count;
        add_operation(tile, cost);
      }
    }
    cost.streams_activations = moves_activations(cost);
    add_loop({{{}, plan_.repeats}}, {}, {.a = true, .b = true}, cost.order);
    add_loop(rows, static_cast<std::int32_t>(keys.size()), {.a = true}, cost.order);
    add_loop(keys, 1, {.b = true}, cost.order);
    const WeightForm form = weight_form(m_);
    cost.held_weight_bytes = held_weight_bytes(c_, form);
    cost.held_weight_stored_bytes = cost.held_weight_bytes;
    const std::int64_t scores = sizes_.heads * sizes_.rows * sizes_.keys;
    const std::int64_t results = sizes_.heads * sizes_.rows * sizes_.values;
    cost.macs = cost.spent_macs = scores * (sizes_.depth + sizes_.values);
    cost.lane_operations = (2 + c_.fused_operators) * scores + results;
    if (rescales_) cost.lane_operations += plan_.channels.count() * results;
    return cost;
  }

 private:
  TileCost tile_of(std::int64_t rows, std::int64_t keys, bool last) const {
    Steps steps;
    steps.then(scores(rows, keys));
    steps.then(exponentials(rows, keys));
    steps.then(product(rows, keys));
    if (last) steps.then(division(rows));
    TileCost tile;
    if (shares_units(m_))
      tile.micro_operations = attention_micro_operations(c_, rescales_, last, weights_in_place(m_, role_));
    tile.busy = steps.busy;
    tile.cycles = steps.cycles;
    tile.b_bytes = moved(c_.operand_b, keys * sizes_.depth) + moved(c_.parts[2].operand_b, keys * sizes_.values);
    for (const Fetch& mask : c_.fetches)
      tile.split_in_bytes += moved(mask.place, mask.per_fold ? keys * rows : held_part(mask));
    if (last && c_.to_dram) tile.out_bytes = moved(Place::dram, rows * sizes_.values);
    return tile;
  }

  std::int64_t moved(Place place, std::int64_t elements) const {
    return place == Place::dram ? bytes_of(elements, bits_of(m_.activation_format)) : 0;
  }

  /// What an operation takes of an operand fused to the scores that is read once and held.
  std::int64_t held_part(const Fetch& mask) const { return ceil_div(mask.elements, plan_.result_tiles()); }

  /// One operator on one tile, as an instruction of its own.
  static InstructionClass product_of(const Work& work, std::int64_t rows, std::int64_t channels, std::int64_t sum,
                                     Place a, Place b) {
    InstructionClass step;
    step.work.family = work.family;
    step.work.element_cycles = work.element_cycles;
    step.work.nest.out_h = step.work.nest.in_h = rows;
    step.work.nest.out_channels = channels;
    step.work.nest.in_channels = sum;
    step.mapping = one_tile;
    step.operand_a = a;
    step.operand_b = b;
    step.to_dsram = false;
    return step;
  }
  static InstructionClass rows_of(std::int64_t rows, std::int64_t length, std::int64_t passes) {
    InstructionClass step;
    step.work.family = Family::softmax;
    step.work.rows = rows;
    step.work.row_length = length;
    step.work.passes = passes;
    step.mapping = one_tile;
    step.out_elements = rows * length;
    step.fetches = {{.place = Place::dsram, .passes = passes, .per_fold = true}};
    return step;
  }

  Busy scores(std::int64_t rows, std::int64_t keys) const {
    InstructionClass step = product_of(c_.work, rows, keys, sizes_.depth, c_.operand_a, c_.operand_b);
    step.pair_a = c_.pair_a;
    step.pair_b = c_.pair_b;
    step.to_dsram = true;
    step.fused_operators = c_.fused_operators;
    step.fused_passes = c_.fused_passes;
    step.fetches = c_.fetches;
    for (Fetch& mask : step.fetches) mask.elements = held_part(mask);
    return step_cost(step, m_, role_).busy;
  }

  /// Maxima, exponentials and sums; accumulators rescaled to the new maxima.
  Busy exponentials(std::int64_t rows, std::int64_t keys) const {
    Busy busy = step_cost(rows_of(rows, keys, 2), m_, role_).busy;
    busy.dsram_read += beats(2 * rows, accumulator_bits_, port_);
    busy.dsram_write += beats(2 * rows, accumulator_bits_, port_);
    if (rescales_) busy += step_cost(rows_of(rows, sizes_.values, 1), wide_, role_).busy;
    return busy;
  }

  /// Probabilities by values, added to the accumulators.
  Busy product(std::int64_t rows, std::int64_t keys) const {
    const Part& part = c_.parts[2];
    InstructionClass step = product_of(part.work, rows, sizes_.values, keys, Place::dsram, part.operand_b);
    step.pair_b = part.pair_b;
    Busy busy = step_cost(step, m_, role_).busy;
    const ArrayLanes lanes = array_lanes(part.work.family, m_);
    const std::int64_t sums =
        folded_beats(fold(rows, lanes.rows), fold(sizes_.values, lanes.channels), accumulator_bits_, port_);
    busy.dsram_write += sums;
    if (rescales_) busy.dsram_read += sums;
    return busy;
  }

  /// Accumulators by their sums, to where the results go.
  Busy division(std::int64_t rows) const {
    InstructionClass read = rows_of(rows, sizes_.values, 1);
    InstructionClass write = read;
    write.fetches.clear();
    write.to_dsram = c_.to_dsram;
    write.push = c_.push;
    write.to_dram = c_.to_dram;
    write.turned_run = c_.turned_run;
    Busy busy = step_cost(write, m_, role_).busy;
    busy.dsram_read += step_cost(read, wide_, role_).busy.dsram_read + beats(rows, accumulator_bits_, port_);
    return busy;
  }

  const InstructionClass& c_;
  Machine m_;
  Machine wide_;  // the same, moving accumulators
  const Role role_;
  const AttentionSizes sizes_;
  const TilePlan plan_;
  const std::int64_t port_, accumulator_bits_;
  const bool rescales_;
};

}  // namespace

ClassCost attention_cost(const InstructionClass& c, const Machine& m, Role role) {
  return AttentionCost(c, m, role).run();
}

}  // namespace sdip
