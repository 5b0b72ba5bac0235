// What one tile operation costs its circuit and each SRAM port.
#include "core/cost/work/circuit.h"

#include <algorithm>
#include <numeric>

#include "core/cost/work/attention.h"
#include "core/cost/work/branches.h"
#include "core/cost/work/fold.h"
#include "core/cost/work/host.h"
#include "core/cost/work/in_memory.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"
#include "core/cost/work/split_macs.h"
#include "core/cost/work/strips.h"

namespace sdip {

using namespace cost;
namespace {

/// An operation's results, made in `times` folds of rows x channels. Turned ones go run by run, never faster than
/// they are made.
struct Results {
  Folds rows, channels;
  std::int64_t times, elements;
};

void write_results(const InstructionClass& c, const Widths& w, const Results& results, Busy& busy) {
  const auto beats_on = [&](std::int64_t port) {
    const std::int64_t made = results.times * folded_beats(results.rows, results.channels, w.result, port);
    if (c.turned_run == 0) return made;
    return std::max(made, folded_beats(fold(results.elements, c.turned_run), w.result, port));
  };
  if (c.to_dsram || c.to_dram) busy.dsram_write += beats_on(w.dsram);
  if (c.push) busy.stackram_write += beats_on(w.stackram);
}

/// Operands and results of one product of rows x channels, summed over `sum` folds; `kernel` repeats of the summed
/// channels (kernel positions, each folded apart).
void nest_ports(const InstructionClass& c, const Machine& m, const Widths& w, const TileCost& tile, bool whole_sums,
                const Results& results, const Folds& sum, std::int64_t kernel, Busy& busy) {
  const auto& [rows, channels, times, elements] = results;
  const std::int64_t a_port = port_bits(w, c.operand_a), b_port = port_bits(w, c.operand_b);
  const std::int64_t b_bits = c.operand_b == Place::psram ? w.weight : w.activation;
  const std::int64_t a_once = kernel * folded_beats(rows, sum, w.activation, a_port);  // each fold of A read once
  const std::int64_t b_once = kernel * folded_beats(channels, sum, b_bits, b_port);
  const bool a_held = m.dataflow == Dataflow::input_stationary, b_held = m.dataflow == Dataflow::weight_stationary;
  book_read(busy, c.operand_a, c.pair_a, times * a_once * (a_held ? 1 : channels.count()));
  book_read(busy, c.operand_b, c.pair_b, times * b_once * (b_held ? 1 : rows.count()));
  if (tile.last) write_results(c, w, results, busy);
  // Partial sums go to and from the result's memory for every summed fold but the last (write) and the first
  // (read); held in registers, only from one tile of sums to the next.
  const bool in_registers = m.dataflow == Dataflow::output_stationary;
  const std::int64_t rounds = in_registers ? 0 : kernel * sum.count() - 1;
  const std::int64_t written = rounds + !tile.last, read = rounds + !tile.first;
  if (written + read == 0) return;
  const bool only_pushed = whole_sums && c.push && !c.to_dsram && !c.to_dram;
  const std::int64_t once = times * folded_beats(rows, channels, w.accumulator, only_pushed ? w.stackram : w.dsram);
  (only_pushed ? busy.stackram_write : busy.dsram_write) += written * once;
  (only_pushed ? busy.stackram_read : busy.dsram_read) += read * once;
}

/// Operands of fused operators: fetched as results appear, or an equal part each operation when held.
void fused_fetches(const InstructionClass& c, const Widths& w, std::int64_t out_elements, std::int64_t operations,
                   Busy& busy) {
  for (const Fetch& f : c.fetches) {
    const std::int64_t elements = f.per_fold ? out_elements : ceil_div(f.elements, operations);
    const std::int64_t bits = f.place == Place::psram ? w.weight : w.activation;
    book_read(busy, f.place, f.pair, beats(elements, bits, port_bits(w, f.place)));
  }
}

/// Elements of operand A that pass through the prologue in one tile operation, in each of its passes: the window as
/// it is inside an input without edges.
std::int64_t prologue_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile) {
  if (!plan.nest || c.prologue_passes == 0) return 0;
  const LoopNest& nest = c.work.nest;
  const std::int64_t positions =
      held_window(rows_of(nest), tile.rows) * held_window(columns_of(nest), tile.columns);
  return tile_a_elements(c, plan, tile.channels, tile.sums, positions);
}

/// Work beside the main one: operand A as it is read, fused operators and sums over the results. Each has its
/// circuit; on shared units all take turns at the vector lanes, the main work too unless it is on the MACs.
void beside(const InstructionClass& c, const Machine& m, const TilePlan& plan, const TileExtent& tile,
            std::int64_t results, Busy& busy) {
  if (c.prologue_passes + c.fused_operators + c.fused_passes + c.statistics_passes == 0) return;
  const std::int64_t norm_lanes = row_lanes(Family::norm, m), fused = ceil_div(results, m.vector_lanes);
  const std::int64_t before = c.prologue_passes * ceil_div(prologue_elements(c, plan, tile), norm_lanes);
  const std::int64_t sums = c.statistics_passes * ceil_div(results, norm_lanes);
  if (!shares_units(m)) {
    busy.compute = std::max({busy.compute, before, c.fused_passes * fused, sums});
    return;
  }
  const std::int64_t in_turn = before + c.fused_operators * fused + sums;
  busy.compute = plan.nest ? std::max(busy.compute, in_turn) : busy.compute + in_turn;
}

/// What each result of a tile of `channels` input channels sums over. Skipping gathers only non-zeros: one
/// compacted dimension, by groups those that stay of each at each kernel position.
struct Sum {
  std::int64_t kernel, channels;
};
Sum sum_of(const InstructionClass& c, const Machine& m, std::int64_t channels) {
  const LoopNest& nest = c.work.nest;
  const std::int64_t kernel = nest.kernel_h * nest.kernel_w;
  if (c.operand_b != Place::psram || m.sparsity != Sparsity::skipping) return {kernel, channels};
  if (m.sparsity_group == 0) return {1, ceil_div(channels * kernel * m.weight_density.hundredths, 100)};
  return {1, kernel * kept_in_groups(channels, m.sparsity_group, m.weight_density.hundredths)};
}

/// How a tile's products fold: on the lanes of an array; or in a memory, which takes a row with all sums and
/// channels at once.
struct Folding {
  Sum sum;
  ArrayLanes lanes;
  std::int64_t cycles;  // of each fold
};
Folding folding_of(const InstructionClass& c, const Machine& m, bool in_memory, const TileExtent& tile) {
  if (!in_memory) return {sum_of(c, m, tile.sums), array_lanes(c.work.family, m), c.work.element_cycles};
  const std::int64_t all = c.work.nest.kernel_h * c.work.nest.kernel_w * tile.sums;
  return {{1, all}, {1, tile.channels, all}, memory_row_cycles(c, m)};
}

void add_nest(const InstructionClass& c, const Machine& m, const TilePlan& plan, bool in_memory, TileCost& tile) {
  const LoopNest& nest = c.work.nest;
  const Widths w = widths_of(c, m);
  const auto [sum, lanes, cycles] = folding_of(c, m, in_memory, tile.size);
  const bool weighted = c.operand_b == Place::psram;
  const auto [rows, columns, channels, sums] = tile.size;
  // A batch lengthens the rows of a weighted product; heads and batches of activation products stay apart.
  const Folds row_folds = fold(rows * columns * (weighted ? plan.multiplicity : 1), lanes.rows);
  const std::int64_t groups = channels <= nest.out_channels ? 1 : ceil_div(channels, nest.out_channels);
  const std::int64_t products = weighted ? groups : plan.multiplicity;
  const Folds channel_folds = fold(std::min(channels, nest.out_channels), lanes.channels);
  const Folds sum_folds = fold(sum.channels, lanes.sum);
  Busy& busy = tile.busy;
  const std::int64_t folds = products * row_folds.count() * channel_folds.count() * sum.kernel * sum_folds.count();
  busy.compute =
      in_memory ? at_most(static_cast<Int128>(folds) * cycles, most_cycles / tile.times) : folds * cycles;
  const std::int64_t results = tile.last ? tile_out_elements(plan, tile.size) : 0;
  nest_ports(c, m, w, tile, plan.sums.count() == 1, {row_folds, channel_folds, products, results}, sum_folds,
             sum.kernel, busy);
  if (tile.last) fused_fetches(c, w, results, plan.result_tiles(), busy);
  beside(c, m, plan, tile.size, results, busy);
}

/// Folds of one pass over rows x length: short rows share a fold, long ones take several.
struct RowFolds {
  Folds folds;         // of one row, or of all rows packed
  std::int64_t times;  // rows, when each folds apart
  std::int64_t count() const { return times * folds.count(); }
};
RowFolds fold_rows(std::int64_t rows, std::int64_t length, std::int64_t lanes) {
  if (length >= lanes) return {fold(length, lanes), rows};
  return {fold(rows * length, lanes / length * length), 1};
}

void add_rows(const InstructionClass& c, const Machine& m, const TilePlan& plan, TileCost& tile) {
  const Widths w = widths_of(c, m);
  const std::int64_t rows = tile.size.rows, length = tile.size.channels;
  const RowFolds folds = fold_rows(rows, length, row_lanes(c.work.family, m));
  Busy& busy = tile.busy;
  busy.compute = passes_of(c, plan) * folds.count() * c.work.element_cycles;
  for (const Fetch& f : c.fetches) {
    const std::int64_t bits = f.place == Place::psram ? w.weight : w.activation;
    const std::int64_t reads = reads_of(f, plan, tile.last);
    const std::int64_t port = port_bits(w, f.place);
    if (f.per_fold)
      book_read(busy, f.place, f.pair, reads * folds.times * folded_beats(folds.folds, bits, port));
    else if (reads > 0)
      book_read(busy, f.place, f.pair, beats(ceil_div(f.elements, plan.result_tiles()), bits, port));
  }
  if (!tile.last) return;
  const std::int64_t results = row_results(c, rows, length);
  const Folds result_folds = fold(results, row_lanes(c.work.family, m));
  beside(c, m, plan, tile.size, results, busy);
  write_results(c, w, {result_folds, {1, 1, 0}, 1, results}, busy);
}

/// What a tile moves through DRAM, and the PSRAM that its weights take.
void add_bytes(const InstructionClass& c, const Machine& m, const TilePlan& plan, const WeightForm& form,
               TileCost& tile) {
  const std::int64_t bits = bits_of(m.activation_format);
  if (c.operand_b == Place::dram) tile.b_bytes = bytes_of(tile_b_elements(c, plan, tile.size), bits);
  if (c.operand_b == Place::psram) {
    tile.weight_bytes = weight_tile_bytes(c, tile.size.channels, tile.size.sums, tile.first, form);
    tile.weight_stored_bytes = stored_bytes(tile.weight_bytes, form);
  }
  const std::int64_t results =
      plan.nest ? tile_out_elements(plan, tile.size) : ceil_div(c.out_elements, plan.result_tiles());
  if (c.to_dram && tile.last) tile.out_bytes = bytes_of(results, widths_of(c, m).result);
  if (partials_leave(c, plan)) {
    const std::int64_t partials = bytes_of(results, bits_of(m.accumulator_format));
    if (!tile.first) tile.partial_in_bytes = partials;
    if (!tile.last) tile.out_bytes = partials;
  }
  if (plan.nest && !tile.last) return;
  for (const Fetch& f : c.fetches)
    if (f.place == Place::dram && reads_of(f, plan, tile.last) > 0)
      tile.split_in_bytes += bytes_of(ceil_div(f.elements, plan.result_tiles()), bits);
}

/// Of one DSRAM for all operators.
void clear(Busy& busy) {
  busy.compute = busy.dsram_read = busy.dsram_write = 0;
  busy.stackram_read = busy.stackram_write = busy.psram_read = busy.psram_stack = busy.psram_stacks = 0;
}

/// What a tile needs of its circuit, or of the host, and of each port.
void find_needs(const InstructionClass& c, const Machine& m, const TilePlan& plan, WeightPlace weights,
                TileCost& tile) {
  const bool wired = weights != WeightPlace::psram;
  if (on_host(c, m)) {
    const Steps steps = host_steps(c, m, plan, tile.size.rows, tile.size.channels, tile.last, wired, tile.times);
    tile.busy = steps.busy;
    tile.cycles = steps.cycles;
  } else {
    clear(tile.busy);
    if (plan.nest)
      add_nest(c, m, plan, multiplies_in_memory(c, weights), tile);
    else
      add_rows(c, m, plan, tile);
    merge_ports(m, wired, tile.times, tile.busy);
    tile.cycles = tile.busy.longest();
  }
  if (shares_units(m)) tile.micro_operations = micro_operations(c, m, plan, tile.first, tile.last, wired);
}

/// Operands in the instruction's own pair say no other.
InstructionClass own_pair_unsaid(InstructionClass c) {
  const Family own = c.work.family;
  const auto leave = [own](DsramPair& pair) {
    if (pair == own) pair.reset();
  };
  leave(c.pair_a);
  leave(c.pair_b);
  for (Fetch& fetch : c.fetches) leave(fetch.pair);
  for (Part& part : c.parts) {
    leave(part.pair_b);
    for (Fetch& fetch : part.fetches) leave(fetch.pair);
  }
  return c;
}

}  // namespace

