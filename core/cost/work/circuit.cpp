// The cost of one tile operation, in its circuit and at each SRAM port.
#include "core/cost/work/circuit.h"

#include <algorithm>

#include "core/cost/work/attention.h"
#include "core/cost/work/branches.h"
#include "core/cost/work/formulas.h"
#include "core/cost/work/host.h"
#include "core/cost/work/in_memory.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"
#include "core/cost/work/split_macs.h"
#include "core/cost/work/strips.h"

namespace sdip {

using namespace cost;
namespace {

/// Adds the bytes that a tile moves through DRAM, and the PSRAM that its weights take.
void add_bytes(const InstructionClass& c, const Resolved& r, const TilePlan& plan, TileCost& tile) {
  const std::int64_t bits = r.activation_bits;
  if (c.operand_b == Place::dram) tile.b_bytes = bytes_of(tile_b_elements(c, plan, tile.size), bits);
  if (c.operand_b == Place::psram) {
    tile.weight_bytes = weight_tile_bytes(c, tile.size.channels, tile.size.sums, tile.first, r.form);
    tile.weight_stored_bytes = stored_bytes(tile.weight_bytes, r.form);
  }
  const std::int64_t results =
      plan.nest ? tile_out_elements(plan, tile.size) : ceil_div(c.out_elements, plan.result_tiles());
  if (c.to_dram && tile.last) tile.out_bytes = bytes_of(results, r.result_bits(c));
  if (partials_leave(c, plan)) {
    const std::int64_t partials = bytes_of(results, r.accumulator_bits);
    if (!tile.first) tile.partial_in_bytes = partials;
    if (!tile.last) tile.out_bytes = partials;
  }
  if (plan.nest && !tile.last) return;
  for (const Fetch& f : c.fetches)
    if (f.place == Place::dram && reads_of(f, plan, tile.last) > 0)
      tile.split_in_bytes += bytes_of(ceil_div(f.elements, plan.result_tiles()), bits);
}

/// Finds the cycles that a tile needs of its circuit, or of the host, and the beats of each port.
void find_needs(const InstructionClass& c, const Resolved& r, const TilePlan& plan, TileCost& tile) {
  const TileShape shape{tile.size, tile.first, tile.last, tile.times};
  if (on_host(c, r.host_operators)) {
    Steps steps;
    for (Busy& step : host_formulas<std::int64_t>(c, r, plan, shape)) {
      merge_ports(r, tile.times, step);
      steps.add_step(step);
    }
    tile.busy = steps.busy;
    tile.cycles = steps.cycles;
  } else {
    tile.busy.clear();
    OperationFormulas<std::int64_t>(c, r, plan, shape, tile.busy).add();
    merge_ports(r, tile.times, tile.busy);
    tile.cycles = tile.busy.longest();
  }
  tile.micro_operations = r.shares_units ? micro_operations(c, r, plan, tile.first, tile.last) : 1;
}

}  // namespace

SummedOver summed_over(const InstructionClass& c, const WeightForm& form, std::int64_t channels) {
  const LoopNest& nest = c.work.nest;
  if (c.operand_b != Place::psram || !form.skipping) return {nest.kernel_h, nest.kernel_w, channels};
  const std::int64_t kernel = nest.kernel_h * nest.kernel_w, density = form.density_hundredths;
  if (form.group == 0) return {1, 1, ceil_div(channels * kernel * density, 100)};
  return {1, 1, kernel * kept_in_groups(channels, form.group, density)};
}

std::int64_t prologue_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile) {
  if (!plan.nest || c.prologue_passes == 0) return 0;
  const LoopNest& nest = c.work.nest;
  const std::int64_t positions =
      held_window(rows_of(nest), tile.rows) * held_window(columns_of(nest), tile.columns);
  return tile_a_elements(c, plan, tile.channels, tile.sums, positions);
}

std::int64_t mac_cycles(const ClassCost& cost) { return ceil_div(cost.spent_macs, cost.products_in_mac); }

bool moves_activations(const ClassCost& cost) {
  const auto moves = [](const TileCost& tile) {
    return tile.b_bytes + tile.split_in_bytes + tile.partial_in_bytes + tile.out_bytes > 0;
  };
  return std::ranges::any_of(cost.windows, [](const WindowBytes& window) { return window.all > 0; }) ||
         std::ranges::any_of(cost.shapes, moves);
}

std::size_t kind_of(const ClassCost& cost, std::int32_t shape, std::int32_t window, const TileStep& step) {
  const auto kind =
      std::ranges::find_if(cost.kinds, [&](const OperationKind& k) { return k.is(shape, window, step); });
  return as_size(kind - cost.kinds.begin());
}

