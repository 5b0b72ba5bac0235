// Stages to passes: schedule, share of the channel, counters and energy of a pass.
#include "core/cost/stage.h"

#include <algorithm>

#include "core/cost/micro_operations.h"

namespace sdip {
namespace {

FrameSchedule schedule_of(Role role, SeriesPart part, const Machine& m) {
  if (part.count > 1) return {1, 1};
  if (role == Role::network && m.branches == Branches::serial) return {1, m.cores};
  if (role != Role::core) return {1, 1};
  const std::int64_t steps = ceil_div(m.steps, m.cores);
  return {steps, ceil_div(m.steps, steps)};
}

Decimal share_of(Role role, const Machine& m) {
  switch (role) {
    case Role::core:
      return core_dram_share(m);
    case Role::encoder:
      return m.encoder_dram_share;
    case Role::decoder:
      return m.decoder_dram_share;
    default:
      return Decimal{100};
  }
}

std::vector<std::int64_t> class_uses(const Program& program) {
  std::vector<std::int64_t> uses(program.classes.size(), 0);
  for (const Instruction& instruction : program.instructions)
    ++uses[static_cast<std::size_t>(instruction.instruction_class)];
  return uses;
}

void count_pass(StageRun& run, const Machine& m) {
  const Program& program = run.stage->program;
  run.uses = class_uses(program);
  std::array<std::int64_t, 3> family_macs{};
  for (std::size_t c = 0; c < run.costs.size(); ++c) {
    const ClassCost& cost = run.costs[c];
    run.busy.add(cost.busy, run.uses[c]);
    run.macs += cost.macs * cost.cores * run.uses[c];
    run.spent_macs += cost.spent_macs * cost.cores * run.uses[c];
    if (cost.plan.nest)
      family_macs[static_cast<std::size_t>(program.classes[c].work.family)] += cost.spent_macs * run.uses[c];
    run.schedule.spread_cores = std::max(run.schedule.spread_cores, cost.cores);
  }
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    const ArrayLanes lanes = array_lanes(family, m);
    const std::int64_t cycles =
        ceil_div(family_macs[static_cast<std::size_t>(family)], lanes.rows * lanes.channels * lanes.sum);
    const bool beside = has_pairs(m) && m.mac_sharing == MacSharing::separate;
    run.bound_cycles = beside ? std::max(run.bound_cycles, cycles) : run.bound_cycles + cycles;
  }
  for (const Instruction& instruction : program.instructions) {
    const ClassCost& cost = run.costs[static_cast<std::size_t>(instruction.instruction_class)];
    run.words_bytes += static_cast<double>(instruction_bytes(instruction, cost, m.granularity));
  }
}

}  // namespace

TimelineRules stage_rules(const CompiledStage& stage, const Machine& m, std::int64_t cores) {
  return timeline_rules(m, share_of(stage.role, m), cores, stage.program.pinned_bytes, stage.role,
                        stage.dram_thousandths);
}

std::optional<StageRun> run_stage(const CompiledStage& stage, const Machine& m,
                                  std::vector<InstructionTime>* trace) {
  StageRun run;
  run.stage = &stage;
  run.schedule = schedule_of(stage.role, stage.part, m);
  run.costs.reserve(stage.program.classes.size());
  bool spills = false;
  for (const InstructionClass& c : stage.program.classes) {
    run.costs.push_back(class_cost(c, m, stage.role));
    spills |= run.costs.back().streams_activations;
  }
  const std::int64_t cores = run.schedule.active_cores;
  const TimelineRules rules = stage_rules(stage, m, cores);
  const std::int64_t summed = 2 * std::max({most_simulated_passes, m.steps, m.cores});
  if (!countable(stage.program, run.costs, rules, summed)) return std::nullopt;
  const auto run_on = [&](const TimelineRules& its, std::vector<InstructionTime>* times) {
    return run_timeline(stage.program, run.costs, its, most_simulated_passes, times);
  };
  run.stream = run_on(rules, trace);
  run.alone = !spills || cores == 1 ? run.stream : run_on(stage_rules(stage, m, 1), nullptr);
  run.link_cycles = ceil_div((stage.program.latent_bytes + stage.program.context_bytes).value * 8, m.link_bits);
  count_pass(run, m);
  price_pass(run, m, Bound::value);
  return run;
}

StagePrices stage_prices(const CompiledStage& stage, const Machine& m, Bound bound) {
  const FloorPlan plan = floor_plan(m, cores_fed(stage, m), bound);
  StagePrices prices{energy_prices(m, stage.role, plan, bound), {}};
  std::int32_t number = 0;
  for (const InstructionClass& c : stage.program.classes) {
    if (c.formats) prices.own.emplace(number, energy_prices(machine_for(c, m), stage.role, plan, bound));
    ++number;
  }
  return prices;
}

void price_pass(StageRun& run, const Machine& m, Bound bound) {
  const StagePrices prices = stage_prices(*run.stage, m, bound);
  run.core = {};
  for (std::size_t c = 0; c < run.costs.size(); ++c)
    run.core += core_energy(run.costs[c], prices.of(static_cast<std::int32_t>(c))) *
                static_cast<double>(run.costs[c].cores * run.uses[c]);
  const PassCost& steady = run.steady();
  run.core += spill_energy((steady.activation_in_bytes + steady.activation_out_bytes) / run.schedule.active_cores,
                           prices.usual);
  run.shared = shared_energy(run.busy.psram_read, steady.weight_bytes, steady.weight_psram_bytes, prices.usual);
  run.shared += program_energy(run.words_bytes, steady.program_bytes, prices.usual);
}

ProgramSize program_size(const CompiledStage& stage, const Machine& m) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 56;
  const Program& program = stage.program;
  const bool by_operation = m.granularity != Granularity::per_operator;
  const ClassCost unneeded;
  std::vector<ClassCost> costs;
  if (by_operation)
    for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m, stage.role));
  ProgramSize size;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const ClassCost& cost =
        by_operation ? costs[static_cast<std::size_t>(instruction.instruction_class)] : unneeded;
    const std::int64_t bytes = instruction_bytes(instruction, cost, m.granularity);
    size.bytes = std::min(most_bytes, size.bytes + bytes);
    if (bytes > size.longest_bytes) {
      size.longest_bytes = bytes;
      size.longest = i;
    }
  }
  return size;
}

bool on_chip(Role role, const Machine& m) {
  return m.vae_stage == VaeStage::core || (role != Role::encoder && role != Role::decoder);
}

std::int64_t bound_dram_bytes(const StageRun& run, const Machine& m) {
  const Program& program = run.stage->program;
  const bool wired = hard_coded(m, run.stage->role);
  const std::int64_t weights =
      wired ? 0 : std::max<std::int64_t>(0, program.distinct_weight_bytes.value - m.psram_bytes);
  return weights + (program.input_bytes.value + program.output_bytes.value) * run.schedule.active_cores;
}

}  // namespace sdip
