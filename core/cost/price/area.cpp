// Area of lanes and memories, control, and what else a die holds.
#include "core/cost/price/area.h"

#include <algorithm>

#include "core/cost/price/frame.h"
#include "core/cost/price/stage.h"
#include "core/cost/work/in_memory.h"
#include "core/cost/work/micro_operations.h"
#include "core/cost/work/scoreboard.h"

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

std::int64_t built_cores(const Application& application, const Machine& machine) {
  return machine.cores + vae_stages(application, machine);
}

std::vector<const CompiledStage*> built_circuits(const Application& application, const Machine& machine) {
  std::vector<const CompiledStage*> circuits;
  for (const CompiledStage& stage : application.stages)
    if (is_circuit(machine, stage.role)) circuits.push_back(&stage);
  return circuits;
}

namespace {

/// Copies that the cores' weights stand in, and those of encoder and decoder.
struct Psrams {
  std::int64_t cores{}, vae{};
};
Psrams psrams_of(const Application& application, const Machine& machine) {
  bool cores_stream = !weights_in_place(machine, Role::core);
  for (const CompiledStage& stage : application.stages)
    cores_stream |= !is_vae(stage.role) && !weights_in_place(machine, stage.role);
  const bool vae_streams = !weights_in_place(machine, Role::decoder);  // as the encoder does
  return {cores_stream ? std::max<std::int64_t>(1, series_parts(application)) : 0,
          vae_streams ? vae_stages(application, machine) : 0};
}

}  // namespace

std::vector<BuiltMemory> psram_memories(const Application& application, const Machine& m) {
  const Psrams psrams = psrams_of(application, m);
  if (!stack_in_psram(m)) return {{m.psram_bytes, psrams.cores + psrams.vae}};
  const std::int64_t vae = vae_stages(application, m), parts = series_parts(application);
  const std::int64_t weights = psrams.cores > 0 ? m.psram_bytes : 0;
  const BuiltMemory of_vae{(psrams.vae > 0 ? m.psram_bytes : 0) + m.stackram_bytes, vae};
  if (parts == 0) return {{weights + m.cores * m.stackram_bytes, 1}, of_vae};
  const std::int64_t with_part = std::min(parts, m.cores);  // the others have a stack alone
  return {{weights + m.stackram_bytes, parts}, {m.stackram_bytes, m.cores - with_part}, of_vae};
}

std::int64_t psram_bytes_of(const CompiledStage& stage, const Machine& m) {
  if (!stack_in_psram(m)) return m.psram_bytes;
  const bool own = is_vae(stage.role) || stage.part.count > 1;
  const bool weights = !weights_in_place(m, is_vae(stage.role) ? stage.role : Role::network);
  return (weights ? m.psram_bytes : 0) + (own ? 1 : m.cores) * m.stackram_bytes;
}

namespace {

NumberFormat wider(NumberFormat a, NumberFormat b) { return bits_of(b) > bits_of(a) ? b : a; }

}  // namespace

Widest widest_formats(const Machine& m) {
  return {m.activation_format, wider(m.activation_format, m.weight_format)};
}

Widest widest_formats(std::span<const Formats> of_layers, const Machine& m) {
  Widest widest = widest_formats(m);
  for (const Formats& formats : of_layers) {
    widest.operands = wider(widest.operands, formats.activations);
    widest.all = wider(wider(widest.all, formats.activations), formats.weights);
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

CoreLanes core_lanes(const Machine& m) {
  const auto product = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return static_cast<double>(a * b * c);
  };
  const bool shared = shares_units(m);
  CoreLanes lanes;
  lanes.conv2d = product(m.conv_lanes_in, m.conv_lanes_out, m.conv_lanes_pixel);
  if (!shares_macs(m)) {
    lanes.linear = product(m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k);
    lanes.matmul = product(m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k);
  }
  lanes.vector = static_cast<double>(m.vector_lanes);
  if (!shared && (m.host_operators == HostOperators::no_operators || m.fused_attention == FusedAttention::on))
    lanes.softmax = static_cast<double>(m.softmax_lanes);
  if (!shared && (m.host_operators != HostOperators::softmax_and_norm || m.fusion == Fusion::norm))
    lanes.norm = static_cast<double>(m.norm_lanes);
  return lanes;
}

CoreLanes stage_lanes(const CompiledStage& stage, const Machine& machine) {
  const StageMachine its(machine, stage.role);
  const Machine& m = *its;
  CoreLanes lanes = core_lanes(m);
  if (!is_circuit(m, stage.role)) return lanes;
  std::bitset<circuit_count> works;
  for (const InstructionClass& c : stage.program.classes) works |= circuits_of(c, m);
  const auto on = [&](Circuit circuit) -> bool { return works[static_cast<std::size_t>(circuit)]; };
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
  if (!is_circuit(m, stage.role)) return mac_lanes(m);
  const CoreLanes lanes = stage_lanes(stage, m);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(lanes.conv2d + lanes.linear + lanes.matmul));
}

