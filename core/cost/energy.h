// Dynamic energy from counts: what each core spends on its frame, and what all cores share.
#pragma once

#include <array>
#include <string_view>

#include "core/cost/circuit.h"
#include "core/cost/timeline.h"
#include "core/machine/machine.h"

namespace sdip {

enum class EnergyPart { mac, vector, dsram, stackram, psram, dram_weights, dram_activations, dram_program };
inline constexpr std::size_t energy_part_count = 8;
std::string_view energy_part_text(EnergyPart part);

struct Energy {
  std::array<double, energy_part_count> joules{};
  double total() const;
  Energy& operator+=(const Energy& other);
  friend Energy operator*(Energy energy, double times);
};

/// Joules of one event of each kind on a machine.
struct EnergyPrices {
  double mac, lane_operation;
  double dsram_beat, stackram_beat, psram_beat;  // one access of port width
  double dsram_byte, psram_byte, dram_byte;      // DRAM streams in and out of SRAM; the channel itself
  double mac_share;                              // of MACs that are not gated or skipped
};
EnergyPrices energy_prices(const Machine& machine, Role role);

/// What one core spends in a run through an instruction: arithmetic and its own memories.
Energy core_energy(const ClassCost& cost, const EnergyPrices& prices);
/// What is spent once for all cores: reading and filling PSRAM, weights from DRAM.
Energy shared_energy(std::int64_t psram_beats, std::int64_t weight_dram_bytes, std::int64_t psram_filled_bytes,
                     const EnergyPrices& prices);
/// Instruction words through DRAM, once for all cores.
Energy program_energy(std::int64_t dram_bytes, const EnergyPrices& prices);
/// Activations through DRAM, one core's.
Energy spill_energy(std::int64_t dram_bytes, const EnergyPrices& prices);

}  // namespace sdip