std::int64_t OtherPairs::sum() const { return std::accumulate(beats.begin(), beats.end(), std::int64_t{0}); }
std::int64_t OtherPairs::longest() const { return *std::ranges::max_element(beats); }

Busy& Busy::add(const Busy& other, std::int64_t times) {
  compute += other.compute * times;
  dsram_read += other.dsram_read * times;
  dsram_write += other.dsram_write * times;
  stackram_read += other.stackram_read * times;
  stackram_write += other.stackram_write * times;
  psram_read += other.psram_read * times;
  psram_stack += other.psram_stack * times;
  psram_stacks += other.psram_stacks * times;
  if (!other.other_pairs.any) return *this;
  for (std::size_t pair = 0; pair < pair_families; ++pair)
    other_pairs.add(pair, other.other_pairs.beats[pair] * times);
  return *this;
}

std::int64_t Busy::longest() const {
  return std::max({compute, longest_dsram_read(), dsram_write, stackram_read, stackram_write, psram_read});
}

std::int64_t mac_cycles(const ClassCost& cost) { return ceil_div(cost.spent_macs, cost.products_in_mac); }

bool moves_activations(const ClassCost& cost) {
  const auto moves = [](const TileCost& tile) {
    return tile.b_bytes + tile.split_in_bytes + tile.partial_in_bytes + tile.out_bytes > 0;
  };
  return std::ranges::any_of(cost.windows, [](const WindowBytes& window) { return window.all > 0; }) ||
         std::ranges::any_of(cost.shapes, moves);
}

