// Energy from counts.
#include "core/cost/price/energy.h"

#include <algorithm>

#include "core/cost/work/in_memory.h"
#include "core/cost/work/tile_plan.h"
#include "core/machine/technology.h"

namespace sdip {

std::string_view energy_part_text(EnergyPart part) {
  constexpr std::string_view names[energy_part_count] = {
      "mac",          "vector",    "dsram", "stackram", "psram",   "dram_weights", "dram_activations",
      "dram_program", "broadcast", "ports", "clock",    "control", "leakage"};
  return names[static_cast<std::size_t>(part)];
}

double total_of(const EnergyParts& joules) {
  double sum = 0;
  for (const double j : joules) sum += j;
  return sum;
}

namespace {

/// Products that are done of those whose operands are not zero so often. In between zeros of the two meet by
/// chance; at least they never do, at most no activation is zero.
double done_share(double weights, double activations, Bound bound) {
  if (bound == Bound::most) return weights;
  return bound == Bound::least ? std::max(0.0, weights - (1 - activations)) : weights * activations;
}

/// Of weights that stay.
double weight_share(const Machine& m) {
  if (m.sparsity == Sparsity::dense) return 1;
  if (m.sparsity_group == 0) return m.weight_density.value();
  const std::int64_t group = m.sparsity_group;
  return static_cast<double>(cost::kept_in_groups(group, group, m.weight_density.hundredths)) /
         static_cast<double>(group);
}

}  // namespace

EnergyPrices energy_prices(const Machine& m, Role role, const FloorPlan& plan, Bound bound) {
  const Process process = process_of(m, bound);
  const NumberFormat wider =
      bits_of(m.weight_format) > bits_of(m.activation_format) ? m.weight_format : m.activation_format;
  const double splits =
      m.composable_macs == ComposableMacs::on ? composable_over_plain(process, wider).mac_energy : 1;
  const auto price = [&](std::int64_t capacity, std::int64_t bits) {
    return sram_energy(process, Bytes(ceil_div(capacity, m.sram_banks)), Bits(bits)).value;
  };
  const double wire = wire_energy(process).value;
  const auto along = [&](std::int64_t bits, double mm) { return static_cast<double>(bits) * mm * wire; };
  const bool unified = m.activation_memory == ActivationMemory::unified;
  const std::int64_t dsram = unified ? 2 * m.dsram_bytes + m.stackram_bytes : m.dsram_bytes;
  const double activations = m.activation_density.value();
  const double other = bound == Bound::most ? 1 : activations;  // either may be zero
  const double held = weights_in_place(m, role) ? 0 : 1;  // else no PSRAM; reading the wires of a ROM is not priced
  const bool one = stack_in_psram(m);
  const std::int64_t psram = one ? plan.psram_bytes : m.psram_bytes;
  return {.mac = mac_energy(process, wider, m.accumulator_format).value * splits,
          .lane_operation = mac_energy(process, m.activation_format, m.activation_format).value,
          .dsram_beat = price(dsram, m.dsram_port_bits),
          .stackram_beat = one ? price(psram, m.psram_port_bits) : price(m.stackram_bytes, m.stackram_port_bits),
          .psram_beat = held * price(psram, m.psram_port_bits),
          .dsram_byte = price(dsram, 8),
          .psram_byte = held * price(psram, 8),
          .dram_byte = dram_energy(process, m.dram_kind, Bytes(1)).value,
          .dsram_wire = along(m.dsram_port_bits, plan.dsram_port_mm),
          .stackram_wire = one ? along(m.psram_port_bits, plan.psram_port_mm)
                               : along(m.stackram_port_bits, plan.stackram_port_mm),
          .psram_wire = held * along(m.psram_port_bits, plan.psram_port_mm),
          .dsram_wire_byte = along(8, plan.dsram_port_mm),
          .psram_wire_byte = held * along(8, plan.psram_port_mm),
          .broadcast_beat = held * along(m.psram_port_bits, plan.broadcast_mm),
          .imem_byte = sram_energy(process, Bytes(m.imem_bytes), Bits(8)).value,
          .clock = clock_over_dynamic(process),
          .mac_share = done_share(weight_share(m), activations, bound),
          .other_mac_share = done_share(other, activations, bound),
          .memory_mac = static_cast<double>(bits_of(m.activation_format) * bits_of(m.weight_format)) *
                        fefet_product_energy(process).value,
          .conversion = fefet_conversion_energy(process, fefet_input_bits(m, bits_of(m.activation_format))).value,
          .stack_way_beat = one ? along(m.psram_port_bits, plan.stack_way_mm) : 0,
          .stack_part = one ? EnergyPart::psram : EnergyPart::stackram};
}

namespace {

/// With the clock that arithmetic and SRAM need.
Energy clocked(Energy energy, const EnergyPrices& prices) {
  double sum = 0;
  for (const EnergyPart part :
       {EnergyPart::mac, EnergyPart::vector, EnergyPart::dsram, EnergyPart::stackram, EnergyPart::psram})
    sum += energy[part];
  energy[EnergyPart::clock] = sum * prices.clock;
  return energy;
}

}  // namespace

CoreEvents& CoreEvents::add(const CoreEvents& other, std::int64_t times) {
  weighted_macs += other.weighted_macs * times;
  other_macs += other.other_macs * times;
  lane_operations += other.lane_operations * times;
  dsram_beats += other.dsram_beats * times;
  stackram_beats += other.stackram_beats * times;
  memory_macs += other.memory_macs * times;
  conversions += other.conversions * static_cast<double>(times);
  return *this;
}

CoreEvents core_events(const ClassCost& cost) {
  const bool in_memory = made_in_memory(cost);
  return {.weighted_macs = cost.weighted && !in_memory ? cost.macs : 0,
          .other_macs = cost.weighted ? 0 : cost.macs,
          .lane_operations = cost.lane_operations,
          .dsram_beats = cost.busy.all_dsram_reads() + cost.busy.dsram_write,
          .stackram_beats = cost.busy.stackram_read + cost.busy.stackram_write + cost.busy.psram_stack,
          .memory_macs = in_memory ? cost.macs : 0,
          .conversions = cost.conversions};
}

Energy core_energy(const CoreEvents& events, const EnergyPrices& prices) {
  Energy energy;
  const auto dsram = static_cast<double>(events.dsram_beats);
  const auto stackram = static_cast<double>(events.stackram_beats);
  const double macs = static_cast<double>(events.weighted_macs) * prices.mac_share +
                      static_cast<double>(events.other_macs) * prices.other_mac_share;
  energy[EnergyPart::mac] = macs * prices.mac + static_cast<double>(events.memory_macs) * prices.memory_mac +
                            events.conversions * prices.conversion;
  energy[EnergyPart::vector] = static_cast<double>(events.lane_operations) * prices.lane_operation;
  energy[EnergyPart::dsram] = dsram * prices.dsram_beat;
  energy[prices.stack_part] = stackram * prices.stackram_beat;
  energy[EnergyPart::ports] = dsram * prices.dsram_wire + stackram * prices.stackram_wire;
  energy[EnergyPart::broadcast] = stackram * prices.stack_way_beat;
  return clocked(energy, prices);
}

Energy shared_energy(std::int64_t psram_beats, std::int64_t weight_dram_bytes, std::int64_t psram_filled_bytes,
                     const EnergyPrices& prices) {
  Energy energy;
  const auto beats = static_cast<double>(psram_beats), filled = static_cast<double>(psram_filled_bytes);
  energy[EnergyPart::psram] = beats * prices.psram_beat + filled * prices.psram_byte;
  energy[EnergyPart::ports] = beats * prices.psram_wire + filled * prices.psram_wire_byte;
  energy[EnergyPart::broadcast] = beats * prices.broadcast_beat;
  energy[EnergyPart::dram_weights] = static_cast<double>(weight_dram_bytes) * prices.dram_byte;
  return clocked(energy, prices);
}

Energy program_energy(double imem_bytes, std::int64_t dram_bytes, const EnergyPrices& prices) {
  Energy energy;
  energy[EnergyPart::control] = imem_bytes * prices.imem_byte;
  energy[EnergyPart::dram_program] = static_cast<double>(dram_bytes) * prices.dram_byte;
  return energy;
}

Energy spill_energy(std::int64_t dram_bytes, const EnergyPrices& prices) {
  Energy energy;
  const double bytes = static_cast<double>(dram_bytes);
  energy[EnergyPart::dsram] = bytes * prices.dsram_byte;
  energy[EnergyPart::ports] = bytes * prices.dsram_wire_byte;
  energy[EnergyPart::dram_activations] = bytes * prices.dram_byte;
  return clocked(energy, prices);
}

}  // namespace sdip
