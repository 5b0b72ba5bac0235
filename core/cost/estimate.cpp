// estimate and evaluate: passes to frames, frames to metrics.
#include "core/cost/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cost/area.h"
#include "core/cost/fpga.h"
#include "core/cost/micro_operations.h"
#include "core/cost/stage.h"

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
  const auto use = fpga_use(application, m);
  return !use || use->fits ? std::string() : lacking(*use, m);
}

/// Sums over the stages that a frame passes through.
struct Frame {
  std::int64_t period_cycles = 0, alone_cycles = 0, drain_cycles = 0, waits = 0;
  std::int64_t weight_bytes = 0, activation_bytes = 0, program_bytes = 0;  // of `frames`
  std::int64_t frames = 1;
  Energy energy;                   // of `frames`
  const StageRun* main = nullptr;  // the diffusion step, or the network
};

void add_stage(const StageRun& run, const Machine& m, Frame& frame) {
  const Role role = run.stage->role;
  const PassCost& steady = run.steady();
  const bool per_prompt = role == Role::text_encoder;
  const std::int64_t first = run.alone.passes[0].cycles;
  if (!on_chip(role, m)) return;
  if (role == Role::core) {
    const std::int64_t steps = run.schedule.steps_per_core;
    frame.main = &run;
    frame.period_cycles = std::max(frame.period_cycles, steps * steady.cycles + run.link_cycles);
    frame.alone_cycles += run.alone.total(m.steps) + run.schedule.active_cores * run.link_cycles;
    frame.waits += run.schedule.active_cores;
    frame.weight_bytes += steps * steady.weight_bytes;
    frame.program_bytes += steps * steady.program_bytes;
    frame.activation_bytes += steps * (steady.activation_in_bytes + steady.activation_out_bytes);
    frame.energy += run.core * static_cast<double>(m.steps);
    frame.energy += run.shared * static_cast<double>(steps);
    return;
  }
  frame.alone_cycles += first;
  if (run.stage->part.count > 1) {  // in series with the others: the longest sets the pace, links included
    const std::int64_t cycles = steady.cycles + run.link_cycles;
    if (cycles > frame.period_cycles) frame.main = &run;
    frame.period_cycles = std::max(frame.period_cycles, cycles);
    frame.alone_cycles += run.link_cycles;
    frame.waits += 1;
    frame.weight_bytes += steady.weight_bytes;
    frame.program_bytes += steady.program_bytes;
    frame.activation_bytes += steady.activation_in_bytes + steady.activation_out_bytes;
    frame.energy += run.core;
    frame.energy += run.shared;
    return;
  }
  if (per_prompt && !m.prompt_per_frame) return;
  if (role == Role::network) frame.main = &run;
  const std::int64_t copies = role == Role::network ? run.schedule.active_cores : 1;
  frame.frames *= copies;
  frame.period_cycles =
      per_prompt ? frame.period_cycles + steady.cycles : std::max(frame.period_cycles, steady.cycles);
  if (role == Role::encoder) frame.waits += 1;
  if (role == Role::decoder || role == Role::network) frame.drain_cycles += steady.cycles;
  frame.weight_bytes += steady.weight_bytes;
  frame.program_bytes += steady.program_bytes;
  frame.activation_bytes += steady.activation_in_bytes + steady.activation_out_bytes;
  frame.energy += run.core * static_cast<double>(copies);
  frame.energy += run.shared;
}

/// Stages in an order such that a text encoder made per frame lengthens the cores' own time, not the longest
/// stage's.
Frame frame_of(const std::vector<StageRun>& runs, const Machine& m) {
  Frame frame;
  const auto add = [&](auto&& wanted) {
    for (const StageRun& run : runs)
      if (wanted(run.stage->role)) add_stage(run, m, frame);
  };
  add([](Role role) { return role == Role::core || role == Role::network; });
  add([](Role role) { return role == Role::text_encoder; });
  add([](Role role) { return role == Role::encoder || role == Role::decoder; });
  if (!frame.main) {
    frame.main = &runs.front();
    frame.period_cycles = std::max(frame.period_cycles, runs.front().steady().cycles);
  }
  return frame;
}

double ratio(std::int64_t a, std::int64_t b) {
  if (b == 0) return a == 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(a) / static_cast<double>(b);
}

double whole_area(const Application& application, const Machine& m, Bound bound) {
  double area = 0;
  for (const auto& [block, mm2] : area_of(application, m, bound)) area += mm2;
  return area;
}

