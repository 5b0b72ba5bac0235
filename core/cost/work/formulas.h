// Formulas of one tile operation's needs of its circuit and of each SRAM port (docs/model/work.md), each written
// once: with whole numbers it counts, with Filled it is written out. Internal to its library.
//
// Worked example. A linear of 4096 x 320 by 320 x 320, fp16, lanes 16 x 32 x 16, ports of 4096 bit and 8192
// (PSRAM): compute is "ceil(4096/16) x ceil(320/32) x ceil(320/16)", 51,200; operand A "10 x 256 x 20 x ceil(16 x
// 16 x 16/4096)", as many beats.
#pragma once

#include <algorithm>
#include <utility>

#include "core/cost/work/fold.h"
#include "core/cost/work/in_memory.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"
#include "core/cost/work/runs.h"
#include "core/cost/work/split_macs.h"

namespace sdip {

/// The terms of the sum that each result of a tile is: kernel positions, each folded apart, and channels of each.
/// Skipping gathers only non-zeros: one compacted dimension, by groups those that stay of each at each kernel
/// position.
struct SummedOver {
  std::int64_t kernel_h, kernel_w, channels;
};
SummedOver summed_over(const InstructionClass& c, const WeightForm& form, std::int64_t channels);

/// Elements of operand A that pass through the prologue in one tile operation, in each of its passes: the window as
/// it is inside an input without edges.
std::int64_t prologue_elements(const InstructionClass& c, const cost::TilePlan& plan, const cost::TileExtent& tile);

template <class Number>
class OperationFormulas {
 public:
  /// `busy` is added to, and is clear before.
  OperationFormulas(const InstructionClass& c, const Resolved& r, const cost::TilePlan& plan, const TileShape& tile,
                    BusyOf<Number>& busy)
      : c_(c), r_(r), m_(r.machine), plan_(plan), tile_(tile), busy_(busy) {}

  void add() { plan_.nest ? add_nest() : add_rows(); }

 private:
  /// One product, or several. A weight memory that multiplies takes a row with all its sums and channels at once.
  void add_nest() {
    const bool in_memory = multiplies_in_memory(c_, r_.weights);
    const LoopNest& nest = c_.work.nest;
    const auto [rows, columns, channels, sums] = tile_.size;
    const bool weighted = c_.operand_b == Place::psram;
    // A batch lengthens the rows of a weighted product; heads and batches of activation products stay apart.
    const std::int64_t all_rows = rows * columns * (weighted ? plan_.multiplicity : 1);
    const std::int64_t groups = channels <= nest.out_channels ? 1 : ceil_div(channels, nest.out_channels);
    const std::int64_t in_product = std::min(channels, nest.out_channels);
    const std::int64_t all_sums = nest.kernel_h * nest.kernel_w * sums;
    const SummedOver sum = in_memory ? SummedOver{1, 1, all_sums} : summed_over(c_, r_.form, sums);
    const ArrayLanes lanes = in_memory ? ArrayLanes{1, channels, all_sums} : r_.arrays[c_.work.family];
    const Product product = {fold(all_rows, lanes.rows), fold(in_product, lanes.channels),
                             fold(sum.channels, lanes.sum), sum.kernel_h * sum.kernel_w,
                             weighted ? groups : plan_.multiplicity};
    const Number kernel = product_of<Number>({sum.kernel_h, sum.kernel_w});
    const Number of_rows = Number(product.times) * count_of<Number>(product.rows);
    busy_[Resource::compute] =
        in_memory ? capped_product(of_rows, memory_row_cycles<Number>(c_, r_), most_cycles / tile_.times)
                  : of_rows * count_of<Number>(product.channels) * kernel * count_of<Number>(product.sum) *
                        Number(c_.work.element_cycles);
    const bool holds = m_.accumulator_folds > 0 && !in_memory;
    const std::int64_t b_loads = holds ? hold(product, kernel) : loads_of_b(product);
    read_operands(product, kernel, b_loads);
    move_partials(product, holds || m_.dataflow == Dataflow::output_stationary);
    const std::int64_t results = tile_.last ? tile_out_elements(plan_, tile_.size) : 0;
    if (tile_.last) {
      write(product.rows, product.channels, product.times, results);
      // Operands of fused operators: fetched as results appear, or an equal part each operation when held.
      for (const Fetch& f : c_.fetches) read(f, f.per_fold ? results : part_of(f));
    }
    add_beside(results);
  }

