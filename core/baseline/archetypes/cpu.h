// Processors of several cores with wide registers: AVX2, AVX-512 with VNNI, AMX. docs/model/cpu.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"

namespace sdip {

/// The instruction that multiplies: it adds `terms` products to each of `rows` x `columns` sums of one register.
/// AVX-512 in fp32 1 x 16 x 1, with VNNI in int8 1 x 16 x 4; AMX 16 x 16 x 64 in int8, x 32 in bf16.
struct CpuMultiplier {
  std::int64_t rows = 1, columns = 16, terms = 1;
  std::int64_t per_cycle = 2;        // that start in a cycle; 1 where start_cycles is more than 1
  std::int64_t start_cycles = 1;     // between starts of one unit: 16 of AMX
  std::int64_t latency_cycles = 4;   // until another may add to the same sums: 52 of AMX
  std::int64_t registers = 32;       // that hold sums and operands: 16 of AVX2, 8 of AMX
  std::int64_t loads_per_cycle = 2;  // of such registers; 1 where load_cycles is more than 1
  std::int64_t load_cycles = 1;      // of one: 8 of AMX
};
/// Multiply-accumulates of a core in a cycle.
double macs_per_cycle(const CpuMultiplier& multiplier);

/// Sums that a micro-kernel keeps in registers: so many registers down the rows and across the columns.
struct CpuTile {
  std::int64_t rows = 1, columns = 1;
};
/// The largest tiles of each width: sums, a row of columns and one operand of rows fit the registers.
/// Example: of 32 registers 30 x 1, 14 x 2, 9 x 3, 6 x 4, ..., 1 x 15.
std::vector<CpuTile> cpu_tiles(const CpuMultiplier& multiplier);

/// Cycles of a micro-kernel from its first load until its last sums are done. A step loads `tile.rows` +
/// `tile.columns` registers and multiplies each row by each column; loads run ahead, multiplies start in order once
/// all of their step is loaded and the sums that they add to are done. Exactly what the units take, stepped.
/// Requires steps >= 1.
/// Example: 2 x 2 registers, two multiplies and two loads a cycle, latency 4, 3 steps: sums wait for themselves;
/// the first step's loads take 2 cycles, its multiplies start at 2 and 3, those of the third at 10 and 11; done
/// at 15.
std::int64_t kernel_cycles(const CpuTile& tile, std::int64_t steps, const CpuMultiplier& multiplier);

/// A processor. Figures that are 0 must be given.
struct CpuMachine {
  double clock_hz = 0;  // of all cores under wide instructions
  std::int64_t cores = 1;
  CpuMultiplier multiplier = {};
  std::int64_t vector_lanes = 16;  // of 32 bits, for all but products
  std::int64_t vector_ports = 2;   // vector instructions a cycle
  double l1_bytes = 0, l2_bytes = 0;
  double l2_bytes_per_cycle = 0, l3_bytes_per_cycle = 0;  // into a core
  double l3_bytes = 0;                                    // that one core reaches
  std::int64_t l3_groups = 1;                             // groups of cores with such an L3 each
  double dram_bytes_per_s = 0;
  double core_dram_bytes_per_s = 0;  // that one core can ask for; 0: no less than all
  double bytes_per_element = 4;
  double launch_s = 0;        // of an operator, in the runtime
  double join_s = 0;          // until all threads have begun and ended
  double software_share = 1;  // of the units' rate that the software's loops attain; fitted, 1: all of it
  bool eager = false;         // nothing is fused
  bool keeps_weights = true;  // passes follow each other: a network that fits L3 as a whole stays there
};

/// Where a product is cut: `terms` of a micro-kernel, whose operands L1 holds; `rows` of it that L2 holds,
/// `columns` that L3 holds (Goto and van de Geijn, ACM TOMS 34(3), 2008; Low et al., ACM TOMS 43(2), 2016).
struct CpuBlocks {
  std::int64_t terms = 1, rows = 1, columns = 1;
};
CpuBlocks cpu_blocks(const MatrixProduct& product, const CpuTile& tile, const CpuMachine& machine);

/// How a product is dealt out to cores: parts of its independent products, of the rows and of the columns, in whole
/// tiles. Terms are never split.
struct CpuSplit {
  std::int64_t count = 1, rows = 1, columns = 1;
  std::int64_t cores() const { return count * rows * columns; }
};
/// Cycles of the micro-kernels of the core that has most to do, the last of each row and column partial, and of
/// their sums, which leave one register a cycle and come back for the next block of terms.
double cpu_product_cycles(const MatrixProduct& product, const CpuTile& tile, const CpuSplit& split,
                          const CpuMachine& machine);

/// A product dealt out so. Requires is_product(layer) and split.cores() <= cores. `weights_stay`: its weights are
/// in L3 from the last pass.
LayerTime time_of(const Layer& layer, const CpuTile& tile, const CpuSplit& split, const CpuMachine& machine,
                  bool weights_stay);

/// Times of the layers in their order, for one operator of each:
///   launch + join + packing + columns from DRAM + max(micro-kernels or vector work, caches, DRAM for all else)
/// with the tile and the split of least time. Nothing fetches a tile's columns before its first rows ask for them,
/// so that multiplies wait for columns that no cache has. docs/model/cpu.md has formulas, errors, and what is left
/// out.
std::vector<LayerTime> times_of(std::span<const Layer> layers, const CpuMachine& machine);
MappedLayers mapped_layers(std::span<const Layer> layers, const CpuMachine& machine);

}  // namespace sdip
