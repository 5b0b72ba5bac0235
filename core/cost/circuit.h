// What one tile operation costs its circuit and each SRAM port, and what it moves through DRAM.
#pragma once

#include <array>
#include <cstdint>

#include "core/machine/machine.h"
#include "core/program/program.h"
#include "core/program/tiles.h"

namespace sdip {

/// A counted need of each on-chip resource, in cycles (compute) or beats (ports).
struct Busy {
  std::int64_t compute = 0, dsram_read = 0, dsram_write = 0, stackram_read = 0, stackram_write = 0, psram_read = 0;

  Busy& operator+=(const Busy& other);
  friend Busy operator*(Busy busy, std::int64_t times);
  std::int64_t longest() const;
};

/// One shape of tile operation. DRAM bytes are of one core, bursts not yet rounded.
struct TileCost {
  Busy busy;
  std::int64_t cycles = 0;                // the longest need
  std::int64_t a_bytes = 0, b_bytes = 0;  // activation operands of a nest that lie in DRAM
  std::int64_t weight_bytes = 0;          // of the channel tile, as PSRAM holds them
  std::int64_t weight_stored_bytes = 0;   // and as DRAM does
  std::int64_t split_in_bytes = 0;        // other DRAM operands: an equal part each operation
  std::int64_t out_bytes = 0;             // to DRAM
};

/// An instruction class on a machine. Shapes of a nest by [row edge][channel edge]; of row-wise work whose passes
/// run apart by [chunk edge][last pass], since only the last one writes.
struct ClassCost {
  TilePlan plan;
  bool weighted = false, streams_activations = false, channels_outer = true;
  bool grouped = false;  // each channel tile reads its own groups' part of operand A
  std::array<std::array<TileCost, 2>, 2> shapes;
  std::int64_t held_weight_bytes = 0, held_weight_stored_bytes = 0;  // row-wise and fused: with the first operation
  Busy busy;                                                         // sum over all operations
  std::int64_t cycles = 0;                                           // sum of the operations' cycles
  std::int64_t macs = 0, lane_operations = 0;                        // multiply-accumulates; elementwise steps
  std::int64_t spent_macs = 0;                                       // of them, those not skipped as zeros
};

/// Lanes of a nest's array over rows, channels and the summed dimension, after MAC sharing.
struct ArrayLanes {
  std::int64_t rows, channels, sum;
};
ArrayLanes array_lanes(Family family, const Machine& machine);

/// Lanes of the circuit of row-wise work.
std::int64_t row_lanes(Family family, const Machine& machine);

/// What an instruction of that class costs in a stage of `role`, whose weights may be wired to the multipliers.
ClassCost class_cost(const InstructionClass& c, const Machine& machine, Role role = Role::network);

}  // namespace sdip
