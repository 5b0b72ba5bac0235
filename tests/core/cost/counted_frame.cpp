// What a report must say of an application, from counts and docs/model/ alone.
#include "tests/core/cost/counted_frame.h"

#include <cmath>
#include <limits>

#include "core/exec/clock/operations.h"
#include "core/exec/walk/resolve.h"
#include "core/machine/rate.h"
#include "core/machine/technology.h"
#include "tests/core/cost/counted_work.h"
#include "tests/core/cost/price/counted_dies.h"
#include "tests/core/cost/price/counted_technology.h"
#include "tests/core/exec/pass_sum.h"

namespace sdip {
namespace {

using namespace counting;

constexpr std::size_t passes_stepped = 64;  // as many as are estimated: phases of the channel may drift for long

/// docs/model/energy.md, for one instruction of one core, and what all cores share.
struct Events {
  const Machine& m;
  Role role;
  Wires wires;
  CountedStanding standing;
  std::int64_t dies;  // of the whole machine

  /// Joules of a byte from DRAM on any die, each as often, to the first or the last.
  double gathered_j() const { return 4 * real(dies - 1) * counted_row("link.energy") * 1e-12; }
  bool on_all() const { return role == Role::core || role == Role::network; }
  /// Cycles that links take for a beat.
  std::int64_t pace() const {
    std::int64_t cycles = 0;
    for (std::int64_t left = m.psram_port_bits; left > 0; left -= m.die_link_bits) ++cycles;
    return on_all() && dies > 1 ? cycles : 1;
  }

  double beat(std::int64_t capacity, std::int64_t bits) const {
    return sram_energy(m.technology_node, Bytes((capacity + m.sram_banks - 1) / m.sram_banks), Bits(bits)).value;
  }
  std::int64_t dsram() const {
    if (m.activation_memory == ActivationMemory::unified) return 2 * m.dsram_bytes + m.stackram_bytes;
    std::int64_t largest = 0;
    for (std::size_t f = 0; f < wires.pairs.size(); ++f)
      largest = std::max(largest, counted_pair_bytes(m, static_cast<Family>(f)));
    return largest;
  }

  /// Beats of each DSRAM pair's ports, one core's.
  std::vector<std::int64_t> pair_beats(const InstructionClass& c, const InstructionCounts& i) const {
    std::vector<std::int64_t> beats(wires.pairs.size(), 0);
    std::int64_t own = i.dsram_read_beats + i.dsram_write_beats;
    for (const exec::Operation& o : exec::expand(c, m, role))
      for (std::size_t f = 0; f < beats.size() && beats.size() > 1; ++f) {
        beats[f] += o.needs[exec::other_pair(static_cast<Family>(f))];
        own -= o.needs[exec::other_pair(static_cast<Family>(f))];
      }
    beats[beats.size() > 1 ? static_cast<std::size_t>(c.work.family) : 0] += own;
    return beats;
  }

  double along(std::int64_t bits, double mm) const {
    return real(bits) * mm * wire_energy(m.technology_node).value;
  }
  double stages(const InstructionClass& c, const InstructionCounts& i) const {
    if (exec::host_computes(c, m) || in_memory(c, m, role)) return 0;
    return real(i.compute_cycles) * counted_registers(c, m);
  }
  /// What all of it costs at the chip's supply.
  void supply(Joules8& joules) const {
    for (const char* part : {"mac", "vector", "broadcast", "ports", "clock"})
      if (joules.contains(part)) joules[part] *= standing.logic;
    for (const char* part : {"dsram", "stackram", "psram", "control"})
      if (joules.contains(part)) joules[part] *= standing.sram;
  }

