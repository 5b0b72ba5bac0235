// estimate and evaluate: stages to passes, passes to frames, frames to metrics.
#include "core/cost/estimate.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/cost/area.h"
#include "core/cost/circuit.h"
#include "core/cost/energy.h"
#include "core/cost/timeline.h"

namespace sdip {
namespace {

constexpr std::int64_t most_simulated_passes = 64;

/// How the stream of frames meets the cores.
struct Schedule {
  std::int64_t steps_per_core = 1, active_cores = 1;
};

Schedule schedule_of(Role role, const Machine& m) {
  if (role == Role::network) return {1, m.cores};
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

/// One stage, costed: counters of a pass and its times alone and in a saturated stream.
struct StageRun {
  const CompiledStage* stage = nullptr;
  Schedule schedule;
  std::vector<ClassCost> costs;
  TimelineResult stream, alone;
  Busy busy;
  std::int64_t macs = 0, spent_macs = 0, bound_cycles = 0, link_cycles = 0;
  Energy core, shared;  // a pass: one core's own (its activations through DRAM too), and what all cores share

  const PassCost& steady() const { return stream.passes[stream.steady]; }
};

void count_pass(StageRun& run, const Machine& m) {
  const Program& program = run.stage->program;
  const EnergyPrices prices = energy_prices(m);
  std::vector<std::int64_t> uses(run.costs.size(), 0);
  for (const Instruction& instruction : program.instructions)
    ++uses[static_cast<std::size_t>(instruction.instruction_class)];
  std::array<std::int64_t, 3> family_macs{};
  for (std::size_t c = 0; c < run.costs.size(); ++c) {
    const ClassCost& cost = run.costs[c];
    run.busy += cost.busy * uses[c];
    run.macs += cost.macs * uses[c];
    run.spent_macs += cost.spent_macs * uses[c];
    if (cost.plan.nest)
      family_macs[static_cast<std::size_t>(program.classes[c].work.family)] += cost.spent_macs * uses[c];
    run.core += core_energy(cost, prices) * static_cast<double>(uses[c]);
  }
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    const ArrayLanes lanes = array_lanes(family, m);
    run.bound_cycles +=
        ceil_div(family_macs[static_cast<std::size_t>(family)], lanes.rows * lanes.channels * lanes.sum);
  }
  const PassCost& steady = run.steady();
  run.core +=
      spill_energy((steady.activation_in_bytes + steady.activation_out_bytes) / run.schedule.active_cores, prices);
  run.shared = shared_energy(run.busy.psram_read, steady.weight_bytes, steady.weight_psram_bytes, prices);
}

/// Nothing when a pass is too long to be counted.
std::optional<StageRun> run_stage(const CompiledStage& stage, const Machine& m,
                                  std::vector<InstructionTime>* trace) {
  StageRun run;
  run.stage = &stage;
  run.schedule = schedule_of(stage.role, m);
  run.costs.reserve(stage.program.classes.size());
  bool spills = false;
  for (const InstructionClass& c : stage.program.classes) {
    run.costs.push_back(class_cost(c, m));
    spills |= run.costs.back().streams_activations;
  }
  const Decimal share = share_of(stage.role, m);
  const Bytes pinned = stage.program.pinned_bytes;
  const auto rules = timeline_rules(m, share, run.schedule.active_cores, pinned);
  const std::int64_t summed = 2 * std::max({most_simulated_passes, m.steps, m.cores});
  if (!countable(stage.program, run.costs, rules, summed)) return std::nullopt;
  run.stream = run_timeline(stage.program, run.costs, rules, most_simulated_passes, trace);
  const bool same_alone = !spills || run.schedule.active_cores == 1;
  run.alone = same_alone ? run.stream
                         : run_timeline(stage.program, run.costs, timeline_rules(m, share, 1, pinned),
                                        most_simulated_passes);
  run.link_cycles = ceil_div((stage.program.latent_bytes + stage.program.context_bytes).value * 8, m.link_bits);
  count_pass(run, m);
  return run;
}

/// Why the machine cannot run the application although it compiled; empty when it can.
std::string infeasible(const Application& application, const Machine& m) {
  if (!application.feasible) return application.reason;
  if (application.stages.empty()) return "no stage to run";
  for (const CompiledStage& stage : application.stages) {
    const std::int64_t needed =
        static_cast<std::int64_t>(stage.program.instructions.size()) * instruction_word_bits / 8;
    if (needed > m.imem_bytes)
      return stage.name + ": the program needs " + std::to_string(needed) + " B of IMEM, which has " +
             std::to_string(m.imem_bytes);
  }
  return {};
}

bool on_chip(Role role, const Machine& m) {
  return m.vae_stage == VaeStage::core || (role != Role::encoder && role != Role::decoder);
}

/// Sums over the stages that a frame passes through.
struct Frame {
  std::int64_t period_cycles = 0, alone_cycles = 0, drain_cycles = 0, waits = 0;
  std::int64_t weight_bytes = 0, activation_bytes = 0;  // of `frames`
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
    frame.activation_bytes += steps * (steady.activation_in_bytes + steady.activation_out_bytes);
    frame.energy += run.core * static_cast<double>(m.steps);
    frame.energy += run.shared * static_cast<double>(steps);
    return;
  }
  frame.alone_cycles += first;
  if (per_prompt && !m.prompt_per_frame) return;
  if (role == Role::network) frame.main = &run;
  const std::int64_t copies = role == Role::network ? m.cores : 1;
  frame.frames *= copies;
  frame.period_cycles =
      per_prompt ? frame.period_cycles + steady.cycles : std::max(frame.period_cycles, steady.cycles);
  (role == Role::encoder ? frame.waits : frame.drain_cycles) += role == Role::encoder ? 1 : steady.cycles;
  frame.weight_bytes += steady.weight_bytes;
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
  if (!frame.main && !runs.empty()) {
    frame.main = &runs.front();
    frame.period_cycles = std::max(frame.period_cycles, runs.front().steady().cycles);
  }
  return frame;
}

std::int64_t bound_dram_bytes(const StageRun& run, const Machine& m) {
  const Program& program = run.stage->program;
  const bool wired = m.weight_storage == WeightStorage::hard_coded;
  const std::int64_t weights =
      wired ? 0 : std::max<std::int64_t>(0, program.distinct_weight_bytes.value - m.psram_bytes);
  return weights + (program.input_bytes.value + program.output_bytes.value) * run.schedule.active_cores;
}

double ratio(std::int64_t a, std::int64_t b) {
  if (b == 0) return a == 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(a) / static_cast<double>(b);
}

MetricValues values_of(const Application& application, const std::vector<StageRun>& runs, const Frame& frame,
                       const Machine& m) {
  const Hertz clock(static_cast<double>(m.core_clock_mhz) * 1e6);
  const StageRun& main = *frame.main;
  const PassCost& steady = main.steady();
  const auto frames = static_cast<double>(frame.frames * m.batch);
  MetricValues v{};
  const auto set = [&](Metric metric, double value) { v[static_cast<std::size_t>(metric)] = value; };
  const double period = (Cycles(frame.period_cycles) / clock).value;
  const double latency = (Cycles(frame.alone_cycles) / clock).value;
  std::int64_t lanes = 0, dsram = 0, stackram = 0, psram = 0;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    if (family != Family::conv2d && m.mac_sharing == MacSharing::shared) continue;
    const ArrayLanes array = array_lanes(family, m);
    lanes += array.rows * array.channels * array.sum;
  }
  for (const StageRun& run : runs) {
    for (const Instruction& i : run.stage->program.instructions) {
      dsram = std::max({dsram, i.dsram_read_side.value, i.dsram_write_side.value});
      stackram = std::max(stackram, i.stackram.value);
    }
    psram = std::max(psram, run.stream.psram_peak_bytes);
  }
  double area = 0;
  for (const auto& [part, mm2] : area_of(application, m)) area += mm2;
  const double energy = frame.energy.total() / frames;
  const std::int64_t pass_bytes = steady.weight_bytes + steady.activation_in_bytes + steady.activation_out_bytes;
  set(Metric::throughput_fps, frames / period);
  set(Metric::latency_s, latency);
  set(Metric::stream_latency_s, (Cycles(frame.waits * frame.period_cycles + frame.drain_cycles) / clock).value);
  set(Metric::step_cycles, static_cast<double>(steady.cycles));
  set(Metric::stall_share, ratio(steady.stall_weights + steady.stall_activations, steady.cycles));
  set(Metric::utilization,
      static_cast<double>(main.spent_macs) / (static_cast<double>(steady.cycles) * static_cast<double>(lanes)));
  set(Metric::dram_bytes_per_frame, static_cast<double>(frame.weight_bytes + frame.activation_bytes) / frames);
  set(Metric::weight_bytes_per_frame, static_cast<double>(frame.weight_bytes) / frames);
  set(Metric::activation_bytes_per_frame, static_cast<double>(frame.activation_bytes) / frames);
  set(Metric::dram_bytes_over_bound, ratio(pass_bytes, bound_dram_bytes(main, m)));
  set(Metric::cycles_over_bound, ratio(steady.cycles, main.bound_cycles));
  set(Metric::energy_j_per_frame, energy);
  set(Metric::power_w, energy * frames / period);
  set(Metric::area_mm2, area);
  set(Metric::edp_js, energy * latency);
  set(Metric::sram_bytes, static_cast<double>(sram_bytes(application, m)));
  set(Metric::dsram_peak_bytes, static_cast<double>(dsram));
  set(Metric::stackram_peak_bytes, static_cast<double>(stackram));
  set(Metric::psram_peak_bytes, static_cast<double>(psram));
  set(Metric::active_cores, static_cast<double>(main.schedule.active_cores));
  return v;
}

