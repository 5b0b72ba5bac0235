// estimate and evaluate: passes to frames, frames to metrics.
#include "core/cost/price/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cost/price/area.h"
#include "core/cost/price/dram_price.h"
#include "core/cost/price/energy_split.h"
#include "core/cost/price/fpga.h"
#include "core/cost/price/limits.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

/// What an FPGA part has too little of.
std::string lacking(const FpgaUse& use, const Machine& m) {
  const auto what = std::ranges::find(use.resources, use.limit, &FpgaUse::Resource::name);
  const auto count = [](double blocks) { return std::to_string(std::llround(blocks)); };
  const ParameterRow& node = *find_parameter("technology_node");
  return value_text(node, node.read(m)) + ": the machine needs " + count(what->needed) + " " +
         std::string(what->name) + ", the part has " + count(what->available);
}

/// Why the machine cannot run the application although it compiled; empty when it can.
std::string infeasible(const Application& application, const Machine& m) {
  if (!application.feasible) return application.reason;
  if (application.stages.empty()) return "no stage to run";
  for (const CompiledStage& stage : application.stages) {
    const ProgramSize size = program_size(stage, m);
    const bool streamed = m.program_storage == ProgramStorage::streamed;
    const std::int64_t needed = streamed ? size.longest_bytes : size.bytes;
    if (needed <= m.imem_bytes) continue;
    const std::string what = streamed ? stage.program.instructions[size.longest].name : "the program";
    return stage.name + ": " + what + " needs " + std::to_string(needed) + " B of IMEM, which has " +
           std::to_string(m.imem_bytes);
  }
  if (!is_fpga(m.technology_node)) return {};
  if (const CompiledStage* stage = stage_in_fefet(application, m))
    return stage->name + ": a part of programmable logic has no FeFET memory for its weights";
  const FpgaUse use = *fpga_use(application, m);
  return use.fits ? std::string() : lacking(use, m);
}

Breakdown breakdown(const Energy& energy) {
  Breakdown parts;
  for (std::size_t part = 0; part < energy_part_count; ++part)
    parts.emplace_back(energy_part_text(static_cast<EnergyPart>(part)), energy.joules[part]);
  return parts;
}

std::vector<StageTotals> totals_of(const std::vector<StageRun>& runs, const Machine& m) {
  std::vector<StageTotals> stages;
  stages.reserve(runs.size());
  for (const StageRun& run : runs) stages.push_back(stage_totals(run, m));
  return stages;
}

/// Of a pass; what stands in one its instructions share by their lengths, also where they overlap.
void fill_pass_energy(const std::vector<Energy>& passes, const Energy& standing, StageReport& stage) {
  Cycles running;
  for (const InstructionCost& cost : stage.instructions) running += cost.end - cost.start;
  for (std::size_t i = 0; i < stage.instructions.size(); ++i) {
    InstructionCost& cost = stage.instructions[i];
    Energy energy = passes[i];
    // Each instruction lasts as long as the pipeline is deep, at least.
    const double share = static_cast<double>((cost.end - cost.start).value) / static_cast<double>(running.value);
    energy += standing * share;
    cost.energy_j = energy.total();
    cost.energy_parts = energy.joules;
  }
}

/// Dies and what the machine costs, at an end of the constants' ranges or between.
void fill_dies(const DieAreas& areas, const Frame& frame, const StandingPower& standing, const Machine& m,
               Bound bound, Report& report) {
  if (is_fpga(m.technology_node)) return;
  auto dies = built_dies(areas, built_dram(m, bound), built_links(m, bound));
  const PriceFigures& figures = price_figures(process_of(m, bound));
  if (bound == Bound::value) report.dies.clear();
  std::size_t place = 0;
  for (const BuiltDie& die : dies) {
    if (die.count == 0) continue;
    if (bound == Bound::value)
      report.dies.push_back({die.count, {die.mm2, die.mm2, die.mm2}, die.edge_mm, die_yield(die.mm2, figures)});
    Ranged& area = report.dies[place++].area_mm2;
    (bound == Bound::least ? area.least : bound == Bound::most ? area.most : area.value) = die.mm2;
  }
  if (bound != Bound::value)  // the ends of a die that can be made
    for (BuiltDie& die : dies) die.mm2 = std::min(die.mm2, exposed_area(process_of(m)).value);
  const Price price = price_of(dies, m, bound);
  if (std::isnan(price.total()) || !report.outcome.feasible) return;
  const Breakdown parts = {{"silicon", price.silicon}, {"package", price.package}, {"dram", price.dram}};
  (bound == Bound::least  ? report.price_ranges_usd.least
   : bound == Bound::most ? report.price_ranges_usd.most
                          : report.price_usd) = parts;
  if (bound != Bound::value) return;
  const double fps = report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
  const double electricity = million_images_usd({}, fps, frame_energy(frame, standing, m).total(), m);
  report.million_images_usd = {{"machine", million_images_usd(price, fps, 0, m)}, {"electricity", electricity}};
}