  /// Passes over rows: short rows share a fold, long ones take several.
  void add_rows() {
    const auto rows = tile_.size.rows, length = tile_.size.channels;
    const std::int64_t lanes = r_.row_lanes[c_.work.family];
    const bool apart = length >= lanes;
    const Folds folds = apart ? fold(length, lanes) : fold(rows * length, lanes / length * length);
    const Number times(apart ? rows : 1);
    busy_[Resource::compute] = Number(passes_of(c_, plan_)) *
                               (apart ? times * count_of<Number>(folds) : ceiling(Number(rows), lanes / length)) *
                               Number(c_.work.element_cycles);
    for (const Fetch& f : c_.fetches) {
      const std::int64_t reads = reads_of(f, plan_, tile_.last);
      if (f.per_fold)
        book_read(r_, busy_, f.place, f.pair,
                  Number(reads) * times * folded_beats<Number>(folds, bits_of_fetch(f), r_.read_bits(f.place)));
      else if (reads > 0)
        read(f, part_of(f));
    }
    if (!tile_.last) return;
    const std::int64_t results = row_results(c_, rows, length);
    add_beside(results);
    write(fold(results, lanes), {1, 1, 0}, 1, results);
  }

  /// `times` products of rows x channels, each summed over folds at `kernel` positions.
  struct Product {
    Folds rows, channels, sum;
    std::int64_t kernel, times;
  };

  /// How often each fold of B is read, where no accumulators are counted.
  std::int64_t loads_of_b(const Product& p) const {
    return m_.dataflow == Dataflow::weight_stationary ? 1 : p.rows.count();
  }
  std::int64_t b_bits() const { return c_.operand_b == Place::psram ? r_.form.bits : r_.activation_bits; }

  void read_operands(const Product& p, const Number& kernel, std::int64_t b_loads) {
    const bool a_held = m_.dataflow == Dataflow::input_stationary;
    const Number a = folded_beats<Number>(p.rows, p.sum, r_.activation_bits, r_.read_bits(c_.operand_a));
    const bool scaled = c_.operand_b == Place::psram && r_.form.scale_group > 0;
    const Number b = scaled ? scaled_beats(p, r_.form)
                            : folded_beats<Number>(p.channels, p.sum, b_bits(), r_.read_bits(c_.operand_b));
    book_read(r_, busy_, c_.operand_a, c_.pair_a,
              Number(p.times) * Number(a_held ? 1 : p.channels.count()) * kernel * a);
    book_read(r_, busy_, c_.operand_b, c_.pair_b, Number(p.times) * Number(b_loads) * kernel * b);
  }

  /// Runs of row folds whose sums stay in the array: what they take, and what is written and read there. How often
  /// each fold of B is read.
  std::int64_t hold(const Product& p, const Number& kernel) {
    const Runs runs = runs_of(m_, p.rows.count(), p.kernel * p.sum.count());
    const bool wired = c_.operand_b == Place::psram && r_.wired();
    const bool loads = !wired && c_.operand_b != Place::nowhere && c_.operand_b != Place::scalar;
    const HeldProduct<Number> product{m_,
                                      runs,
                                      p.channels,
                                      p.sum,
                                      kernel,
                                      c_.work.element_cycles,
                                      b_bits(),
                                      loads ? r_.read_bits(c_.operand_b) : 0,
                                      c_.operand_b == Place::psram ? r_.psram_pace : 1};
    busy_[Resource::compute] = product.first_load() + Number(p.times) * product.cycles();
    const Number results = Number(p.times) * product_of<Number>({size_of(p.rows), size_of(p.channels)});
    const Number sums = kernel * count_of<Number>(p.sum);
    busy_.accumulator_writes = results * sums;
    busy_.accumulator_reads = results * (sums - Number(1));
    if (loads)
      busy_.register_writes = Number(p.times) * Number(runs.loads()) * kernel *
                              product_of<Number>({size_of(p.channels), size_of(p.sum)});
    return runs.loads();
  }

