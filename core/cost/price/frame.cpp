// Stages to frames, frames to metrics.
#include "core/cost/price/frame.h"

#include <algorithm>
#include <limits>

#include "core/cost/price/area.h"
#include "core/cost/price/dram_price.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {

StageTotals untimed_totals(const CompiledStage& stage, const FrameSchedule& schedule, const StageCost& cost,
                           const Machine& m) {
  StageTotals t;
  t.stage = &stage;
  t.schedule = schedule;
  t.link_cycles = link_cycles(stage, m);
  t.mac_cycles = cost.mac_cycles;
  t.bound_cycles = cost.bound_cycles;
  t.spread_cores = cost.spread_cores;
  t.made_macs = cost.made_macs;
  t.products_in_mac = cost.products_in_mac;
  return t;
}

StageTotals stage_totals(const StageRun& run, const Machine& m) {
  const PassCost& steady = run.steady();
  StageTotals t = untimed_totals(*run.stage, run.schedule, run.work, m);
  t.alone_cycles = run.alone.total(passes_per_frame(run.stage->role, m));
  t.cycles = steady.cycles;
  t.stall_cycles = steady.stall_weights + steady.stall_activations + steady.stall_program;
  t.running_cycles = run.stream.running_cycles;
  t.weight_bytes = steady.weight_bytes;
  t.activation_bytes = steady.activation_in_bytes + steady.activation_out_bytes;
  t.program_bytes = steady.program_bytes;
  t.psram_peak_bytes = run.stream.psram_peak_bytes;
  t.energy = run.energy;
  return t;
}

ApplicationTotals application_totals(const Application& application) {
  ApplicationTotals totals;
  for (const CompiledStage& stage : application.stages) {
    for (const Instruction& i : stage.program.instructions) {
      totals.dsram_peak = std::max({totals.dsram_peak, i.dsram_read_side, i.dsram_write_side});
      totals.stackram_peak = std::max(totals.stackram_peak, i.stackram);
    }
    for (const InstructionClass& c : stage.program.classes)
      if (c.formats) totals.formats.push_back(*c.formats);
  }
  return totals;
}

ChipTotals chip_totals(const Application& application, const ApplicationTotals& totals, const Machine& m,
                       Bound bound) {
  if (application.chip) return chip_totals(*application.chip, application_totals(*application.chip), m, bound);
  ChipTotals chip;
  std::size_t block = 0;
  const Widest widest = widest_formats(totals.formats, m);
  chip.block_mm2 = block_areas(application, widest, m, bound);
  for (const double mm2 : chip.block_mm2) {
    const StandingArea its = standing_of(area_blocks[block++], mm2, m, bound);
    chip.area_mm2 += mm2;
    chip.standing.logic_mm2 += its.logic_mm2;
    chip.standing.sram_mib += its.sram_mib;
  }
  chip.dies = die_areas(application, widest, chip.area_mm2, m, bound);
  chip.slowest = slowest_circuit(application, widest, m);
  chip.sram_bytes = sram_bytes(application, m);
  chip.mac_lanes = built_mac_lanes(application, m);
  return chip;
}

Breakdown area_of(const ChipTotals& chip, const BuiltDram& dram, const BuiltLinks& links, const Machine& m) {
  Breakdown area;
  for (std::size_t block = 0; block < area_blocks.size(); ++block) {
    const std::string_view name = area_blocks[block];
    if (name == "fefet" && m.in_memory_weights != InMemoryWeights::fefet) continue;
    if (name == "crossbar" && !has_crossbar(m)) continue;
    area.emplace_back(name, chip.block_mm2[block]);
  }
  if (dram.area_mm2 > 0) area.emplace_back("dram", dram.area_mm2);
  if (links.area_mm2 > 0) area.emplace_back("die_links", links.area_mm2);
  return area;
}

namespace {

void add_stage(const StageTotals& stage, const Machine& m, Frame& frame) {
  const PeriodPasses use = period_passes(*stage.stage, stage.schedule, frame.cycles.together, m);
  frame.weight_bytes += use.shared * stage.weight_bytes;
  frame.program_bytes += use.shared * stage.program_bytes;
  frame.activation_bytes += use.shared * stage.activation_bytes;
  frame.made_macs += static_cast<double>(stage.made_macs) * static_cast<double>(use.own);
  frame.energy += stage.energy.core * static_cast<double>(use.own);
  frame.energy += stage.energy.shared * static_cast<double>(use.shared);
  frame.energy[EnergyPart::die_links] += stage.energy.hand_over_j;
}

double ratio(std::int64_t a, std::int64_t b) {
  if (b == 0) return a == 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(a) / static_cast<double>(b);
}

constexpr double operations_of_mac = 2, tera = 1e12;

}  // namespace

