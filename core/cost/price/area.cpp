// Area of lanes and memories, control, and what else a die holds.
#include "core/cost/price/area.h"
#include "core/cost/price/dies_price.h"
#include "core/cost/price/dram_price.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/cost/price/frame.h"
#include "core/cost/price/stage.h"
#include "core/cost/work/in_memory.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/scoreboard.h"
#include "core/machine/scale_groups.h"

namespace sdip {
namespace {

bool is_vae(Role role) { return role == Role::encoder || role == Role::decoder; }

std::int64_t vae_stages(const Application& application, const Machine& machine) {
  if (machine.vae_stage == VaeStage::off_chip) return 0;
  return std::ranges::count_if(application.stages, [](const CompiledStage& stage) { return is_vae(stage.role); });
}

/// Cores that have weights, and so a PSRAM, of their own.
std::int64_t series_parts(const Application& application) {
  return std::ranges::count_if(application.stages, [](const CompiledStage& s) { return s.part.count > 1; });
}

}  // namespace

const Application& built_for(const Application& application) {
  return application.chip ? *application.chip : application;
}

Application common_chip(std::span<const std::shared_ptr<const Application>> applications) {
  Application chip;
  for (const auto& application : applications) {
    std::map<Role, std::size_t> places;  // of a role's stages
    for (const CompiledStage& stage : application->stages) {
      std::size_t left = places[stage.role]++;
      const auto same = std::ranges::find_if(
          chip.stages, [&](const CompiledStage& one) { return one.role == stage.role && left-- == 0; });
      const auto built = same != chip.stages.end() ? same : chip.stages.insert(chip.stages.end(), CompiledStage());
      built->role = stage.role;
      if (stage.part.count > built->part.count) built->part = stage.part;
      Program& program = built->program;
      program.classes.insert(program.classes.end(), stage.program.classes.begin(), stage.program.classes.end());
      program.stored_weight_bytes = std::max(program.stored_weight_bytes, stage.program.stored_weight_bytes);
    }
  }
  return chip;
}

std::vector<const CompiledStage*> own_blocks(const Application& application, const Machine& machine) {
  std::vector<const CompiledStage*> blocks;
  bool text = false;
  for (const CompiledStage& stage : application.stages) {
    if (!is_own_block(machine, stage.role)) continue;
    if (stage.role == Role::text_encoder && std::exchange(text, true)) continue;  // on the block of the first
    blocks.push_back(&stage);
  }
  return blocks;
}

std::int64_t cores_alike(const Application& application, const Machine& machine) {
  const auto on_its_own = [&](const CompiledStage& s) { return is_vae(s.role) && is_own_block(machine, s.role); };
  return machine.cores + vae_stages(application, machine) - std::ranges::count_if(application.stages, on_its_own);
}

std::int64_t built_cores(const Application& application, const Machine& machine) {
  return cores_alike(application, machine) + std::ssize(own_blocks(application, machine));
}

double leaking_cores(const CompiledStage& stage, const Machine& machine) {
  if (!has_own_rows(machine, stage.role)) return 1;
  const double core = core_area(machine, widest_formats(machine)).total();
  return core > 0 ? stage_area(stage, machine, widest_formats(machine), Bound::value).total() / core : 1;
}

double leaking_cores(const Application& application, const Machine& machine) {
  auto cores = static_cast<double>(cores_alike(application, machine));
  for (const CompiledStage* block : own_blocks(application, machine)) cores += leaking_cores(*block, machine);
  return cores;
}

namespace {

/// Copies that the cores' weights stand in, and those of encoder and decoder.
struct Psrams {
  std::int64_t cores{}, vae{};
};
Psrams psrams_of(const Application& application, const Machine& machine) {
  bool cores_stream = !weights_in_place(machine, Role::core);
  for (const CompiledStage& stage : application.stages)
    cores_stream |= !has_own_psram(machine, stage.role) && !weights_in_place(machine, stage.role);
  const bool vae_streams = !weights_in_place(machine, Role::decoder);  // as the encoder does
  return {cores_stream ? std::max<std::int64_t>(1, series_parts(application)) : 0,
          vae_streams ? vae_stages(application, machine) : 0};
}

}  // namespace

std::vector<BuiltMemory> psram_memories(const Application& application, const Machine& m) {
  Psrams psrams = psrams_of(application, m);
  std::int64_t vae = vae_stages(application, m);
  std::vector<BuiltMemory> own;
  for (const CompiledStage* block : own_blocks(application, m)) {
    if (!has_own_rows(m, block->role) || !has_own_psram(m, block->role)) continue;
    const Machine its = machine_of_stage(m, block->role);
    const bool streams = !weights_in_place(m, block->role);
    if (is_vae(block->role)) psrams.vae -= streams, --vae;
    const std::int64_t stack = stack_in_psram(m) ? its.stackram_bytes : 0;
    own.push_back({(streams ? its.psram_bytes : 0) + stack, 1, its.psram_port_bits});
  }
  std::vector<BuiltMemory> all;
  const auto add = [&](std::int64_t bytes, std::int64_t copies) {
    all.push_back({bytes, copies, m.psram_port_bits});
  };
  if (!stack_in_psram(m)) {
    add(m.psram_bytes, psrams.cores + psrams.vae);
  } else {
    const std::int64_t parts = series_parts(application), weights = psrams.cores > 0 ? m.psram_bytes : 0;
    if (parts == 0) {
      add(weights + m.cores * m.stackram_bytes, 1);
    } else {
      add(weights + m.stackram_bytes, parts);
      add(m.stackram_bytes, m.cores - std::min(parts, m.cores));  // of those without a part a stack alone
    }
    add((psrams.vae > 0 ? m.psram_bytes : 0) + m.stackram_bytes, vae);
  }
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::int64_t psram_bytes_of(const CompiledStage& stage, const Machine& machine) {
  const StageMachine its(machine, stage.role);
  const Machine& m = *its;
  if (!stack_in_psram(m)) return m.psram_bytes;
  const bool own = has_own_psram(machine, stage.role) || stage.part.count > 1;
  const bool weights = !weights_in_place(m, has_own_psram(machine, stage.role) ? stage.role : Role::network);
  return (weights ? m.psram_bytes : 0) + (own ? 1 : m.cores) * m.stackram_bytes;
}

namespace {

/// The fewer weights of two groups, of which there may be none; of powers of two nothing is built.
std::int64_t fewer(std::int64_t group, NumberFormat weights, const Machine& m) {
  const std::int64_t other = scales_by_shifts(weights) ? 0 : scale_group_of(weights, m.scale_granularity);
  return group == 0 || other == 0 ? std::max(group, other) : std::min(group, other);
}

}  // namespace

NumberFormat wider_of(Widest widest) { return wider_format(widest.activations, widest.weights); }

BuiltFormats built_formats(const Machine& m, Widest widest) {
  // One array for all products meets activations in the weights' place, too.
  return {{shares_macs(m) ? wider_of(widest) : widest.weights, widest.activations, widest.sums},
          {widest.activations, widest.activations, widest.sums},
          {widest.activations, widest.activations, widest.activations}};
}

Widest widest_formats(const Machine& m) {
  return {m.activation_format, m.weight_format, m.accumulator_format, fewer(0, m.weight_format, m)};
}

Widest widest_formats(std::span<const Formats> of_layers, const Machine& m) {
  Widest widest = widest_formats(m);
  for (const Formats& formats : of_layers) {
    widest.activations = wider_format(widest.activations, formats.activations);
    widest.weights = wider_format(widest.weights, formats.weights);
    widest.scale_group = fewer(widest.scale_group, formats.weights, m);
    if (formats.accumulators) widest.sums = wider_format(widest.sums, *formats.accumulators);
  }
  return widest;
}

Widest widest_formats(const Application& application, const Machine& m) {
  return widest_formats(application_totals(application).formats, m);
}

double memory_area(const Machine& m, std::int64_t bytes, std::int64_t port_bits, Bound bound) {
  if (bytes == 0) return 0;
  return sram_area(process_of(m, bound), Bytes(bytes), m.sram_banks, Bits(port_bits)).value *
         m.sram_floor_plan_factor.value();
}

double exchanging_area(const Machine& m, std::int64_t bytes, std::int64_t port_bits, Bound bound) {
  const double ports = m.dma_port == DmaPort::own ? second_port_area(process_of(m, bound)) : 1;
  return ports * memory_area(m, bytes, port_bits, bound);
}

CoreLanes core_lanes(const Machine& m) {
  const auto product = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<double>(a * b * c);
  };
  const bool shared = shares_units(m);
  CoreLanes lanes;
  lanes.conv2d = product(m.conv_lanes_in, m.conv_lanes_out, m.conv_lanes_pixel);
  lanes.conv2d_sums = m.conv_lanes_in, lanes.linear_sums = m.linear_lanes_k;
  if (!shares_macs(m)) {
    lanes.linear = product(m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k);
    lanes.matmul = product(m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k);
  }
  lanes.vector = static_cast<double>(m.vector_lanes);
  if (!shared && (m.host_operators == HostOperators::no_operators || m.fused_attention == FusedAttention::on))
    lanes.softmax = static_cast<double>(m.softmax_lanes);
  if (!shared && (m.host_operators != HostOperators::softmax_and_norm || m.fusion == Fusion::norm ||
                  m.fused_chains == FusedChains::on))
    lanes.norm = static_cast<double>(m.norm_lanes);
  return lanes;
}

double group_scalers(const CoreLanes& lanes, Widest widest) {
  if (widest.scale_group == 0) return 0;
  const auto of = [&](double all, std::int64_t sums) {
    const std::int64_t groups = std::max<std::int64_t>(1, sums / widest.scale_group);
    return all / static_cast<double>(sums) * static_cast<double>(groups);
  };
  return of(lanes.conv2d, lanes.conv2d_sums) + of(lanes.linear, lanes.linear_sums);
}

CoreLanes stage_lanes(const CompiledStage& stage, const Machine& machine) {
  const StageMachine its(machine, stage.role);
  const Machine& m = *its;
  CoreLanes lanes = core_lanes(m);
  if (!is_circuit(m, stage.role)) return lanes;
  std::bitset<circuit_count> works;
  for (const InstructionClass& c : stage.program.classes) works |= circuits_of(c, m);
  const auto on = [&](Circuit circuit) -> bool { return works[at(circuit)]; };
  const bool products = on(Circuit::conv2d) || on(Circuit::linear) || on(Circuit::matmul);
  const bool rows = on(Circuit::vector) || on(Circuit::softmax) || on(Circuit::norm) || on(Circuit::transpose);
  if (shares_macs(m) ? !products : !on(Circuit::conv2d)) lanes.conv2d = 0;
  if (!on(Circuit::linear)) lanes.linear = 0;
  if (!on(Circuit::matmul)) lanes.matmul = 0;
  if (shares_units(m) ? !rows : !on(Circuit::vector)) lanes.vector = 0;
  if (!on(Circuit::softmax)) lanes.softmax = 0;
  if (!on(Circuit::norm)) lanes.norm = 0;
  return lanes;
}

std::int64_t stage_mac_lanes(const CompiledStage& stage, const Machine& m) {
  if (!is_circuit(m, stage.role)) return mac_lanes(*StageMachine(m, stage.role));
  const CoreLanes lanes = stage_lanes(stage, m);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(lanes.conv2d + lanes.linear + lanes.matmul));
}

