// The cost of fused attention's tile operations: their steps one after the other.
//
// Worked example. 2 rows by 3 keys of 4 elements, results of 4, several key tiles; q in DSRAM, k and v in STACKRAM;
// matmul lanes 2 x 2 x 2, softmax lanes 4, ports as wide as any fold. Scores: 1 x 2 x 2 folds, 4 cycles. Softmax:
// two passes over rows of 3, one in a fold of 4 lanes, 2 x 2, and one over the accumulators, 2 rows of 4: 6 folds,
// but 4 beats of scores, 1 of maxima and sums and 2 of accumulators are read: 7 cycles. Product: 1 x 2 x 2 folds, 4
// beats of probabilities and 2 of sums: 6 cycles. Division, last key tile: 2 folds, 2 + 1 beats: 3 cycles. 17
// cycles; the last 20.
#pragma once

#include <utility>
#include <vector>

#include "core/cost/work/fold.h"
#include "core/cost/work/ports.h"

namespace sdip {

/// The cost of a class of Compound::attention (docs/model/fusion.md#attention): shapes of row tiles by key
/// tiles, the last key tile apart.
ClassCost attention_cost(const InstructionClass& c, const Resolved& r);

/// The needs of an attention's steps over a tile of `rows` queries by `keys`. `needs_of(c, r)` says what one
/// operator needs on one tile, as an instruction of its own.
template <class Number, class NeedsOf>
class AttentionSteps {
 public:
  AttentionSteps(const InstructionClass& c, const Resolved& r, const cost::TilePlan& plan, NeedsOf needs_of)
      : c_(c), r_(r), wide_(r), plan_(plan), needs_of_(std::move(needs_of)) {
    wide_.activation_bits = r.accumulator_bits;
  }

  /// Steps in their order; the division with the last tile of keys. The rows go in parts of `part` rows and a last
  /// one of the rest: while one's softmax runs, the next one's scores and the product of the one before do.
  std::vector<StepOf<Number>> of(std::int64_t rows, std::int64_t keys, bool last) const {
    const std::int64_t part = ceil_div(rows, r_.machine.attention_parts), parts = ceil_div(rows, part);
    const std::int64_t rest = rows - (parts - 1) * part;
    const BusyOf<Number> nothing;
    const BusyOf<Number> softmaxes = softmax(part, keys), products = product(part, keys);
    const BusyOf<Number> last_softmax = rest == part ? softmaxes : softmax(rest, keys);
    const BusyOf<Number> last_product = rest == part ? products : product(rest, keys);
    std::vector<StepOf<Number>> steps;
    steps.push_back({scores(part, keys, true)});
    if (parts > 1) {
      const BusyOf<Number> next = scores(part, keys, false), last_next = scores(rest, keys, false);
      if (parts > 2) steps.push_back({overlapped(softmaxes, next, nothing)});
      if (parts > 3) steps.push_back({overlapped(softmaxes, next, products), parts - 3});
      steps.push_back({overlapped(softmaxes, last_next, parts > 2 ? products : nothing)});
    }
    steps.push_back({overlapped(last_softmax, nothing, parts > 1 ? products : nothing)});
    steps.push_back({last_product});
    if (last) steps.push_back({division(rows)});
    return steps;
  }

  /// The part of an operand fused to the scores that one operation takes; it is read once and held.
  std::int64_t held_part(const Fetch& mask) const { return ceil_div(mask.elements, plan_.result_tiles()); }

  /// Whether accumulators are rescaled to new maxima.
  bool rescales() const { return plan_.channels.count() > 1; }

 private:
  static InstructionClass product_step(const Work& work, std::int64_t rows, std::int64_t channels,
                                       std::int64_t sum) {
    InstructionClass step;
    step.work.family = work.family;
    step.work.element_cycles = work.element_cycles;
    step.work.nest.out_h = step.work.nest.in_h = rows;
    step.work.nest.out_channels = channels;
    step.work.nest.in_channels = sum;
    step.mapping = cost::one_tile;
    step.to_dsram = false;
    return step;
  }
  static InstructionClass row_step(std::int64_t rows, std::int64_t length, std::int64_t passes) {
    InstructionClass step;
    step.work.family = Family::softmax;
    step.work.rows = rows;
    step.work.row_length = length;
    step.work.passes = passes;
    step.mapping = cost::one_tile;
    step.out_elements = rows * length;
    step.fetches = {{.place = Place::dsram, .passes = passes, .per_fold = true}};
    return step;
  }