PeriodPasses period_passes(const CompiledStage& stage, const FrameSchedule& schedule, std::int64_t together,
                           const Machine& m) {
  const Role role = stage.role;
  if (!on_chip(role, m) || (role == Role::text_encoder && !m.prompt_per_frame)) return {};
  if (role == Role::core) return {schedule.steps_per_core, m.steps * together};
  return {together, together * (role == Role::network ? schedule.active_cores : 1)};
}

Frame frame_of(std::span<const StageTotals> stages, const Machine& m) {
  Frame frame;
  const auto role_of = [](const StageTotals& s) { return s.stage->role; };
  in_turn(stages, m, role_of, [&](std::size_t i) {
    const StageTotals& s = stages[i];
    frame.cycles.add({s.stage, s.schedule, s.alone_cycles, s.cycles, s.link_cycles}, i, m);
    add_stage(s, m, frame);
  });
  frame.cycles.end(stages.front().cycles);
  return frame;
}

StandingPower standing_power(const StandingArea& standing, const BuiltDram& dram, const BuiltLinks& links,
                             const Supply& supply, const Machine& m, Bound bound) {
  const Process process = process_of(m, bound);
  return {leakage_watts(process, SquareMm(standing.logic_mm2), standing.sram_mib, supply),
          clock_tree_energy(process).value * standing.logic_mm2 * supply.logic, dram.phy_w, dram.background_w,
          links.standing_w};
}

Energy StandingPower::over(double cycles, const Machine& m) const {
  Energy energy;
  energy[EnergyPart::clock] = clock_j_per_cycle * cycles;
  const double seconds = cycles / (static_cast<double>(m.core_clock_mhz) * 1e6);
  energy[EnergyPart::leakage] = leakage_w * seconds;
  energy[EnergyPart::dram_phy] = phy_w * seconds;
  energy[EnergyPart::dram_background] = background_w * seconds;
  energy[EnergyPart::die_links] = links_w * seconds;
  return energy;
}

Energy frame_energy(const Frame& frame, const StandingPower& standing, const Machine& m) {
  Energy energy = frame.energy;
  energy += standing.over(static_cast<double>(frame.cycles.period()), m);
  return energy * (1.0 / static_cast<double>(frame.cycles.frames * m.batch));
}

PricedFrame price_frame(std::vector<StageTotals> stages, const ChipTotals& chip, const Supply& supply,
                        const Machine& m, Bound bound) {
  PricedFrame priced;
  priced.stages = std::move(stages);
  priced.frame = frame_of(priced.stages, m);
  priced.dram = built_dram(m, bound);
  priced.links = built_links(m, bound);
  priced.standing = standing_power(chip.standing, priced.dram, priced.links, supply, m, bound);
  priced.energy = frame_energy(priced.frame, priced.standing, m);
  return priced;
}