InstructionCost instruction_cost(const StageRun& run, std::size_t number, const InstructionTime& time,
                                 const Machine& m) {
  const Instruction& instruction = run.stage->program.instructions[number];
  const ClassCost& cost = run.costs[static_cast<std::size_t>(instruction.instruction_class)];
  const EnergyPrices prices = energy_prices(m);
  const std::int64_t cores = run.schedule.active_cores;
  InstructionCost c;
  c.start = Cycles(time.start);
  c.end = Cycles(time.end);
  const std::int64_t needs[resource_count] = {
      cost.busy.compute,       cost.busy.dsram_read,     cost.busy.dsram_write,
      cost.busy.stackram_read, cost.busy.stackram_write, cost.busy.psram_read,
      time.overhead,           time.stall_weights,       time.stall_activations};
  for (std::size_t r = 0; r < resource_count; ++r) c.busy[r] = Cycles(needs[r]);
  const auto longest = std::max_element(std::begin(needs), std::end(needs));
  c.limiter = static_cast<Resource>(longest - std::begin(needs));
  c.stall_weights = Cycles(time.stall_weights);
  c.stall_activations = Cycles(time.stall_activations);
  c.dram_weights = Bytes(time.weight_bytes);
  c.dram_activations_in = Bytes(time.activation_in_bytes / cores);
  c.dram_activations_out = Bytes(time.activation_out_bytes / cores);
  c.dsram_read_side = instruction.dsram_read_side;
  c.dsram_write_side = instruction.dsram_write_side;
  c.stackram = instruction.stackram;
  c.psram = Bytes(time.psram_bytes);
  c.macs = Macs(cost.macs);
  Energy energy = core_energy(cost, prices);
  energy += shared_energy(cost.busy.psram_read, time.weight_bytes, time.weight_psram_bytes, prices);
  energy += spill_energy((time.activation_in_bytes + time.activation_out_bytes) / cores, prices);
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
  r.dram_weights = Bytes(steady.weight_bytes);
  r.dram_activations = Bytes(steady.activation_in_bytes + steady.activation_out_bytes);
  r.weight_bytes = program.stored_weight_bytes;
  r.imem_bytes = Bytes(static_cast<std::int64_t>(program.instructions.size()) * instruction_word_bits / 8);
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
  if (core) latency.emplace_back("link", (Cycles(run.schedule.active_cores * run.link_cycles) / clock).value);
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
  for (const StageRun& run : runs)
    if (!run.stream.repeats)
      notes.push_back(run.stage->name + ": no steady state within " + std::to_string(most_simulated_passes) +
                      " passes; the last pass stands for it.");
  return notes;
}