double built_mac_lanes(const Application& application, const Machine& m) {
  const auto macs = [](const CoreLanes& lanes) { return lanes.conv2d + lanes.linear + lanes.matmul; };
  const std::vector<const CompiledStage*> circuits = built_circuits(application, m);
  double built = macs(core_lanes(m)) * static_cast<double>(built_cores(application, m) - std::ssize(circuits));
  for (const CompiledStage* circuit : circuits) built += macs(stage_lanes(*circuit, m));
  return built;
}

namespace {

CoreArea area_of_lanes(const Machine& m, const CoreLanes& lanes, Widest widest, Bound bound) {
  const Process process = process_of(m, bound);
  const double mac = mac_area(process, widest.all).value * m.mac_floor_plan_factor.value();
  const double lane = mac_area(process, widest.operands).value * m.mac_floor_plan_factor.value();
  const auto splits = [&](NumberFormat format) {
    return m.composable_macs == ComposableMacs::on ? composable_over_plain(process, format).mac_area : 1;
  };
  CoreArea area;
  area.conv2d = mac * splits(widest.all) * lanes.conv2d;
  area.linear = mac * splits(widest.all) * lanes.linear;
  area.matmul = lane * splits(widest.operands) * lanes.matmul;
  area.vector = lane * lanes.vector;
  area.softmax = lane * lanes.softmax;
  area.norm = lane * lanes.norm;
  area.dsram = static_cast<double>(2 * dsram_pairs(m)) * memory_area(m, m.dsram_bytes, m.dsram_port_bits, bound);
  if (!stack_in_psram(m)) area.stackram = memory_area(m, m.stackram_bytes, m.stackram_port_bits, bound);
  return area;
}

}  // namespace

CoreArea core_area(const Machine& m, Widest widest, Bound bound) {
  return area_of_lanes(m, core_lanes(m), widest, bound);
}

CoreArea stage_area(const CompiledStage& stage, const Machine& m, Widest widest, Bound bound) {
  return area_of_lanes(m, stage_lanes(stage, m), widest, bound);
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
  const std::vector<const CompiledStage*> circuits = built_circuits(application, m);
  const auto cores = static_cast<double>(built_cores(application, m) - std::ssize(circuits));
  double psram = 0, rom = 0, fefet = 0;
  for (const BuiltMemory& memory : psram_memories(application, m))
    psram += memory_area(m, memory.bytes, m.psram_port_bits, bound) * static_cast<double>(memory.copies);
  for (const CompiledStage& stage : application.stages) {
    const WeightPlace weights = on_chip(stage.role, m) ? weight_place(m, stage.role) : WeightPlace::psram;
    if (weights == WeightPlace::rom)
      rom += rom_area(process, stage.program.stored_weight_bytes).value * m.sram_floor_plan_factor.value();
    if (weights == WeightPlace::fefet)
      fefet += static_cast<double>(fefet_copies(stage, m)) * fefet_area(stage, widest.operands, m, bound);
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
  for (const CompiledStage* circuit : circuits) {
    const CoreArea its = stage_area(*circuit, m, widest, bound);
    std::size_t block = 0;
    for (const double mm2 :
         {its.conv2d, its.linear, its.matmul, its.vector, its.softmax, its.norm, its.dsram, its.stackram})
      area[block++] += mm2;
    of_circuits += its.total();
  }
  double datapath = 0;
  for (const double mm2 : area) datapath += mm2;
  area[11] = fefet;
  area[12] = (datapath - of_circuits) * control_over_datapath(process, m.sequencer) +
             of_circuits * control_over_datapath(process, Sequencer::central);
  area[13] = datapath * other_over_datapath(process);
  area[14] = crossbar_area(process, crossbar_ports(m), Bits(m.link_bits)).value;
  return area;
}

double leaking_share(std::string_view block, Process process) {
  return block == "fefet" ? fefet_leaking_share(process) : 1;
}

Breakdown area_of(const Application& application, const Machine& m, Bound bound) {
  Breakdown area;
  std::size_t block = 0;
  for (const double mm2 : block_areas(application, widest_formats(application, m), m, bound)) {
    const std::string_view name = area_blocks[block++];
    if (name == "fefet" && m.in_memory_weights != InMemoryWeights::fefet) continue;
    if (name == "crossbar" && !has_crossbar(m)) continue;
    area.emplace_back(name, mm2);
  }
  return area;
}

std::int64_t sram_bytes(const Application& application, const Machine& m) {
  const std::int64_t stack = stack_in_psram(m) ? 0 : m.stackram_bytes;
  std::int64_t psram = 0;
  for (const BuiltMemory& memory : psram_memories(application, m)) psram += memory.copies * memory.bytes;
  return built_cores(application, m) * (2 * dsram_pairs(m) * m.dsram_bytes + stack) + psram + m.imem_bytes;
}

}  // namespace sdip