  /// With scales by groups of weights, a fold along the sums in which groups begin reads their scales, too.
  Number scaled_beats(const Product& p, const WeightForm& form) const {
    const std::int64_t group = form.scale_group, in_group = std::max<std::int64_t>(1, group / p.sum.lanes);
    const std::int64_t begin = ceil_div(p.sum.full, in_group), continued = p.sum.full - begin;
    const auto begun = [&](std::int64_t sums) { return ceil_div(sums, group); };
    Number sum(0);
    const auto add = [&](std::int64_t times, std::int64_t channels, std::int64_t sums, std::int64_t scales) {
      if (times == 0 || channels == 0 || sums == 0) return;
      const Number weights = product_of<Number>({channels, sums, form.bits});
      const Number bits =
          scales == 0 ? weights : weights + product_of<Number>({channels, scales, form.scale_group_bits});
      sum += Number(times) * ceiling(bits, r_.port_bits[Resource::psram_read]);
    };
    const std::int64_t edge_scales = p.sum.full % in_group == 0 ? begun(p.sum.edge) : 0;
    for (const auto& [times, channels] :
         {std::pair{p.channels.full, p.channels.lanes}, std::pair{std::int64_t{1}, p.channels.edge}}) {
      add(times * begin, channels, p.sum.lanes, begun(p.sum.lanes));
      add(times * continued, channels, p.sum.lanes, 0);
      add(times, channels, p.sum.edge, edge_scales);
    }
    return sum;
  }

  /// Partial sums go to and from the result's memory for every summed fold but the last (write) and the first
  /// (read); held in registers, only from one tile of sums to the next.
  void move_partials(const Product& p, bool in_registers) {
    const std::int64_t rounds = in_registers ? 0 : p.kernel * p.sum.count() - 1;
    const std::int64_t written = rounds + !tile_.last, read = rounds + !tile_.first;
    if (written + read == 0) return;
    const bool only_pushed = plan_.sums.count() == 1 && c_.push && !c_.to_dsram && !c_.to_dram;
    const Resource to = only_pushed ? Resource::stackram_write : Resource::dsram_write;
    const Resource from = only_pushed ? Resource::stackram_read : Resource::dsram_read;
    const Number once =
        Number(p.times) * folded_beats<Number>(p.rows, p.channels, r_.accumulator_bits, r_.port_bits[to]);
    busy_[to] += Number(written) * once;
    busy_[from] += Number(read) * once;
  }

  /// Results, made in `times` folds of rows x channels. Turned ones go run by run, never faster than they are made.
  void write(const Folds& rows, const Folds& channels, std::int64_t times, std::int64_t results) {
    const std::int64_t bits = r_.result_bits(c_);
    const auto write_to = [&](Resource port) {
      const Number made = Number(times) * folded_beats<Number>(rows, channels, bits, r_.port_bits[port]);
      if (c_.turned_run == 0) {
        busy_[port] += made;
        return;
      }
      const Number turned = folded_beats<Number>(fold(results, c_.turned_run), bits, r_.port_bits[port]);
      busy_[port] += largest(std::initializer_list<Number>{made, turned});
    };
    if (c_.to_dsram || c_.to_dram) write_to(Resource::dsram_write);
    if (c_.push) write_to(Resource::stackram_write);
  }

  /// Work beside the main one: operand A as it is read, fused operators and sums over the results. Each has its
  /// circuit; on shared units all take turns at the vector lanes, the main work too unless it is on the MACs.
  void add_beside(std::int64_t results) {
    if (c_.prologue_passes + c_.fused_operators + c_.fused_passes + c_.statistics_passes == 0) return;
    const std::int64_t lanes = r_.row_lanes[Family::norm];
    const Number fused = ceiling(Number(results), m_.vector_lanes);
    const Number before =
        Number(c_.prologue_passes) * ceiling(Number(prologue_elements(c_, plan_, tile_.size)), lanes);
    const Number sums = Number(c_.statistics_passes) * ceiling(Number(results), lanes);
    using List = std::initializer_list<Number>;
    if (!r_.shares_units) {
      busy_[Resource::compute] =
          largest(List{busy_[Resource::compute], before, Number(c_.fused_passes) * fused, sums});
      return;
    }
    const Number in_turn = before + Number(c_.fused_operators) * fused + sums;
    busy_[Resource::compute] =
        plan_.nest ? largest(List{busy_[Resource::compute], in_turn}) : busy_[Resource::compute] + in_turn;
  }

  void read(const Fetch& f, std::int64_t elements) {
    book_read(r_, busy_, f.place, f.pair, beats<Number>({elements, bits_of_fetch(f)}, r_.read_bits(f.place)));
  }
  std::int64_t part_of(const Fetch& f) const { return ceil_div(f.elements, plan_.result_tiles()); }
  std::int64_t bits_of_fetch(const Fetch& f) const {
    return f.place == Place::psram ? r_.form.vector_bits : r_.activation_bits;
  }

  const InstructionClass& c_;
  const Resolved& r_;
  const Machine& m_;
  const cost::TilePlan& plan_;
  const TileShape& tile_;
  BusyOf<Number>& busy_;
};

}  // namespace sdip
