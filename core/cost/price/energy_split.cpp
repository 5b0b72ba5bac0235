// A frame's energy by instruction, and what of it no instruction has.
#include "core/cost/price/energy_split.h"

#include <algorithm>

#include "core/cost/price/area.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

const ClassCost& cost_of(const StageRun& run, std::size_t number) {
  return run.costs[static_cast<std::size_t>(run.stage->program.instructions[number].instruction_class)];
}

/// Core cycles that leak in a period, by what leaks.
struct Leaking {
  double cores = 0, links = 0;  // of the cores that are no encoder's or decoder's
  Breakdown vae;
};

/// Cycles in a period in which a stage's cores hand data on.
std::int64_t links_in_period(const StageRun& run) {
  if (run.stage->role == Role::core) return run.schedule.active_cores * run.link_cycles;
  return run.stage->part.count > 1 ? run.link_cycles : 0;
}

/// Cycles of each instruction in a pass, where some overlap shared by their lengths; times the cores that share it,
/// which only a network has that is one frame's on all of them.
std::vector<double> core_cycles(const StageRun& run, const std::vector<InstructionTime>& trace, const Machine& m) {
  const bool of_one_frame = run.stage->role == Role::network && run.stage->part.count == 1;
  const std::int64_t most = of_one_frame ? m.cores / run.schedule.active_cores : 1;
  std::int64_t running = 0;
  for (const InstructionTime& time : trace) running += time.end - time.start;
  // Read where there is an instruction, which lasts as long as the pipeline is deep, at least.
  const double pass = static_cast<double>(run.steady().cycles) / static_cast<double>(running);
  std::vector<double> cycles;
  cycles.reserve(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const std::int64_t cores = std::min(cost_of(run, i).cores, most);
    cycles.push_back(static_cast<double>((trace[i].end - trace[i].start) * cores) * pass);
  }
  return cycles;
}

Breakdown waiting_of(const Leaking& busy, const Frame& frame, const Machine& m, double cycle_j) {
  const auto period = static_cast<double>(frame.period_cycles);
  const auto rest = [&](double available, double used) { return std::max(0.0, available - used) * cycle_j; };
  Breakdown waiting = {{"link", busy.links * cycle_j},
                       {"cores", rest(static_cast<double>(m.cores) * period, busy.cores + busy.links)}};
  for (const auto& [stage, cycles] : busy.vae) waiting.emplace_back(stage, rest(period, cycles));
  return waiting;
}

/// What a pass of an instruction of each class spends on the cores that share it, activations through DRAM apart.
std::vector<Energy> class_energies(const StageRun& run, const StagePrices& prices) {
  std::vector<Energy> energies;
  energies.reserve(run.costs.size());
  std::int32_t number = 0;
  for (const ClassCost& cost : run.costs)
    energies.push_back(core_energy(core_events(cost), prices.of(number++)) * static_cast<double>(cost.cores));
  return energies;
}

/// What an instruction spends in a pass, leakage apart; of a stage's instructions it sums to pass_energy().
/// `of_class`: what class_energies says; `prices`: the usual ones, as arithmetic alone has prices of a format.
PassEnergy instruction_energy(const StageRun& run, std::size_t number, const InstructionTime& time,
                              const Energy& of_class, const EnergyPrices& prices, const Machine& m) {
  const Instruction& instruction = run.stage->program.instructions[number];
  const ClassCost& cost = cost_of(run, number);
  PassEnergy energy{of_class, {}};
  const std::int64_t spilled = time.activation_in_bytes + time.activation_out_bytes;
  energy.core += spill_energy(spilled / run.schedule.active_cores, prices);
  energy.shared = shared_energy(cost.busy.weight_beats(), time.weight_bytes, time.weight_psram_bytes, prices);
  energy.shared += program_energy(static_cast<double>(words_bytes(*run.stage, instruction, cost, m)),
                                  time.program_bytes, prices);
  return energy;
}

}  // namespace

EnergySplit split_energy(const Application& application, std::span<const StageRun> runs,
                         std::span<const std::vector<InstructionTime>> traces, const Frame& frame,
                         double leaking_mm2, const Machine& m, Bound bound) {
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const double watts = leakage_watts(process_of(m, bound), SquareMm(leaking_mm2));
  const double of_a_frame = 1.0 / static_cast<double>(frame.frames * m.batch);
  const double cycle_j =
      watts / static_cast<double>(built_cores(application, m)) * (Cycles(1) / clock).value * of_a_frame;
  EnergySplit split;
  Leaking busy;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    const StageRun& run = runs[s];
    const Role role = run.stage->role;
    const PeriodPasses use = period_passes(*run.stage, run.schedule, frame.together, m);
    const auto own = static_cast<double>(use.own), shared = static_cast<double>(use.shared);
    const StagePrices prices = stage_prices(*run.stage, m, bound);
    const std::vector<Energy> of_classes = class_energies(run, prices);
    const std::vector<double> cycles = core_cycles(run, traces[s], m);
    double leaking = 0;
    std::vector<Energy>& instructions = split.instructions.emplace_back();
    std::vector<Energy>& passes = split.passes.emplace_back();
    instructions.reserve(cycles.size());
    passes.reserve(cycles.size());
    for (std::size_t i = 0; i < cycles.size(); ++i) {
      const std::int32_t of = run.stage->program.instructions[i].instruction_class;
      const PassEnergy pass =
          instruction_energy(run, i, traces[s][i], of_classes[static_cast<std::size_t>(of)], prices.usual, m);
      Energy energy = pass.core * (own * of_a_frame);
      energy += pass.shared * (shared * of_a_frame);
      energy[EnergyPart::leakage] = cycles[i] * own * cycle_j;
      leaking += cycles[i] * own;
      instructions.push_back(energy);
      passes.push_back(pass.core);
      passes.back() += pass.shared;
    }
    if (role != Role::encoder && role != Role::decoder) {
      busy.cores += leaking;
      busy.links += static_cast<double>(links_in_period(run));
    } else if (on_chip(role, m)) {
      busy.vae.emplace_back(run.stage->name, leaking);
    }
  }
  split.waiting = waiting_of(busy, frame, m, cycle_j);
  return split;
}

}  // namespace sdip