double built_mac_lanes(const Application& application, const Machine& m) {
  const auto macs = [](const CoreLanes& lanes) { return lanes.conv2d + lanes.linear + lanes.matmul; };
  double built = macs(core_lanes(m)) * static_cast<double>(cores_alike(application, m));
  for (const CompiledStage* block : own_blocks(application, m)) built += macs(stage_lanes(*block, m));
  return built;
}

HeldBits held_bits(const Machine& m, Family family, NumberFormat weights, NumberFormat sums) {
  const ArrayLanes lanes = array_lanes(family, m);
  return {lanes.rows * lanes.channels * bits_of(sums), lanes.channels * lanes.sum * bits_of(weights)};
}

namespace {

/// mm2 of the accumulators and weight registers of an array.
double held_area(const Machine& m, Family family, NumberFormat weights, NumberFormat sums, const Process& process) {
  const HeldBits bits = held_bits(m, family, weights, sums);
  return register_area(process,
                       static_cast<double>(m.accumulator_folds * bits.sums + m.weight_registers * bits.weights))
      .value;
}

CoreArea area_of_lanes(const Machine& m, const CoreLanes& lanes, Widest widest, Bound bound) {
  const Process process = process_of(m, bound);
  const BuiltFormats built = built_formats(m, widest);
  const auto splits = [&](NumberFormat format) {
    return m.composable_macs == ComposableMacs::on ? composable_over_plain(process, format).mac_area : 1;
  };
  const auto placed = [&](const MacFormats& formats, double split) {
    const double stages = static_cast<double>((m.pipeline_stages - 1) * stage_bits(formats));
    return (mac_area(process, formats).value * split + register_area(process, stages).value) *
           m.mac_floor_plan_factor.value();
  };
  const double mac = placed(built.weighted, splits(wider_of(widest)));
  const double lane = placed(built.steps, 1);
  CoreArea area;
  area.conv2d = mac * lanes.conv2d;
  area.linear = mac * lanes.linear;
  area.matmul = placed(built.others, splits(widest.activations)) * lanes.matmul;
  const double scaler = placed({m.accumulator_format, m.accumulator_format, m.accumulator_format}, 1);
  CoreLanes of_linear = lanes, of_conv2d = lanes;
  of_linear.conv2d = of_conv2d.linear = 0;
  area.conv2d += scaler * group_scalers(of_conv2d, widest);
  area.linear += scaler * group_scalers(of_linear, widest);
  if (lanes.conv2d > 0) area.conv2d += held_area(m, Family::conv2d, wider_of(widest), widest.sums, process);
  if (lanes.linear > 0) area.linear += held_area(m, Family::linear, wider_of(widest), widest.sums, process);
  if (lanes.matmul > 0) area.matmul += held_area(m, Family::matmul, widest.activations, widest.sums, process);
  area.vector = lane * lanes.vector;
  area.softmax = lane * lanes.softmax;
  area.norm = lane * lanes.norm;
  if (!has_own_pairs(m)) {
    area.dsram =
        static_cast<double>(2 * dsram_pairs(m)) * exchanging_area(m, m.dsram_bytes, m.dsram_port_bits, bound);
  } else {
    for (std::size_t f = 0; f < pair_families; ++f)
      area.dsram += 2 * exchanging_area(m, dsram_bytes_of(m, static_cast<Family>(f)), m.dsram_port_bits, bound);
  }
  if (!stack_in_psram(m)) area.stackram = memory_area(m, m.stackram_bytes, m.stackram_port_bits, bound);
  return area;
}

}  // namespace

