// Machines to start from: four for diffusion, and a published one for its own small network.
#include <algorithm>

#include "core/machine/machine.h"

namespace sdip {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

/// The machine that all presets of int8 begin with: one MAC array for all products, and operands turned as they are
/// read.
Machine of_int8() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.mac_sharing = MacSharing::shared;
  m.transposition = Transposition::dynamic_transposition;
  return m;
}

/// The seed essay's machine: fp16, own MACs for each operator, no fusion, a core for each two steps of twenty. The
/// essay draws a PSRAM that holds one step's weights (1.7 GB in fp16); this one double-buffers the largest
/// instruction's.
Machine essay() {
  Machine m;
  m.cores = 10;
  m.psram_bytes = 128 * mib;
  m.dsram_bytes = 32 * mib;
  m.stackram_bytes = 32 * mib;
  m.dram_kind =
      DramKind::hbm2e;  // one stack, whose 16 GB hold what ten cores leave there, at once the core's clock
  m.dram_rate_mtps = 2000;
  m.dies = 5;  // of two cores each: fewer are larger than a scanner exposes
  m.die_link_bits = 8192;
  return m;
}

/// One core with 8 MiB of SRAM in all, int8, one MAC array, LPDDR4: the size that an NPU maker's analysis of
/// on-device Stable Diffusion assumes.
Machine edge() {
  Machine m = of_int8();
  m.cores = 1;
  m.psram_bytes = 2 * mib;
  m.dsram_bytes = 2 * mib;
  m.stackram_bytes = 2 * mib;
  m.psram_port_bits = 4096;
  m.dsram_port_bits = m.stackram_port_bits = 2048;
  m.dram_channels = 4;  // 64 bits
  m.dram_rate_mtps = 4000;
  m.fusion = Fusion::pointwise;
  m.stack_discipline = StackDiscipline::allocator;
  return m;
}

/// Twenty cores, one step each: every pass over the weights lets one frame out.
Machine stream() {
  Machine m = of_int8();
  m.cores = 20;
  m.conv_lanes_in = m.conv_lanes_out = 32;
  m.psram_bytes = 64 * mib;
  m.dsram_bytes = 16 * mib;
  m.stackram_bytes = 16 * mib;
  m.dsram_port_bits = m.stackram_port_bits = 8192;
  m.psram_port_bits = 16384;
  m.vector_lanes = m.softmax_lanes = m.norm_lanes = 1024;
  m.transpose_lanes = 256;
  m.dram_kind = DramKind::hbm2;
  m.dram_channels = 32;  // four stacks
  m.dies = 2;
  m.die_link_bits = 16384;
  m.fusion = Fusion::pointwise;
  m.stack_discipline = StackDiscipline::allocator;
  return m;
}

/// The machine that the search of docs/balanced.json finds with 20,000 evaluations (other seeds find the same
/// memories and up to 4 % more), in frames/s/mm2 times frames/J: one die that a scanner exposes, at most 100 W, two
/// steps of twenty a core.
Machine balanced() {
  Machine m = of_int8();
  m.cores = 10;
  m.core_clock_mhz = 1200;
  m.pipeline_stages = 1;
  m.conv_lanes_in = 32;
  m.conv_lanes_out = 64;
  m.accumulator_folds = 16;
  m.weight_registers = 2;
  m.psram_bytes = 6 * mib;
  m.dsram_bytes = 3 * mib;
  m.stackram_bytes = 6 * mib;
  m.sram_banks = 4;
  m.psram_port_bits = 8192;
  m.dsram_port_bits = m.stackram_port_bits = 4096;
  m.vector_lanes = m.transpose_lanes = 256;
  m.softmax_lanes = m.norm_lanes = 512;
  m.dram_kind = DramKind::hbm3;
  m.dram_channels = 12;
  m.die_link_bits = 16384;
  m.fusion = Fusion::norm;
  m.norm_statistics = NormStatistics::producer;
  m.fused_attention = FusedAttention::on;
  m.split_products = SplitProducts::on;
  m.part_views = PartViews::on;
  m.fused_chains = FusedChains::on;
  m.strips = Strips::line_buffers;
  m.schedule = ScheduleOrder::least_live;
  m.tile_goal = TileGoal::balanced;
  m.stack_discipline = StackDiscipline::allocator;
  m.hoisted_context = true;
  return m;
}

