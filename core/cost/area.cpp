// Area of MACs, lanes and memories.
#include "core/cost/area.h"

#include <algorithm>

#include "core/cost/micro_operations.h"
#include "core/cost/stage.h"
#include "core/machine/technology.h"

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

std::int64_t built_psrams(const Application& application, const Machine& machine) {
  bool cores_stream = !hard_coded(machine, Role::core);
  for (const CompiledStage& stage : application.stages)
    cores_stream |= !is_vae(stage.role) && !hard_coded(machine, stage.role);
  const bool vae_streams = !hard_coded(machine, Role::decoder);  // as the encoder does
  return (cores_stream ? std::max<std::int64_t>(1, series_parts(application)) : 0) +
         (vae_streams ? vae_stages(application, machine) : 0);
}

namespace {

/// The widest format that a circuit meets: of operands, and of them and weights. Narrower layers use the same
/// circuits.
struct Widest {
  NumberFormat operands, all;
};
Widest widest_formats(const Application& application, const Machine& m) {
  const auto wider = [](NumberFormat a, NumberFormat b) { return bits_of(b) > bits_of(a) ? b : a; };
  Widest widest{m.activation_format, wider(m.activation_format, m.weight_format)};
  for (const CompiledStage& stage : application.stages)
    for (const InstructionClass& c : stage.program.classes) {
      if (!c.formats) continue;
      widest.operands = wider(widest.operands, c.formats->activations);
      widest.all = wider(wider(widest.all, c.formats->activations), c.formats->weights);
    }
  return widest;
}

}  // namespace

Breakdown area_of(const Application& application, const Machine& m) {
  const TechnologyNode node = m.technology_node;
  const Widest widest = widest_formats(application, m);
  const auto cores = static_cast<double>(built_cores(application, m));
  const double mac = mac_area(node, widest.all).value * m.mac_floor_plan_factor.value() * cores;
  const double lane = mac_area(node, widest.operands).value * m.mac_floor_plan_factor.value() * cores;
  const auto sram = [&](std::int64_t bytes, double copies) {
    return sram_area(node, Bytes(bytes)).value * m.sram_floor_plan_factor.value() * copies;
  };
  const auto lanes = [](std::int64_t a, std::int64_t b, std::int64_t c) { return static_cast<double>(a * b * c); };
  Breakdown area;
  area.emplace_back("conv2d", mac * lanes(m.conv_lanes_in, m.conv_lanes_out, m.conv_lanes_pixel));
  const bool separate = !shares_macs(m), shared = shares_units(m);
  const bool softmax =
      !shared && (m.host_operators == HostOperators::no_operators || m.fused_attention == FusedAttention::on);
  const bool norm = !shared && (m.host_operators != HostOperators::softmax_and_norm || m.fusion == Fusion::norm);
  area.emplace_back("linear", separate ? mac * lanes(m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k) : 0.0);
  area.emplace_back("matmul", separate ? lane * lanes(m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k) : 0.0);
  area.emplace_back("vector", lane * static_cast<double>(m.vector_lanes));
  area.emplace_back("softmax", softmax ? lane * static_cast<double>(m.softmax_lanes) : 0.0);
  area.emplace_back("norm", norm ? lane * static_cast<double>(m.norm_lanes) : 0.0);
  area.emplace_back("dsram", sram(2 * dsram_pairs(m) * m.dsram_bytes, cores));
  area.emplace_back("stackram", sram(m.stackram_bytes, cores));
  area.emplace_back("psram", sram(m.psram_bytes, static_cast<double>(built_psrams(application, m))));
  area.emplace_back("imem", sram(m.imem_bytes, 1.0));
  double rom = 0;
  for (const CompiledStage& stage : application.stages)
    if (hard_coded(m, stage.role) && on_chip(stage.role, m))
      rom += rom_area(node, stage.program.stored_weight_bytes).value * m.sram_floor_plan_factor.value();
  area.emplace_back("rom", rom);
  return area;
}

std::int64_t sram_bytes(const Application& application, const Machine& m) {
  return built_cores(application, m) * (2 * dsram_pairs(m) * m.dsram_bytes + m.stackram_bytes) +
         built_psrams(application, m) * m.psram_bytes + m.imem_bytes;
}

}  // namespace sdip
