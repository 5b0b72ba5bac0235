// What one tile operation costs its circuit and each SRAM port.
#include "core/cost/circuit.h"

#include <algorithm>

#include "core/cost/fold.h"
#include "core/cost/strips.h"

namespace sdip {
namespace {

struct Widths {
  std::int64_t activation, weight, accumulator, dsram, stackram, psram;
};

Widths widths_of(const Machine& m) {
  const bool unified = m.activation_memory == ActivationMemory::unified;
  return {bits_of(m.activation_format),
          bits_of(m.weight_format),
          bits_of(m.accumulator_format),
          m.dsram_port_bits,
          unified ? m.dsram_port_bits : m.stackram_port_bits,
          m.psram_port_bits};
}

/// Books the beats of reading from a place on that place's port; tiles of DRAM operands are read from DSRAM.
void book_read(Busy& busy, Place place, std::int64_t beats_read) {
  if (place == Place::stackram) busy.stackram_read += beats_read;
  if (place == Place::psram) busy.psram_read += beats_read;
  if (place == Place::dsram || place == Place::dram) busy.dsram_read += beats_read;
}

std::int64_t port_bits(const Widths& w, Place place) {
  return place == Place::stackram ? w.stackram : place == Place::psram ? w.psram : w.dsram;
}

void write_results(const InstructionClass& c, const Widths& w, const Folds& rows, const Folds& channels,
                   std::int64_t times, Busy& busy) {
  if (c.to_dsram || c.to_dram) busy.dsram_write += times * folded_beats(rows, channels, w.activation, w.dsram);
  if (c.push) busy.stackram_write += times * folded_beats(rows, channels, w.activation, w.stackram);
}

/// Operands and results of one product of rows x channels, summed over `sum` folds; `kernel` repeats of the summed
/// channels (kernel positions, each folded apart).
void nest_ports(const InstructionClass& c, const Machine& m, const Widths& w, const Folds& rows,
                const Folds& channels, const Folds& sum, std::int64_t kernel, std::int64_t times, Busy& busy) {
  const std::int64_t a_port = port_bits(w, c.operand_a), b_port = port_bits(w, c.operand_b);
  const std::int64_t b_bits = c.operand_b == Place::psram ? w.weight : w.activation;
  const std::int64_t a_once = kernel * folded_beats(rows, sum, w.activation, a_port);  // each fold of A read once
  const std::int64_t b_once = kernel * folded_beats(channels, sum, b_bits, b_port);
  const bool a_held = m.dataflow == Dataflow::input_stationary, b_held = m.dataflow == Dataflow::weight_stationary;
  book_read(busy, c.operand_a, times * a_once * (a_held ? 1 : channels.count()));
  book_read(busy, c.operand_b, times * b_once * (b_held ? 1 : rows.count()));
  write_results(c, w, rows, channels, times, busy);
  if (m.dataflow == Dataflow::output_stationary) return;
  // Partial sums go to and from the result's memory for every summed fold but the last (write) and the first
  // (read).
  const std::int64_t rounds = times * (kernel * sum.count() - 1);
  const bool only_pushed = c.push && !c.to_dsram && !c.to_dram;
  const std::int64_t partial =
      rounds * folded_beats(rows, channels, w.accumulator, only_pushed ? w.stackram : w.dsram);
  (only_pushed ? busy.stackram_write : busy.dsram_write) += partial;
  (only_pushed ? busy.stackram_read : busy.dsram_read) += partial;
}

/// Operands of fused operators: fetched as results appear, or an equal part each operation when held.
void fused_fetches(const InstructionClass& c, const Machine& m, const Widths& w, std::int64_t out_elements,
                   std::int64_t operations, Busy& busy) {
  for (const Fetch& f : c.fetches) {
    const std::int64_t elements = f.per_fold ? out_elements : ceil_div(f.elements, operations);
    const std::int64_t bits = f.place == Place::psram ? w.weight : w.activation;
    book_read(busy, f.place, beats(elements, bits, port_bits(w, f.place)));
  }
  busy.compute = std::max(busy.compute, c.fused_passes * ceil_div(out_elements, m.vector_lanes));
}

/// Elements of operand A that pass through the prologue of one tile operation: its window, halo included.
std::int64_t prologue_elements(const InstructionClass& c, const TilePlan& plan, std::int64_t rows,
                               std::int64_t channels) {
  return c.prologue_passes == 0 ? 0 : c.prologue_passes * tile_a_bytes(c, plan, rows, channels, 8);
}

/// Elementwise work on the norm lanes beside the main one: operand A as it is read, sums over the results.
void beside(const InstructionClass& c, const Machine& m, std::int64_t prologue, std::int64_t results, Busy& busy) {
  if (c.prologue_passes > 0)
    busy.compute = std::max(busy.compute, c.prologue_passes * ceil_div(prologue / c.prologue_passes, m.norm_lanes));
  if (c.statistics_passes > 0)
    busy.compute = std::max(busy.compute, c.statistics_passes * ceil_div(results, m.norm_lanes));
}

/// What each result sums over. Skipping gathers only non-zeros: one compacted dimension.
struct Sum {
  std::int64_t kernel = 1, channels = 1;
};
Sum sum_of(const InstructionClass& c, const Machine& m) {
  const LoopNest& nest = c.work.nest;
  const std::int64_t kernel = nest.kernel_h * nest.kernel_w;
  if (c.operand_b != Place::psram || m.sparsity != Sparsity::skipping) return {kernel, nest.in_channels};
  return {1, ceil_div(nest.in_channels * kernel * m.weight_density.hundredths, 100)};
}

Busy nest_busy(const InstructionClass& c, const Machine& m, const TilePlan& plan, std::int64_t rows,
               std::int64_t channels) {
  const LoopNest& nest = c.work.nest;
  const Widths w = widths_of(m);
  const ArrayLanes lanes = array_lanes(c.work.family, m);
  const bool weighted = c.operand_b == Place::psram;
  // A batch lengthens the rows of a weighted product; heads and batches of activation products stay apart.
  const Folds row_folds = fold(rows * nest.out_w * (weighted ? plan.multiplicity : 1), lanes.rows);
  const std::int64_t groups = weighted && nest.groups > 1 ? ceil_div(channels, nest.out_channels) : 1;
  const std::int64_t products = weighted ? groups : plan.multiplicity;
  const Folds channel_folds = fold(channels / groups, lanes.channels);
  const Sum sum = sum_of(c, m);
  const std::int64_t kernel = sum.kernel;
  const Folds sum_folds = fold(sum.channels, lanes.sum);
  Busy busy;
  busy.compute =
      products * row_folds.count() * channel_folds.count() * kernel * sum_folds.count() * c.work.element_cycles;
  nest_ports(c, m, w, row_folds, channel_folds, sum_folds, kernel, products, busy);
  const std::int64_t results = tile_out_elements(c, plan, rows, channels);
  fused_fetches(c, m, w, results, plan.operations(), busy);
  beside(c, m, prologue_elements(c, plan, rows, channels), results, busy);
  return busy;
}

/// Folds of one pass over rows x length: short rows share a fold, long ones take several.
struct RowFolds {
  Folds folds;             // of one row, or of all rows packed
  std::int64_t times = 1;  // rows, when each folds apart
  std::int64_t count() const { return times * folds.count(); }
};
RowFolds fold_rows(std::int64_t rows, std::int64_t length, std::int64_t lanes) {
  if (length >= lanes || rows == 1) return {fold(length, lanes), rows};
  return {fold(rows * length, lanes / length * length), 1};
}

/// How often an operation reads an operand. When passes run apart, one that is read less often than there are
/// passes is read in the last.
std::int64_t reads_of(const Fetch& f, const TilePlan& plan, bool last_pass) {
  if (f.passes >= plan.passes_apart) return f.passes / plan.passes_apart;
  return last_pass ? f.passes : 0;
}

Busy rowwise_busy(const InstructionClass& c, const Machine& m, const TilePlan& plan, std::int64_t rows,
                  std::int64_t length, bool writes) {
  const Widths w = widths_of(m);
  const std::int64_t passes = c.work.passes / plan.passes_apart;
  const RowFolds folds = fold_rows(rows, length, row_lanes(c.work.family, m));
  Busy busy;
  busy.compute = passes * folds.count() * c.work.element_cycles;
  for (const Fetch& f : c.fetches) {
    const std::int64_t bits = f.place == Place::psram ? w.weight : w.activation;
    const std::int64_t reads = reads_of(f, plan, writes);
    const std::int64_t port = port_bits(w, f.place);
    if (f.per_fold)
      book_read(busy, f.place, reads * folds.times * folded_beats(folds.folds, bits, port));
    else if (reads > 0)
      book_read(busy, f.place, beats(ceil_div(f.elements, plan.writing_operations()), bits, port));
  }
  if (!writes) return busy;
  const Int128 whole = static_cast<Int128>(c.work.rows) * c.work.row_length;
  const auto results =
      static_cast<std::int64_t>((static_cast<Int128>(c.out_elements) * rows * length + whole - 1) / whole);
  const Folds result_folds = fold(results, row_lanes(c.work.family, m));
  if (c.fused_passes > 0) busy.compute = std::max(busy.compute, c.fused_passes * ceil_div(results, m.vector_lanes));
  beside(c, m, 0, results, busy);
  write_results(c, w, result_folds, {1, 1, 0}, 1, busy);
  return busy;
}

TileCost tile_cost(const InstructionClass& c, const Machine& m, const TilePlan& plan, const WeightForm& form,
                   std::int64_t rows, std::int64_t channels, bool writes) {
  TileCost cost;
  const std::int64_t bits = bits_of(m.activation_format);
  const bool chunked = !plan.nest && plan.tile_channels < c.work.row_length;
  cost.busy = plan.nest ? nest_busy(c, m, plan, rows, channels)
              : chunked ? rowwise_busy(c, m, plan, 1, rows, writes)
                        : rowwise_busy(c, m, plan, rows, c.work.row_length, writes);
  if (m.activation_memory == ActivationMemory::unified) {  // one memory, one port each way
    cost.busy.dsram_read += cost.busy.stackram_read;
    cost.busy.dsram_write += cost.busy.stackram_write;
    cost.busy.stackram_read = cost.busy.stackram_write = 0;
  }
  if (m.weight_storage == WeightStorage::hard_coded) cost.busy.psram_read = 0;  // a ROM is wired to its multipliers
  cost.cycles = cost.busy.longest();
  if (c.operand_a == Place::dram) cost.a_bytes = tile_a_bytes(c, plan, rows, channels, bits);
  if (c.operand_b == Place::dram) cost.b_bytes = tile_b_bytes(c, plan, channels, bits);
  if (c.operand_b == Place::psram) {
    cost.weight_bytes = weight_tile_bytes(c, channels, form);
    cost.weight_stored_bytes = stored_bytes(cost.weight_bytes, form);
  }
  const std::int64_t results =
      plan.nest ? tile_out_elements(c, plan, rows, channels) : ceil_div(c.out_elements, plan.writing_operations());
  if (c.to_dram && writes) cost.out_bytes = ceil_div(results * bits, 8);
  for (const Fetch& f : c.fetches)
    if (f.place == Place::dram && reads_of(f, plan, writes) > 0)
      cost.split_in_bytes += ceil_div(ceil_div(f.elements, plan.writing_operations()) * bits, 8);
  return cost;
}

/// How often each second index of ClassCost::shapes occurs beside one of the first, and its size.
Cut second_dimension(const TilePlan& plan) { return plan.nest ? plan.channels : Cut{plan.passes_apart - 1, 1}; }

}  // namespace

Busy& Busy::operator+=(const Busy& other) {
  compute += other.compute;
  dsram_read += other.dsram_read;
  dsram_write += other.dsram_write;
  stackram_read += other.stackram_read;
  stackram_write += other.stackram_write;
  psram_read += other.psram_read;
  return *this;
}

Busy operator*(Busy busy, std::int64_t times) {
  return {busy.compute * times,       busy.dsram_read * times,     busy.dsram_write * times,
          busy.stackram_read * times, busy.stackram_write * times, busy.psram_read * times};
}

std::int64_t Busy::longest() const {
  return std::max({compute, dsram_read, dsram_write, stackram_read, stackram_write, psram_read});
}

ArrayLanes array_lanes(Family family, const Machine& m) {
  if (family == Family::conv2d || m.mac_sharing == MacSharing::shared)
    return {m.conv_lanes_pixel, m.conv_lanes_out, m.conv_lanes_in};
  if (family == Family::linear) return {m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k};
  return {m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k};
}

std::int64_t row_lanes(Family family, const Machine& m) {
  switch (family) {
    case Family::softmax:
      return m.softmax_lanes;
    case Family::norm:
      return m.norm_lanes;
    case Family::transpose:
      return m.transpose_lanes;
    default:
      return m.vector_lanes;
  }
}

ClassCost class_cost(const InstructionClass& c, const Machine& m) {
  if (c.compound == Compound::strips) return strips_cost(c, m);
  ClassCost cost;
  cost.plan = tile_plan(c);
  cost.weighted = c.operand_b == Place::psram;
  cost.channels_outer = c.mapping.outside(Loop::channels, Loop::rows);
  cost.grouped = cost.weighted && c.work.nest.groups > 1;
  const WeightForm form = weight_form(m);
  const TilePlan& plan = cost.plan;
  const bool chunked = !plan.nest && plan.tile_channels < c.work.row_length;
  const Cut second = second_dimension(plan);
  const std::int64_t repeats = plan.repeats / plan.passes_apart;
  for (std::size_t r = 0; r < 2; ++r) {
    const std::int64_t row_count = r == 0 ? plan.rows.full : (plan.rows.edge != 0);
    const std::int64_t rows = r != 0 ? plan.rows.edge : chunked ? plan.tile_channels : plan.tile_rows;
    for (std::size_t k = 0; k < 2; ++k) {
      const std::int64_t second_count = k == 0 ? second.full : (second.edge != 0);
      if (row_count == 0 || second_count == 0) continue;
      TileCost& tile = cost.shapes[r][k];
      const bool writes = plan.nest || k == 1;
      tile = tile_cost(c, m, plan, form, rows, k == 0 ? plan.tile_channels : plan.channels.edge, writes);
      const std::int64_t times = repeats * row_count * second_count;
      if (plan.nest)
        cost.lane_operations +=
            times * prologue_elements(c, plan, rows, k == 0 ? plan.tile_channels : plan.channels.edge);
      cost.busy += tile.busy * times;
      cost.cycles += tile.cycles * times;
      cost.streams_activations |= tile.a_bytes + tile.b_bytes + tile.split_in_bytes + tile.out_bytes > 0;
    }
  }
  cost.held_weight_bytes = held_weight_bytes(c, form);
  cost.held_weight_stored_bytes = stored_bytes(cost.held_weight_bytes, form);
  cost.macs = cost.plan.nest ? mac_count(c.work.nest) : 0;
  if (cost.plan.nest) {
    const LoopNest& nest = c.work.nest;
    const Sum sum = sum_of(c, m);
    cost.spent_macs =
        nest.groups * nest.batch * nest.out_channels * nest.out_h * nest.out_w * sum.kernel * sum.channels;
  }
  cost.lane_operations +=
      (cost.plan.nest ? 0 : c.work.passes * c.work.rows * c.work.row_length * c.work.element_cycles) +
      (c.fused_operators + c.statistics_passes) * c.out_elements;
  return cost;
}

}  // namespace sdip
