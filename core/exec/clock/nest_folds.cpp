// The folds of a product, one after the other.
#include "core/exec/clock/nest_folds.h"

#include <queue>

namespace sdip::exec {
namespace {

struct Lanes {
  Count rows, channels, sum;
};
Lanes lanes_of(Family family, const Machine& m) {
  if (m.mac_sharing == MacSharing::shared || family == Family::conv2d)
    return {m.conv_lanes_pixel, m.conv_lanes_out, m.conv_lanes_in};
  if (family == Family::linear) return {m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k};
  return {m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k};
}

/// Cycles in which a weight memory takes a row: for each part of its bits, column after column of a converter.
Count cycles_of_row(const Machine& m, Count bits) {
  Count cycles = 0;
  for (Count left = bits; left > 0; left -= m.fefet_input_bits) cycles += m.fefet_columns_per_converter;
  return cycles;
}

/// Beats in which a fold's `across` rows or channels of each of these sum folds pass a port; with those weights
/// that begin a group comes its scale, one for each channel.
void beats_of(const std::vector<Count>& sums, Count across, Count bits, Count port, std::vector<Count>& beats,
              Count group = 0, Count scale_bits = 0) {
  beats.clear();
  Count first = 0;
  for (const Count k : sums) {
    Count scales = 0;
    for (Count i = first; group > 0 && i < first + k; ++i) scales += i % group == 0 ? 1 : 0;
    beats.push_back(ceil_div(across * (k * bits + scales * scale_bits), port));
    first += k;
  }
}

/// One fold of results, through all its sums: beats of operands and of partial sums, and cycles.
struct ResultFold {
  const std::vector<Count>& a_beats;
  const std::vector<Count>& b_beats;
  Count kernels, cycles_each, partial_in_beats, partial_out_beats;
  bool registers, first, last, reads_a, reads_b;
  Count a = 0, b = 0, compute = 0, partials_in = 0, partials_out = 0;

  void run() {
    const Count folds = kernels * std::ssize(a_beats);
    Count done = 0;
    for (Count kernel = 0; kernel < kernels; ++kernel) {
      for (std::size_t k = 0; k < a_beats.size(); ++k) {
        const bool begins = done == 0, ends = ++done == folds;
        if (begins ? !first : !registers) partials_in += partial_in_beats;
        compute += cycles_each;
        if (reads_a) a += a_beats[k];
        if (reads_b) b += b_beats[k];
        if (ends ? !last : !registers) partials_out += partial_out_beats;
      }
    }
  }
};

/// The weights that an array's registers hold, of one channel fold: the oldest leaves when they are full.
class Registers {
 public:
  Registers(Count registers, Count sum_folds) : free_(registers), held_(as_size(sum_folds)) {}
  bool holds(Count sum_fold) const { return held_[sum_fold]; }
  void load(Count sum_fold) {
    if (free_ == 0) {
      held_[order_.front()] = false;
      order_.pop();
      ++free_;
    }
    held_[sum_fold] = true;
    order_.push(sum_fold);
    --free_;
  }

 private:
  Count free_;
  List<bool> held_;
  std::queue<Count> order_;
};

/// A product whose partial sums stay in accumulators for a run of row folds.
class HeldProduct {
 public:
  HeldProduct(const InstructionClass& c, const Machine& m, const Ports& ports, const NestWidths& w,
              const TileProduct& product, Needs& needs)
      : m_(m),
        w_(w),
        product_(product),
        needs_(needs),
        lanes_(lanes_of(c.work.family, m)),
        cycles_each_(c.work.element_cycles),
        a_(ports.reading(c.operand_a, c.pair_a, needs, nowhere_)),
        b_(ports.reading(c.operand_b, c.pair_b, needs, nowhere_)),
        in_(ports.reading(w.partials_to_stack ? Place::stackram : Place::dsram, {}, needs, nowhere_)),
        out_(ports.writing(w.partials_to_stack, needs)) {}

  FoldedProduct run() {
    const std::vector<Count> rows = pieces(product_.rows, lanes_.rows);
    for (const Count o : pieces(product_.channels, lanes_.channels)) {
      Registers registers(m_.weight_registers, product_.kernels * std::ssize(sums_));
      for (std::size_t begin = 0; begin < rows.size();) {
        std::vector<Count> run;
        for (; begin < rows.size() && std::ssize(run) < m_.accumulator_folds; ++begin) run.push_back(rows[begin]);
        go_through(run, o, registers);
      }
    }
    return std::move(folded_);
  }

