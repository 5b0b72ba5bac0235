// Published accelerators, described as machines.
#include "tests/core/cost/price/chips.h"

namespace sdip {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

/// What all three have in common: one core, one array, weights held still in it, a result that goes on to an
/// activation unit.
Machine accelerator() {
  Machine m;
  m.cores = 1;
  m.mac_sharing = MacSharing::shared;
  m.dataflow = Dataflow::weight_stationary;
  m.conv_lanes_pixel = 1;
  m.softmax_lanes = m.norm_lanes = m.transpose_lanes = 1;
  m.vae_stage = VaeStage::off_chip;
  m.fusion = Fusion::pointwise;
  m.transposition = Transposition::dynamic_transposition;
  m.stack_discipline = StackDiscipline::allocator;
  return m;
}

/// Jouppi et al., ISCA 2017: 256 x 256 int8 MACs at 700 MHz, 24 MiB of unified buffer, 4 MiB of accumulators, a
/// FIFO of four tiles of weights, two DDR3-2133 channels of 34 GB/s in all.
Machine tpu_v1() {
  Machine m = accelerator();
  m.technology_node = TechnologyNode::n28;
  m.core_clock_mhz = 700;
  m.conv_lanes_in = m.conv_lanes_out = 256;
  m.vector_lanes = 256;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.dsram_bytes = 12 * mib;
  m.stackram_bytes = 4 * mib;
  m.psram_bytes = 256 * kib;
  m.psram_port_bits = 2048;
  m.dsram_port_bits = m.stackram_port_bits = 8192;  // 256 partial sums of 32 bit
  m.dram_kind = DramKind::ddr3;
  m.dram_bus_bits = 128;
  m.dram_clock_ratio = Decimal{152};
  return m;
}

/// Jouppi et al., ISCA 2021: four 128 x 128 arrays of bf16 at 1050 MHz, 128 MiB of CMEM, 16 MiB of VMEM, 2048
/// vector ALUs, HBM2 of 614 GB/s.
Machine tpu_v4i() {
  Machine m = accelerator();
  m.technology_node = TechnologyNode::n7;
  m.core_clock_mhz = 1050;
  m.conv_lanes_in = 128;
  m.conv_lanes_out = 512;
  m.vector_lanes = 2048;
  m.weight_format = m.activation_format = NumberFormat::bf16;
  m.accumulator_format = NumberFormat::fp32;
  m.psram_bytes = 128 * mib;
  m.dsram_bytes = 6 * mib;
  m.stackram_bytes = 4 * mib;
  m.psram_port_bits = 8192;
  m.dsram_port_bits = m.stackram_port_bits = 16384;  // 512 partial sums of 32 bit
  m.dram_kind = DramKind::hbm2;
  m.dram_bus_bits = 2048;
  m.dram_clock_ratio = Decimal{114};
  return m;
}

/// Chen et al., JSSC 2017: 12 x 14 elements of 16 bit fixed point at 200 MHz, 108 KiB of global buffer; 168
/// scratchpads of 520 bytes stand here as one memory, and the network between as wide ports.
Machine eyeriss() {
  Machine m = accelerator();
  m.technology_node = TechnologyNode::n65;
  m.core_clock_mhz = 200;
  m.pipeline_stages = 3;
  m.conv_lanes_in = 12;
  m.conv_lanes_out = 14;
  m.vector_lanes = 1;
  m.weight_format = m.activation_format = NumberFormat::q7_8;
  m.accumulator_format = NumberFormat::int16;
  m.dsram_bytes = 50 * kib;
  m.stackram_bytes = 86 * kib;
  m.psram_bytes = 8 * kib;
  m.imem_bytes = 32 * kib;
  m.dsram_port_bits = m.psram_port_bits = m.stackram_port_bits = 256;
  m.sram_banks = 4;
  m.dram_kind = DramKind::lpddr4;
  m.dram_bus_bits = 64;
  m.dram_clock_ratio = Decimal{30};
  return m;
}

}  // namespace

std::span<const Chip> chips() {
  static const Chip rows[] = {
      {"TPU v1", tpu_v1(), 331, 40, 700, "at most, half of a 662 mm2 die (ISCA 2017)",
       "busy, measured (ISCA 2017)"},
      {"TPU v4i", tpu_v4i(), 400, 175, 1050, "below (ISCA 2021)", "TDP (ISCA 2021)"},
      {"Eyeriss", eyeriss(), 12.25, 0.278, 200, "core (JSSC 2017)", "AlexNet's convolutions, measured (JSSC 2017)"},
  };
  return rows;
}

}  // namespace sdip
