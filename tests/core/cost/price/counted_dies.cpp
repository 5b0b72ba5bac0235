// Dies of a machine and what it costs, from docs/model/dies.md alone.
#include "tests/core/cost/price/counted_dies.h"

#include <cmath>
#include <limits>

#include "core/exec/clock/operations.h"
#include "core/machine/dram.h"
#include "tests/core/cost/price/counted_technology.h"

namespace sdip {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

std::string text_of(const char* parameter, const Machine& m) {
  const ParameterRow& row = *find_parameter(parameter);
  return value_text(row, row.read(m));
}

std::int64_t cores_of_a_die(const Machine& m) {
  std::int64_t cores = 1;
  while (cores * m.dies < m.cores) ++cores;
  return cores;
}

bool on_all_cores(const CompiledStage& stage, const Machine& m) {
  return stage.role == Role::core ||
         (stage.role == Role::network && stage.part.count <= 1 && m.branches == Branches::serial);
}

}  // namespace

std::int64_t counted_dies(const Machine& m) {
  std::int64_t dies = 0;
  for (std::int64_t left = m.cores; left > 0; left -= cores_of_a_die(m)) ++dies;
  return dies;
}

double counted_link_end_mm2(const Machine& m) {
  return real(m.die_link_bits * m.core_clock_mhz) / 1000 * counted_row("link.area");
}

std::vector<double> counted_die_mm2(const Application& application, const Machine& m) {
  const auto area = counted_area(application, m);
  if (counted_dies(m) == 1) {
    double all = 0;
    for (const auto& [block, mm2] : area) all += mm2;
    return {all};
  }
  std::vector<double> dies(static_cast<std::size_t>(counted_dies(m)), counted_fixed_mm2(m));
  for (std::size_t die = 0; die < dies.size(); ++die) {
    dies[die] += counted_phys_mm2(m) / real(counted_dies(m));
    const bool outer = die == 0 || die + 1 == dies.size();
    dies[die] += (outer ? 1 : 2) * counted_link_end_mm2(m);
  }
  const auto of_core = [&](std::int64_t core) -> double& {
    return dies[static_cast<std::size_t>(core / cores_of_a_die(m))];
  };
  bool streams = !exec::weights_wired(m, Role::core);
  for (const CountedBlock& block : counted_blocks(application, m)) {
    const double mm2 = counted_placed_mm2(block, m);
    if (block.stage == nullptr) {
      for (std::int64_t core = 0; core < block.copies; ++core) of_core(core) += mm2;
      continue;
    }
    double& its = block.stage->role == Role::decoder ? dies.back() : dies.front();
    its += mm2;
    const bool own_text = m.text_encoder_psram_bytes != 0 || m.text_encoder_psram_port_bits != 0;
    if (block.stage->role == Role::text_encoder && !own_text) continue;
    if (!exec::weights_wired(m, block.stage->role))
      its += counted_memory_mm2(block.machine.psram_bytes, block.machine.psram_port_bits, m);
  }
  for (const CompiledStage& stage : application.stages) {
    const bool vae = stage.role == Role::encoder || stage.role == Role::decoder;
    if (vae && m.vae_stage == VaeStage::off_chip) continue;
    const bool own_text = stage.role == Role::text_encoder &&
                          (m.text_encoder_psram_bytes != 0 || m.text_encoder_psram_port_bits != 0);
    if (!vae && !own_text && !exec::weights_wired(m, stage.role)) streams = true;
    double& its = stage.role == Role::decoder ? dies.back() : dies.front();
    if (exec::weights_in_rom(m, stage.role)) its += counted_rom_mm2(stage, m);
    if (!exec::weights_multiply(m, stage.role)) continue;
    const double arrays = counted_fefet_mm2(stage, m);
    if (!on_all_cores(stage, m)) its += arrays;
    for (std::int64_t core = 0; on_all_cores(stage, m) && core < m.cores; ++core)
      of_core(core) += arrays / real(m.cores);
  }
  if (streams) dies.front() += counted_memory_mm2(m.psram_bytes, m.psram_port_bits, m);
  const auto imem = area.find("imem");
  const bool distributed = m.sequencer == Sequencer::distributed;
  dies.front() += imem->second * (1 + counted_row("control.over_datapath") *
                                          (distributed ? counted_row("control.distributed.over_central") : 1));
  return dies;
}

double counted_price_usd(const std::vector<double>& dies_mm2, const Machine& m) {
  const std::string node = text_of("technology_node", m), kind = text_of("dram_kind", m);
  double silicon = 0, all_mm2 = 0, bonded = 1;
  for (const double mm2 : dies_mm2) {
    if (mm2 > 858) return std::numeric_limits<double>::quiet_NaN();
    const double on_wafer = M_PI * 150 * 150 / mm2 - M_PI * 300 / std::sqrt(2 * mm2);
    const double defects = mm2 / 100 * counted_row(node + ".defects"), clusters = counted_row("defects.clusters");
    silicon += counted_row(node + ".wafer") / on_wafer * std::pow(1 + defects / clusters, clusters);
    all_mm2 += mm2;
    bonded *= counted_row("package.bond_yield");
  }
  double package = all_mm2 * counted_row("package.substrate") + silicon * counted_row("package.assembly");
  if (dies_mm2.size() > 1 || (kind.starts_with("hbm") && !m.host_memory))
    package += all_mm2 * counted_row("package.interposer.over_dies") * counted_row("package.interposer");
  double dram = 0;
  for (const std::string family : {"hbm", "lpddr", "gddr", "ddr"}) {
    if (!kind.starts_with(family) || m.host_memory) continue;
    const DramChannels channels = dram_channels(m);
    dram = real(channels.channels * channels.channel_mib) / 1024 * counted_row("dram." + family + ".price");
    break;
  }
  return (silicon + package) / bonded + dram;
}

}  // namespace sdip