namespace {

/// Tiles and their bytes, of a class that is no compound.
ClassCost tiles_of(const InstructionClass& c, const Resolved& r) {
  ClassCost cost;
  cost.plan = tile_plan(c);
  cost.weighted = c.operand_b == Place::psram;
  Expansion expansion = expand(c, cost.plan);
  for (const TileShape& shape : expansion.shapes) {
    TileCost& tile = cost.shapes.emplace_back();
    tile.size = shape.size;
    tile.first = shape.first;
    tile.last = shape.last;
    tile.times = shape.times;
    cost.operations += tile.times;
    add_bytes(c, r, cost.plan, tile);
  }
  for (const InputWindow& window : expansion.windows)
    cost.windows.push_back({bytes_of(window.all, r.activation_bits), bytes_of(window.fresh, r.activation_bits)});
  cost.streams_activations = moves_activations(cost);
  cost.order = std::move(expansion.order);
  cost.held_weight_bytes = held_weight_bytes(c, r.form);
  cost.held_weight_stored_bytes = cost.held_weight_bytes;
  cost.macs = cost.plan.nest ? mac_count(c.work.nest) : 0;
  if (cost.plan.nest && !multiplies_in_memory(c, r.weights)) {
    const LoopNest& nest = c.work.nest;
    const SummedOver sum = summed_over(c, r.form, nest.in_channels);
    cost.spent_macs = nest.groups * nest.batch * nest.out_channels * nest.out_h * nest.out_w * sum.kernel_h *
                      sum.kernel_w * sum.channels;
  }
  return cost;
}

/// Finds anew, for another machine, what all tiles of a class need of circuits and ports.
void find_needs(const InstructionClass& c, const Resolved& r, ClassCost& cost) {
  const bool in_memory = multiplies_in_memory(c, r.weights);
  cost.on_host = on_host(c, r.host_operators);
  cost.busy.clear();
  cost.cycles = cost.lane_operations = cost.scalings = 0;
  cost.memory_cycles = in_memory ? memory_cycles(c, r) : 0;
  cost.conversions = 0;
  for (TileCost& tile : cost.shapes) {
    find_needs(c, r, cost.plan, tile);
    if (in_memory)
      cost.conversions += static_cast<double>(tile.times) *
                          memory_conversions(c, r, tile.size.rows * tile.size.columns * cost.plan.multiplicity,
                                             tile.size.channels, tile.size.sums);
    if (cost.plan.nest)
      cost.scalings += tile.times * scalings_of(c, r, tile_out_elements(cost.plan, tile.size), tile.size.sums);
    cost.lane_operations += tile.times * c.prologue_passes * prologue_elements(c, cost.plan, tile.size);
    add_operation(tile, cost);
  }
  if (cost.on_host) return;  // its elements pass through no lane
  cost.lane_operations +=
      (cost.plan.nest ? 0 : c.work.passes * c.work.rows * c.work.row_length * c.work.element_cycles) +
      (c.fused_operators + c.statistics_passes) * c.out_elements;
}

/// Cycles that weights take over all links between dies before an instruction that reads them starts.
std::int64_t between_dies(const Machine& m, const ClassCost& cost) {
  return cost.busy.weight_beats() > 0 ? (m.dies - 1) * m.die_link_cycles : 0;
}

/// Which transfers go with which operations, by walking the loops.
void find_kinds(ClassCost& cost) {
  cost.kinds.clear();
  walk_operations(cost.order, [&](std::int32_t shape, std::int32_t window, TileStep step, std::int64_t times) {
    const std::size_t known = kind_of(cost, shape, window, step);
    if (known == cost.kinds.size())
      cost.kinds.push_back({shape, step.a ? window : 0, step.a, step.a && step.fresh, step.b, 0, 0});
    cost.kinds[known].times += times;
  });
}

bool exchanges(const ClassCost& cost) {
  return moves_activations(cost) ||
         std::ranges::any_of(cost.shapes, [](const TileCost& tile) { return tile.weight_bytes > 0; });
}

/// Transfers take beats of the ports that operations use: each lasts as long as both take on the port that is
/// longest in use.
void find_durations(const InstructionClass& c, const Resolved& r, ClassCost& cost) {
  cost.dma = {};
  if (cost.kinds.empty()) return;
  cost.cycles = 0;
  for (OperationKind& kind : cost.kinds) {
    const TileCost& tile = cost.shapes[at(kind.shape)];
    kind.cycles = tile.cycles;
    if (r.machine.dma_port == DmaPort::shared) {
      const auto dma = dma_beats<std::int64_t>(c, r, cost, kind);
      for (std::size_t need = 0; need < core_resources; ++need) {
        kind.cycles = std::max(kind.cycles, tile.busy.needs[need] + dma[need]);
        cost.dma[need] += dma[need] * kind.times;
      }
    }
    cost.cycles = at_most(cost.cycles + static_cast<Int128>(kind.cycles) * kind.times, most_cycles);
  }
}

/// Products that a MAC makes a cycle; of those made in a memory none splits.
std::int64_t products_in_mac(const ClassCost& cost, const Resolved& r) {
  return made_in_memory(cost) ? 1 : r.products_in_mac;
}

}  // namespace

ClassCost class_cost(const InstructionClass& c, const Resolved& r) {
  ClassCost cost = step_cost(c, r);
  if (has_pairs(r.machine)) {
    cost.circuit = circuit_of(c, r.machine);
    cost.owned = owned_by(c, cost.busy, r.machine);
  }
  cost.products_in_mac = products_in_mac(cost, r);
  if (exchanges(cost)) find_kinds(cost);
  find_durations(c, r, cost);
  cost.link_in_cycles += between_dies(r.machine, cost);
  return cost;
}

void cost_anew(const InstructionClass& c, const Resolved& r, ClassCost& cost) {
  if (c.compound != Compound::single || c.spread_cores > 1 || has_pairs(r.machine)) {
    cost = class_cost(c, r);
    return;
  }
  find_needs(c, r, cost);
  cost.products_in_mac = products_in_mac(cost, r);
  find_durations(c, r, cost);
  cost.link_in_cycles = between_dies(r.machine, cost);
}

ClassCost step_cost(const InstructionClass& c, const Resolved& r) {
  if (c.compound == Compound::strips) return strips_cost(c, r);
  if (c.spread_cores > 1) return spread_cost(c, r);
  if (c.compound == Compound::attention) return attention_cost(c, r);
  ClassCost cost = tiles_of(c, r);
  find_needs(c, r, cost);
  return cost;
}

}  // namespace sdip