CoreArea core_area(const Machine& m, Widest widest, Bound bound) {
  return area_of_lanes(m, core_lanes(m), widest, bound);
}

CoreArea stage_area(const CompiledStage& stage, const Machine& m, Widest widest, Bound bound) {
  return area_of_lanes(*StageMachine(m, stage.role), stage_lanes(stage, m), widest, bound);
}

std::int64_t crossbar_ports(const Machine& m) { return has_crossbar(m) ? m.cores + 2 : 0; }

namespace {

/// mm2 of the arrays of one copy of a stage's weights: their cells; and converters for the columns of as many
/// arrays as the cells fill.
double fefet_area(const CompiledStage& stage, NumberFormat activations, const Machine& m, Bound bound) {
  const std::int64_t bits = stage.program.stored_weight_bytes.value * 8;
  const std::int64_t columns = ceil_div(bits, fefet_array_cells * fefet_array_cells) * fefet_array_cells;
  const Process process = process_of(m, bound);
  const double cells = fefet_cell_area(process, Bits(bits)).value * m.sram_floor_plan_factor.value();
  return cells + static_cast<double>(ceil_div(columns, m.fefet_columns_per_converter)) *
                     fefet_converter_area(process, fefet_input_bits(m, bits_of(activations))).value;
}

constexpr std::size_t blocks_of_lanes = 6;  // the first of area_blocks

/// Copies of a stage's arrays: one for each core that runs the stage on a frame of its own.
std::int64_t fefet_copies(const CompiledStage& stage, const Machine& m) {
  const bool frames = stage.role == Role::network && stage.part.count == 1 && m.branches == Branches::serial;
  return stage.role == Role::core || frames ? m.cores : 1;
}

}  // namespace