  Joules8 own(const InstructionClass& c, const InstructionCounts& i, std::int64_t active) const {
    const NumberFormat wider = wider_format(m.activation_format, m.weight_format);
    const double cores = real(c.spread_cores),
                 bytes = real((i.activation_in_bytes + i.activation_out_bytes) / active);
    const bool of_weights = c.operand_b == Place::psram;
    const MacFormats formats{of_weights ? m.weight_format : m.activation_format, m.activation_format,
                             m.accumulator_format};
    const double product = mac_energy(m.technology_node, formats).value * composable_ratio(m, wider, "energy");
    Joules8 joules;
    joules["mac"] = cores * real(macs_of(c, m, false)) * product * spent_share(m, c.operand_b == Place::psram) +
                    cores * real(scalings_of(c, m)) *
                        scaling_energy(m.technology_node, m.weight_format, m.accumulator_format).value;
    if (in_memory(c, m, role)) {
      const double levels = std::exp2(real(std::min(m.fefet_input_bits, bits_of(m.activation_format)) - 1));
      joules["mac"] = cores * real(macs_of(c, m, false) * bits_of(m.activation_format) * bits_of(m.weight_format)) *
                          counted_row("fefet.product") * 1e-12 +
                      cores * conversions_of(c, m) * levels * counted_row("fefet.conversion") * 1e-12;
    }
    const double bit_j = counted_flop(m.technology_node, "energy") * 1e-12;
    const std::int64_t operand_bits = bits_of(wider);
    joules["mac"] += cores * bit_j *
                     (real((i.accumulator_writes + i.accumulator_reads) * bits_of(m.accumulator_format)) *
                          std::sqrt(real(m.accumulator_folds)) +
                      real(i.register_writes * operand_bits) * std::sqrt(real(m.weight_registers)));
    joules["vector"] =
        cores * real(lane_steps(c, m)) *
        mac_energy(m.technology_node, {m.activation_format, m.activation_format, m.activation_format}).value;
    joules["dsram"] = bytes * beat(dsram(), 8);
    const std::vector<std::int64_t> pairs = pair_beats(c, i);
    for (std::size_t f = 0; f < pairs.size(); ++f) {
      const std::int64_t side = pairs.size() > 1 ? counted_pair_bytes(m, static_cast<Family>(f)) : dsram();
      const double wire = pairs.size() > 1 ? wires.pairs[f] : wires.dsram;
      joules["dsram"] += cores * real(pairs[f]) * beat(side, m.dsram_port_bits);
      joules["ports"] += cores * real(pairs[f]) * along(m.dsram_port_bits, wire);
    }
    joules["stackram"] =
        cores * real(i.stackram_read_beats + i.stackram_write_beats) * beat(m.stackram_bytes, m.stackram_port_bits);
    if (stack_in_psram(m)) {
      const double stack = cores * real(i.psram_stack_beats);
      joules["psram"] = stack * beat(wires.psram_bytes, m.psram_port_bits);
      joules["ports"] += stack * along(m.psram_port_bits, wires.psram);
      joules["broadcast"] = stack * along(m.psram_port_bits, wires.to_a_core);
    }
    joules["dram_activations"] = bytes * dram_energy(m.technology_node, m.dram_kind, Bytes(1)).value;
    joules["dram_phy"] = bytes * counted_phy_byte(m);
    if (!on_all()) joules["die_links"] = bytes * gathered_j();
    joules["ports"] += bytes * along(8, wires.dsram) + cores *
                                                           real(i.stackram_read_beats + i.stackram_write_beats) *
                                                           along(m.stackram_port_bits, wires.stackram);
    joules["clock"] = cores * stages(c, i);
    supply(joules);
    return joules;
  }

