// Three machines to start from.
#include <algorithm>

#include "core/machine/machine.h"

namespace sdip {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

/// The seed essay's machine: fp16, own MACs for each operator, no fusion, a core for each two steps of twenty. The
/// essay draws a PSRAM that holds one step's weights (1.7 GB in fp16); this one double-buffers the largest
/// instruction's.
Machine essay() {
  Machine m;
  m.cores = 10;
  m.psram_bytes = 128 * mib;
  m.dsram_bytes = 32 * mib;
  m.stackram_bytes = 32 * mib;
  m.dram_kind = DramKind::hbm2;
  m.dram_bus_bits = 1024;
  m.dram_clock_ratio = Decimal{100};
  return m;
}

/// One core with 8 MiB of SRAM in all, int8, one MAC array, LPDDR4: the size that an NPU maker's analysis of
/// on-device Stable Diffusion assumes.
Machine edge() {
  Machine m;
  m.cores = 1;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.mac_sharing = MacSharing::shared;
  m.psram_bytes = 2 * mib;
  m.dsram_bytes = 2 * mib;
  m.stackram_bytes = 2 * mib;
  m.psram_port_bits = 4096;
  m.dsram_port_bits = m.stackram_port_bits = 2048;
  m.dram_bus_bits = 64;
  m.fusion = Fusion::pointwise;
  m.transposition = Transposition::dynamic_transposition;
  m.stack_discipline = StackDiscipline::allocator;
  return m;
}

/// Twenty cores, one step each: every pass over the weights lets one frame out.
Machine stream() {
  Machine m;
  m.cores = 20;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.mac_sharing = MacSharing::shared;
  m.conv_lanes_in = m.conv_lanes_out = 32;
  m.psram_bytes = 64 * mib;
  m.dsram_bytes = 16 * mib;
  m.stackram_bytes = 16 * mib;
  m.dsram_port_bits = m.stackram_port_bits = 8192;
  m.psram_port_bits = 16384;
  m.vector_lanes = m.softmax_lanes = m.norm_lanes = 1024;
  m.transpose_lanes = 256;
  m.dram_kind = DramKind::hbm2;
  m.dram_bus_bits = 4096;
  m.dram_clock_ratio = Decimal{100};
  m.fusion = Fusion::pointwise;
  m.transposition = Transposition::dynamic_transposition;
  m.stack_discipline = StackDiscipline::allocator;
  return m;
}

}  // namespace

std::span<const Preset> presets() {
  static const Preset rows[] = {
      {"essay", "The seed essay's machine: fp16, an own circuit for each operator, no fusion",
       "試論の機械: fp16、演算ごとの専用回路、融合なし", essay()},
      {"edge", "One int8 core with 8 MiB of SRAM and LPDDR4", "SRAM 8 MiB・LPDDR4・int8の1コア機", edge()},
      {"stream", "Twenty int8 cores with HBM2, one diffusion step each",
       "HBM2・int8・20コアのストリーム機(1コア1ステップ)", stream()},
  };
  return rows;
}

const Preset* find_preset(std::string_view name) {
  const auto rows = presets();
  const auto row = std::ranges::find(rows, name, &Preset::name);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace sdip
