// A frame's energy by instruction, and what of it no instruction has.
#include "core/cost/price/energy_split.h"
#include "core/cost/price/dram_price.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/cost/price/area.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"

namespace sdip {
namespace {

const ClassCost& cost_of(const StageRun& run, std::size_t number) {
  return run.costs[run.stage->program.instructions[number].instruction_class];
}

/// Core cycles that leak in a period, by what leaks.
struct Leaking {
  double cores = 0, links = 0;  // of the cores that are no stage's own
  struct Own {
    std::string_view stage;
    double cycles, as_cores;  // of a core that leaks as so many
  };
  std::vector<Own> own;  // encoder's, decoder's, a text encoder's on a block of its own

  void add_own(const CompiledStage& stage, double cycles, double as_cores, bool shares) {
    if (shares && text_)
      own[*text_].cycles += cycles;
    else
      own.push_back({stage.name, cycles, as_cores});
    if (shares && !text_) text_ = own.size() - 1;
  }

 private:
  std::optional<std::size_t> text_;  // of several text encoders the first, on whose block all run
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
  const auto period = static_cast<double>(frame.cycles.period());
  const auto rest = [&](double available, double used) { return std::max(0.0, available - used) * cycle_j; };
  Breakdown waiting = {{"link", busy.links * cycle_j},
                       {"cores", rest(static_cast<double>(m.cores) * period, busy.cores + busy.links)}};
  for (const Leaking::Own& own : busy.own) waiting.emplace_back(own.stage, rest(period, own.cycles) * own.as_cores);
  return waiting;
}

/// Energy of a pass by class of instruction, on the cores that share it, activations through DRAM apart.
std::vector<Energy> class_energies(const StageRun& run, const StagePrices& prices) {
  std::vector<Energy> energies;
  energies.reserve(run.costs.size());
  std::int32_t number = 0;
  for (const ClassCost& cost : run.costs) {
    const InstructionClass& c = run.stage->program.classes[number];
    energies.push_back(core_energy(core_events(c, cost, run.machine), prices.of(number++)) *
                       static_cast<double>(cost.cores));
  }
  return energies;
}

/// Energy of an instruction in a pass, leakage apart; over a stage's instructions it sums to pass_energy().
/// `of_class`: what class_energies says; `prices`: the usual ones, as arithmetic alone has prices of a format.
PassEnergy instruction_energy(const StageRun& run, std::size_t number, const InstructionTime& time,
                              const Energy& of_class, const EnergyPrices& prices, const Supply& supply,
                              double turn_j) {
  const Machine& m = run.machine;
  const Instruction& instruction = run.stage->program.instructions[number];
  const ClassCost& cost = cost_of(run, number);
  PassEnergy energy{of_class, {}};
  const std::int64_t spilled = time.activation_in_bytes + time.activation_out_bytes;
  if (spilled > 0) energy.core += spill_energy(spilled / run.schedule.active_cores, prices);
  energy.shared =
      shared_energy(cost.busy.weight_beats() / psram_pace(m), time.weight_bytes, time.weight_psram_bytes, prices);
  energy.shared += program_energy(static_cast<double>(words_bytes(*run.stage, instruction, cost, m)),
                                  time.program_bytes, prices);
  energy.shared[EnergyPart::dram_turns] += static_cast<double>(time.turns) * turn_j;
  energy.core = at_supply(energy.core, supply);
  energy.shared = at_supply(energy.shared, supply);
  return energy;
}

}  // namespace

EnergySplit split_energy(const Application& application, std::span<const StageRun> runs,
                         std::span<const std::vector<InstructionTime>> traces, const Frame& frame,
                         const StandingPower& standing, const Supply& supply, const Machine& m, Bound bound) {
  const double of_a_frame = 1.0 / static_cast<double>(frame.cycles.frames * m.batch);
  // Standing energy of a cycle, for a frame and one core's share of the chip.
  const Energy of_cycle = standing.over(1, m) * (of_a_frame / leaking_cores(application, m));
  const double turn_j = dram_turn_j(m, bound);
  EnergySplit split;
  Leaking busy;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    const StageRun& run = runs[s];
    const Role role = run.stage->role;
    const PeriodPasses use = period_passes(*run.stage, run.schedule, frame.cycles.together, m);
    const auto own = static_cast<double>(use.own), shared = static_cast<double>(use.shared);
    const StagePrices prices = stage_prices(*run.stage, m, bound);
    const List<Energy> of_classes = class_energies(run, prices);
    const std::vector<double> cycles = core_cycles(run, traces[s], m);
    const double as_cores = leaking_cores(*run.stage, m);
    double leaking = 0;
    std::vector<Energy>& instructions = split.instructions.emplace_back();
    std::vector<Energy>& passes = split.passes.emplace_back();
    instructions.reserve(cycles.size());
    passes.reserve(cycles.size());
    for (std::size_t i = 0; i < cycles.size(); ++i) {
      const std::int32_t of = run.stage->program.instructions[i].instruction_class;
      const PassEnergy pass =
          instruction_energy(run, i, traces[s][i], of_classes[of], prices.usual, supply, turn_j);
      Energy energy = pass.core * (own * of_a_frame);
      energy += pass.shared * (shared * of_a_frame);
      energy += of_cycle * (cycles[i] * own * as_cores);
      leaking += cycles[i] * own;
      instructions.push_back(energy);
      passes.push_back(pass.core);
      passes.back() += pass.shared;
    }
    const bool vae = role == Role::encoder || role == Role::decoder;
    if (!vae && !is_own_block(m, role)) {
      busy.cores += leaking;
      busy.links += static_cast<double>(links_in_period(run));
    } else if (on_chip(role, m)) {
      busy.add_own(*run.stage, leaking, as_cores, !vae);
    }
  }
  split.waiting = waiting_of(busy, frame, m, of_cycle.total());
  for (const StageRun& run : runs) split.waiting.front().second += run.energy.hand_over_j * of_a_frame;
  return split;
}

}  // namespace sdip