  Joules8 shared(const InstructionCounts& i, std::int64_t stack_beats, std::int64_t words_bytes) const {
    const double weights = real((i.psram_read_beats - stack_beats) / pace());
    const double byte = dram_energy(m.technology_node, m.dram_kind, Bytes(1)).value;
    Joules8 joules;
    joules["psram"] = in_place(m, role) ? 0.0
                                        : weights * beat(wires.psram_bytes, m.psram_port_bits) +
                                              real(i.weight_bytes) * beat(wires.psram_bytes, 8);
    joules["dram_weights"] = real(i.weight_bytes) * byte;
    joules["dram_program"] = real(i.program_bytes) * byte;
    joules["dram_phy"] = real(i.weight_bytes + i.program_bytes) * counted_phy_byte(m);
    joules["dram_turns"] = real(i.turns) * counted_turn(m);
    joules["die_links"] = real(i.weight_bytes + i.program_bytes) * gathered_j();
    if (on_all())
      joules["die_links"] += (weights * real(m.psram_port_bits) / 8 + real(words_bytes)) * 2 * gathered_j();
    if (!in_place(m, role)) {
      joules["ports"] =
          weights * along(m.psram_port_bits, wires.psram) + real(i.weight_bytes) * along(8, wires.psram);
      joules["broadcast"] = weights * along(m.psram_port_bits, wires.broadcast);
    }
    joules["control"] = real(words_bytes) * sram_energy(m.technology_node, Bytes(m.imem_bytes), Bits(8)).value;
    supply(joules);
    return joules;
  }
};

/// docs/model/frames.md#bounds, over the instructions of a stage.
std::int64_t bound_cycles_of(const Program& program, const Machine& m, Role role) {
  const bool beside = m.operator_dsram == OperatorDsram::per_operator && m.mac_sharing == MacSharing::separate;
  std::int64_t sum = 0, longest = 0;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    std::int64_t mac_cycles = 0, of_rows = 0;
    for (const Instruction& i : program.instructions) {
      const InstructionClass& c = program.classes[static_cast<std::size_t>(i.instruction_class)];
      if (c.work.family != family) continue;
      if (in_memory(c, m, role))
        of_rows += rows_in_memory(c) * input_parts(m) * m.fefet_columns_per_converter * c.work.element_cycles;
      else
        mac_cycles += mac_cycles_of(c, m);
    }
    const std::int64_t cycles = (mac_cycles + counted_lanes(family, m) - 1) / counted_lanes(family, m) + of_rows;
    sum += cycles;
    longest = std::max(longest, cycles);
  }
  return beside ? longest : sum;
}

Decimal share_of(const CompiledStage& stage, const Machine& m) {
  if (stage.role == Role::core) return core_dram_share(m);
  if (stage.role == Role::encoder) return m.encoder_dram_share;
  if (stage.role == Role::decoder) return m.decoder_dram_share;
  return Decimal{stage.dram_thousandths / 10};
}

CountedStage counted_stage(const CompiledStage& stage, const CountedStanding& standing, const Machine& machine) {
  const Machine m = machine_of_stage(machine, stage.role);
  CountedStage s;
  s.stage = &stage;
  if (stage.role == Role::core) {
    s.steps_per_core = (m.steps + m.cores - 1) / m.cores;
    s.active_cores = s.cores_of_frame = (m.steps + s.steps_per_core - 1) / s.steps_per_core;
    if (crossed(m)) {
      s.steps_per_core = m.steps;
      s.active_cores = m.cores;
      s.cores_of_frame = 1;
    }
  }
  if (stage.role == Role::network && stage.part.count == 1 && m.branches == Branches::serial)
    s.active_cores = m.cores;
  const Program& program = stage.program;
  const Decimal share = share_of(stage, m);
  const StepCounts run = step(program, m, share, s.active_cores, passes_stepped, stage.role);
  s.settled = run.passes[passes_stepped - 1] == run.passes[passes_stepped - 2];
  s.steady = run.passes.back();
  s.pass = sum_of(s.steady);
  s.psram_peak_bytes = run.psram_peak_bytes;
  const auto alone_passes = static_cast<std::size_t>(stage.role == Role::core ? m.steps : 1);
  const StepCounts alone = step(program, m, share, 1, alone_passes, stage.role);
  s.cold_cycles = sum_of(run.passes[0]).end;
  for (const auto& pass : alone.passes) s.alone_cycles += sum_of(pass).end;
  const std::int64_t bits = (program.latent_bytes.value + program.context_bytes.value) * 8;
  const bool between_dies = stage.role == Role::core && counted_dies(machine) > 1;
  const std::int64_t wide = between_dies ? std::min(m.link_bits, m.die_link_bits) : m.link_bits;
  s.link_cycles = (bits + wide - 1) / wide + (between_dies ? m.die_link_cycles : 0);
  s.bound_cycles = bound_cycles_of(program, m, stage.role);
  const std::int64_t weights = in_place(m, stage.role) ? 0 : program.distinct_weight_bytes.value - m.psram_bytes;
  s.bound_dram_bytes = std::max<std::int64_t>(0, weights) +
                       (program.input_bytes.value + program.output_bytes.value) * s.active_cores;
  const Events events{m, stage.role, counted_wires(stage, machine), standing, counted_dies(machine)};
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const InstructionClass& c =
        program.classes[static_cast<std::size_t>(program.instructions[i].instruction_class)];
    s.spread_cores = std::max(s.spread_cores, c.spread_cores);
    s.macs += c.spread_cores * macs_of(c, m, false);
    const bool lanes = !in_memory(c, m, stage.role);
    if (lanes) s.mac_cycles += c.spread_cores * mac_cycles_of(c, m);
    s.made_macs += c.spread_cores * macs_of(c, m, lanes);
    if (lanes && macs_of(c, m, false) > 0)
      s.products_in_mac = std::max(s.products_in_mac, exec::multipliers_found(c, m));
    const std::int64_t words = is_circuit(m, stage.role)
                                   ? 0
                                   : exec::words_bytes(program.instructions[i], exec::expand(c, m, stage.role), m);
    const Joules8 own = events.own(c, s.steady[i], s.active_cores),
                  shared = events.shared(s.steady[i],
                                         s.active_cores * c.spread_cores * s.steady[i].psram_stack_beats, words);
    add(s.own, own);
    add(s.shared, shared);
    s.instruction_joules.push_back(all_of(own) + all_of(shared));
  }
  return s;
}