/// A frame's energy, by part and by layer, at an end of the constants' ranges or between. Prices `runs` so.
void fill_energy(const Application& application, const ApplicationTotals& totals, const Machine& m, Bound bound,
                 const Supply& supply, std::vector<StageRun>& runs,
                 const std::vector<std::vector<InstructionTime>>& traces, Report& report) {
  for (StageRun& run : runs) price_pass(run, m, bound, supply);
  const std::vector<StageTotals> stages = totals_of(runs, m);
  const Frame frame = frame_of(stages, m);
  const ChipTotals chip = chip_totals(application, totals, m, bound);
  const StandingPower standing = standing_power(chip.standing, supply, m, bound);
  const EnergySplit split = split_energy(application, runs, traces, frame, standing, supply, m, bound);
  const double of_core = 1.0 / leaking_cores(application, m);
  const auto at = [&](auto& value, auto& least, auto& most) -> auto& {
    return bound == Bound::value ? value : bound == Bound::least ? least : most;
  };
  const auto parts_of = [&](RangedEnergy& e) -> EnergyParts& { return at(e.value, e.least, e.most); };
  at(report.energy_j, report.energy_ranges_j.least, report.energy_ranges_j.most) =
      breakdown(frame_energy(frame, standing, m));
  fill_dies(chip.dies, frame, standing, m, bound, report);
  if (bound == Bound::value)
    report.heat = heat_of(die_watts(frame_energy(frame, standing, m),
                                    report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)]),
                          chip.area_mm2 + built_dram(m).area_mm2, m);
  at(report.waiting_energy_j, report.waiting_energy_ranges_j.least, report.waiting_energy_ranges_j.most) =
      split.waiting;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    StageReport& stage = report.stages[s];
    if (bound == Bound::value)
      fill_pass_energy(split.passes[s],
                       standing.over(static_cast<double>(stage.steady_cycles.value), m) *
                           (of_core * leaking_cores(*runs[s].stage, m)),
                       stage);
    Energy sum;
    for (std::size_t i = 0; i < stage.instructions.size(); ++i) {
      parts_of(stage.instructions[i].frame_energy) = split.instructions[s][i].joules;
      sum += split.instructions[s][i];
    }
    parts_of(stage.frame_energy) = sum.joules;
  }
}

/// Of what all parts come to, how much grows in proportion with rows that are assumptions.
double assumed_share(const Breakdown& parts, const Breakdown& with_more) {
  double all = 0, leaning = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double value = parts[i].second, grown = with_more[i].second - value;
    all += value;
    leaning += std::clamp(grown / more_of_assumptions, 0.0, value);
  }
  return all > 0 ? leaning / all : 0;
}

void fill_assumed(const Application& application, const ApplicationTotals& totals, const Machine& m,
                  const Supply& supply, std::vector<StageRun>& runs, Report& report) {
  for (StageRun& run : runs) price_pass(run, m, Bound::assumed, supply);
  const std::vector<StageTotals> stages = totals_of(runs, m);
  const ChipTotals chip = chip_totals(application, totals, m, Bound::assumed);
  const StandingPower standing = standing_power(chip.standing, supply, m, Bound::assumed);
  report.assumed = {assumed_share(report.energy_j, breakdown(frame_energy(frame_of(stages, m), standing, m))),
                    assumed_share(report.area_mm2, area_of(application, m, Bound::assumed))};
}

Outcome assess(const Application& application, const Machine& machine, Report* report) {
  Outcome outcome;
  if (report && application.feasible) report->fpga = fpga_use(application, machine);
  outcome.reason = infeasible(application, machine);
  outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  if (!outcome.reason.empty()) return outcome;
  std::vector<StageRun> runs;
  std::vector<std::vector<InstructionTime>> traces;
  runs.reserve(application.stages.size());
  for (const CompiledStage& stage : application.stages) {
    auto run = run_stage(stage, machine, report ? &traces.emplace_back() : nullptr);
    if (!run) {
      outcome.reason = stage.name + ": takes more cycles than 64 bits count";
      return outcome;
    }
    runs.push_back(std::move(*run));
  }
  const ApplicationTotals totals = application_totals(application);
  const ChipTotals chip = chip_totals(application, totals, machine, Bound::value);
  const Supply supply = chip_supply(chip.slowest, machine);
  for (StageRun& run : runs) price_pass(run, machine, Bound::value, supply);
  std::int64_t held = 0;
  for (const CompiledStage& stage : application.stages)
    held += dram_held_bytes(stage, program_size(stage, machine).bytes,
                            results_bytes(stage.program, machine.activation_format), machine);
  outcome = outcome_of(totals_of(runs, machine), totals, chip, supply, broken_limit(machine, held), machine);
  if (!report) return outcome;
  report->outcome = outcome;
  fill_report(application, machine, runs, traces, supply, *report);
  for (const Bound bound : {Bound::value, Bound::least, Bound::most})
    fill_energy(application, totals, machine, bound, supply, runs, traces, *report);
  fill_assumed(application, totals, machine, supply, runs, *report);
  report->notes = notes_of(runs, *report, machine);
  return outcome;
}
}  // namespace

Outcome evaluate(const Application& application, const Machine& machine) {
  return assess(application, machine, nullptr);
}

Report estimate(const Application& application, const Machine& machine) {
  Report report;
  report.outcome = assess(application, machine, &report);
  return report;
}

}  // namespace sdip
