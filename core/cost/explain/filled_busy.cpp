// docs/model/work.md, filled in: written from it and not from circuit.cpp, to which every figure is
// compared.
#include "core/cost/explain/filled_busy.h"

#include <algorithm>

#include "core/cost/work/fold.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"

namespace sdip {

using namespace cost;
namespace {

/// Beats of each fold: `full` of them move `lanes` elements, an edge the rest.
Filled beats_of_folds(const Folds& f, std::int64_t bits, std::int64_t port) {
  const auto fold_beats = [&](std::int64_t elements) { return ceiling(product_of({elements, bits}), port); };
  const Filled sum = number(f.full) * fold_beats(f.lanes);
  return sum + fold_beats(f.edge);
}

/// The same over two dimensions: full and edge folds of the one by those of the other.
Filled beats_of_folds(const Folds& x, const Folds& y, std::int64_t bits, std::int64_t port) {
  Filled sum;
  const auto add = [&](std::int64_t times, std::int64_t a, std::int64_t b) {
    sum += number(times) * ceiling(product_of({a, b, bits}), port);
  };
  add(x.full * y.full, x.lanes, y.lanes);
  add(x.full, x.lanes, y.edge);
  add(y.full, x.edge, y.lanes);
  add(1, x.edge, y.edge);
  return sum;
}

Filled folds_of(std::int64_t size, std::int64_t lanes) { return ceiling(number(size), lanes); }

Filled max_of(std::initializer_list<Filled> of) { return largest({of.begin(), of.size()}); }

/// One tile operation, written out.
class Writing {
 public:
  Writing(const InstructionClass& c, const Machine& m, const TilePlan& plan, const TileShape& tile,
          WeightPlace weights)
      : c_(c),
        m_(m),
        plan_(plan),
        tile_(tile),
        w_(widths_of(c, m)),
        in_memory_(weights == WeightPlace::fefet && c.operand_b == Place::psram) {}

  FilledBusy of_nest() {
    const LoopNest& nest = c_.work.nest;
    ArrayLanes lanes = array_lanes(c_.work.family, m_);
    Filled each = number(c_.work.element_cycles);
    const bool weighted = c_.operand_b == Place::psram;
    const std::int64_t rows = tile_.size.rows * tile_.size.columns * (weighted ? plan_.multiplicity : 1);
    const std::int64_t channels = std::min(tile_.size.channels, nest.out_channels);
    const std::int64_t products = weighted ? ceil_div(tile_.size.channels, nest.out_channels) : plan_.multiplicity;
    Filled kernel = product_of({nest.kernel_h, nest.kernel_w}), sum = folds_of(tile_.size.sums, lanes.sum);
    Filled across = folds_of(channels, lanes.channels);
    Folds sum_folds = fold(tile_.size.sums, lanes.sum);
    if (weighted && m_.sparsity == Sparsity::skipping) {  // one compacted dimension
      const std::int64_t positions = nest.kernel_h * nest.kernel_w, density = m_.weight_density.hundredths;
      const std::int64_t kept = m_.sparsity_group == 0 ? ceil_div(tile_.size.sums * positions * density, 100)
                                                       : positions * kept_of_groups(tile_.size.sums);
      kernel = number(1);
      sum = folds_of(kept, lanes.sum);
      sum_folds = fold(kept, lanes.sum);
    }
    if (in_memory_) {  // a row with all its channels and sums at once
      const std::int64_t all = tile_.size.sums * nest.kernel_h * nest.kernel_w;
      lanes = {1, channels, 1};  // sums fold apart
      kernel = sum = across = number(1);
      sum_folds = fold(all, all);
      each = each * ceiling(number(w_.activation), m_.fefet_input_bits) * number(m_.fefet_columns_per_converter);
    }
    busy_.compute = number(products) * folds_of(rows, lanes.rows) * across * kernel * sum * each;
    operands(fold(rows, lanes.rows), fold(channels, lanes.channels), products, kernel, sum_folds);
    const std::int64_t results = tile_.last ? tile_out_elements(plan_, tile_.size) : 0;
    if (tile_.last) {
      write(fold(rows, lanes.rows), fold(channels, lanes.channels), products, results);
      for (const Fetch& f : c_.fetches)
        read(f.place, f.pair,
             ceiling(
                 product_of({f.per_fold ? results : ceil_div(f.elements, plan_.result_tiles()), bits_of_place(f)}),
                 port_bits(w_, f.place)));
    }
    beside(results);
    return busy_;
  }