/// docs/model/frames.md: a frame's way through the stages.
struct Way {
  std::int64_t core_period = 0, period = 0, alone_cycles = 0, waits = 0, drain = 0, frames = 1;
  std::int64_t weight_bytes = 0, activation_bytes = 0, program_bytes = 0;
  const CountedStage* main = nullptr;
  double made_macs = 0;
  Joules8 joules;

  void pass(const CountedStage& s, std::int64_t times, std::int64_t own_times) {
    weight_bytes += times * s.pass.weight_bytes;
    program_bytes += times * s.pass.program_bytes;
    activation_bytes += times * (s.pass.activation_in_bytes + s.pass.activation_out_bytes);
    made_macs += real(s.made_macs) * real(own_times);
    add(joules, s.own, real(own_times));
    add(joules, s.shared, real(times));
  }
};

Way way_of(const std::vector<CountedStage>& stages, const Machine& m) {
  Way way;
  std::int64_t longest = 0, text = 0, together = 1;
  for (const CountedStage& s : stages)
    if (s.stage->role == Role::core && crossed(m)) way.frames = together = m.cores;
  for (const CountedStage& s : stages) {
    const Role role = s.stage->role;
    if (left_out(m, role)) continue;
    way.alone_cycles += s.alone_cycles;
    if (role == Role::core) {
      way.main = &s;
      way.core_period = s.steps_per_core * s.pass.end + s.link_cycles;
      way.alone_cycles += s.cores_of_frame * s.link_cycles;
      way.waits += s.cores_of_frame;
      way.pass(s, s.steps_per_core, m.steps * together);
      const Program& program = s.stage->program;
      way.joules["die_links"] += real((program.latent_bytes + program.context_bytes).value * 8) *
                                 real(counted_dies(m) - 1) * counted_row("link.energy") * 1e-12;
    } else if (s.stage->part.count > 1) {
      const std::int64_t cycles = s.pass.end + s.link_cycles;
      if (way.main == nullptr || cycles > longest) way.main = &s;
      longest = std::max(longest, cycles);
      way.alone_cycles += s.link_cycles;
      way.waits += 1;
      way.pass(s, 1, 1);
    } else if (role == Role::network) {
      way.main = &s;
      way.frames = s.active_cores;
      longest = std::max(longest, s.pass.end);
      way.drain += s.pass.end;
      way.pass(s, 1, s.active_cores);
    } else if (role == Role::text_encoder) {
      if (!m.prompt_per_frame) continue;
      text += together * s.pass.end;
      way.pass(s, together, together);
    } else {
      longest = std::max(longest, together * s.pass.end);
      (role == Role::encoder ? way.waits : way.drain) += role == Role::encoder ? 1 : together * s.pass.end;
      way.pass(s, together, together);
    }
  }
  way.period = std::max(way.core_period + text, longest);
  if (way.main == nullptr) {
    way.main = &stages.front();
    way.period = std::max(way.period, stages.front().pass.end);
  }
  return way;
}

double ratio(std::int64_t a, std::int64_t b) {
  if (b == 0) return a == 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  return real(a) / real(b);
}