Outcome assess(const Application& application, const Machine& machine, Report* report) {
  Outcome outcome;
  outcome.reason = infeasible(application, machine);
  outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  if (!outcome.reason.empty()) return outcome;
  std::vector<StageRun> runs;
  std::vector<std::vector<InstructionTime>> traces(application.stages.size());
  runs.reserve(application.stages.size());
  for (std::size_t s = 0; s < application.stages.size(); ++s) {
    auto run = run_stage(application.stages[s], machine, report ? &traces[s] : nullptr);
    if (!run) {
      outcome.reason = application.stages[s].name + ": takes more cycles than 64 bits count";
      return outcome;
    }
    runs.push_back(std::move(*run));
  }
  const Frame frame = frame_of(runs, machine);
  outcome.feasible = true;
  outcome.values = values_of(application, runs, frame, machine);
  if (!report) return outcome;
  std::int64_t loaded = 0;
  for (std::size_t s = 0; s < runs.size(); ++s) {
    report->stages.push_back(stage_report(runs[s], traces[s], machine));
    add_latency(runs[s], machine, report->latency_s);
    loaded += report->stages.back().weight_bytes.value + report->stages.back().imem_bytes.value;
  }
  const double frames = static_cast<double>(frame.frames * machine.batch);
  for (std::size_t part = 0; part < energy_part_count; ++part)
    report->energy_j.emplace_back(energy_part_text(static_cast<EnergyPart>(part)),
                                  frame.energy.joules[part] / frames);
  report->area_mm2 = area_of(application, machine);
  report->load_cycles = dram_rate(machine, Decimal{100}).time_for(Bytes(loaded));
  report->notes = notes_of(runs, machine);
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
