// Dynamic energy from counts.
#include "core/cost/energy.h"

#include "core/machine/technology.h"

namespace sdip {

std::string_view energy_part_text(EnergyPart part) {
  constexpr std::string_view names[energy_part_count] = {
      "mac", "vector", "dsram", "stackram", "psram", "dram_weights", "dram_activations", "dram_program"};
  return names[static_cast<std::size_t>(part)];
}

double Energy::total() const {
  double sum = 0;
  for (const double j : joules) sum += j;
  return sum;
}

Energy& Energy::operator+=(const Energy& other) {
  for (std::size_t i = 0; i < energy_part_count; ++i) joules[i] += other.joules[i];
  return *this;
}

Energy operator*(Energy energy, double times) {
  for (double& j : energy.joules) j *= times;
  return energy;
}

EnergyPrices energy_prices(const Machine& m, Role role) {
  const TechnologyNode node = m.technology_node;
  const NumberFormat wider =
      bits_of(m.weight_format) > bits_of(m.activation_format) ? m.weight_format : m.activation_format;
  const auto price = [&](std::int64_t capacity, std::int64_t bits) {
    return sram_energy(node, Bytes(ceil_div(capacity, m.sram_banks)), Bits(bits)).value;
  };
  const bool unified = m.activation_memory == ActivationMemory::unified;
  const std::int64_t dsram = unified ? 2 * m.dsram_bytes + m.stackram_bytes : m.dsram_bytes;
  const bool wired = hard_coded(m, role);  // weights in ROM: reading wires is not priced
  return {.mac = mac_energy(node, wider, m.accumulator_format).value,
          .lane_operation = mac_energy(node, m.activation_format, m.activation_format).value,
          .dsram_beat = price(dsram, m.dsram_port_bits),
          .stackram_beat = price(m.stackram_bytes, m.stackram_port_bits),
          .psram_beat = wired ? 0 : price(m.psram_bytes, m.psram_port_bits),
          .dsram_byte = price(dsram, 8),
          .psram_byte = wired ? 0 : price(m.psram_bytes, 8),
          .dram_byte = dram_energy(m.dram_kind, Bytes(1)).value,
          .mac_share = m.sparsity == Sparsity::dense ? 1 : m.weight_density.value()};
}

Energy core_energy(const ClassCost& cost, const EnergyPrices& prices) {
  Energy energy;
  auto& j = energy.joules;
  const double share = cost.weighted ? prices.mac_share : 1.0;
  j[static_cast<std::size_t>(EnergyPart::mac)] = static_cast<double>(cost.macs) * share * prices.mac;
  j[static_cast<std::size_t>(EnergyPart::vector)] =
      static_cast<double>(cost.lane_operations) * prices.lane_operation;
  j[static_cast<std::size_t>(EnergyPart::dsram)] =
      static_cast<double>(cost.busy.all_dsram_reads() + cost.busy.dsram_write) * prices.dsram_beat;
  j[static_cast<std::size_t>(EnergyPart::stackram)] =
      static_cast<double>(cost.busy.stackram_read + cost.busy.stackram_write) * prices.stackram_beat;
  return energy;
}

Energy shared_energy(std::int64_t psram_beats, std::int64_t weight_dram_bytes, std::int64_t psram_filled_bytes,
                     const EnergyPrices& prices) {
  Energy energy;
  energy.joules[static_cast<std::size_t>(EnergyPart::psram)] =
      static_cast<double>(psram_beats) * prices.psram_beat +
      static_cast<double>(psram_filled_bytes) * prices.psram_byte;
  energy.joules[static_cast<std::size_t>(EnergyPart::dram_weights)] =
      static_cast<double>(weight_dram_bytes) * prices.dram_byte;
  return energy;
}

Energy program_energy(std::int64_t dram_bytes, const EnergyPrices& prices) {
  Energy energy;
  energy.joules[static_cast<std::size_t>(EnergyPart::dram_program)] =
      static_cast<double>(dram_bytes) * prices.dram_byte;
  return energy;
}

Energy spill_energy(std::int64_t dram_bytes, const EnergyPrices& prices) {
  Energy energy;
  const double bytes = static_cast<double>(dram_bytes);
  energy.joules[static_cast<std::size_t>(EnergyPart::dsram)] = bytes * prices.dsram_byte;
  energy.joules[static_cast<std::size_t>(EnergyPart::dram_activations)] = bytes * prices.dram_byte;
  return energy;
}

}  // namespace sdip
