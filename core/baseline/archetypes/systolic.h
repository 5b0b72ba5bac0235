// Chips whose products run on systolic arrays: TPU v1 to v6e. docs/model/systolic.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"

namespace sdip {

/// What stays in the multipliers while the rest passes: weights, of `rows` terms and `columns` columns, or sums.
enum class SystolicDataflow { weight_stationary, output_stationary };
struct SystolicArray {
  std::int64_t rows = 128, columns = 128;
  SystolicDataflow dataflow = SystolicDataflow::weight_stationary;
};

/// Cycles of the product on one array, folds one after the other, and partial ones as long as whole ones: what a
/// stepped array with skewed operands takes, exactly. With R x C multipliers, M rows, N columns, K terms:
///   output-stationary  ceil(M/R) ceil(N/C) (K + R + C - 2)    a fold's last operands meet in the far corner
///   weight-stationary  ceil(K/R) ceil(N/C) (M + 2R + C - 2)   R to load, M rows, R + C - 2 until the last sum
///   leaves
/// `count` products take as much each. Operands are there in time; sums of folds add up for nothing, and
/// output-stationary ones leave behind the next fold. SCALE-Sim prints the index of the last cycle: one less for a
/// layer.
/// Worked example. 2 x 2 multipliers, 3 x 3 by 3 x 2: weight-stationary 2 folds of 3 + 4 + 2 - 2 = 7, 14 cycles;
/// output-stationary 2 folds of 3 + 2 + 2 - 2 = 5, 10 cycles.
std::int64_t compute_cycles(const MatrixProduct& product, const SystolicArray& array);

/// Cycles of a weight-stationary array for so many folds of `rows` rows each, when the weights of the next fold are
/// loaded behind those at work: only the first load and the last drain are seen,
///   R + (folds - 1) max(rows, R) + rows + R + C - 2.
/// Example: the two folds above: 2 + 3 + 3 + 2 + 2 - 2 = 10 cycles. Requires folds >= 1.
std::int64_t streamed_cycles(std::int64_t folds, std::int64_t rows, const SystolicArray& array);

/// One chip. Figures that are 0 must be given, but for accumulators and launch.
struct SystolicMachine {
  double clock_hz = 0;
  std::int64_t arrays = 1;
  SystolicArray array = {};
  bool double_buffered_weights = true;  // as TPU v1 has (Jouppi et al., ISCA 2017, section 2)
  double accumulator_bytes = 0;         // of one array: 4 MiB in TPU v1; 0: half of the buffer takes the sums
  double buffer_bytes = 0;              // unified buffer, vector and common memory
  double vector_operations_per_s = 0;
  double dram_bytes_per_s = 0;
  double bytes_per_element = 2;
  double launch_s = 0;           // of a layer that is not fused
  bool fused_attention = false;  // scores never leave the chip, as a hand-written kernel has it; XLA alone does not
};

/// Cycles of a product on all arrays. Independent products, folds of columns and parts of the rows are dealt out to
/// arrays; rows are cut into so many parts, up to one for each array, as take the least. An array that holds sums
/// of fewer rows than its part has loads all weights again for each so many of them.
std::int64_t product_cycles(const MatrixProduct& product, const SystolicMachine& machine);

/// Bytes between DRAM and the chip for one operator. Each operand once where the layer fits the buffer. Else the
/// least of three loop orders with half of the buffer for what is held, the other half for what passes: rows held
/// and columns read again for each part of them, columns held and rows read again, or sums held and both read
/// again. What a window needs of its neighbour's rows is not read twice. A fused layer moves its other operands
/// alone.
double systolic_dram_bytes(const Layer& layer, const SystolicMachine& machine);

/// Times of the layers in their order, for one operator of each: launch + max(compute or vector work, DRAM).
/// on_chip_s is 0: memories on the chip are taken to keep pace with the arrays. Layers do not overlap, and nothing
/// but fused work stays on the chip from layer to layer.
///
/// Errors: cycles are those of SCALE-Sim to the cycle; of a whole TPU no layer times are public to compare with.
std::vector<LayerTime> times_of(std::span<const Layer> layers, const SystolicMachine& machine);

}  // namespace sdip
