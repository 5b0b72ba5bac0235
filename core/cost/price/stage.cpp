// Stages to passes: schedule, share of the channel, counters and energy of a pass.
#include "core/cost/price/stage.h"

#include <algorithm>
#include <map>

#include "core/cost/price/area.h"
#include "core/cost/price/dram_price.h"
#include "core/cost/price/frame_formulas.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/ports.h"
#include "core/machine/dies.h"

namespace sdip {
namespace {

Decimal share_of(Role role, const Machine& m) {
  return role == Role::core      ? core_dram_share(m)
         : role == Role::encoder ? m.encoder_dram_share
         : role == Role::decoder ? m.decoder_dram_share
                                 : Decimal{100};
}

double all_words_bytes(const CompiledStage& stage, const ClassUses& uses, const List<ClassCost>& costs,
                       const Machine& m) {
  if (is_circuit(m, stage.role)) return 0;
  if (m.granularity == Granularity::per_operator) return uses.words_bytes;
  double bytes = 0;
  for (const Instruction& instruction : stage.program.instructions) {
    const ClassCost& cost = costs[instruction.instruction_class];
    bytes += static_cast<double>(instruction_bytes(instruction, cost, m.granularity));
  }
  return bytes;
}

}  // namespace

bool has_crossbar(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::crossbar; }

FrameSchedule frame_schedule(Role role, SeriesPart part, const Machine& m) {
  if (part.count > 1) return {1, 1};
  if (role == Role::network && m.branches == Branches::serial) return {1, m.cores};
  if (role != Role::core) return {1, 1};
  if (has_crossbar(m)) return {m.steps, m.cores};
  const std::int64_t steps = ceil_div(m.steps, m.cores), active = ceil_div(m.steps, steps);
  return {steps, active, active};
}

namespace {

std::int64_t handed_bits(const CompiledStage& stage) {
  return (stage.program.latent_bytes + stage.program.context_bytes).value * 8;
}

}  // namespace

std::int64_t link_cycles(const CompiledStage& stage, const Machine& m) {
  const bool one_die = stage.role != Role::core || die_line(m).dies == 1;
  if (one_die) return ceil_div(handed_bits(stage), m.link_bits);
  return ceil_div(handed_bits(stage), std::min(m.link_bits, m.die_link_bits)) + m.die_link_cycles;
}

std::int64_t channel_cores(const CompiledStage& stage, const Machine& m, std::int64_t cores) {
  const bool on_all = stage.role == Role::core || stage.role == Role::network;
  return on_all ? cores_on_channels(die_line(m), cores) : cores;
}

List<ClassCost> class_costs(const CompiledStage& stage, const Machine& m) {
  return class_costs(stage, m, frame_schedule(stage.role, stage.part, m).active_cores);
}

List<ClassCost> class_costs(const CompiledStage& stage, const Machine& m, std::int64_t cores) {
  const Machine its = machine_of_stage(m, stage.role, cores);
  Resolver resolver(its, stage.role);
  List<ClassCost> costs;
  costs.reserve(stage.program.classes.size());
  for (const InstructionClass& c : stage.program.classes) costs.push_back(class_cost(c, resolver.of(c)));
  return costs;
}

void cost_anew(const CompiledStage& stage, const Machine& m, List<ClassCost>& costs) {
  const StageMachine its(m, stage.role);
  Resolver resolver(*its, stage.role);
  for (std::size_t number = 0; number < costs.size(); ++number) {
    const InstructionClass& c = stage.program.classes[number];
    cost_anew(c, resolver.of(c), costs[number]);
  }
}

StageCost stage_cost(const CompiledStage& stage, const Machine& m, const ClassUses& all_uses,
                     const List<ClassCost>& costs) {
  const Program& program = stage.program;
  const StageMachine its(m, stage.role);
  StageCost work;
  for (std::size_t c = 0; c < program.classes.size(); ++c) {
    const ClassCost& cost = costs[c];
    const std::int64_t uses = all_uses.of[c];
    work.weight_beats += cost.busy.weight_beats() / psram_pace(*its) * uses;
    const InstructionClass& its_class = program.classes[c];
    CoreEvents& events = its_class.formats ? work.of_own[static_cast<std::int32_t>(c)] : work.events;
    events.add(core_events(its_class, cost, *its), cost.cores * uses);
    work.macs += cost.macs * cost.cores * uses;
    work.mac_cycles += mac_cycles(cost) * cost.cores * uses;
    work.made_macs += (made_in_memory(cost) ? cost.macs : cost.spent_macs) * cost.cores * uses;
    if (cost.plan.nest) {
      FamilyWork& family = work.of_family[its_class.work.family];
      family.mac_cycles += mac_cycles(cost) * uses;
      family.memory_cycles += cost.memory_cycles * uses;
    }
    work.spread_cores = std::max(work.spread_cores, cost.cores);
    work.products_in_mac = std::max(work.products_in_mac, cost.products_in_mac);
    work.streams_activations |= cost.streams_activations;
  }
  work.bound_cycles = bound_cycles<std::int64_t>(work.of_family, *its);
  work.words_bytes = all_words_bytes(stage, all_uses, costs, m);
  return work;
}

DramRate stage_rate(const CompiledStage& stage, const Machine& m) {
  return dram_rate(m, share_of(stage.role, m), stage.dram_thousandths);
}

TimelineRules stage_rules(const CompiledStage& stage, const Machine& m, std::int64_t cores) {
  return timeline_rules(*StageMachine(m, stage.role), share_of(stage.role, m), cores, stage.program.pinned_bytes,
                        stage.role, stage.dram_thousandths);
}

std::int64_t counted_passes(const Machine& m) { return 2 * std::max({most_simulated_passes, m.steps, m.cores}); }

std::optional<StageRun> run_stage(const CompiledStage& stage, const Machine& m,
                                  std::vector<InstructionTime>* trace) {
  StageRun run;
  run.stage = &stage;
  run.schedule = frame_schedule(stage.role, stage.part, m);
  const std::int64_t cores = run.schedule.active_cores;
  run.machine = machine_of_stage(m, stage.role, cores);
  run.costs = class_costs(stage, m);
  const TimelineRules rules = stage_rules(stage, m, cores);
  if (!countable(stage.program, run.costs, rules, counted_passes(m))) return std::nullopt;
  run.uses = class_uses(stage.program);
  run.work = stage_cost(stage, m, run.uses, run.costs);
  run.stream = run_timeline(stage.program, run.costs, rules, most_simulated_passes, trace);
  const bool alike = cores == 1 || (!run.work.streams_activations && !stack_in_psram(m));
  run.alone = alike ? run.stream
                    : run_timeline(stage.program, class_costs(stage, m, 1), stage_rules(stage, m, 1),
                                   most_simulated_passes);
  run.link_cycles = link_cycles(stage, m);
  return run;
}

StagePrices stage_prices(const CompiledStage& stage, const Machine& machine, Bound bound) {
  const StageMachine its(machine, stage.role);
  const Machine& m = *its;
  const CoreArea core = stage_area(stage, m, widest_formats(m), bound);
  const FloorPlan plan = floor_plan(m, core, cores_fed(stage, m), psram_bytes_of(stage, machine), bound);
  StagePrices prices{energy_prices(m, stage.role, plan, bound), {}};
  add_link_prices(machine, stage.role, bound, prices.usual);
  if (stage.role == Role::core)
    prices.hand_over_j = static_cast<double>((die_line(machine).dies - 1) * handed_bits(stage)) *
                         link_energy(process_of(machine, bound)).value;
  std::int32_t number = 0;
  for (const InstructionClass& c : stage.program.classes) {
    if (c.formats) prices.own.emplace(number, energy_prices(machine_for(c, m), stage.role, plan, bound));
    ++number;
  }
  return prices;
}

PassEnergy pass_energy(const StageCost& work, const PassCost& pass, std::int64_t active_cores,
                       const StagePrices& prices, const Supply& supply, double turn_j) {
  PassEnergy energy;
  energy.core = core_energy(work.events, prices.usual);
  for (const auto& [number, events] : work.of_own) energy.core += core_energy(events, prices.of(number));
  energy.core += spill_energy((pass.activation_in_bytes + pass.activation_out_bytes) / active_cores, prices.usual);
  energy.shared = shared_energy(work.weight_beats, pass.weight_bytes, pass.weight_psram_bytes, prices.usual);
  energy.shared += program_energy(work.words_bytes, pass.program_bytes, prices.usual);
  energy.shared[EnergyPart::dram_turns] += static_cast<double>(pass.turns) * turn_j;
  energy.core = at_supply(energy.core, supply);
  energy.shared = at_supply(energy.shared, supply);
  energy.hand_over_j = prices.hand_over_j;
  return energy;
}

void price_pass(StageRun& run, const Machine& m, Bound bound, const Supply& supply) {
  run.energy = pass_energy(run.work, run.steady(), run.schedule.active_cores, stage_prices(*run.stage, m, bound),
                           supply, dram_turn_j(m, bound));
}

ProgramSize program_size(const CompiledStage& stage, const Machine& m) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 56;
  const Program& program = stage.program;
  const bool by_operation = m.granularity != Granularity::per_operator;
  const ClassCost unneeded;
  const List<ClassCost> costs = by_operation ? class_costs(stage, m, 1) : List<ClassCost>();
  ProgramSize size;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const ClassCost& cost = by_operation ? costs[instruction.instruction_class] : unneeded;
    const std::int64_t bytes = words_bytes(stage, instruction, cost, m);
    size.bytes = std::min(most_bytes, size.bytes + bytes);
    if (bytes > size.longest_bytes) {
      size.longest_bytes = bytes;
      size.longest = i;
    }
  }
  return size;
}