 private:
  void go_through(const std::vector<Count>& run, Count o, Registers& registers) {
    const Count folds = product_.kernels * std::ssize(sums_);
    for (Count fold = 0; fold < folds; ++fold) {
      const Count k = sums_[fold % std::ssize(sums_)];
      const Count load = registers.holds(fold) ? 0 : loaded(o, k);
      if (!registers.holds(fold)) registers.load(fold);
      Count working = 0;
      for (const Count r : run) {
        working += cycles_each_;
        a_.move(r * k, w_.activation_bits);
        accumulate(r * o, fold == 0, fold + 1 == folds);
      }
      if (m_.weight_registers == 1) {
        needs_.compute += load + working;
        continue;
      }
      if (!begun_) folded_.first_load = load;
      begun_ = true;
      needs_.compute += std::max(load, working);
    }
  }

  /// Beats in which the weights of a channel and a sum fold come; none where they stand in wires.
  Count loaded(Count o, Count k) {
    if (b_.beats == &nowhere_) return 0;
    const Count before = *b_.beats;
    b_.move(o * k, w_.b_bits);
    needs_.register_writes += o * k;
    return *b_.beats - before;
  }

  /// A fold's sums: added to those that are there; those of other tiles come first and leave last.
  void accumulate(Count results, bool begins, bool ends) {
    if (begins && !product_.first) in_.move(results, w_.partial_bits);
    if (!begins) needs_.accumulator_reads += results;
    needs_.accumulator_writes += results;
    if (!ends) return;
    if (product_.last)
      folded_.results.push_back(results);
    else
      out_.move(results, w_.partial_bits);
  }

  const Machine& m_;
  const NestWidths& w_;
  const TileProduct& product_;
  Needs& needs_;
  const Lanes lanes_;
  const Count cycles_each_;
  Count nowhere_ = 0;
  const Ports::Access a_, b_, in_, out_;
  const List<Count> sums_ = pieces(product_.sum, lanes_.sum);
  bool begun_ = false;
  FoldedProduct folded_;
};

}  // namespace

FoldedProduct fold_product(const InstructionClass& c, const Machine& m, const Ports& ports, const NestWidths& w,
                           const TileProduct& product, Needs& needs) {
  if (m.accumulator_folds > 0 && !w.in_memory) return HeldProduct(c, m, ports, w, product, needs).run();
  const Lanes lanes = w.in_memory ? Lanes{1, product.channels, product.sum} : lanes_of(c.work.family, m);
  const Count cycles_each = c.work.element_cycles * (w.in_memory ? cycles_of_row(m, w.activation_bits) : 1);
  Count nowhere = 0;
  const Ports::Access a = ports.reading(c.operand_a, c.pair_a, needs, nowhere);
  const Ports::Access b = ports.reading(c.operand_b, c.pair_b, needs, nowhere);
  const Ports::Access in = ports.reading(w.partials_to_stack ? Place::stackram : Place::dsram, {}, needs, nowhere);
  const Ports::Access out = ports.writing(w.partials_to_stack, needs);
  const std::vector<Count> sums = pieces(product.sum, lanes.sum);
  std::vector<Count> results, a_beats, b_beats;
  bool first_row = true;
  for (Count row = 0; row < product.rows; row += lanes.rows) {
    const Count r = std::min(lanes.rows, product.rows - row);
    beats_of(sums, r, w.activation_bits, a.bits, a_beats);
    bool first_channel = true;
    for (Count channel = 0; channel < product.channels; channel += lanes.channels) {
      const Count o = std::min(lanes.channels, product.channels - channel);
      const bool another = first_channel || o < lanes.channels;
      if (another) beats_of(sums, o, w.b_bits, b.bits, b_beats, w.group, w.scale_bits);
      ResultFold fold{a_beats,
                      b_beats,
                      product.kernels,
                      cycles_each,
                      ceil_div(r * o * w.partial_bits, in.bits),
                      ceil_div(r * o * w.partial_bits, out.bits),
                      m.dataflow == Dataflow::output_stationary,
                      product.first,
                      product.last,
                      m.dataflow != Dataflow::input_stationary || first_channel,
                      m.dataflow != Dataflow::weight_stationary || first_row};
      fold.run();
      *a.beats += fold.a;
      *b.beats += b.pace * fold.b;
      *in.beats += fold.partials_in;
      *out.beats += fold.partials_out;
      needs.compute += fold.compute;
      if (product.last) results.push_back(r * o);
      first_channel = false;
    }
    first_row = false;
  }
  return {results, 0};
}

}  // namespace sdip::exec