/// docs/model/area.md, and what leaks.
void add_area(const Application& application, const CountedStanding& standing, const Machine& m,
              CountedFrame& frame) {
  double sum = 0;
  for (const auto& part : frame.area_mm2) sum += part.second;
  frame.metrics[Metric::area_mm2] = sum;
  frame.metrics[Metric::sram_bytes] = real(counted_sram_bytes(application, m));
  const double cores = counted_leaking_cores(application, m, nullptr);
  for (CountedStage& stage : frame.stages) {
    const double of_chip = counted_leaking_cores(application, m, stage.stage) / cores;
    const double seconds = of_chip * real(stage.pass.end) / (real(m.core_clock_mhz) * 1e6);
    const double leaks = standing.leakage_w * seconds,
                 dram = (standing.phy_w + standing.background_w + standing.links_w) * seconds;
    const double tree = standing.clock_j * of_chip * real(stage.pass.end);
    stage.own["leakage"] = leaks;
    stage.own["dram_phy"] += standing.phy_w * seconds;
    stage.own["dram_background"] = standing.background_w * seconds;
    stage.own["die_links"] += standing.links_w * seconds;
    stage.own["clock"] += tree;
    std::int64_t running = 0;
    for (const InstructionCounts& i : stage.steady) running += i.end - i.start;
    for (std::size_t i = 0; i < stage.steady.size(); ++i)
      stage.instruction_joules[i] +=
          (leaks + tree + dram) * real(stage.steady[i].end - stage.steady[i].start) / real(running);
  }
}

void add_peaks(const std::vector<CountedStage>& stages, CountedFrame& frame) {
  Bytes dsram, stackram;
  std::int64_t psram = 0;
  for (const CountedStage& s : stages) {
    psram = std::max(psram, s.psram_peak_bytes);
    for (const Instruction& i : s.stage->program.instructions) {
      dsram = std::max({dsram, i.dsram_read_side, i.dsram_write_side});
      stackram = std::max(stackram, i.stackram);
    }
  }
  frame.metrics[Metric::dsram_peak_bytes] = real(dsram.value);
  frame.metrics[Metric::stackram_peak_bytes] = real(stackram.value);
  frame.metrics[Metric::psram_peak_bytes] = real(psram);
}

/// MACs that the stage's core or circuit has.
std::int64_t mac_counted_lanes(const CompiledStage& stage, const Machine& machine) {
  const Machine m = machine_of_stage(machine, stage.role);
  std::int64_t lanes = 0;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    if (family != Family::conv2d && one_array(m)) continue;
    if (has_circuit(stage, family, m)) lanes += counted_lanes(family, m);
  }
  return std::max<std::int64_t>(1, lanes);
}

/// Products that all MACs on the chip make a cycle: cores that idle, and arrays that wait for others, too.
double peak_macs(const Application& application, const std::vector<CountedStage>& stages, const Machine& m) {
  double lanes = 0;
  std::int64_t products = 1;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul})
    if (family == Family::conv2d || !one_array(m)) lanes += real(m.cores) * real(counted_lanes(family, m));
  for (const CountedStage& s : stages) {
    products = std::max(products, s.products_in_mac);
  }
  for (const CountedBlock& block : counted_blocks(application, m))
    for (const Family family : {Family::conv2d, Family::linear, Family::matmul})
      if (block.stage != nullptr && (family == Family::conv2d || !one_array(block.machine)) &&
          has_circuit(*block.stage, family, block.machine))
        lanes += real(counted_lanes(family, block.machine));
  return lanes * real(products);
}

void add_quotients(std::map<Metric, double>& v) {
  v[Metric::fps_per_mm2] = v[Metric::throughput_fps] / v[Metric::area_mm2];
  v[Metric::frames_per_j] = 1 / v[Metric::energy_j_per_frame];
  v[Metric::power_w_per_mm2] = v[Metric::power_w] / v[Metric::area_mm2];
  v[Metric::tops_per_w] = v[Metric::tops] / v[Metric::power_w];
  v[Metric::tops_per_mm2] = v[Metric::tops] / v[Metric::area_mm2];
  v[Metric::tops_peak_per_mm2] = v[Metric::tops_peak] / v[Metric::area_mm2];
}

