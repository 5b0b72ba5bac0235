// Gemmini, an open systolic accelerator behind a RISC-V core: cycles of a layer with a given mapping.
// docs/model/systolic.md. Internal to its room.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sdip {

/// A convolution, or a product with q = r = s = 1. p is the dimension along which pixels lie side by side in
/// memory.
struct GemminiLayer {
  std::int64_t n = 1, c = 1, k = 1, p = 1, q = 1, r = 1, s = 1;
  std::int64_t stride = 1;
};

/// Loops over tiles in DRAM, the outermost first, each over a dimension N, C, K, P, Q, R or S; and a tile, which
/// one hardware loop (loop_conv_ws, loop_ws) loads, multiplies and stores.
struct GemminiMapping {
  struct Loop {
    char dimension = 'N';
    std::int64_t count = 1;
  };
  std::vector<Loop> loops;
  GemminiLayer tile;
};
/// Reads a mapping as Timeloop prints it, with levels from DRAM (L3) to the array (L0). The tile is what L2 to L0
/// make. Example: "L3[WIO] K2 C8 - L2[WI] N1 K10X - L1[O] K50 C16 C16X - L0[W] N1" has loops K 2, C 8 and a tile of
/// 500 columns and 256 channels. Throws Error("mapping_invalid", text, ...).
GemminiMapping gemmini_mapping(std::string_view text);

/// Gemmini as DOSA ran it on FireSim: 16 x 16 int8, weight-stationary, Rocket, 512 KiB of L2, 4 MiB of last-level
/// cache, DDR3; scratchpad and accumulators larger than any tile.
struct GemminiMachine {
  // The defaults are those of the generator and its system (ucb-bar/gemmini, Configs.scala; Chipyard).
  std::int64_t side = 16;           // of the array, and rows of a compute instruction
  std::int64_t bus_bytes = 16;      // a beat, which takes a cycle
  std::int64_t request_bytes = 64;  // most of a request, aligned; also a line of the L2
  std::int64_t scratchpad_banks = 4;
  std::int64_t l2_bytes = 512LL * 1024, l2_ways = 8;

  // Fitted on the first 20 of 111 rows of gemmini_rtl.csv; on the others alone: 5.75, 0.4 and 5.75.
  double issue_cycles = 6.75;  // a preload and a compute instruction, at least, and
  double row_cycles = 0.2;     // for each of its rows
  double miss_cycles = 6;  // a request that L2 does not hold: the latency of DRAM over the requests on their way
};

struct GemminiCycles {
  double total = 0;
  double compute = 0, transfers = 0, write_back = 0;  // sums over tiles of what each would take alone
  std::int64_t tiles = 0;
};

/// Cycles of the layer with that mapping.
///   compute    blocks of 16 x 16 weights x pixel runs x max(rows, issue_cycles + row_cycles rows), rows of a run
///              being at most 16 of a tile's p
///   transfers  weights and inputs are loaded for each tile, also where they stay: requests + beats from L2,
///              miss_cycles a line that is not there; results are stored at a beat a row of 16
///   tile       max(compute, transfers) + min(compute, transfers) / banks: now and then both need one bank; then a
///              line of results that L2 cannot keep is written back at miss_cycles
/// The first tile's loads and the last one's stores overlap with nothing. A tile is in L2 if no more than L2 holds
/// was touched since; weights that lie strided in sets which inputs and results overfill are not.
///
/// Mean absolute error 8.1 %, rank correlation 0.990 on the 91 rows that no constant was fitted on; the form was
/// found with all rows in sight. Off by up to +49 and -63 %: the latter where weights lie in few sets. Throws
/// Error("mapping_invalid", ...) beyond ten million tiles.
GemminiCycles gemmini_cycles(const GemminiLayer& layer, const GemminiMapping& mapping,
                             const GemminiMachine& machine = {});

}  // namespace sdip