ArrayLanes array_lanes(Family family, const Machine& m) {
  if (family == Family::conv2d || shares_macs(m)) return {m.conv_lanes_pixel, m.conv_lanes_out, m.conv_lanes_in};
  if (family == Family::linear) return {m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k};
  return {m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k};
}

Family product_family(const InstructionClass& c) {
  return c.compound == Compound::strips ? Family::conv2d : c.work.family;
}

std::int64_t mac_lanes(const Machine& m) {
  std::int64_t lanes = 0;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    if (family != Family::conv2d && shares_macs(m)) continue;
    const ArrayLanes array = array_lanes(family, m);
    lanes += array.rows * array.channels * array.sum;
  }
  return lanes;
}

std::int64_t row_lanes(Family family, const Machine& m) {
  if (shares_units(m)) return m.vector_lanes;
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

namespace {

/// Tiles and their bytes, of a class that is no compound.
ClassCost tiles_of(const InstructionClass& c, const Machine& m, WeightPlace weights) {
  ClassCost cost;
  cost.plan = tile_plan(c);
  cost.weighted = c.operand_b == Place::psram;
  const WeightForm form = weight_form(m);
  const std::int64_t bits = bits_of(m.activation_format);
  Expansion expansion = expand(c, cost.plan);
  for (const TileShape& shape : expansion.shapes) {
    TileCost& tile = cost.shapes.emplace_back();
    tile.size = shape.size;
    tile.first = shape.first;
    tile.last = shape.last;
    tile.times = shape.times;
    cost.operations += tile.times;
    add_bytes(c, m, cost.plan, form, tile);
  }
  for (const InputWindow& window : expansion.windows)
    cost.windows.push_back({bytes_of(window.all, bits), bytes_of(window.fresh, bits)});
  cost.streams_activations = moves_activations(cost);
  cost.order = std::move(expansion.order);
  cost.held_weight_bytes = held_weight_bytes(c, form);
  cost.held_weight_stored_bytes = cost.held_weight_bytes;
  cost.macs = cost.plan.nest ? mac_count(c.work.nest) : 0;
  if (cost.plan.nest && !multiplies_in_memory(c, weights)) {
    const LoopNest& nest = c.work.nest;
    const Sum sum = sum_of(c, m, nest.in_channels);
    cost.spent_macs =
        nest.groups * nest.batch * nest.out_channels * nest.out_h * nest.out_w * sum.kernel * sum.channels;
  }
  return cost;
}

/// What those tiles need of a machine's circuits and ports, whatever they needed of another's.
void find_needs(const InstructionClass& c, const Machine& m, Role role, ClassCost& cost) {
  const WeightPlace weights = weight_place(m, role);
  const bool in_memory = multiplies_in_memory(c, weights);
  cost.on_host = on_host(c, m);
  clear(cost.busy);
  cost.cycles = cost.lane_operations = 0;
  cost.memory_cycles = in_memory ? memory_cycles(c, m) : 0;
  cost.conversions = 0;
  for (TileCost& tile : cost.shapes) {
    find_needs(c, m, cost.plan, weights, tile);
    if (in_memory)
      cost.conversions += static_cast<double>(tile.times) *
                          memory_conversions(c, m, tile.size.rows * tile.size.columns * cost.plan.multiplicity,
                                             tile.size.channels, tile.size.sums);
    cost.lane_operations += tile.times * c.prologue_passes * prologue_elements(c, cost.plan, tile.size);
    add_operation(tile, cost);
  }
  if (cost.on_host) return;  // its elements pass through no lane
  cost.lane_operations +=
      (cost.plan.nest ? 0 : c.work.passes * c.work.rows * c.work.row_length * c.work.element_cycles) +
      (c.fused_operators + c.statistics_passes) * c.out_elements;
}

ClassCost cost_in_formats_of(const Machine& m, const InstructionClass& c, Role role) {
  if (!has_pairs(m)) return step_cost(c, m, role);
  const InstructionClass unsaid = own_pair_unsaid(c);
  ClassCost cost = step_cost(unsaid, m, role);
  cost.circuit = circuit_of(c, m);
  cost.owned = owned_by(c, cost.busy, m);
  return cost;
}

/// Products that a MAC makes a cycle; of those made in a memory none splits.
std::int64_t in_macs(const ClassCost& cost, const InstructionClass& c, const Machine& m) {
  return made_in_memory(cost) ? 1 : products_in_mac(c, m);
}

/// Whether a class finds another machine than the one that is.
bool finds_another(const InstructionClass& c, const Machine& m) {
  return c.formats.has_value() || m.composable_macs == ComposableMacs::on;
}

}  // namespace

bool stack_in_psram(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::writable_psram; }

Machine in_lockstep(Machine m, std::int64_t cores) {
  m.cores = cores;
  return m;
}

ClassCost class_cost(const InstructionClass& c, const Machine& m, Role role) {
  if (!finds_another(c, m)) return cost_in_formats_of(m, c, role);
  ClassCost cost = cost_in_formats_of(machine_found(c, m), c, role);
  cost.products_in_mac = in_macs(cost, c, m);
  return cost;
}

void cost_anew(const InstructionClass& c, const Machine& m, Role role, ClassCost& cost) {
  if (c.compound != Compound::single || c.spread_cores > 1 || has_pairs(m)) {
    cost = class_cost(c, m, role);
    return;
  }
  if (finds_another(c, m))
    find_needs(c, machine_found(c, m), role, cost);
  else
    find_needs(c, m, role, cost);
  cost.products_in_mac = in_macs(cost, c, m);
}

ClassCost step_cost(const InstructionClass& c, const Machine& m, Role role) {
  if (c.compound == Compound::strips) return strips_cost(c, m, role);
  if (c.spread_cores > 1) return spread_cost(c, m, role);
  if (c.compound == Compound::attention) return attention_cost(c, m, role);
  ClassCost cost = tiles_of(c, m, weight_place(m, role));
  find_needs(c, m, role, cost);
  return cost;
}

}  // namespace sdip