/// What a frame takes, and what the chip leaks while it is in the seats of a saturated stream.
Energy frame_energy(const Frame& frame, double area, const Machine& m, Bound bound) {
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const double watts = leakage_watts({m.technology_node, bound}, SquareMm(area));
  Energy energy = frame.energy;
  energy[EnergyPart::leakage] = watts * (Cycles(frame.period_cycles) / clock).value;
  return energy * (1.0 / static_cast<double>(frame.frames * m.batch));
}

MetricValues values_of(const Application& application, const std::vector<StageRun>& runs, const Frame& frame,
                       double area, const Machine& m) {
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const StageRun& main = *frame.main;
  const PassCost& steady = main.steady();
  const auto frames = static_cast<double>(frame.frames * m.batch);
  MetricValues v{};
  const auto set = [&](Metric metric, double value) { v[static_cast<std::size_t>(metric)] = value; };
  const double period = (Cycles(frame.period_cycles) / clock).value;
  const double latency = (Cycles(frame.alone_cycles) / clock).value;
  std::int64_t lanes = 0;
  Bytes dsram, stackram, psram;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    if (family != Family::conv2d && shares_macs(m)) continue;
    const ArrayLanes array = array_lanes(family, m);
    lanes += array.rows * array.channels * array.sum;
  }
  for (const StageRun& run : runs) {
    for (const Instruction& i : run.stage->program.instructions) {
      dsram = std::max({dsram, i.dsram_read_side, i.dsram_write_side});
      stackram = std::max(stackram, i.stackram);
    }
    psram = std::max(psram, Bytes(run.stream.psram_peak_bytes));
  }
  const double energy = frame_energy(frame, area, m, Bound::value).total();
  const std::int64_t pass_bytes =
      steady.weight_bytes + steady.activation_in_bytes + steady.activation_out_bytes + steady.program_bytes;
  set(Metric::throughput_fps, frames / period);
  set(Metric::latency_s, latency);
  set(Metric::stream_latency_s, (Cycles(frame.waits * frame.period_cycles + frame.drain_cycles) / clock).value);
  set(Metric::step_cycles, static_cast<double>(steady.cycles));
  set(Metric::stall_share,
      ratio(steady.stall_weights + steady.stall_activations + steady.stall_program, main.stream.running));
  lanes *= main.schedule.spread_cores;
  set(Metric::utilization,
      static_cast<double>(main.spent_macs) / (static_cast<double>(steady.cycles) * static_cast<double>(lanes)));
  set(Metric::dram_bytes_per_frame,
      static_cast<double>(frame.weight_bytes + frame.activation_bytes + frame.program_bytes) / frames);
  set(Metric::weight_bytes_per_frame, static_cast<double>(frame.weight_bytes) / frames);
  set(Metric::activation_bytes_per_frame, static_cast<double>(frame.activation_bytes) / frames);
  set(Metric::program_bytes_per_frame, static_cast<double>(frame.program_bytes) / frames);
  set(Metric::dram_bytes_over_bound, ratio(pass_bytes, bound_dram_bytes(main, m)));
  set(Metric::cycles_over_bound, ratio(steady.cycles, main.bound_cycles));
  set(Metric::energy_j_per_frame, energy);
  set(Metric::power_w, energy * frames / period);
  set(Metric::area_mm2, area);
  set(Metric::edp_js, energy * latency);
  set(Metric::sram_bytes, static_cast<double>(sram_bytes(application, m)));
  set(Metric::dsram_peak_bytes, static_cast<double>(dsram.value));
  set(Metric::stackram_peak_bytes, static_cast<double>(stackram.value));
  set(Metric::psram_peak_bytes, static_cast<double>(psram.value));
  set(Metric::active_cores, static_cast<double>(main.schedule.active_cores * main.schedule.spread_cores));
  return v;
}

Breakdown breakdown(const Energy& energy) {
  Breakdown parts;
  for (std::size_t part = 0; part < energy_part_count; ++part)
    parts.emplace_back(energy_part_text(static_cast<EnergyPart>(part)), energy.joules[part]);
  return parts;
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
  const Frame frame = frame_of(runs, machine);
  outcome.feasible = true;
  const double area = whole_area(application, machine, Bound::value);
  outcome.values = values_of(application, runs, frame, area, machine);
  if (!report) return outcome;
  fill_report(application, machine, runs, traces, *report);
  report->energy_j = breakdown(frame_energy(frame, area, machine, Bound::value));
  const auto at = [&](Bound bound) {
    for (StageRun& run : runs) price_pass(run, machine, bound);
    return breakdown(
        frame_energy(frame_of(runs, machine), whole_area(application, machine, bound), machine, bound));
  };
  report->energy_ranges_j.least = at(Bound::least);
  report->energy_ranges_j.most = at(Bound::most);
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
