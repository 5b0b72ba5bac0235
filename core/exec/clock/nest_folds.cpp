// The folds of a product, one after the other.
#include "core/exec/clock/nest_folds.h"

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

/// Beats in which a fold's `across` rows or channels of each of these sum folds pass a port.
void beats_of(const std::vector<Count>& sums, Count across, Count bits, Count port, std::vector<Count>& beats) {
  beats.clear();
  for (const Count k : sums) beats.push_back(ceil_div(across * k * bits, port));
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

}  // namespace

std::vector<Count> fold_product(const InstructionClass& c, const Machine& m, const Ports& ports,
                                const NestWidths& w, const TileProduct& product, Needs& needs) {
  const Lanes lanes = w.in_memory ? Lanes{1, product.channels, product.sum} : lanes_of(c.work.family, m);
  const Count cycles_each = c.work.element_cycles * (w.in_memory ? cycles_of_row(m, w.activation_bits) : 1);
  Count nowhere = 0;
  const Ports::Port a = ports.reading(c.operand_a, c.pair_a, needs, nowhere);
  const Ports::Port b = ports.reading(c.operand_b, c.pair_b, needs, nowhere);
  const Ports::Port in = ports.reading(w.partials_to_stack ? Place::stackram : Place::dsram, {}, needs, nowhere);
  const Ports::Port out = ports.writing(w.partials_to_stack, needs);
  const std::vector<Count> sums = pieces(product.sum, lanes.sum);
  std::vector<Count> results, a_beats, b_beats;
  bool first_row = true;
  for (Count row = 0; row < product.rows; row += lanes.rows) {
    const Count r = std::min(lanes.rows, product.rows - row);
    beats_of(sums, r, w.activation_bits, a.bits, a_beats);
    bool first_channel = true;
    for (Count channel = 0; channel < product.channels; channel += lanes.channels) {
      const Count o = std::min(lanes.channels, product.channels - channel);
      if (first_channel || o < lanes.channels) beats_of(sums, o, w.b_bits, b.bits, b_beats);
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
      *b.beats += fold.b;
      *in.beats += fold.partials_in;
      *out.beats += fold.partials_out;
      needs.compute += fold.compute;
      if (product.last) results.push_back(r * o);
      first_channel = false;
    }
    first_row = false;
  }
  return results;
}

}  // namespace sdip::exec