std::array<double, area_blocks.size()> block_areas(const Application& application, Widest widest, const Machine& m,
                                                   Bound bound) {
  const Process process = process_of(m, bound);
  const CoreArea core = core_area(m, widest, bound);
  const auto cores = static_cast<double>(cores_alike(application, m));
  double psram = 0, rom = 0, fefet = 0;
  for (const BuiltMemory& memory : psram_memories(application, m))
    psram += exchanging_area(m, memory.bytes, memory.port_bits, bound) * static_cast<double>(memory.copies);
  for (const CompiledStage& stage : application.stages) {
    const WeightPlace weights = on_chip(stage.role, m) ? weight_place(m, stage.role) : WeightPlace::psram;
    if (weights == WeightPlace::rom)
      rom += rom_area(process, stage.program.stored_weight_bytes).value * m.sram_floor_plan_factor.value();
    if (weights == WeightPlace::fefet)
      fefet += static_cast<double>(fefet_copies(stage, m)) * fefet_area(stage, widest.activations, m, bound);
  }
  std::array<double, area_blocks.size()> area = {
      core.conv2d * cores,
      core.linear * cores,
      core.matmul * cores,
      core.vector * cores,
      core.softmax * cores,
      core.norm * cores,
      core.dsram * cores,
      core.stackram * cores,
      psram,
      sram_area(process, Bytes(m.imem_bytes)).value * m.sram_floor_plan_factor.value(),
      rom};
  double of_circuits = 0;
  for (const CompiledStage* own : own_blocks(application, m)) {
    const CoreArea its = stage_area(*own, m, widest, bound);
    std::size_t block = 0;
    for (const double mm2 :
         {its.conv2d, its.linear, its.matmul, its.vector, its.softmax, its.norm, its.dsram, its.stackram})
      area[block++] += mm2;
    if (is_circuit(m, own->role)) of_circuits += its.total();
  }
  double datapath = 0, lanes = 0;
  for (const double mm2 : area) datapath += mm2;
  for (std::size_t block = 0; block < blocks_of_lanes; ++block) lanes += area[block];
  area[11] = fefet;
  area[12] = (datapath - of_circuits) * control_over_datapath(process, m.sequencer) +
             of_circuits * control_over_datapath(process, Sequencer::central);
  area[13] =
      static_cast<double>(die_line(m).dies) * other_fixed_area(process).value + lanes * other_over_lanes(process);
  area[14] = crossbar_area(process, crossbar_ports(m), Bits(m.link_bits)).value;
  return area;
}