namespace {

/// `area_mm2`: of the chip, DRAM's PHYs and controllers and links between dies included.
MetricValues values_of(const PricedFrame& priced, const ApplicationTotals& totals, const ChipTotals& chip,
                       double area_mm2, const Price& price, const Machine& m) {
  const Frame& frame = priced.frame;
  const double energy = priced.energy.total();
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const FrameCycles<std::int64_t>& cycles = frame.cycles;
  const StageTotals& main = priced.stages[*cycles.main];
  const auto frames = static_cast<double>(cycles.frames * m.batch);
  MetricValues v{};
  const auto set = [&](Metric metric, double value) { v[metric] = value; };
  const double period = (Cycles(cycles.period()) / clock).value;
  const double latency = (Cycles(cycles.alone) / clock).value;
  const std::int64_t lanes = stage_mac_lanes(*main.stage, m) * main.spread_cores;
  std::int64_t psram{}, products{};
  for (const StageTotals& stage : priced.stages) {
    psram = std::max(psram, stage.psram_peak_bytes);
    products = std::max(products, stage.products_in_mac);
  }
  const double power = energy * frames / period, tops = operations_of_mac * frame.made_macs / period / tera;
  const double peak = operations_of_mac * chip.mac_lanes * static_cast<double>(products) * clock.value / tera;
  const auto frame_bytes = static_cast<double>(frame.weight_bytes + frame.activation_bytes + frame.program_bytes);
  const std::int64_t pass_bytes = main.weight_bytes + main.activation_bytes + main.program_bytes;
  set(Metric::throughput_fps, frames / period);
  set(Metric::latency_s, latency);
  set(Metric::stream_latency_s, (Cycles(cycles.waits * cycles.period() + cycles.drain) / clock).value);
  set(Metric::step_cycles, static_cast<double>(main.cycles));
  set(Metric::stall_share, ratio(main.stall_cycles, main.running_cycles));
  set(Metric::utilization,
      static_cast<double>(main.mac_cycles) / (static_cast<double>(main.cycles) * static_cast<double>(lanes)));
  set(Metric::dram_bytes_per_frame, frame_bytes / frames);
  set(Metric::weight_bytes_per_frame, static_cast<double>(frame.weight_bytes) / frames);
  set(Metric::activation_bytes_per_frame, static_cast<double>(frame.activation_bytes) / frames);
  set(Metric::program_bytes_per_frame, static_cast<double>(frame.program_bytes) / frames);
  set(Metric::dram_bytes_over_bound,
      ratio(pass_bytes, bound_dram_bytes<std::int64_t>(*main.stage, main.schedule.active_cores, m)));
  set(Metric::cycles_over_bound, ratio(main.cycles, main.bound_cycles));
  set(Metric::energy_j_per_frame, energy);
  set(Metric::power_w, power);
  set(Metric::area_mm2, area_mm2);
  set(Metric::sram_bytes, static_cast<double>(chip.sram_bytes));
  set(Metric::dsram_peak_bytes, static_cast<double>(totals.dsram_peak.value));
  set(Metric::stackram_peak_bytes, static_cast<double>(totals.stackram_peak.value));
  set(Metric::psram_peak_bytes, static_cast<double>(psram));
  set(Metric::active_cores, static_cast<double>(main.schedule.active_cores * main.spread_cores));
  set(Metric::tops, tops);
  set(Metric::tops_peak, peak);
  set(Metric::ops_per_dram_byte, frame_bytes > 0 ? operations_of_mac * frame.made_macs / frame_bytes
                                                 : std::numeric_limits<double>::quiet_NaN());
  set(Metric::price_usd, price.total());
  set(Metric::million_images_usd, million_images_usd(price, frames / period, energy, m));
  for (const DerivedMetric& row : derived_metrics()) {
    const auto& [first, second] = row.of;
    set(row.metric, row.from(v[first], v[second]));
  }
  return v;
}

}  // namespace

double die_watts(const Energy& frame, double frames_per_s) {
  double joules = frame.total();
  for (const EnergyPart dram : {EnergyPart::dram_weights, EnergyPart::dram_activations, EnergyPart::dram_program,
                                EnergyPart::dram_turns, EnergyPart::dram_background})
    joules -= frame[dram];
  return joules * frames_per_s;
}

Outcome outcome_of(const PricedFrame& priced, const ApplicationTotals& totals, const ChipTotals& chip,
                   const Supply& supply, std::string broken, const Machine& m) {
  const std::array<BuiltDie, 3> dies = built_dies(chip.dies, priced.dram, priced.links);
  const double area_mm2 = chip.area_mm2 + (priced.dram.area_mm2 + priced.links.area_mm2);
  Outcome outcome;
  outcome.values = values_of(priced, totals, chip, area_mm2, price_of(dies, m), m);
  outcome.reason = std::move(broken);
  if (outcome.reason.empty()) outcome.reason = broken_clock(chip.slowest, supply, m);
  if (outcome.reason.empty()) outcome.reason = broken_dies(dies, m);
  if (outcome.reason.empty()) {
    const double fps = outcome.values[Metric::throughput_fps];
    if (const auto heat = heat_of(die_watts(priced.energy, fps), area_mm2, m)) outcome.reason = broken_heat(*heat);
  }
  outcome.feasible = outcome.reason.empty();
  return outcome;
}

}  // namespace sdip