/// The single-head attention that students built on a PYNQ-Z2 ("Single head attention" on PYNQ-Z2, course report on
/// HackMD): int8, vectors of four in beats of 32 bit, a 4 x 4 x 4 product in one cycle, and everything that goes
/// in, comes out or is commanded an access of the host's, each 2050 cycles of its 650 MHz: 2050 x 100 / 650 = 315.4
/// cycles of the bus's 100 MHz. BRAM: 630 KB (Zynq XC7Z020, DS190), of which this needs next to nothing. The host's
/// speed is not in the text: 10 bus cycles, 65 of its own, an element and pass of softmax are an assumption. So are
/// DRAM's figures (16 bit of DDR3-1050, TUL's product page), which only a machine with a bus master would use.
Machine pynq_attention() {
  Machine m = of_int8();
  m.cores = 1;
  m.core_clock_mhz = 100;
  m.pipeline_stages = 1;
  m.conv_lanes_in = m.conv_lanes_out = m.conv_lanes_pixel = 4;
  m.vector_lanes = 16;  // casts and shifts are wires behind the product
  m.softmax_lanes = m.norm_lanes = m.transpose_lanes = 1;
  m.psram_bytes = m.dsram_bytes = m.stackram_bytes = 4 * kib;
  m.psram_port_bits = m.dsram_port_bits = m.stackram_port_bits = 32;
  m.imem_bytes = 4 * kib;
  m.sram_banks = 1;
  m.dma_port = DmaPort::own;  // block RAM has two
  m.dram_kind = DramKind::ddr3;
  m.dram_channels = 1;
  m.dram_channel_bits = 16;
  m.dram_rate_mtps = 1050;
  m.dram_burst_bytes = 4;
  m.vae_stage = VaeStage::off_chip;
  m.technology_node = TechnologyNode::fpga_zynq7020;
  m.weight_storage = WeightStorage::resident;
  m.fusion = Fusion::pointwise;
  // Results are turned by the wires of the circuit.
  m.sequencer = Sequencer::host;
  m.dispatch_cycles = 0;
  m.host_command_cycles = m.host_access_cycles = 316;
  m.host_operators = HostOperators::softmax;
  m.host_bus_bits = 32;
  m.host_result_bits = 32;  // probabilities come back as floats, and the circuit quantises them
  m.host_memory = true;
  return m;
}

}  // namespace

std::span<const Preset> presets() {
  static const Preset rows[] = {
      {"essay", "The seed essay's machine on five dies: fp16, an own circuit for each operator, no fusion",
       "試論の機械(5ダイ): fp16、演算ごとの専用回路、融合なし", essay()},
      {"edge", "One int8 core with 8 MiB of SRAM and LPDDR4", "SRAM 8 MiB・LPDDR4・int8の1コア機", edge()},
      {"stream", "Twenty int8 cores on two dies with HBM2, one diffusion step each",
       "HBM2・int8・2ダイ20コアのストリーム機(1コア1ステップ)", stream()},
      {"balanced",
       "Ten int8 cores on one die with HBM3: the best that a search of 20,000 machines finds, a frame for mm2 and "
       "J",
       "HBM3・int8・1ダイ10コア機: 2万台の探索で見つけた、面積・エネルギー当たり最良の機械", balanced()},
      {"pynq-attention", "Students' single-head attention on a PYNQ-Z2, for the model of that name",
       "PYNQ-Z2上の学生製シングルヘッド注意機構(同名モデル用)", pynq_attention()},
  };
  return rows;
}

std::span<const Preset> diffusion_presets() { return presets().first(4); }

const Preset* find_preset(std::string_view name) {
  const auto rows = presets();
  const auto row = std::ranges::find(rows, name, &Preset::name);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace sdip