DieAreas die_areas(const Application& application, Widest widest, double all_mm2, const Machine& m, Bound bound) {
  const DieLine line = die_line(m);
  if (line.dies == 1) return {line, all_mm2};
  const Process process = process_of(m, bound);
  const auto with_control = [&](double mm2, bool circuit) {
    return mm2 * (1 + control_over_datapath(process, circuit ? Sequencer::central : m.sequencer));
  };
  const auto placed = [&](const CoreArea& core, bool circuit) {
    return with_control(core.total(), circuit) + core.lanes() * other_over_lanes(process);
  };
  double core = placed(core_area(m, widest, bound), false), decoder = 0;
  for (const CompiledStage& stage : application.stages) {
    const bool its_weights = on_chip(stage.role, m) && weight_place(m, stage.role) != WeightPlace::psram;
    const bool in_fefet = its_weights && weight_place(m, stage.role) == WeightPlace::fefet;
    if (in_fefet && fefet_copies(stage, m) > 1) core += fefet_area(stage, widest.activations, m, bound);
    if (stage.role != Role::decoder || !on_chip(stage.role, m)) continue;
    const bool own = is_own_block(m, stage.role);
    decoder +=
        placed(own ? stage_area(stage, m, widest, bound) : core_area(m, widest, bound), is_circuit(m, stage.role));
    const Machine its = machine_of_stage(m, stage.role);
    if (in_fefet)
      decoder += fefet_area(stage, widest.activations, m, bound);
    else if (its_weights)
      decoder += with_control(
          rom_area(process, stage.program.stored_weight_bytes).value * m.sram_floor_plan_factor.value(), false);
    else
      decoder += with_control(exchanging_area(m, its.psram_bytes, its.psram_port_bits, bound), false);
  }
  const double fixed = other_fixed_area(process).value;
  const double between = static_cast<double>(line.cores) * core + fixed;
  const double last = static_cast<double>(m.cores - (line.dies - 1) * line.cores) * core + decoder + fixed;
  return {line, all_mm2 - static_cast<double>(line.dies - 2) * between - last, between, last};
}

StandingArea standing_of(std::string_view block, double mm2, const Machine& m, Bound bound) {
  const Process process = process_of(m, bound);
  if (block == "dram" || block == "die_links") return {};  // their standing power is told apart
  if (block == "fefet") return {mm2 * fefet_leaking_share(process), 0};
  for (const std::string_view memory : {"dsram", "stackram", "psram", "imem", "rom"})
    if (block == memory) return {0, sram_mib_of(process, SquareMm(mm2 / m.sram_floor_plan_factor.value()))};
  return {mm2, 0};
}

Breakdown area_of(const Application& application, const Machine& m, Bound bound) {
  return area_of(chip_totals(application, application_totals(application), m, bound), built_dram(m, bound),
                 built_links(m, bound), m);
}

std::int64_t sram_bytes(const Application& application, const Machine& m) {
  const auto of_core = [](const Machine& its) {
    std::int64_t bytes = stack_in_psram(its) ? 0 : its.stackram_bytes;
    for (std::int64_t f = 0; f < dsram_pairs(its); ++f) bytes += 2 * dsram_bytes_of(its, static_cast<Family>(f));
    return bytes;
  };
  std::int64_t bytes = cores_alike(application, m) * of_core(m) + m.imem_bytes;
  for (const CompiledStage* own : own_blocks(application, m)) bytes += of_core(machine_of_stage(m, own->role));
  for (const BuiltMemory& memory : psram_memories(application, m)) bytes += memory.copies * memory.bytes;
  return bytes;
}

}  // namespace sdip
