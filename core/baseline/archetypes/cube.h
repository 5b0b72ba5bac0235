// Chips of DaVinci cores: a cube, a vector unit and transfer engines, each with a queue of its own.
// docs/model/cube.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"

namespace sdip {

/// One chip in one format. Buffers and rates are of one core; all but sync and launch must be positive. What is
/// named gm is global memory: L2, and DRAM behind it.
struct CubeMachine {
  double clock_hz = 0;
  std::int64_t cores = 1;
  std::int64_t cube_rows = 16, cube_columns = 16, cube_depth = 16;  // multiply-accumulates a cycle: their product
  std::int64_t vector_lanes = 128;
  double l0a_bytes = 0, l0b_bytes = 0, l0c_bytes = 0, l1_bytes = 0, ub_bytes = 0;
  double gm_to_core_bytes_per_cycle = 0;                                // MTE2
  double l1_to_l0a_bytes_per_cycle = 0, l1_to_l0b_bytes_per_cycle = 0;  // MTE1, one after the other
  double l0c_to_ub_bytes_per_cycle = 0;                                 // by the vector queue
  double core_to_gm_bytes_per_cycle = 0;                                // MTE3
  double l2_bytes = 0, dram_bytes_per_s = 0;
  double bytes_per_element = 2;
  std::int64_t sync_cycles = 0;  // of each instruction that waits for a flag and sets one
  double launch_s = 0;           // of each kernel

