// A machine at random.
#include <array>

#include "core/machine/scale_groups.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

Decimal f(std::int64_t hundredths) { return Decimal{hundredths}; }

/// Formats of bits, every weight in its cell.
void multiply_in_memory(Dice& dice, Machine& m) {
  const auto bits = [&] {
    return dice.one_of({NumberFormat::int8, NumberFormat::uint8, NumberFormat::int4, NumberFormat::int16,
                        NumberFormat::q7_8, NumberFormat::int32});
  };
  m.in_memory_weights = InMemoryWeights::fefet;
  m.weight_format = bits();
  m.activation_format = bits();
  if (scale_group_of(m) > 0) m.scale_granularity = ScaleGranularity::channel;
  if (m.sparsity == Sparsity::skipping) m.sparsity = Sparsity::gating;
  m.weight_compression = Decimal{100};
  m.fefet_input_bits = dice.between(1, 8);
  m.fefet_columns_per_converter = dice.between(1, 20);
}

}  // namespace

namespace {

/// Sums and weights that arrays keep, and parts of an attention; no draws: others stay.
void draw_held(Machine& m) {
  if (m.dataflow != Dataflow::input_stationary && m.link_bits / 2 % 2 == 0 && scale_group_of(m) == 0) {  // nor here
    m.accumulator_folds = 1 + m.link_bits / 4 % 7;
    m.weight_registers =
        std::array<std::int64_t, 6>{1, 2, 2, 3, 5, 40}[static_cast<std::size_t>(m.host_bus_bits % 6)];
  }
  if (m.granularity != Granularity::micro_operation) m.attention_parts = 1 + m.link_bits / 3 % 5;
}

/// Puts cores on several dies; where it may not it draws nothing, so that other rows stay.
void draw_dies(Machine& m) {
  if (m.host_memory || m.link_bits % 4 != 0) return;
  m.dies = 1 + m.link_bits % 3;
  m.die_link_bits = 8 + m.link_bits % 97;
  m.die_link_cycles = 1 + m.link_bits % 11;
}

}  // namespace

Machine random_machine(Dice& dice) {
  Machine m;
  for (std::int64_t* lanes :
       {&m.conv_lanes_in, &m.conv_lanes_out, &m.conv_lanes_pixel, &m.linear_lanes_m, &m.linear_lanes_n,
        &m.linear_lanes_k, &m.matmul_lanes_m, &m.matmul_lanes_n, &m.matmul_lanes_k})
    *lanes = dice.between(1, 6);
  for (std::int64_t* lanes : {&m.vector_lanes, &m.softmax_lanes, &m.norm_lanes, &m.transpose_lanes})
    *lanes = dice.between(1, 24);
  for (std::int64_t* port : {&m.psram_port_bits, &m.dsram_port_bits, &m.stackram_port_bits})
    *port = 8 * dice.between(1, 40);
  m.dataflow = dice.one_of({Dataflow::output_stationary, Dataflow::weight_stationary, Dataflow::input_stationary});
  m.weight_format = static_cast<NumberFormat>(dice.between(0, std::ssize(number_formats) - 1));
  m.activation_format = static_cast<NumberFormat>(dice.between(0, plain_format_count - 1));
  m.accumulator_format = dice.one_of({NumberFormat::fp32, NumberFormat::int32});
  m.scale_granularity = static_cast<ScaleGranularity>(dice.between(0, 4));
  m.weight_buffering = dice.one_of({Buffering::single_buffer, Buffering::double_buffer});
  m.tile_buffering = dice.one_of({Buffering::single_buffer, Buffering::double_buffer});
  m.mac_sharing = dice.one_of({MacSharing::separate, MacSharing::shared});
  m.activation_memory = dice.one_of({ActivationMemory::separate, ActivationMemory::unified});
  m.weight_storage = dice.one_in(6)   ? WeightStorage::hard_coded
                     : dice.one_in(6) ? WeightStorage::resident
                                      : WeightStorage::streamed;
  m.sequencer = dice.one_of({Sequencer::central, Sequencer::distributed, Sequencer::host});
  m.sparsity = dice.one_of({Sparsity::dense, Sparsity::gating, Sparsity::skipping});
  if (scale_group_of(m) > 0) {
    m.accumulator_format = NumberFormat::fp32;
    if (m.sparsity == Sparsity::skipping) m.sparsity = Sparsity::gating;
  }
  if (m.sparsity != Sparsity::dense) {
    m.weight_density = f(dice.between(1, 100));
    if (dice.one_in(2)) m.sparsity_group = dice.between(2, 9);
    if (dice.one_in(2)) m.activation_density = f(dice.between(1, 100));
  }
  if (dice.one_in(2)) m.weight_compression = f(dice.between(101, 400));
  m.decompressor_bytes_per_cycle = dice.between(1, 40);
  m.dispatch_cycles = dice.between(0, 60);
  m.granularity = dice.one_of({Granularity::per_operator, Granularity::per_tile, Granularity::micro_operation});
  if (dice.one_in(3)) {
    m.operator_dsram = OperatorDsram::per_operator;
    m.activation_memory = ActivationMemory::separate;
    m.granularity = Granularity::per_operator;
  }
  m.program_storage = dice.one_of({ProgramStorage::held, ProgramStorage::streamed});
  m.host_operators =
      dice.one_of({HostOperators::no_operators, HostOperators::softmax, HostOperators::softmax_and_norm});
  m.host_bus_bits = dice.between(8, 200);
  m.host_cycles_per_element = f(dice.between(1, 500));
  m.host_access_cycles = dice.one_of<std::int64_t>({1, 1, 2, 7, 30});
  m.host_result_bits = dice.one_of<std::int64_t>({0, 0, 1, 16, 32});
  m.host_memory = dice.one_in(4);
  m.host_command_cycles = dice.between(0, 90);
  m.pipeline_stages = dice.between(1, 20);
  m.dram_channels = dice.between(1, 24);
  m.dram_channel_bits = 8;
  m.dram_rate_mtps = 20 * dice.between(5, 400);
  m.dram_kind = DramKind::gddr7;  // the fastest that is sold
  m.dram_efficiency = f(dice.between(30, 100));
  m.link_bits = dice.between(1, 600);
  m.dram_burst_bytes = dice.one_of<std::int64_t>({1, 7, 16, 64});
  m.dram_latency_ns = m.link_bits % 3 == 0 ? 0 : m.link_bits % 53;  // no draws: others stay
  m.dram_turn_ns = m.link_bits % 5 == 0 ? 0 : m.link_bits % 17;
  m.composable_macs = m.link_bits % 2 == 0 ? ComposableMacs::off : ComposableMacs::on;  // no draw: others stay
  draw_held(m);
  if (dice.one_in(6)) multiply_in_memory(dice, m);
  draw_dies(m);
  return m;
}

}  // namespace sdip