  /// The softmax on its lanes, scores and product one after the other in the arrays; all through the same ports.
  static BusyOf<Number> overlapped(const BusyOf<Number>& softmax, const BusyOf<Number>& scores,
                                   const BusyOf<Number>& product) {
    BusyOf<Number> all = scores;
    all += product;
    const Number in_arrays = all[Resource::compute];
    all += softmax;
    all[Resource::compute] = largest(std::initializer_list<Number>{softmax[Resource::compute], in_arrays});
    return all;
  }

  /// `holding`: with operands that are read once and held, which the first part brings.
  BusyOf<Number> scores(std::int64_t rows, std::int64_t keys, bool holding) const {
    InstructionClass step = product_step(c_.work, rows, keys, c_.work.nest.in_channels);
    step.operand_a = c_.operand_a;
    step.operand_b = c_.operand_b;
    step.pair_a = c_.pair_a;
    step.pair_b = c_.pair_b;
    step.to_dsram = true;
    step.fused_operators = c_.fused_operators;
    step.fused_passes = c_.fused_passes;
    step.fetches = c_.fetches;
    if (!holding) std::erase_if(step.fetches, [](const Fetch& mask) { return !mask.per_fold; });
    for (Fetch& mask : step.fetches) mask.elements = held_part(mask);
    return needs_of_(step, r_);
  }

  /// Maxima, exponentials and sums; accumulators rescaled to the new maxima.
  BusyOf<Number> softmax(std::int64_t rows, std::int64_t keys) const {
    BusyOf<Number> busy = needs_of_(row_step(rows, keys, 2), r_);
    busy[Resource::dsram_read] += accumulator_beats(2 * rows);
    busy[Resource::dsram_write] += accumulator_beats(2 * rows);
    if (rescales()) busy += needs_of_(row_step(rows, values(), 1), wide_);
    return busy;
  }

  /// Probabilities by values, added to the accumulators.
  BusyOf<Number> product(std::int64_t rows, std::int64_t keys) const {
    const Part& part = c_.parts[2];
    InstructionClass step = product_step(part.work, rows, values(), keys);
    step.operand_a = Place::dsram;
    step.operand_b = part.operand_b;
    step.pair_b = part.pair_b;
    BusyOf<Number> busy = needs_of_(step, r_);
    const ArrayLanes& lanes = r_.arrays[part.work.family];
    const Number sums = folded_beats<Number>(fold(rows, lanes.rows), fold(values(), lanes.channels),
                                             r_.accumulator_bits, r_.port_bits[Resource::dsram_read]);
    busy[Resource::dsram_write] += sums;
    if (rescales()) busy[Resource::dsram_read] += sums;
    return busy;
  }

  /// Accumulators by their sums, to where the results go.
  BusyOf<Number> division(std::int64_t rows) const {
    const InstructionClass read = row_step(rows, values(), 1);
    InstructionClass write = read;
    write.fetches.clear();
    write.to_dsram = c_.to_dsram;
    write.push = c_.push;
    write.to_dram = c_.to_dram;
    write.turned_run = c_.turned_run;
    BusyOf<Number> busy = needs_of_(write, r_);
    busy[Resource::dsram_read] += needs_of_(read, wide_)[Resource::dsram_read];
    busy[Resource::dsram_read] += accumulator_beats(rows);
    return busy;
  }

  Number accumulator_beats(std::int64_t elements) const {
    return beats<Number>({elements, r_.accumulator_bits}, r_.port_bits[Resource::dsram_read]);
  }
  std::int64_t values() const { return c_.parts[2].work.nest.out_channels; }

  const InstructionClass& c_;
  const Resolved& r_;
  Resolved wide_;  // the same, moving accumulators
  const cost::TilePlan& plan_;
  NeedsOf needs_of_;
};

}  // namespace sdip
