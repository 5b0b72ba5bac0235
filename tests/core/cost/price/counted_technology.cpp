// Area, wires and leakage of an application on a machine, from docs/model/energy.md and area.md alone.
#include "tests/core/cost/price/counted_technology.h"

#include <algorithm>
#include <cmath>

#include "core/exec/clock/board.h"
#include "core/exec/clock/operations.h"
#include "core/machine/technology.h"

namespace sdip {
namespace {

double row_of(const std::string& name) {
  return std::ranges::find(technology_rows(), name, &TechnologyRow::name)->value;
}
double row_of(const Machine& m, const std::string& name) {
  const ParameterRow& node = *find_parameter("technology_node");
  return row_of(value_text(node, node.read(m)) + name);
}

bool vae(Role role) { return role == Role::encoder || role == Role::decoder; }
bool left_out(const Machine& m, Role role) { return vae(role) && m.vae_stage == VaeStage::off_chip; }
bool holds_stacks(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::writable_psram; }
double real(std::int64_t n) { return static_cast<double>(n); }

/// mm2 per MiB, for bytes and for what the port bits of every bank take beside them.
double memory_mm2(const Machine& m, std::int64_t bytes, std::int64_t port_bits) {
  if (bytes <= 0) return 0;
  const double cells = row_of("sram.port_cells") * real(m.sram_banks * port_bits);
  return row_of(m, ".sram.area") * (real(8 * bytes) + cells) / (8 << 20) * m.sram_floor_plan_factor.value();
}

std::int64_t pairs_of(const Machine& m) { return m.operator_dsram == OperatorDsram::per_operator ? 7 : 1; }

/// Lanes and memories of one core.
std::map<std::string, double> core_blocks(const Machine& m) {
  const bool micro = m.granularity == Granularity::micro_operation;
  const bool one_array = micro || m.mac_sharing == MacSharing::shared;
  const bool weight_wider = bits_of(m.weight_format) > bits_of(m.activation_format);
  const double mac = mac_area(m.technology_node, weight_wider ? m.weight_format : m.activation_format).value *
                     m.mac_floor_plan_factor.value();
  const double lane = mac_area(m.technology_node, m.activation_format).value * m.mac_floor_plan_factor.value();
  const bool hosts = m.host_operators != HostOperators::no_operators;
  const bool softmax = !micro && (!hosts || m.fused_attention == FusedAttention::on);
  const bool norm = !micro && (m.host_operators != HostOperators::softmax_and_norm || m.fusion == Fusion::norm);
  std::map<std::string, double> mm2;
  const double splits = composable_ratio(m, weight_wider ? m.weight_format : m.activation_format, "area");
  mm2["conv2d"] = mac * splits * real(m.conv_lanes_in * m.conv_lanes_out * m.conv_lanes_pixel);
  mm2["linear"] = one_array ? 0 : mac * splits * real(m.linear_lanes_m * m.linear_lanes_n * m.linear_lanes_k);
  mm2["matmul"] = one_array ? 0
                            : lane * composable_ratio(m, m.activation_format, "area") *
                                  real(m.matmul_lanes_m * m.matmul_lanes_n * m.matmul_lanes_k);
  mm2["vector"] = lane * real(m.vector_lanes);
  mm2["softmax"] = softmax ? lane * real(m.softmax_lanes) : 0;
  mm2["norm"] = norm ? lane * real(m.norm_lanes) : 0;
  mm2["dsram"] = real(2 * pairs_of(m)) * memory_mm2(m, m.dsram_bytes, m.dsram_port_bits);
  mm2["stackram"] = holds_stacks(m) ? 0 : memory_mm2(m, m.stackram_bytes, m.stackram_port_bits);
  return mm2;
}

/// Those of the core or circuit that a stage runs on. The machine is that of the stage.
std::map<std::string, double> stage_blocks(const CompiledStage& stage, const Machine& m) {
  std::map<std::string, double> mm2 = core_blocks(m);
  for (const Family family :
       {Family::conv2d, Family::linear, Family::matmul, Family::vector, Family::softmax, Family::norm})
    if (!has_circuit(stage, family, m)) mm2[std::string(family_text(family))] = 0;
  return mm2;
}

double sum_of(const std::map<std::string, double>& blocks) {
  double sum = 0;
  for (const auto& block : blocks) sum += block.second;
  return sum;
}

/// Cells of every copy, and converters of their columns: arrays of 128 x 128 cells of a bit.
double fefet_arrays(const CompiledStage& s, const Machine& m) {
  const bool frames = s.role == Role::network && s.part.count <= 1 && m.branches == Branches::serial;
  const std::int64_t copies = s.role == Role::core || frames ? m.cores : 1;
  const std::int64_t bits = 8 * s.program.stored_weight_bytes.value, columns = (bits + 16383) / 16384 * 128;
  const std::int64_t converters = (columns + m.fefet_columns_per_converter - 1) / m.fefet_columns_per_converter;
  const double levels = std::exp2(real(std::min(m.fefet_input_bits, bits_of(m.activation_format)) - 1));
  const double cells = row_of(m, ".sram.area") / (8 << 20) * row_of("fefet.cell.over_sram") * real(bits) *
                       m.sram_floor_plan_factor.value();
  return real(copies) * (cells + real(converters) * levels * row_of("fefet.converter") / 1e6);
}

double control(const Machine& m) {
  const double ratio = row_of("control.over_datapath");
  return m.sequencer == Sequencer::distributed ? ratio * row_of("control.distributed.over_central") : ratio;
}

}  // namespace

double composable_ratio(const Machine& m, NumberFormat format, const std::string& what) {
  if (m.composable_macs == ComposableMacs::off) return 1;
  const bool floats = number_formats[static_cast<std::size_t>(format)].floating;
  return row_of((floats ? "composable.float." : "composable.integer.") + what);
}
double counted_row(const std::string& name) { return row_of(name); }

bool has_circuit(const CompiledStage& stage, Family family, const Machine& m) {
  if (!is_circuit(m, stage.role)) return true;
  const bool micro = m.granularity == Granularity::micro_operation;
  const auto used = [&](std::initializer_list<std::size_t> circuits) {
    for (const InstructionClass& c : stage.program.classes)
      for (const std::size_t circuit : circuits)
        if ((exec::uses_of(c, {}, m) >> circuit & 1) != 0) return true;
    return false;
  };
  constexpr std::size_t all_products = pair_families;  // behind the families' own, as the board numbers them
  const auto its = [](Family one) { return static_cast<std::size_t>(one); };
  if (family == Family::conv2d && (micro || m.mac_sharing == MacSharing::shared))
    return used({its(Family::conv2d), its(Family::linear), its(Family::matmul), all_products});
  if (family == Family::vector && micro)
    return used({its(Family::vector), its(Family::softmax), its(Family::norm), its(Family::transpose)});
  return used({its(family)});
}

std::int64_t counted_cores(const Application& application, const Machine& m) {
  return m.cores + std::ranges::count_if(application.stages, [&](const CompiledStage& s) {
           return vae(s.role) && !left_out(m, s.role);
         });
}

std::map<std::string, double> counted_area(const Application& application, const Machine& m) {
  std::int64_t parts = 0, rom_bytes = 0;
  double fefet_mm2 = 0;
  bool cores_stream = !exec::weights_wired(m, Role::core);
  for (const CompiledStage& s : application.stages) {
    const bool wired = exec::weights_wired(m, s.role);
    parts += s.part.count > 1;
    if (!vae(s.role) && !wired) cores_stream = true;
    if (left_out(m, s.role)) continue;
    if (exec::weights_in_rom(m, s.role)) rom_bytes += s.program.stored_weight_bytes.value;
    if (exec::weights_multiply(m, s.role)) fefet_mm2 += fefet_arrays(s, m);
  }
  const std::int64_t cores = counted_cores(application, m);
  const std::int64_t vae_cores = cores - m.cores;
  const bool vae_streams = !exec::weights_wired(m, Role::decoder);
  const std::int64_t psrams = (cores_stream ? std::max<std::int64_t>(1, parts) : 0) + (vae_streams ? vae_cores : 0);
  std::map<std::string, double> mm2 = core_blocks(m);
  std::int64_t circuits = 0;
  double of_circuits = 0;
  for (const CompiledStage& s : application.stages) circuits += is_circuit(m, s.role) ? 1 : 0;
  for (auto& block : mm2) block.second *= real(cores - circuits);
  for (const CompiledStage& s : application.stages) {
    if (!is_circuit(m, s.role)) continue;
    for (const auto& [block, area] : stage_blocks(s, machine_of_stage(m, s.role))) {
      mm2[block] += area;
      of_circuits += area;
    }
  }
  mm2["psram"] = real(psrams) * memory_mm2(m, m.psram_bytes, m.psram_port_bits);
  if (holds_stacks(m)) {
    const auto one = [&](bool weights, std::int64_t stacks) {
      return memory_mm2(m, (weights ? m.psram_bytes : 0) + stacks * m.stackram_bytes, m.psram_port_bits);
    };
    mm2["psram"] = real(vae_cores) * one(vae_streams, 1);
    if (parts == 0) mm2["psram"] += one(cores_stream, m.cores);
    for (std::int64_t part = 0; part < parts; ++part) mm2["psram"] += one(cores_stream, 1);
    for (std::int64_t core = parts; parts > 0 && core < m.cores; ++core) mm2["psram"] += one(false, 1);
  }
  const double plain = row_of(m, ".sram.area") / (1 << 20) * m.sram_floor_plan_factor.value();
  mm2["imem"] = plain * real(m.imem_bytes);
  mm2["rom"] = plain * real(rom_bytes) * row_of("rom.over_sram");
  const double datapath = sum_of(mm2);
  if (m.in_memory_weights == InMemoryWeights::fefet) mm2["fefet"] = fefet_mm2;
  mm2["control"] = (datapath - of_circuits) * control(m) + of_circuits * row_of("control.over_datapath");
  mm2["other"] = datapath * row_of(m, ".other.over_datapath");
  if (m.memory_hierarchy == MemoryHierarchy::crossbar) {
    const double side_mm = real((m.cores + 2) * m.link_bits) * row_of(m, ".crossbar.pitch") / 1000;
    mm2["crossbar"] = side_mm * side_mm;
  }
  return mm2;
}

Wires counted_wires(const CompiledStage& stage, const Machine& m) {
  const auto blocks = stage_blocks(stage, m);
  const double core = sum_of(blocks) * (1 + control(m) + row_of(m, ".other.over_datapath"));
  const bool all = (stage.role == Role::core || stage.role == Role::network) && stage.part.count <= 1;
  const auto to_port = [&](double mm2) {
    const double side = std::sqrt(mm2), bank = std::sqrt(mm2 / real(m.sram_banks));
    return (side - bank) * 3 / 4;
  };
  const double dsram = memory_mm2(m, m.dsram_bytes, m.dsram_port_bits), stackram = blocks.at("stackram");
  const bool unified = m.activation_memory == ActivationMemory::unified;
  Wires wires;
  wires.broadcast = (all ? real(m.cores) : 1) * std::sqrt(core);
  wires.psram_bytes = m.psram_bytes;
  if (holds_stacks(m)) {
    const bool own = vae(stage.role) || stage.part.count > 1;
    const bool rom = exec::weights_wired(m, vae(stage.role) ? stage.role : Role::network);
    wires.psram_bytes = (rom ? 0 : m.psram_bytes) + (own ? 1 : m.cores) * m.stackram_bytes;
  }
  wires.to_a_core = wires.broadcast * ((all ? real(m.cores) : 1) + 1) / 2 / (all ? real(m.cores) : 1);
  wires.psram = to_port(memory_mm2(m, wires.psram_bytes, m.psram_port_bits));
  wires.dsram = to_port(unified ? 2 * dsram + stackram : dsram);
  wires.stackram = to_port(stackram);
  return wires;
}

double counted_leakage(const std::map<std::string, double>& area_mm2, const Machine& m) {
  double leaking_mm2 = sum_of(area_mm2);
  if (const auto fefet = area_mm2.find("fefet"); fefet != area_mm2.end())
    leaking_mm2 -= fefet->second * (1 - row_of("fefet.leaks"));
  return leaking_mm2 * row_of(m, ".leakage") / 1000;
}

}  // namespace sdip
