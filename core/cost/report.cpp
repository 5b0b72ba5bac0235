// What a report adds to its outcome: stages, instructions, latency by stage, notes.
#include <algorithm>

#include "core/cost/area.h"
#include "core/cost/stage.h"

namespace sdip {
namespace {

InstructionCost instruction_cost(const StageRun& run, std::size_t number, const InstructionTime& time,
                                 const Machine& m) {
  const Instruction& instruction = run.stage->program.instructions[number];
  const ClassCost& cost = run.costs[static_cast<std::size_t>(instruction.instruction_class)];
  const InstructionClass& its = run.stage->program.classes[static_cast<std::size_t>(instruction.instruction_class)];
  const EnergyPrices prices = energy_prices(its.formats ? machine_for(its, m) : m, run.stage->role);
  const auto of_one_core = [&](std::int64_t bytes) { return bytes / run.schedule.active_cores; };
  InstructionCost c;
  c.start = Cycles(time.start);
  c.end = Cycles(time.end);
  c.busy = {Cycles(cost.busy.compute),
            Cycles(cost.busy.longest_dsram_read()),
            Cycles(cost.busy.dsram_write),
            Cycles(cost.busy.stackram_read),
            Cycles(cost.busy.stackram_write),
            Cycles(cost.busy.psram_read),
            Cycles(time.overhead),
            Cycles(time.stall_weights),
            Cycles(time.stall_activations),
            Cycles(time.stall_program)};
  const auto longest = std::max_element(c.busy.begin(), c.busy.end());
  c.limiter = static_cast<Resource>(longest - c.busy.begin());
  c.stall_weights = Cycles(time.stall_weights);
  c.stall_activations = Cycles(time.stall_activations);
  c.stall_program = Cycles(time.stall_program);
  c.waiting = Cycles(time.waiting);
  c.dram_weights = Bytes(time.weight_bytes);
  c.dram_program = Bytes(time.program_bytes);
  c.dram_activations_in = Bytes(of_one_core(time.activation_in_bytes));
  c.dram_activations_out = Bytes(of_one_core(time.activation_out_bytes));
  c.dsram_read_side = instruction.dsram_read_side;
  c.dsram_write_side = instruction.dsram_write_side;
  c.stackram = instruction.stackram;
  c.psram = Bytes(time.psram_bytes);
  c.macs = Macs(cost.macs * cost.cores);
  Energy energy = core_energy(cost, prices) * static_cast<double>(cost.cores);
  energy += shared_energy(cost.busy.psram_read, time.weight_bytes, time.weight_psram_bytes, prices);
  energy += program_energy(time.program_bytes, prices);
  energy += spill_energy(of_one_core(time.activation_in_bytes + time.activation_out_bytes), prices);
  c.energy_j = energy.total();
  return c;
}

StageReport stage_report(const StageRun& run, const std::vector<InstructionTime>& trace, const Machine& m) {
  const Program& program = run.stage->program;
  const PassCost& steady = run.steady();
  StageReport r;
  r.name = run.stage->name;
  r.role = run.stage->role;
  r.cold_cycles = Cycles(run.stream.passes[0].cycles);
  r.steady_cycles = Cycles(steady.cycles);
  r.bound_cycles = Cycles(run.bound_cycles);
  r.bound_dram_bytes = Bytes(bound_dram_bytes(run, m));
  r.stall_weights = Cycles(steady.stall_weights);
  r.stall_activations = Cycles(steady.stall_activations);
  r.stall_program = Cycles(steady.stall_program);
  r.running = Cycles(run.stream.running);
  r.waiting = Cycles(run.stream.waiting);
  r.dram_weights = Bytes(steady.weight_bytes);
  r.dram_program = Bytes(steady.program_bytes);
  r.dram_activations = Bytes(steady.activation_in_bytes + steady.activation_out_bytes);
  r.weight_bytes = program.stored_weight_bytes;
  r.imem_bytes = Bytes(program_size(*run.stage, m).bytes);
  r.psram_peak = Bytes(run.stream.psram_peak_bytes);
  r.macs = Macs(run.macs);
  r.passes_per_frame = run.stage->role == Role::core ? m.steps : 1;
  r.energy_j = (run.core.total() + run.shared.total());
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    r.dsram_peak = std::max({r.dsram_peak, instruction.dsram_read_side, instruction.dsram_write_side});
    r.stackram_peak = std::max(r.stackram_peak, instruction.stackram);
    r.instructions.push_back(instruction_cost(run, i, trace[i], m));
  }
  return r;
}

void add_latency(const StageRun& run, const Machine& m, Breakdown& latency) {
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const bool core = run.stage->role == Role::core;
  const std::int64_t cycles = core ? run.alone.total(m.steps) : run.alone.passes[0].cycles;
  if (!on_chip(run.stage->role, m)) return;
  latency.emplace_back(run.stage->name, (Cycles(cycles) / clock).value);
  const std::int64_t links = core ? run.schedule.active_cores : run.stage->part.count > 1;
  if (links > 0) latency.emplace_back("link", (Cycles(links * run.link_cycles) / clock).value);
}

std::vector<std::string> notes_of(const std::vector<StageRun>& runs, const Machine& m) {
  std::vector<std::string> notes{
      "Energy is dynamic only: no leakage, clock tree, wires or control. Area is MACs and SRAM only.",
      "Energy and area constants marked assumption or unverified in docs/model.md carry a range of up to 2 times."};
  if (m.vae_stage == VaeStage::off_chip)
    notes.emplace_back("VAE stages are off chip: their time, energy and area are not included.");
  if (m.technology_node == TechnologyNode::n7 && m.core_clock_mhz > 2000)
    notes.emplace_back(
        "core_clock_mhz above 2000 at 7 nm is outside the model's validity: depth and clock are not yet tied.");
  if (m.host_operators != HostOperators::no_operators)
    notes.emplace_back(
        "Operators on the host: its energy, area and memory are outside the model's validity and not included; its "
        "speed is host_cycles_per_element, whatever the operator.");
  for (const StageRun& run : runs) {
    const SeriesPart part = run.stage->part;
    const bool network = run.stage->role == Role::network, parallel = m.branches == Branches::parallel;
    if (part.count > 1 && part.first())
      notes.push_back(run.stage->name + " to " + std::to_string(part.count) +
                      ": parts of one network in series, one a core, each with its own weights and PSRAM and a "
                      "fixed share of the DRAM channel.");
    if (!network && m.core_weights == CoreWeights::per_core)
      notes.push_back(run.stage->name + ": core_weights=per_core is for networks; its weights stay common.");
    if (network && !parallel && part.count == 1)
      notes.push_back(run.stage->name +
                      " runs as one network: a frame is one pass, on each of the cores another frame.");
    if (network && parallel)
      notes.push_back(run.stage->name + " runs as one network: a frame is one pass, its attention heads on up to " +
                      std::to_string(run.schedule.spread_cores) + " cores.");
    if (parallel && !network && run.stage->role != Role::text_encoder)
      notes.push_back(run.stage->name +
                      ": branches=parallel changes nothing where each core has a frame of its own.");
  }
  for (const StageRun& run : runs)
    if (!run.stream.repeats)
      notes.push_back(run.stage->name + ": no steady state within " + std::to_string(most_simulated_passes) +
                      " passes; the last pass stands for it.");
  return notes;
}

}  // namespace

void fill_report(const Application& application, const Machine& machine, const std::vector<StageRun>& runs,
                 const std::vector<std::vector<InstructionTime>>& traces, Report& report) {
  std::int64_t loaded = 0;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    report.stages.push_back(stage_report(runs[s], traces[s], machine));
    add_latency(runs[s], machine, report.latency_s);
    loaded += report.stages.back().imem_bytes.value;
    if (!hard_coded(machine, runs[s].stage->role)) loaded += report.stages.back().weight_bytes.value;
  }
  report.area_mm2 = area_of(application, machine);
  report.load_cycles = dram_rate(machine, Decimal{100}).time_for(Bytes(loaded));
  report.notes = notes_of(runs, machine);
}

}  // namespace sdip