  FilledBusy of_rows() {
    const std::int64_t rows = tile_.size.rows, length = tile_.size.channels;
    const std::int64_t lanes = row_lanes(c_.work.family, m_);
    const bool apart = length >= lanes;  // else short rows share a fold
    const std::int64_t rows_a_fold = lanes / length;
    const Folds folds = apart ? fold(length, lanes) : fold(rows * length, rows_a_fold * length);
    const Filled times = number(apart ? rows : 1);
    busy_.compute = number(passes_of(c_, plan_)) *
                    (apart ? number(rows) * folds_of(length, lanes) : ceiling(number(rows), rows_a_fold)) *
                    number(c_.work.element_cycles);
    for (const Fetch& f : c_.fetches) {
      const std::int64_t reads = reads_of(f, plan_, tile_.last), port = port_bits(w_, f.place);
      if (f.per_fold)
        read(f.place, f.pair, number(reads) * times * beats_of_folds(folds, bits_of_place(f), port));
      else if (reads > 0)
        read(f.place, f.pair,
             ceiling(product_of({ceil_div(f.elements, plan_.result_tiles()), bits_of_place(f)}), port));
    }
    if (!tile_.last) return busy_;
    const std::int64_t results = row_results(c_, rows, length);
    beside(results);
    write(fold(results, lanes), {1, 1, 0}, 1, results);
    return busy_;
  }

  /// Each operand once, however often the operator reads it.
  std::vector<FilledBusy> of_host() {
    const std::int64_t elements = tile_.size.rows * tile_.size.channels;
    const std::int64_t results = tile_.last ? row_results(c_, tile_.size.rows, tile_.size.channels) : 0;
    const auto bus = [&](std::int64_t count, std::int64_t bits) {
      return ceiling(product_of({count, bits}), m_.host_bus_bits) * number(m_.host_access_cycles);
    };
    for (const Fetch& f : c_.fetches) {
      if (f.place == Place::scalar || f.place == Place::nowhere || reads_of(f, plan_, tile_.last) == 0) continue;
      const std::int64_t part = f.per_fold ? elements : ceil_div(f.elements, plan_.result_tiles());
      busy_.compute += bus(part, bits_of_place(f));
      read(f.place, f.pair, ceiling(product_of({part, bits_of_place(f)}), port_bits(w_, f.place)));
    }
    FilledBusy work, out;
    const std::int64_t hundredths = m_.host_cycles_per_element.hundredths;
    const Filled worked = product_of({elements, passes_of(c_, plan_)}) +
                          number(results) * number(c_.fused_operators + c_.statistics_passes);
    work.compute = hundredths % 100 == 0 ? worked * number(hundredths / 100) : ceiling(worked, hundredths, 100);
    if (c_.to_dsram || c_.to_dram || c_.push)
      out.compute = bus(results, m_.host_result_bits == 0 ? w_.result : m_.host_result_bits);
    if (c_.to_dsram || c_.to_dram) out.dsram_write = ceiling(product_of({results, w_.result}), w_.dsram);
    if (c_.push) out.stackram_write = ceiling(product_of({results, w_.result}), w_.stackram);
    return {busy_, work, out};
  }

 private:
  /// Whole groups, and what is left of one.
  std::int64_t kept_of_groups(std::int64_t sums) const {
    const std::int64_t m = m_.sparsity_group, n = ceil_div(m * m_.weight_density.hundredths, 100);
    return sums / m * n + std::min(n, sums % m);
  }

  std::int64_t bits_of_place(const Fetch& f) const { return f.place == Place::psram ? w_.weight : w_.activation; }

  void read(Place place, DsramPair pair, const Filled& beats) {
    if (place == Place::stackram) busy_.stackram_read += beats;
    if (place == Place::psram) busy_.psram_read += beats;
    if (pair)
      busy_.other_pairs[pair_index(*pair)] += beats;
    else if (place == Place::dsram || place == Place::dram)
      busy_.dsram_read += beats;
  }

  void operands(const Folds& rows, const Folds& channels, std::int64_t products, const Filled& kernel,
                const Folds& sum) {
    const bool a_held = m_.dataflow == Dataflow::input_stationary,
               b_held = m_.dataflow == Dataflow::weight_stationary;
    const std::int64_t b_bits = c_.operand_b == Place::psram ? w_.weight : w_.activation;
    const Filled a = beats_of_folds(rows, sum, w_.activation, port_bits(w_, c_.operand_a));
    const Filled b = beats_of_folds(channels, sum, b_bits, port_bits(w_, c_.operand_b));
    read(c_.operand_a, c_.pair_a, number(products) * number(a_held ? 1 : channels.count()) * kernel * a);
    read(c_.operand_b, c_.pair_b, number(products) * number(b_held ? 1 : rows.count()) * kernel * b);
    // Partial sums: after every sum fold but the last, before every one but the first; in registers, only from tile
    // to tile.
    const bool in_registers = m_.dataflow == Dataflow::output_stationary;
    const bool only_pushed = plan_.sums.count() == 1 && c_.push && !c_.to_dsram && !c_.to_dram;
    const std::int64_t rounds = in_registers ? 0 : kernel.value() * sum.count() - 1;
    const Filled once =
        number(products) * beats_of_folds(rows, channels, w_.accumulator, only_pushed ? w_.stackram : w_.dsram);
    (only_pushed ? busy_.stackram_write : busy_.dsram_write) += number(rounds + !tile_.last) * once;
    (only_pushed ? busy_.stackram_read : busy_.dsram_read) += number(rounds + !tile_.first) * once;
  }