std::int64_t words_bytes(const CompiledStage& stage, const Instruction& instruction, const ClassCost& cost,
                         const Machine& m) {
  return is_circuit(m, stage.role) ? 0 : instruction_bytes(instruction, cost, m.granularity);
}

bool on_chip(Role role, const Machine& m) {
  return m.vae_stage != VaeStage::off_chip || (role != Role::encoder && role != Role::decoder);
}

std::vector<MacRoof> mac_roofs(const StageRun& run) {
  std::map<Family, MacRoof> of_family;
  for (std::size_t c = 0; c < run.costs.size(); ++c) {
    const ClassCost& cost = run.costs[c];
    if (cost.spent_macs == 0 || run.uses.of[c] == 0) continue;
    const Family family = run.stage->program.classes[c].work.family;
    const ArrayLanes lanes = array_lanes(family, run.machine);
    const MacRoof roof{{family},
                       lanes.rows * lanes.channels * lanes.sum * cost.cores * run.schedule.active_cores,
                       cost.products_in_mac};
    MacRoof& highest = of_family[family];
    if (roof.macs_per_cycle() > highest.macs_per_cycle()) highest = roof;
  }
  std::vector<MacRoof> roofs;
  for (const auto& of : of_family) {
    const auto equal = std::ranges::find_if(roofs, [&](const MacRoof& other) {
      return other.lanes == of.second.lanes && other.products_in_mac == of.second.products_in_mac;
    });
    if (equal == roofs.end())
      roofs.push_back(of.second);
    else
      equal->families.push_back(of.first);
  }
  return roofs;
}

}  // namespace sdip
