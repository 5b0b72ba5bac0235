// Energy from counts.
#include "core/cost/price/energy.h"

#include <algorithm>
#include <cmath>

#include "core/cost/price/dram_price.h"
#include "core/cost/work/in_memory.h"
#include "core/cost/work/tile_plan.h"
#include "core/machine/dies.h"
#include "core/machine/technology.h"

namespace sdip {

std::string_view energy_part_text(EnergyPart part) {
  constexpr std::string_view names[energy_part_count] = {
      "mac",          "vector",   "dsram",      "stackram",        "psram",     "dram_weights", "dram_activations",
      "dram_program", "dram_phy", "dram_turns", "dram_background", "die_links", "broadcast",    "ports",
      "clock",        "control",  "leakage"};
  return names[at(part)];
}

double total_of(const EnergyParts& joules) {
  double sum = 0;
  for (const double j : joules) sum += j;
  return sum;
}

namespace {

/// Share of products that are done, by how often their operands are not zero. The value lets zeros of the two meet
/// by chance; `least` lets them never meet, `most` has no activation zero.
double done_share(double weights, double activations, Bound bound) {
  if (bound == Bound::most) return weights;
  return bound == Bound::least ? std::max(0.0, weights - (1 - activations)) : weights * activations;
}

/// Share of weights that sparsity keeps.
double weight_share(const Machine& m) {
  if (m.sparsity == Sparsity::dense) return 1;
  if (m.sparsity_group == 0) return m.weight_density.value();
  const std::int64_t group = m.sparsity_group;
  return static_cast<double>(cost::kept_in_groups(group, group, m.weight_density.hundredths)) /
         static_cast<double>(group);
}

/// Joules of `bits` written to or read from one of `entries` in flip-flops, whose wires grow with their root.
double entry_energy(const Process& process, std::int64_t entries, NumberFormat format) {
  return register_energy(process).value * static_cast<double>(bits_of(format)) *
         std::sqrt(static_cast<double>(entries));
}

/// Where DSRAM pairs have no sizes of their own.
EnergyPrices alike_prices(const Machine& m, Role role, const FloorPlan& plan, Bound bound) {
  const Process process = process_of(m, bound);
  const Widest widest = widest_formats(m);
  const BuiltFormats built = built_formats(m, widest);
  const double splits =
      m.composable_macs == ComposableMacs::on ? composable_over_plain(process, wider_of(widest)).mac_energy : 1;
  const MacFormats made{m.weight_format, m.activation_format,
                        m.accumulator_format};  // whatever the array is built for
  const auto stages = [&](const MacFormats& formats) {
    return static_cast<double>((m.pipeline_stages - 1) * stage_bits(formats)) * register_energy(process).value;
  };
  const auto price = [&](std::int64_t capacity, std::int64_t bits) {
    return sram_energy(process, Bytes(ceil_div(capacity, m.sram_banks)), Bits(bits)).value;
  };
  const double wire = wire_energy(process).value;
  const auto along = [&](std::int64_t bits, double mm) { return static_cast<double>(bits) * mm * wire; };
  const std::int64_t dsram = is_unified(m) ? unified_bytes(m) : largest_dsram_bytes(m);
  const double activations = m.activation_density.value();
  const double other = bound == Bound::most ? 1 : activations;  // either may be zero
  const double held = weights_in_place(m, role) ? 0 : 1;  // else no PSRAM; reading the wires of a ROM is not priced
  const bool one = stack_in_psram(m);
  const std::int64_t psram = one ? plan.psram_bytes : m.psram_bytes;
  return {.mac = mac_energy(process, made).value * splits,
          .other_mac = mac_energy(process, built.others).value * splits,
          .lane_operation = mac_energy(process, built.steps).value,
          .dsram_beat = price(dsram, m.dsram_port_bits),
          .stackram_beat = one ? price(psram, m.psram_port_bits) : price(m.stackram_bytes, m.stackram_port_bits),
          .psram_beat = held * price(psram, m.psram_port_bits),
          .dsram_byte = price(dsram, 8),
          .psram_byte = held * price(psram, 8),
          .dram_byte = dram_energy(process, m.dram_kind, Bytes(1)).value,
          .dram_phy_byte = dram_phy_byte_j(m, bound),
          .dsram_wire = along(m.dsram_port_bits, plan.dsram_port_mm),
          .stackram_wire = one ? along(m.psram_port_bits, plan.psram_port_mm)
                               : along(m.stackram_port_bits, plan.stackram_port_mm),
          .psram_wire = held * along(m.psram_port_bits, plan.psram_port_mm),
          .dsram_wire_byte = along(8, plan.dsram_port_mm),
          .psram_wire_byte = held * along(8, plan.psram_port_mm),
          .broadcast_beat = held * along(m.psram_port_bits, plan.broadcast_mm),
          .imem_byte = sram_energy(process, Bytes(m.imem_bytes), Bits(8)).value,
          .array_stages = stages(built.weighted),
          .row_stages = stages(built.steps),
          .mac_share = done_share(weight_share(m), activations, bound),
          .other_mac_share = done_share(other, activations, bound),
          .memory_mac = static_cast<double>(bits_of(m.activation_format) * bits_of(m.weight_format)) *
                        fefet_product_energy(process).value,
          .conversion = fefet_conversion_energy(process, fefet_input_bits(m, bits_of(m.activation_format))).value,
          .stack_way_beat = one ? along(m.psram_port_bits, plan.stack_way_mm) : 0,
          .stack_part = one ? EnergyPart::psram : EnergyPart::stackram,
          .accumulator_access = entry_energy(process, m.accumulator_folds, m.accumulator_format),
          .register_write = entry_energy(process, m.weight_registers, wider_of(widest)),
          .scaling = scaling_energy(process, m.weight_format, m.accumulator_format).value};
}

}  // namespace

void add_link_prices(const Machine& m, Role role, Bound bound, EnergyPrices& prices) {
  const DieLine line = die_line(m);
  if (line.dies == 1) return;
  const double bit = link_energy(process_of(m, bound)).value;
  const double links = static_cast<double>(line.dies - 1);
  const double gathered = 8 * bit * links / 2;  // from the die of its channel, each as often, to the first or last
  const bool on_all = role == Role::core || role == Role::network;
  prices.link_byte = gathered;
  prices.link_spill_byte = on_all ? 0 : gathered;
  prices.link_word_byte = on_all ? 8 * bit * links : 0;
  prices.link_beat = on_all ? static_cast<double>(m.psram_port_bits) * bit * links : 0;
}

EnergyPrices energy_prices(const Machine& m, Role role, const FloorPlan& plan, Bound bound) {
  EnergyPrices prices = alike_prices(m, role, plan, bound);
  prices.own_pairs = has_own_pairs(m);
  if (!prices.own_pairs) return prices;
  const Process process = process_of(m, bound);
  for (std::size_t f = 0; f < pair_families; ++f) {
    const Bytes bank(ceil_div(dsram_bytes_of(m, static_cast<Family>(f)), m.sram_banks));
    prices.pair_beat[f] = sram_energy(process, bank, Bits(m.dsram_port_bits)).value;
    prices.pair_wire[f] =
        static_cast<double>(m.dsram_port_bits) * plan.pair_port_mm[f] * wire_energy(process).value;
  }
  return prices;
}

CoreEvents& CoreEvents::add(const CoreEvents& other, std::int64_t times) {
  weighted_macs += other.weighted_macs * times;
  other_macs += other.other_macs * times;
  lane_operations += other.lane_operations * times;
  dsram_beats += other.dsram_beats * times;
  stackram_beats += other.stackram_beats * times;
  memory_macs += other.memory_macs * times;
  conversions += other.conversions * static_cast<double>(times);
  accumulator_accesses += other.accumulator_accesses * times;
  register_writes += other.register_writes * times;
  for (std::size_t f = 0; f < pair_families; ++f) pair_beats[f] += other.pair_beats[f] * times;
  scalings += other.scalings * times;
  array_lane_cycles += other.array_lane_cycles * static_cast<double>(times);
  row_lane_cycles += other.row_lane_cycles * static_cast<double>(times);
  return *this;
}

namespace {

CoreEvents alike_events(const InstructionClass& c, const ClassCost& cost, const Machine& its) {
  const bool in_memory = made_in_memory(cost);
  const bool products = cost.plan.nest || c.compound != Compound::single;
  const bool lanes = !in_memory && !cost.on_host && c.work.family != Family::transpose;
  double array = 0, row = 0;
  if (lanes && products) {
    const ArrayLanes of = array_lanes(c.work.family, its);
    array = static_cast<double>(of.rows * of.channels * of.sum) * static_cast<double>(cost.busy[Resource::compute]);
  } else if (lanes) {
    row = static_cast<double>(row_lanes(c.work.family, its)) * static_cast<double>(cost.busy[Resource::compute]);
  }
  return {.weighted_macs = cost.weighted && !in_memory ? cost.macs : 0,
          .other_macs = cost.weighted ? 0 : cost.macs,
          .lane_operations = cost.lane_operations,
          .dsram_beats = cost.busy.all_dsram_reads() + cost.busy[Resource::dsram_write],
          .stackram_beats =
              cost.busy[Resource::stackram_read] + cost.busy[Resource::stackram_write] + cost.busy.psram_stack,
          .memory_macs = in_memory ? cost.macs : 0,
          .conversions = cost.conversions,
          .accumulator_accesses = cost.busy.accumulator_writes + cost.busy.accumulator_reads,
          .register_writes = cost.busy.register_writes,
          .scalings = cost.scalings,
          .array_lane_cycles = array,
          .row_lane_cycles = row};
}

}  // namespace

CoreEvents core_events(const InstructionClass& c, const ClassCost& cost, const Machine& its) {
  CoreEvents events = alike_events(c, cost, its);
  if (!has_own_pairs(its)) return events;
  events.dsram_beats = 0;
  for (std::size_t f = 0; f < pair_families; ++f) events.pair_beats[f] = cost.busy.other_pairs.beats[f];
  events.pair_beats.at(at(c.work.family)) += cost.busy[Resource::dsram_read] + cost.busy[Resource::dsram_write];
  return events;
}

Energy core_energy(const CoreEvents& events, const EnergyPrices& prices) {
  Energy energy;
  const auto dsram = static_cast<double>(events.dsram_beats);
  const auto stackram = static_cast<double>(events.stackram_beats);
  const double weighted = static_cast<double>(events.weighted_macs) * prices.mac_share;
  const double others = static_cast<double>(events.other_macs) * prices.other_mac_share;
  energy[EnergyPart::mac] = weighted * prices.mac + others * prices.other_mac +
                            static_cast<double>(events.memory_macs) * prices.memory_mac +
                            events.conversions * prices.conversion +
                            static_cast<double>(events.accumulator_accesses) * prices.accumulator_access +
                            static_cast<double>(events.register_writes) * prices.register_write +
                            static_cast<double>(events.scalings) * prices.scaling;
  energy[EnergyPart::vector] = static_cast<double>(events.lane_operations) * prices.lane_operation;
  energy[EnergyPart::dsram] = dsram * prices.dsram_beat;
  double wires = dsram * prices.dsram_wire;
  for (std::size_t f = 0; f < pair_families && prices.own_pairs; ++f) {
    const auto beats = static_cast<double>(events.pair_beats[f]);
    energy[EnergyPart::dsram] += beats * prices.pair_beat[f];
    wires += beats * prices.pair_wire[f];
  }
  energy[prices.stack_part] = stackram * prices.stackram_beat;
  energy[EnergyPart::ports] = wires + stackram * prices.stackram_wire;
  energy[EnergyPart::broadcast] = stackram * prices.stack_way_beat;
  energy[EnergyPart::clock] =
      events.array_lane_cycles * prices.array_stages + events.row_lane_cycles * prices.row_stages;
  return energy;
}

Energy shared_energy(std::int64_t psram_beats, std::int64_t weight_dram_bytes, std::int64_t psram_filled_bytes,
                     const EnergyPrices& prices) {
  Energy energy;
  const auto beats = static_cast<double>(psram_beats), filled = static_cast<double>(psram_filled_bytes);
  energy[EnergyPart::psram] = beats * prices.psram_beat + filled * prices.psram_byte;
  energy[EnergyPart::ports] = beats * prices.psram_wire + filled * prices.psram_wire_byte;
  energy[EnergyPart::broadcast] = beats * prices.broadcast_beat;
  energy[EnergyPart::die_links] =
      beats * prices.link_beat + static_cast<double>(weight_dram_bytes) * prices.link_byte;
  energy[EnergyPart::dram_weights] = static_cast<double>(weight_dram_bytes) * prices.dram_byte;
  energy[EnergyPart::dram_phy] = static_cast<double>(weight_dram_bytes) * prices.dram_phy_byte;
  return energy;
}

Energy program_energy(double imem_bytes, std::int64_t dram_bytes, const EnergyPrices& prices) {
  Energy energy;
  energy[EnergyPart::control] = imem_bytes * prices.imem_byte;
  energy[EnergyPart::dram_program] = static_cast<double>(dram_bytes) * prices.dram_byte;
  energy[EnergyPart::dram_phy] = static_cast<double>(dram_bytes) * prices.dram_phy_byte;
  energy[EnergyPart::die_links] =
      imem_bytes * prices.link_word_byte + static_cast<double>(dram_bytes) * prices.link_byte;
  return energy;
}

Energy spill_energy(std::int64_t dram_bytes, const EnergyPrices& prices) {
  Energy energy;
  const double bytes = static_cast<double>(dram_bytes);
  energy[EnergyPart::dsram] = bytes * prices.dsram_byte;
  energy[EnergyPart::ports] = bytes * prices.dsram_wire_byte;
  energy[EnergyPart::dram_activations] = bytes * prices.dram_byte;
  energy[EnergyPart::dram_phy] = bytes * prices.dram_phy_byte;
  energy[EnergyPart::die_links] = bytes * prices.link_spill_byte;
  return energy;
}

Energy at_supply(Energy energy, const Supply& supply) {
  for (const EnergyPart part :
       {EnergyPart::mac, EnergyPart::vector, EnergyPart::broadcast, EnergyPart::ports, EnergyPart::clock})
    energy[part] *= supply.logic;
  for (const EnergyPart part : {EnergyPart::dsram, EnergyPart::stackram, EnergyPart::psram, EnergyPart::control})
    energy[part] *= supply.sram;
  return energy;
}

}  // namespace sdip
