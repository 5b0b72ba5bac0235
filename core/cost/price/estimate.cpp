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

/// Says which resource an FPGA part has too little of.
std::string lacking(const FpgaUse& use, const Machine& m) {
  const auto what = std::ranges::find(use.resources, use.limit, &FpgaUse::Resource::name);
  const auto count = [](double blocks) { return std::to_string(std::llround(blocks)); };
  const ParameterRow& node = *find_parameter("technology_node");
  return fmt::format("{}: the machine needs {} {}, the part has {}", value_text(node, node.read(m)),
                     count(what->needed), what->name, count(what->available));
}

/// Why the machine cannot run the application although it compiled; empty when it can.
std::string infeasible(const Application& application, const Machine& m) {
  if (!application.feasible) return application.reason;
  if (application.stages.empty()) return "no stage to run";
  for (const CompiledStage& stage : application.stages)
    if (std::string lacking = lacking_imem(stage, program_size(stage, m), m); !lacking.empty()) return lacking;
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

/// Energies of a pass. Instructions share the standing energy of one by their lengths, also where they overlap.
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

/// The figure itself at Bound::value, else the end of its range.
template <class T>
T& at(Bound bound, T& value, T& least, T& most) {
  return bound == Bound::value ? value : bound == Bound::least ? least : most;
}

double metric_of(const Report& report, Metric metric) { return report.outcome.values[metric]; }

/// The dies of the chip, their areas at the constants' values and at the ends of their ranges.
void fill_dies(std::span<const BuiltDie> dies, const Machine& m, Bound bound, Report& report) {
  std::size_t place = 0;
  for (const BuiltDie& die : dies) {
    if (die.count == 0) continue;
    if (bound == Bound::value)
      report.dies.push_back({die.count, {}, die.edge_mm, die_yield(die.mm2, price_figures(process_of(m)))});
    Ranged& area = report.dies[place++].area_mm2;
    at(bound, area.value, area.least, area.most) = die.mm2;
  }
}

void fill_price(std::array<BuiltDie, 3> dies, const PricedFrame& priced, const Machine& m, Bound bound,
                Report& report) {
  if (bound != Bound::value)  // the ends of a die that can be made
    for (BuiltDie& die : dies) die.mm2 = std::min(die.mm2, exposed_area(process_of(m)).value);
  const Price price = price_of(dies, m, bound);
  if (std::isnan(price.total()) || !report.outcome.feasible) return;
  at(bound, report.price_usd, report.price_ranges_usd.least, report.price_ranges_usd.most) = {
      {"silicon", price.silicon}, {"package", price.package}, {"dram", price.dram}};
  if (bound != Bound::value) return;
  const double fps = metric_of(report, Metric::throughput_fps);
  report.million_images_usd = {{"machine", million_images_usd(price, fps, 0, m)},
                               {"electricity", million_images_usd({}, fps, priced.energy.total(), m)}};
}

/// An application on a machine, counted; what is priced anew at each end of the constants' ranges.
struct Counted {
  const Application& application;
  const ApplicationTotals totals;
  const Machine& m;
  std::vector<StageRun> runs{};
  std::vector<std::vector<InstructionTime>> traces{};  // by stage, of a report
  Supply supply{};
};

/// A frame's energy by part and by layer, area, dies and price. `runs` are priced at that bound, too.
void fill_bound(const Counted& counted, const ChipTotals& chip, const PricedFrame& priced, Bound bound,
                Report& report) {
  const Machine& m = counted.m;
  at(bound, report.energy_j, report.energy_ranges_j.least, report.energy_ranges_j.most) = breakdown(priced.energy);
  at(bound, report.area_mm2, report.area_ranges_mm2.least, report.area_ranges_mm2.most) =
      area_of(chip, priced.dram, priced.links, m);
  if (!is_fpga(m.technology_node)) {
    const std::array<BuiltDie, 3> dies = built_dies(chip.dies, priced.dram, priced.links);
    fill_dies(dies, m, bound, report);
    fill_price(dies, priced, m, bound, report);
  }
  const EnergySplit split = split_energy(counted.application, counted.runs, counted.traces, priced.frame,
                                         priced.standing, counted.supply, m, bound);
  at(bound, report.waiting_energy_j, report.waiting_energy_ranges_j.least, report.waiting_energy_ranges_j.most) =
      split.waiting;
  const double of_core = 1.0 / leaking_cores(counted.application, m);
  for (std::size_t s = 0; s < counted.runs.size(); ++s) {
    StageReport& stage = report.stages[s];
    if (bound == Bound::value)
      fill_pass_energy(split.passes[s],
                       priced.standing.over(static_cast<double>(stage.steady_cycles.value), m) *
                           (of_core * leaking_cores(*counted.runs[s].stage, m)),
                       stage);
    const auto parts_of = [&](RangedEnergy& e) -> EnergyParts& { return at(bound, e.value, e.least, e.most); };
    Energy sum;
    for (std::size_t i = 0; i < stage.instructions.size(); ++i) {
      parts_of(stage.instructions[i].frame_energy) = split.instructions[s][i].joules;
      sum += split.instructions[s][i];
    }
    parts_of(stage.frame_energy) = sum.joules;
  }
}

/// Share of all parts that grows in proportion with rows that are assumptions.
double assumed_share(const Breakdown& parts, const Breakdown& with_more) {
  double all = 0, leaning = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double value = parts[i].second, grown = with_more[i].second - value;
    all += value;
    leaning += std::clamp(grown / more_of_assumptions, 0.0, value);
  }
  return all > 0 ? leaning / all : 0;
}