/// docs/model/frames.md#metrics.
void add_metrics(const Application& application, const Way& way, const CountedStanding& standing, const Machine& m,
                 CountedFrame& frame) {
  const CountedStage& main = *way.main;
  const InstructionCounts& pass = main.pass;
  const double hertz = real(m.core_clock_mhz) * 1e6, frames = real(way.frames * m.batch);
  const double latency_s = real(way.alone_cycles) / hertz, period_s = real(way.period) / hertz;
  const bool overlaps = m.operator_dsram == OperatorDsram::per_operator;
  const std::int64_t lanes = mac_counted_lanes(*main.stage, m);
  const std::int64_t moved =
      pass.weight_bytes + pass.program_bytes + pass.activation_in_bytes + pass.activation_out_bytes;
  auto& v = frame.metrics;
  v[Metric::throughput_fps] = frames / period_s;
  v[Metric::latency_s] = latency_s;
  v[Metric::stream_latency_s] = real(way.waits * way.period + way.drain) / hertz;
  v[Metric::step_cycles] = real(pass.end);
  v[Metric::stall_share] = ratio(pass.stall_weights + pass.stall_activations + pass.stall_program,
                                 overlaps ? pass.start + pass.stall_program : pass.end);
  v[Metric::utilization] = real(main.mac_cycles) / (real(pass.end) * real(lanes * main.spread_cores));
  v[Metric::weight_bytes_per_frame] = real(way.weight_bytes) / frames;
  v[Metric::activation_bytes_per_frame] = real(way.activation_bytes) / frames;
  v[Metric::program_bytes_per_frame] = real(way.program_bytes) / frames;
  v[Metric::dram_bytes_per_frame] = real(way.weight_bytes + way.activation_bytes + way.program_bytes) / frames;
  v[Metric::dram_bytes_over_bound] = ratio(moved, main.bound_dram_bytes);
  v[Metric::cycles_over_bound] = ratio(pass.end, main.bound_cycles);
  for (const auto& [part, joules] : way.joules) frame.joules[part] = joules / frames;
  frame.joules["leakage"] = standing.leakage_w * period_s / frames;
  frame.joules["dram_phy"] += standing.phy_w * period_s / frames;
  frame.joules["dram_background"] = standing.background_w * period_s / frames;
  frame.joules["die_links"] += standing.links_w * period_s / frames;
  frame.joules["clock"] += standing.clock_j * real(way.period) / frames;
  const double energy = all_of(frame.joules);
  v[Metric::energy_j_per_frame] = energy;
  v[Metric::power_w] = energy * frames / period_s;
  v[Metric::edp_js] = energy * latency_s;
  v[Metric::active_cores] = real(main.active_cores * main.spread_cores);
  v[Metric::tops] = 2 * way.made_macs / period_s / 1e12;
  v[Metric::tops_peak] = 2 * peak_macs(application, frame.stages, m) * hertz / 1e12;
  v[Metric::ops_per_dram_byte] = v[Metric::dram_bytes_per_frame] > 0
                                     ? 2 * way.made_macs / frames / v[Metric::dram_bytes_per_frame]
                                     : std::numeric_limits<double>::quiet_NaN();
  add_quotients(v);
  const double price = is_fpga(m.technology_node) ? std::numeric_limits<double>::quiet_NaN()
                                                  : counted_price_usd(counted_die_mm2(application, m), m);
  v[Metric::price_usd] = price;
  v[Metric::million_images_usd] =
      1e6 * (price / (counted_row("use.years") * 365.25 * 3600 * real(m.hours_a_day) * v[Metric::throughput_fps]) +
             energy / 3.6e6 * counted_row("use.electricity"));
}

}  // namespace

CountedFrame counted_frame(const Application& application, const Machine& machine) {
  CountedFrame frame;
  frame.area_mm2 = counted_area(application, machine);
  const CountedStanding standing =
      counted_standing(frame.area_mm2, counted_volts(counted_clock_mhz(application, machine), machine), machine);
  for (const CompiledStage& stage : application.stages) {
    frame.stages.push_back(counted_stage(stage, standing, machine));
    frame.settled &= frame.stages.back().settled;
  }
  const Way way = way_of(frame.stages, machine);  // before leakage, which is of the chip and not of a stage
  add_area(application, standing, machine, frame);
  add_metrics(application, way, standing, machine, frame);
  add_peaks(frame.stages, frame);
  return frame;
}

}  // namespace sdip
