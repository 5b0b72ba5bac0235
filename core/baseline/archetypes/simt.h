// GPUs whose processors run many threads in step (SIMT): NVIDIA A100, H100, H200, RTX 4090. docs/model/simt.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"

namespace sdip {

/// A GPU in one 16-bit or 8-bit format. Figures without a default are published ones; all must be positive.
struct SimtMachine {
  double clock_hz = 0;
  std::int64_t processors = 0;        // streaming multiprocessors
  double tensor_flops_per_cycle = 0;  // dense, of a processor in the format: peak / (processors x clock)
  double l2_bytes = 0, l2_bytes_per_s = 0;
  double shared_bytes = 0;  // shared memory that thread blocks of a processor can have together
  double dram_bytes_per_s = 0;
  double bytes_per_element = 2;
  double special_lanes = 16;    // of a processor: exponentials or conversions of format in a cycle
  double latency_cycles = 400;  // of a load from DRAM
  std::int64_t cluster = 1;     // neighbouring thread blocks that one load of columns serves; Hopper: 2
  bool fine_tiles = false;      // tiles are also 96, 160 and 192 columns wide, as Hopper's instructions allow

  bool fused_attention = true;  // as FlashAttention: scores never leave a processor
  bool eager = false;           // every layer is a kernel of its own that reads and writes memory

  // Fitted on the A100 files of LLMCompass, all four together.
  double tensor_share = 0.92;      // of the tensor peak that a pipeline that never waits attains: clocks under load
  double memory_share = 0.85;      // of the bandwidth of DRAM and of L2 that long streams attain
  double launch_s = 1.25e-6;       // from a kernel's end to the start of the next one; 13e-6 where a host waits
  double special_per_pass = 3.25;  // special lanes' cycles that an element takes in each pass over it
};

/// The tile of a thread block: so many rows and columns of one product, and a part of `splits` of its terms.
struct SimtTile {
  std::int64_t rows = 128, columns = 128, splits = 1;
};
/// The shapes that a library has for such a product.
std::vector<SimtTile> simt_tiles(const MatrixProduct& product, const SimtMachine& machine);

/// Thread blocks that the busiest processor runs, one after the other or at once.
/// Example: 109 tiles on 108 processors: 2, as for 216.
std::int64_t waves_of(const MatrixProduct& product, const SimtTile& tile, const SimtMachine& machine);

/// A product of its own, cut so. Requires is_product(layer).
LayerTime time_of(const Layer& layer, const SimtTile& tile, const SimtMachine& machine);
/// The cut of least time among simt_tiles, the first of equals. Requires is_product(layer).
SimtTile best_tile(const Layer& layer, const SimtMachine& machine);

/// Times of the layers in their order, for one operator of each. A product, softmax, norm or elementwise layer is a
/// kernel; compute, L2 and DRAM overlap, its launch does not. What is read and written stays in L2 between kernels
/// where it fits there; weights come from DRAM. Unless `eager`, a fused layer costs the traffic of its other
/// operands alone.
///
/// Sources: tiles, waves and splits as NVIDIA's "Matrix Multiplication Background User's Guide" says; the constants
/// are fitted. docs/model/simt.md has formulas, errors, and what is not covered.
std::vector<LayerTime> times_of(std::span<const Layer> layers, const SimtMachine& machine);

}  // namespace sdip
