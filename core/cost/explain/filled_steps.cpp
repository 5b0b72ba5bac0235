// The steps of tile operations in formulas: docs/model/work.md and fusion.md.
#include "core/cost/explain/filled_steps.h"

#include <algorithm>

#include "core/cost/work/ports.h"
#include "core/cost/work/split_macs.h"
#include "core/cost/work/strip_plan.h"

namespace sdip {

using namespace cost;
namespace {

/// The instruction as its own step: one that stands for one operator on the chip, in one tile operation of all.
FilledBusy step_of(const InstructionClass& step, const Machine& m, WeightPlace weights) {
  const TilePlan plan = tile_plan(step);
  return filled_busy(step, m, plan, expand(step, plan).shapes[0], weights);
}

/// An attention's steps over tiles of queries and keys.
class AttentionSteps {
 public:
  AttentionSteps(const InstructionClass& c, const Machine& m, WeightPlace weights, const TilePlan& plan)
      : c_(c), m_(m), wide_(m), weights_(weights), plan_(plan), rescales_(plan.channels.count() > 1) {
    wide_.activation_format = m.accumulator_format;
  }

  /// The last key tile is a shape of its own, also where it is as large as the others.
  std::vector<FilledSteps> all() const {
    std::vector<FilledSteps> shapes;
    const std::vector<std::int64_t> key_sizes = sizes(plan_.channels, plan_.tile_channels);
    for (const std::int64_t rows : sizes(plan_.rows, plan_.tile_rows))
      for (const std::int64_t& keys : key_sizes) {
        FilledSteps steps{scores(rows, keys), softmax(rows, keys), product(rows, keys)};
        if (&keys == &key_sizes.back()) steps.push_back(division(rows));
        shapes.push_back(std::move(steps));
      }
    return shapes;
  }

 private:
  static std::vector<std::int64_t> sizes(const Cut& cut, std::int64_t tile) {
    std::vector<std::int64_t> of;
    if (cut.full > 0) of.push_back(tile);
    if (cut.edge > 0) of.push_back(cut.edge);
    return of;
  }
  std::int64_t accumulator_bits() const { return bits_of(m_.accumulator_format); }
  Filled accumulator_beats(std::int64_t elements) const {
    return ceiling(product_of({elements, accumulator_bits()}), m_.dsram_port_bits);
  }

