// A report beyond its outcome: stages, instructions, latency by stage, notes.
#include <algorithm>
#include <cmath>

#include "core/cost/explain/explain_layer.h"
#include "core/cost/explain/load.h"
#include "core/cost/price/area.h"
#include "core/cost/price/dram_price.h"
#include "core/cost/price/frame.h"

namespace sdip {
namespace {

/// Cycles of the channel that an instruction's own transfers take, whenever they go; words apart.
struct StreamNeeds {
  std::int64_t weights{}, activations{};
};
std::vector<StreamNeeds> stream_needs(const StageRun& run, const TimelineRules& rules) {
  std::vector<StreamNeeds> needs;
  for (std::size_t c = 0; c < run.costs.size(); ++c) {
    StreamNeeds& its = needs.emplace_back();
    for (const Move& move : channel_moves(run.costs[c], run.stage->program.classes[c].pinned, rules).moves)
      (move.weights ? its.weights : its.activations) += channel_cycles<std::int64_t>({&move, 1}, rules);
  }
  return needs;
}

/// The resource that an explanation says it waits for; the channel by the stream that it waited for longest.
Resource limiting(const InstructionCost& c) {
  Needs needs{};
  std::size_t needed = 0;
  for (const Cycles cycles : c.busy) needs[std::min(needed++, needed_count - 1)] += cycles.value;
  const Cycles stalls[] = {c.stall_weights, c.stall_activations, c.stall_program};
  const Needed limiter = limiter_of(needs, (stalls[0] + stalls[1] + stalls[2]).value);
  if (limiter != Needed::dram_channel) return static_cast<Resource>(limiter);
  return static_cast<Resource>(at(Resource::weight_stream) + as_size(std::ranges::max_element(stalls) - stalls));
}

InstructionCost instruction_cost(const StageRun& run, std::size_t number, const InstructionTime& time,
                                 const StreamNeeds& streams, const TimelineRules& rules) {
  const Instruction& instruction = run.stage->program.instructions[number];
  const ClassCost& cost = run.costs[instruction.instruction_class];
  const std::int64_t active_cores = run.schedule.active_cores;
  InstructionCost c;
  c.start = Cycles(time.start);
  c.end = Cycles(time.end);
  std::ranges::transform(core_needs(cost), c.busy.begin(), [](std::int64_t cycles) { return Cycles(cycles); });
  c.busy[Resource::overhead] = Cycles(time.overhead);
  c.busy[Resource::weight_stream] = Cycles(streams.weights);
  c.busy[Resource::activation_stream] = Cycles(streams.activations);
  c.busy[Resource::program_stream] = rules.rate.time_for(Bytes(time.program_bytes));
  c.dma_read_beats = cost.dma[Resource::dsram_read];
  c.dma_write_beats = cost.dma[Resource::dsram_write];
  c.dma_psram_beats = cost.dma[Resource::psram_read];
  c.stall_weights = Cycles(time.stall_weights);
  c.stall_activations = Cycles(time.stall_activations);
  c.stall_program = Cycles(time.stall_program);
  c.limiter = limiting(c);
  c.waiting = Cycles(time.waiting);
  c.dram_weights = Bytes(time.weight_bytes);
  c.dram_program = Bytes(time.program_bytes);
  c.dram = Bytes(time.dram_bytes());
  c.dram_activations_in = Bytes(time.activation_in_bytes / active_cores);
  c.dram_activations_out = Bytes(time.activation_out_bytes / active_cores);
  c.all_activations_in = Bytes(time.activation_in_bytes);
  c.all_activations_out = Bytes(time.activation_out_bytes);
  c.dsram_read_side = instruction.dsram_read_side;
  c.dsram_write_side = instruction.dsram_write_side;
  c.stackram = instruction.stackram;
  c.psram = Bytes(time.psram_bytes);
  c.tile_operations = cost.operations;
  c.macs = Macs(cost.macs * cost.cores);
  c.lane_macs = Macs(cost.spent_macs * cost.cores);
  c.all_lane_macs = Macs(cost.spent_macs * cost.cores * active_cores);
  c.accumulator_writes = cost.busy.accumulator_writes;
  c.accumulator_reads = cost.busy.accumulator_reads;
  c.register_writes = cost.busy.register_writes;
  return c;
}

void add_instructions(const StageRun& run, const std::vector<InstructionTime>& trace, const Machine& m,
                      StageReport& r) {
  const TimelineRules rules = stage_rules(*run.stage, m, run.schedule.active_cores);
  const std::vector<StreamNeeds> streams = stream_needs(run, rules);
  r.instructions.reserve(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Instruction& instruction = run.stage->program.instructions[i];
    r.dsram_peak = std::max({r.dsram_peak, instruction.dsram_read_side, instruction.dsram_write_side});
    r.stackram_peak = std::max(r.stackram_peak, instruction.stackram);
    const auto of_class = at(instruction.instruction_class);
    r.instructions.push_back(instruction_cost(run, i, trace[i], streams[of_class], rules));
  }
}

/// `standing`: of the chip; the stage's core has `of_chip` of it.
StageReport stage_report(const StageRun& run, const std::vector<InstructionTime>& trace,
                         const StandingPower& standing, double of_chip, const Machine& m) {
  const Program& program = run.stage->program;
  const PassCost& steady = run.steady();
  StageReport r;
  r.name = run.stage->name;
  r.role = run.stage->role;
  r.parts = run.stage->part.count;
  r.dram_share = static_cast<double>(run.stage->dram_thousandths) / 1000;
  r.cold_cycles = Cycles(run.stream.passes[0].cycles);
  r.steady_cycles = Cycles(steady.cycles);
  r.bound_cycles = Cycles(run.work.bound_cycles);
  r.bound_dram_bytes = Bytes(bound_dram_bytes<std::int64_t>(*run.stage, run.schedule.active_cores, m));
  r.stall_weights = Cycles(steady.stall_weights);
  r.stall_activations = Cycles(steady.stall_activations);
  r.stall_program = Cycles(steady.stall_program);
  r.running = Cycles(run.stream.running_cycles);
  r.waiting = Cycles(run.stream.waiting_cycles);
  r.dram_weights = Bytes(steady.weight_bytes);
  r.dram_program = Bytes(steady.program_bytes);
  r.dram_turns = steady.turns;
  r.dram_activations = Bytes(steady.activation_in_bytes + steady.activation_out_bytes);
  r.weight_bytes = program.stored_weight_bytes;
  r.imem_bytes = Bytes(program_size(*run.stage, m).bytes);
  r.psram_peak = Bytes(run.stream.psram_peak_bytes);
  r.capacities = memory_capacities(*run.stage, m);
  r.macs = Macs(run.work.macs);
  r.products_in_mac = run.work.products_in_mac;
  r.spread_cores = run.work.spread_cores;
  r.active_cores = run.schedule.active_cores;
  r.rate = stage_rate(*run.stage, m);
  r.roofs = mac_roofs(run);
  r.passes_per_frame = passes_per_frame(r.role, m);
  Energy energy = run.energy.core;
  energy += run.energy.shared;
  energy += standing.over(static_cast<double>(steady.cycles), m) * of_chip;
  r.energy_j = energy.total();
  r.energy_parts = energy.joules;
  add_instructions(run, trace, m, r);
  return r;
}

void add_latency(const StageRun& run, const Machine& m, Breakdown& latency) {
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const bool core = run.stage->role == Role::core;
  const std::int64_t cycles = core ? run.alone.total(m.steps) : run.alone.passes[0].cycles;
  if (!on_chip(run.stage->role, m)) return;
  latency.emplace_back(run.stage->name, (Cycles(cycles) / clock).value);
  const std::int64_t links = core ? run.schedule.cores_of_frame : run.stage->part.count > 1;
  if (links > 0) latency.emplace_back("link", (Cycles(links * run.link_cycles) / clock).value);
}

ClockLimit clock_limit(const Application& application, const ApplicationTotals& totals, const Supply& supply,
                       const Machine& m) {
  const Widest widest = widest_formats(totals.formats, m);
  // Where the supply is free, the chip could have the most of the node.
  const Supply most = m.supply_mv > 0 ? supply : supplies(process_of(m)).back();
  const auto at = [&](Bound bound) { return clock_limit_at(slowest_circuit(application, widest, m, bound), most); };
  const std::string_view slowest = slowest_circuit(application, widest, m).name;
  return {at(Bound::most), at(Bound::value), at(Bound::least), std::string(slowest), supply.mv};
}

/// Leakage of a chip in W, by block; of an FPGA the whole part as one.
Breakdown leakage_of(const Breakdown& area, const Supply& supply, const Machine& m) {
  const Process process = process_of(m);
  if (is_fpga(m.technology_node)) return {{"part", leakage_watts(process, SquareMm(0), 0, supply)}};
  Breakdown watts;
  for (const auto& [block, mm2] : area) {
    const StandingArea its = standing_of(block, mm2, m, Bound::value);
    watts.emplace_back(block, leakage_watts(process, SquareMm(its.logic_mm2), its.sram_mib, supply));
  }
  return watts;
}

}  // namespace

void fill_report(const Application& application, const Machine& machine, const std::vector<StageRun>& runs,
                 const std::vector<std::vector<InstructionTime>>& traces, const ApplicationTotals& totals,
                 const ChipTotals& chip, const PricedFrame& priced, const Supply& supply, Report& report) {
  report.leakage_w = leakage_of(area_of(chip, priced.dram, priced.links, machine), supply, machine);
  report.dram_edge_mm = priced.dram.edge_mm;
  report.clock_limit = clock_limit(application, totals, supply, machine);
  const double cores = leaking_cores(application, machine);
  for (std::size_t s = 0; s < runs.size(); ++s) {
    report.stages.push_back(
        stage_report(runs[s], traces[s], priced.standing, leaking_cores(*runs[s].stage, machine) / cores, machine));
    add_latency(runs[s], machine, report.latency_s);
  }
  report.load = load_of(application, machine);
}

}  // namespace sdip