  bool im2col_by_engine = true;  // MTE1 expands an input that MTE2 brought once; else a kernel before writes it out
  bool fused = true;             // elementwise work joins the kernel before it; else each layer is a kernel
};

/// Cycles of a kernel's instructions in each queue. A result tile is `steps` steps of MTE2, MTE1 and the cube, each
/// of as many terms, then one instruction of the vector queue and one of MTE3. Whole numbers.
struct CubePipeline {
  double tiles = 1, steps = 1;
  double mte2 = 0, mte1 = 0, cube = 0;  // of a step
  double vector = 0, mte3 = 0;          // of a tile
  double preload = 0;                   // of MTE2 before the first step
};
/// Cycles until the last result is written. Queues work in order and beside each other; an instruction waits for
/// what it reads, and for one of two buffers to write to. So the slowest queue never waits but for the first tile:
///   step = max(mte2, mte1, cube), tile = max(steps x step, vector, mte3)
///   preload + mte2 + mte1 + cube + (steps - 1) step + (tiles - 1) tile + vector + mte3
/// Exactly what stepped queues with two buffers between each two take (the test steps them).
/// Worked example: 3 tiles of 2 steps, of 4, 3, 5 cycles, then 6 and 2: 12 + 5 + 2 x 10 + 8 = 45 cycles.
double pipeline_cycles(const CubePipeline& pipeline);

/// What a kernel waits for most: the queue that is busy longest, or DRAM.
enum class CubeBound { mte2, mte1, cube, vector, mte3, dram };
std::string_view cube_bound_text(CubeBound bound);
/// The busiest queue of them, the first of equals.
CubeBound busiest_queue(const CubePipeline& pipeline);

/// Which operand of a product stays in L1, all terms of a tile's rows or columns, while tiles beside it are made.
enum class CubeHeld { nothing, rows, columns };
/// Parts of the independent products, rows and columns that cores make; and the tile of a core, in whole cubes.
struct CubeTiling {
  std::int64_t count_parts = 1, row_parts = 1, column_parts = 1;
  std::int64_t rows = 16, columns = 16, terms = 16;
  CubeHeld held = CubeHeld::nothing;
};

/// Elementwise work that runs from UB before a kernel's results are written, of one operator: lane operations, and
/// elements of its other operands, which MTE2 brings.
struct CubeJoined {
  double operations = 0, elements = 0;
};

/// A product as the cube makes it. Channels are padded to 32 bytes (NC1HWC0), as many as there are kernel positions
/// for; groups narrower than the cube are gathered, with zeros between them.
/// Example: a depthwise 3x3 of 32 channels in 16 bits: 2 products of 16 columns by 16 x 9 terms.
MatrixProduct cube_product_of(const Layer& layer, const CubeMachine& machine);
/// Elements of the operand of rows that MTE2 brings for `rows` neighbouring rows of one product, all terms. For a
/// convolution whose input the engine expands, these are the input rows that those outputs need (for a part of one
/// output row, also no more columns than it needs), never more than if it were expanded. Example: 3x3, stride 1, 16
/// channels, 8x8 pixels: 16 outputs are 2 rows, so 4 x 8 x 16 of 16 x 144.
double cube_row_elements(const Layer& layer, std::int64_t rows, const CubeMachine& machine);

/// Whether two of each piece fit: terms of the tile in L0A, L0B and (but for what is held) L1, its sums of 4 bytes
/// in L0C, its results and joined operands in UB.
bool cube_tile_fits(const Layer& layer, const CubeTiling& tiling, const CubeJoined& joined,
                    const CubeMachine& machine);
/// What the busiest core's queues do. Requires is_product(layer).
CubePipeline product_pipeline(const Layer& layer, const CubeTiling& tiling, const CubeJoined& joined,
                              const CubeMachine& machine);
/// Whether a tile of one cube fits: else the machine can run no product.
bool holds_a_cube(const CubeMachine& machine);

/// One kernel. The tiling says nothing for a layer that is no product.
struct CubeKernel {
  CubeTiling tiling;
  CubePipeline pipeline;
  double cycles = 0;  // of the queues
  double dram_bytes = 0;
};
/// The tiling that takes least time, DRAM included, the first of equals: cuts over the cores and tiles of 1, 2, 3,
/// 4, 6, 8, 12, ... cubes, evened, terms as many as L0 holds. An empty product takes nothing. Requires
/// is_product(layer) and holds_a_cube.
CubeKernel product_kernel(const Layer& layer, const CubeJoined& joined, const CubeMachine& machine);
/// All that it is at some rates, in the order of the search; and it at those. Fewer cycles may take more DRAM.
std::vector<CubeKernel> product_kernels(const Layer& layer, const CubeJoined& joined, const CubeMachine& machine);
const CubeKernel& best_kernel(std::span<const CubeKernel> kernels, const MachineRates& rates);
/// Elementwise work, softmax, norms: MTE2 to UB, vector, MTE3, in as many pieces as take least.
CubeKernel vector_kernel(const Layer& layer, const CubeJoined& joined, const CubeMachine& machine);
/// Writes the expanded input of a convolution: what im2col without the engine takes before the product.
CubeKernel im2col_kernel(const Layer& layer, const CubeMachine& machine);

/// The time of one operator of a layer, and what it waits for.
struct CubeLayerTime {
  LayerTime time = {};
  CubeBound bound = CubeBound::dram;
  double kernels = 1;
};
/// Times of the layers in their order. Where `fused`, a fused layer joins kernels of the list whose result is as
/// large as its operand, the nearest before it first, then those behind it, then those with two or three parts of
/// that size (a list of layers no longer tells which of them it was): its work is in their times, and its own is
/// that of operators which found none. A fused order is free: the engines read and write it so. Activations stay in
/// L2 between kernels where all of a layer's fit.
std::vector<CubeLayerTime> cube_times(std::span<const Layer> layers, const CubeMachine& machine);
std::vector<LayerTime> times_of(std::span<const Layer> layers, const CubeMachine& machine);
MappedLayers mapped_layers(std::span<const Layer> layers, const CubeMachine& machine);

/// The kernels of a layer at any rates: what writes an expanded input out, if anything has to, and those of which
/// one is best.
struct CubeLayerPlan {
  std::optional<CubeKernel> expanding = {};
  std::vector<CubeKernel> kernels = {};  // none: every operator joined a kernel
  std::optional<double> left = {};       // of a fused layer: the share of its operators that joined none
};
struct CubePlan {
  std::vector<CubeLayerPlan> layers = {};
  double launch_s = 0;
};
/// No rate of the machine is asked.
CubePlan cube_plan(std::span<const Layer> layers, const CubeMachine& machine);
std::vector<CubeLayerTime> cube_times(const CubePlan& plan, const MachineRates& rates);

}  // namespace sdip
