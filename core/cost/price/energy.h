// Energy from counts: what each core spends on its frame, and what all cores share. Leakage is not in these.
// Internal to its room.
#pragma once

#include <array>

#include "core/cost/price/estimate.h"
#include "core/cost/price/floor_plan.h"
#include "core/cost/time/timeline.h"
#include "core/cost/work/circuit.h"
#include "core/machine/machine.h"
#include "core/machine/technology.h"

namespace sdip {

struct Energy {
  EnergyParts joules{};
  double& operator[](EnergyPart part) { return joules[at(part)]; }
  double operator[](EnergyPart part) const { return joules[at(part)]; }
  double total() const { return total_of(joules); }
  Energy& operator+=(const Energy& other) {
    for (std::size_t i = 0; i < energy_part_count; ++i) joules[i] += other.joules[i];
    return *this;
  }
  friend Energy operator*(Energy energy, double times) {
    for (double& j : energy.joules) j *= times;
    return energy;
  }
};

/// Joules of one event of each kind on a machine.
struct EnergyPrices {
  double mac, other_mac, lane_operation;         // of weights, of two activations
  double dsram_beat, stackram_beat, psram_beat;  // one access of port width
  double dsram_byte, psram_byte, dram_byte;      // DRAM streams in and out of SRAM; the channel itself
  double dram_phy_byte;                          // on the die
  double dsram_wire, stackram_wire, psram_wire;  // the same beats from their banks to the port
  double dsram_wire_byte, psram_wire_byte;
  double broadcast_beat;  // a beat of PSRAM on its way to all cores that it feeds
  double imem_byte;
  double array_stages, row_stages;  // pipeline registers of a MAC, and of another lane, for a cycle
  double mac_share;                 // of MACs with weights those that are not gated or skipped
  double other_mac_share;           // of products of two activations
  double memory_mac;                // one that a memory makes, conversions apart
  double conversion;                // of a column of its bits
  // A beat of a stack in PSRAM on its way to its core; where what it takes is told.
  double stack_way_beat = 0;
  EnergyPart stack_part = EnergyPart::stackram;
  double accumulator_access = 0, register_write = 0;  // of one partial sum, one weight
  // DSRAM pairs of sizes of their own (has_own_pairs), by family; those of DRAM streams are the largest's.
  bool own_pairs = false;
  std::array<double, pair_families> pair_beat{}, pair_wire{};
  double scaling = 0;  // a group's partial sum times its scale, and its addition
  // Over the links between dies: a beat of PSRAM and a byte of instruction words to all of them; a byte of weights
  // or words from DRAM, of activations from DRAM.
  double link_beat = 0, link_word_byte = 0, link_byte = 0, link_spill_byte = 0;
};
EnergyPrices energy_prices(const Machine& machine, Role role, const FloorPlan& plan, Bound bound = Bound::value);
/// Adds the prices of `machine`, not that of the stage, for links between dies: a stage on all of them sends to
/// each, one on the first or last fetches from DRAM of each.
void add_link_prices(const Machine& machine, Role role, Bound bound, EnergyPrices& prices);

/// Counts of all that costs energy in one core. `weighted_macs` are those with weights, of which zeros may be
/// spared; `memory_macs` those that the weight memory makes, of which none are; `scalings`: of groups' partial
/// sums.
struct CoreEvents {
  std::int64_t weighted_macs = 0, other_macs = 0, lane_operations = 0, dsram_beats = 0, stackram_beats = 0;
  std::int64_t memory_macs = 0;
  double conversions = 0;
  std::int64_t accumulator_accesses = 0, register_writes = 0;
  std::array<std::int64_t, pair_families> pair_beats{};  // of DSRAM pairs of sizes of their own
  std::int64_t scalings = 0;
  double array_lane_cycles = 0, row_lane_cycles = 0;  // of lanes whose circuit works
  CoreEvents& add(const CoreEvents& other, std::int64_t times);
};
/// Events of one run of an instruction, on one of its cores. A circuit works, with all its lanes, for the cycles
/// that the instruction needs of it: an instruction with products on lanes their array, another the lanes of its
/// rows.
CoreEvents core_events(const InstructionClass& c, const ClassCost& cost, const Machine& its);

/// Energy of one core's events: arithmetic and its own memories.
Energy core_energy(const CoreEvents& events, const EnergyPrices& prices);
/// Energy spent once for all cores: reading and filling PSRAM, weights from DRAM.
Energy shared_energy(std::int64_t psram_beats, std::int64_t weight_dram_bytes, std::int64_t psram_filled_bytes,
                     const EnergyPrices& prices);
/// Instruction words read from IMEM, and of them those that came through DRAM, once for all cores.
Energy program_energy(double imem_bytes, std::int64_t dram_bytes, const EnergyPrices& prices);
/// Activations through DRAM, one core's.
Energy spill_energy(std::int64_t dram_bytes, const EnergyPrices& prices);

/// The same energy at a supply: parts of logic and wires scale as logic, those of SRAM as SRAM; DRAM's stay.
Energy at_supply(Energy energy, const Supply& supply);

}  // namespace sdip