PricedFrame priced_at(Bound bound, const ChipTotals& chip, Counted& counted) {
  for (StageRun& run : counted.runs) price_pass(run, counted.m, bound, counted.supply);
  return price_frame(totals_of(counted.runs, counted.m), chip, counted.supply, counted.m, bound);
}

/// `chip`, `priced`: at the constants' values, as the runs are priced.
void fill(Counted& counted, const ChipTotals& chip, const PricedFrame& priced, Report& report) {
  const Machine& m = counted.m;
  fill_report(counted.application, m, counted.runs, counted.traces, counted.totals, chip, priced, counted.supply,
              report);
  fill_bound(counted, chip, priced, Bound::value, report);
  report.heat = heat_of(die_watts(priced.energy, metric_of(report, Metric::throughput_fps)),
                        metric_of(report, Metric::area_mm2), m);
  for (const Bound bound : {Bound::least, Bound::most, Bound::assumed}) {
    const ChipTotals its = chip_totals(counted.application, counted.totals, m, bound);
    const PricedFrame at_it = priced_at(bound, its, counted);
    if (bound != Bound::assumed) {
      fill_bound(counted, its, at_it, bound, report);
      continue;
    }
    report.assumed = {assumed_share(report.energy_j, breakdown(at_it.energy)),
                      assumed_share(report.area_mm2, area_of(its, at_it.dram, at_it.links, m))};
  }
  report.notes = notes_of(counted.runs, report, m);
}

Outcome assess(const Application& application, const Machine& machine, Report* report) {
  Outcome outcome;
  if (report && application.feasible) report->fpga = fpga_use(application, machine);
  outcome.reason = infeasible(application, machine);
  outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  if (!outcome.reason.empty()) return outcome;
  Counted counted{application, application_totals(application), machine};
  counted.runs.reserve(application.stages.size());
  for (const CompiledStage& stage : application.stages) {
    auto run = run_stage(stage, machine, report ? &counted.traces.emplace_back() : nullptr);
    if (!run) {
      outcome.reason = stage.name + ": takes more cycles than 64 bits count";
      return outcome;
    }
    counted.runs.push_back(std::move(*run));
  }
  const ChipTotals chip = chip_totals(application, counted.totals, machine, Bound::value);
  counted.supply = chip_supply(chip.slowest, machine);
  const PricedFrame priced = priced_at(Bound::value, chip, counted);
  std::int64_t held = 0;
  for (const CompiledStage& stage : application.stages)
    held += dram_held_bytes(stage, program_size(stage, machine).bytes,
                            results_bytes(stage.program, machine.activation_format), machine);
  outcome = outcome_of(priced, counted.totals, chip, counted.supply, broken_limit(machine, held), machine);
  if (!report) return outcome;
  report->outcome = outcome;
  fill(counted, chip, priced, *report);
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