  void write(const Folds& rows, const Folds& channels, std::int64_t products, std::int64_t results) {
    const auto beats_on = [&](std::int64_t port) {
      const Filled made = number(products) * beats_of_folds(rows, channels, w_.result, port);
      if (c_.turned_run == 0) return made;
      return max_of({made, beats_of_folds(fold(results, c_.turned_run), w_.result, port)});
    };
    if (c_.to_dsram || c_.to_dram) busy_.dsram_write += beats_on(w_.dsram);
    if (c_.push) busy_.stackram_write += beats_on(w_.stackram);
  }

  /// A prologue, fused operators and sums over the results: beside the main work, or in turn on shared units.
  void beside(std::int64_t results) {
    const std::int64_t lanes = row_lanes(Family::norm, m_);
    const Filled fused = folds_of(results, m_.vector_lanes);
    const Filled before = number(c_.prologue_passes) * folds_of(prologue_elements(), lanes);
    const Filled sums = number(c_.statistics_passes) * folds_of(results, lanes);
    if (!shares_units(m_)) {
      busy_.compute = max_of({busy_.compute, before, number(c_.fused_passes) * fused, sums});
      return;
    }
    const Filled in_turn = before + number(c_.fused_operators) * fused + sums;
    busy_.compute = plan_.nest ? max_of({busy_.compute, in_turn}) : busy_.compute + in_turn;
  }

  std::int64_t prologue_elements() const {
    const LoopNest& nest = c_.work.nest;
    return tile_a_elements(
        c_, plan_, tile_.size.channels, tile_.size.sums,
        held_window(rows_of(nest), tile_.size.rows) * held_window(columns_of(nest), tile_.size.columns));
  }

  const InstructionClass& c_;
  const Machine& m_;
  const TilePlan& plan_;
  const TileShape& tile_;
  const Widths w_;
  const bool in_memory_;
  FilledBusy busy_;
};

/// Beats where they really go.
FilledBusy merged(FilledBusy busy, const InstructionClass& c, const Machine& m, WeightPlace weights) {
  if (weights != WeightPlace::psram) busy.psram_read = {};
  if (c.operand_b == Place::psram) busy.psram_read = number(c.spread_cores) * busy.psram_read;  // each its own
  if (stack_in_psram(m)) {
    busy.psram_read += number(m.cores) * (busy.stackram_read + busy.stackram_write);
    busy.stackram_read = busy.stackram_write = {};
  }
  if (m.activation_memory != ActivationMemory::unified) return busy;
  busy.dsram_read += busy.stackram_read;
  busy.dsram_write += busy.stackram_write;
  busy.stackram_read = busy.stackram_write = {};
  return busy;
}

}  // namespace

void FilledBusy::add(const FilledBusy& other, std::int64_t times) {
  const Filled factor = number(times);
  compute += factor * other.compute;
  dsram_read += factor * other.dsram_read;
  dsram_write += factor * other.dsram_write;
  stackram_read += factor * other.stackram_read;
  stackram_write += factor * other.stackram_write;
  psram_read += factor * other.psram_read;
  for (std::size_t pair = 0; pair < pair_families; ++pair) other_pairs[pair] += factor * other.other_pairs[pair];
}

Filled FilledBusy::longest_dsram_read() const {
  std::array<Filled, pair_families + 1> reads;
  reads[0] = dsram_read;
  std::ranges::copy(other_pairs, reads.begin() + 1);
  return largest(reads);
}

Filled FilledBusy::longest_worked_out() const {
  const auto cycles = [](const Filled& need) { return number(need.value()); };
  return max_of({cycles(compute), cycles(longest_dsram_read()), cycles(dsram_write), cycles(stackram_read),
                 cycles(stackram_write), cycles(psram_read)});
}

bool agrees(const FilledBusy& f, const Busy& b) {
  for (std::size_t pair = 0; pair < pair_families; ++pair)
    if (f.other_pairs[pair].value() != b.other_pairs.beats[pair]) return false;
  return f.compute.value() == b.compute && f.dsram_read.value() == b.dsram_read &&
         f.dsram_write.value() == b.dsram_write && f.stackram_read.value() == b.stackram_read &&
         f.stackram_write.value() == b.stackram_write && f.psram_read.value() == b.psram_read;
}

FilledBusy filled_busy(const InstructionClass& c, const Machine& m, const TilePlan& plan, const TileShape& tile,
                       WeightPlace weights) {
  Writing writing(c, m, plan, tile, weights);
  return merged(plan.nest ? writing.of_nest() : writing.of_rows(), c, m, weights);
}

std::vector<FilledBusy> filled_host(const InstructionClass& c, const Machine& m, const TilePlan& plan,
                                    const TileShape& tile, WeightPlace weights) {
  std::vector<FilledBusy> steps = Writing(c, m, plan, tile, weights).of_host();
  for (FilledBusy& step : steps) step = merged(std::move(step), c, m, weights);
  return steps;
}

}  // namespace sdip