  static InstructionClass product_step(const Work& work, std::int64_t rows, std::int64_t channels,
                                       std::int64_t sum) {
    InstructionClass step;
    step.work.family = work.family;
    step.work.element_cycles = work.element_cycles;
    step.work.nest.out_h = step.work.nest.in_h = rows;
    step.work.nest.out_channels = channels;
    step.work.nest.in_channels = sum;
    step.mapping = one_tile;
    step.to_dsram = false;
    return step;
  }
  static InstructionClass row_step(std::int64_t rows, std::int64_t length, std::int64_t passes) {
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

  FilledBusy scores(std::int64_t rows, std::int64_t keys) const {
    InstructionClass step = product_step(c_.work, rows, keys, c_.work.nest.in_channels);
    step.operand_a = c_.operand_a;
    step.operand_b = c_.operand_b;
    step.pair_a = c_.pair_a;
    step.pair_b = c_.pair_b;
    step.to_dsram = true;
    step.fused_operators = c_.fused_operators;
    step.fused_passes = c_.fused_passes;
    step.fetches = c_.fetches;
    for (Fetch& mask : step.fetches) mask.elements = ceil_div(mask.elements, plan_.result_tiles());
    return step_of(step, m_, weights_);
  }

  FilledBusy softmax(std::int64_t rows, std::int64_t keys) const {
    FilledBusy busy = step_of(row_step(rows, keys, 2), m_, weights_);
    busy.dsram_read += accumulator_beats(2 * rows);  // maxima and sums
    busy.dsram_write += accumulator_beats(2 * rows);
    if (rescales_) busy.add(step_of(row_step(rows, values(), 1), wide_, weights_), 1);
    return busy;
  }

  FilledBusy product(std::int64_t rows, std::int64_t keys) const {
    const Part& part = c_.parts[2];
    InstructionClass step = product_step(part.work, rows, values(), keys);
    step.operand_a = Place::dsram;
    step.operand_b = part.operand_b;
    step.pair_b = part.pair_b;
    FilledBusy busy = step_of(step, m_, weights_);
    // Sums go to the accumulators as the product's results would go to DSRAM, each as wide as they are.
    Machine sums = m_;
    sums.activation_format = m_.accumulator_format;
    sums.dataflow = Dataflow::output_stationary;  // once, whatever the product does in between
    step.to_dsram = true;
    const Filled written = step_of(step, sums, weights_).dsram_write;
    busy.dsram_write += written;
    if (rescales_) busy.dsram_read += written;
    return busy;
  }

  FilledBusy division(std::int64_t rows) const {
    const InstructionClass read = row_step(rows, values(), 1);
    InstructionClass write = read;
    write.fetches.clear();
    write.to_dsram = c_.to_dsram;
    write.push = c_.push;
    write.to_dram = c_.to_dram;
    write.turned_run = c_.turned_run;
    FilledBusy busy = step_of(write, m_, weights_);
    busy.dsram_read += step_of(read, wide_, weights_).dsram_read;
    busy.dsram_read += accumulator_beats(rows);
    return busy;
  }

  std::int64_t values() const { return c_.parts[2].work.nest.out_channels; }

  const InstructionClass& c_;
  const Machine& m_;
  Machine wide_;  // the same, moving accumulators
  const WeightPlace weights_;
  const TilePlan& plan_;
  const bool rescales_;
};

/// A strip's parts, each as an instruction of one tile operation; of streamed ones a tile of channels.
void add_strips(const InstructionClass& c, const Machine& m, WeightPlace weights, std::int64_t rows,
                std::vector<FilledSteps>& shapes) {
  const StripRows strip = strip_rows(c, rows);
  const auto part = [&](std::size_t p, std::int64_t channels) {
    return step_of(part_class(c, p, strip, channels), m, weights);
  };
  const std::vector<StripOperation> operations = strip_operations(c);
  for (const StripOperation& o : operations) shapes.push_back({part(o.part, o.channels)});
  if (!operations.empty()) return;
  FilledSteps& steps = shapes.emplace_back();
  for (std::size_t p = 0; p < c.parts.size(); ++p) steps.push_back(part(p, part_channels(c.parts[p])));
}

/// A class's own pair is that of the instruction, and not said.
InstructionClass without_own_pair(InstructionClass c) {
  const auto unsay = [&](DsramPair& pair) {
    if (pair == c.work.family) pair.reset();
  };
  unsay(c.pair_a);
  unsay(c.pair_b);
  for (Fetch& fetch : c.fetches) unsay(fetch.pair);
  for (Part& part : c.parts) {
    unsay(part.pair_b);
    for (Fetch& fetch : part.fetches) unsay(fetch.pair);
  }
  return c;
}

std::vector<FilledSteps> written(const InstructionClass& c, const Machine& m, WeightPlace weights,
                                 const ClassCost& cost) {
  std::vector<FilledSteps> shapes;
  if (c.compound == Compound::attention) return AttentionSteps(c, m, weights, cost.plan).all();
  if (c.compound == Compound::strips) {
    add_strips(c, m, weights, cost.plan.tile_rows, shapes);
    if (cost.plan.rows.edge > 0) add_strips(c, m, weights, cost.plan.rows.edge, shapes);
    return shapes;
  }
  const Expansion expansion = expand(c, cost.plan);
  for (const TileShape& shape : expansion.shapes)
    shapes.push_back(cost.on_host ? filled_host(c, m, cost.plan, shape, weights)
                                  : FilledSteps{filled_busy(c, m, cost.plan, shape, weights)});
  return shapes;
}

}  // namespace

FilledBusy sum_of(const FilledSteps& steps) {
  FilledBusy sum;
  for (const FilledBusy& step : steps) sum.add(step, 1);
  return sum;
}

Filled duration_of(const FilledSteps& steps) {
  Filled duration;
  for (const FilledBusy& step : steps) duration += step.longest_worked_out();
  return duration;
}

std::vector<FilledSteps> filled_steps(const InstructionClass& c, const Machine& m, Role role,
                                      const ClassCost& cost) {
  const Machine its = in_lockstep(machine_found(c, m), m.cores * c.spread_cores);
  std::vector<FilledSteps> shapes =
      written(has_pairs(m) ? without_own_pair(c) : c, its, weight_place(its, role), cost);
  if (shapes.size() != cost.shapes.size()) return {};
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!agrees(sum_of(shapes[i]), cost.shapes[i].busy) || duration_of(shapes[i]).value() != cost.shapes[i].cycles)
      return {};
  return shapes;
}

}  // namespace sdip
