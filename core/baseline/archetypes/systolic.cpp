// Time and traffic of layers on systolic arrays.
#include "core/baseline/archetypes/systolic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip {
namespace {

/// Sums are int32 in TPU v1 and fp32 in all later ones (Jouppi et al., ISCA 2017 and 2021).
constexpr double systolic_sum_bytes = 4;

/// Half of the buffer, so that what passes through the other can be fetched behind the work (double buffering): an
/// assumption.
constexpr double systolic_held_share = 0.5;

std::int64_t systolic_rows_of_sums(const SystolicMachine& machine) {
  const double bytes = machine.accumulator_bytes > 0
                           ? machine.accumulator_bytes
                           : systolic_held_share * machine.buffer_bytes / static_cast<double>(machine.arrays);
  const double rows = bytes / (systolic_sum_bytes * static_cast<double>(machine.array.columns));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(rows));
}

std::int64_t systolic_folds(std::int64_t folds, std::int64_t rows, const SystolicMachine& machine) {
  if (machine.double_buffered_weights) return streamed_cycles(folds, rows, machine.array);
  return folds * (rows + 2 * machine.array.rows + machine.array.columns - 2);
}

/// Bytes of one of the independent products.
struct SystolicOperands {
  double rows = 0, columns = 0, results = 0;
  double sum() const { return rows + columns + results; }
};

SystolicOperands systolic_operands(const Layer& layer, const SystolicMachine& machine,
                                   const MatrixProduct& product) {
  const double size = machine.bytes_per_element / static_cast<double>(product.count);
  SystolicOperands bytes;
  bytes.rows = size * static_cast<double>(layer.a_elements);
  bytes.columns = size * static_cast<double>(layer.weighted ? layer.weight_elements : layer.b_elements);
  bytes.results = size * static_cast<double>(layer.output_elements);
  if (machine.fused_attention && layer.joint == Joint::scores) bytes.results = 0;
  if (machine.fused_attention && layer.joint == Joint::mixed) bytes.rows = 0;
  return bytes;
}

/// Bytes from DRAM of one product that the memory on the chip cannot hold.
double systolic_tiled_bytes(const SystolicOperands& bytes, const MatrixProduct& product,
                            const SystolicMachine& machine) {
  const double held = systolic_held_share * machine.buffer_bytes;
  const auto parts = [&](double operand) { return std::max(1.0, std::ceil(operand / held)); };
  double least =
      std::min(bytes.rows + bytes.columns * parts(bytes.rows), bytes.columns + bytes.rows * parts(bytes.columns));
  const std::int64_t folds = ceil_div(product.columns, machine.array.columns);
  for (std::int64_t reads = 1; reads <= folds; ++reads) {  // of the rows
    const std::int64_t columns = ceil_div(folds, reads) * machine.array.columns;
    const double rows =
        std::floor(held / (systolic_sum_bytes * static_cast<double>(std::min(columns, product.columns))));
    if (rows < 1) continue;
    const double again = std::ceil(static_cast<double>(product.rows) / rows);
    least = std::min(least, bytes.rows * static_cast<double>(reads) + bytes.columns * again);
  }
  return least + bytes.results;
}

double systolic_product_bytes(const Layer& layer, const SystolicMachine& machine) {
  const MatrixProduct product = product_of(layer);
  const SystolicOperands bytes = systolic_operands(layer, machine, product);
  const double one =
      bytes.sum() <= machine.buffer_bytes ? bytes.sum() : systolic_tiled_bytes(bytes, product, machine);
  const std::int64_t beside = layer.other_elements + (layer.weighted ? 0 : layer.weight_elements);
  return one * static_cast<double>(product.count) + machine.bytes_per_element * static_cast<double>(beside);
}

LayerTime systolic_time(const Layer& layer, const SystolicMachine& machine) {
  LayerTime time;
  time.dram_bytes = systolic_dram_bytes(layer, machine);
  time.memory_s = time.dram_bytes / machine.dram_bytes_per_s;
  if (is_product(layer))
    time.compute_s = static_cast<double>(product_cycles(product_of(layer), machine)) / machine.clock_hz;
  else
    time.vector_s = static_cast<double>(operations_of(layer)) / machine.vector_operations_per_s;
  if (layer.joint != Joint::fused) time.overhead_s = machine.launch_s;
  time.seconds = time.overhead_s + std::max({time.compute_s, time.vector_s, time.memory_s});
  return time;
}

}  // namespace

std::int64_t compute_cycles(const MatrixProduct& product, const SystolicArray& array) {
  const std::int64_t column_folds = product.count * ceil_div(product.columns, array.columns);
  if (array.dataflow == SystolicDataflow::output_stationary)
    return column_folds * ceil_div(product.rows, array.rows) * (product.terms + array.rows + array.columns - 2);
  return column_folds * ceil_div(product.terms, array.rows) * (product.rows + 2 * array.rows + array.columns - 2);
}

std::int64_t streamed_cycles(std::int64_t folds, std::int64_t rows, const SystolicArray& array) {
  return array.rows + (folds - 1) * std::max(rows, array.rows) + rows + array.rows + array.columns - 2;
}

std::int64_t product_cycles(const MatrixProduct& product, const SystolicMachine& machine) {
  const SystolicArray& array = machine.array;
  const std::int64_t columns = product.count * ceil_div(product.columns, array.columns);
  if (array.dataflow == SystolicDataflow::output_stationary) {
    const std::int64_t folds = ceil_div(columns * ceil_div(product.rows, array.rows), machine.arrays);
    return folds * (product.terms + array.rows + array.columns - 2);
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  // Each size of a part with the fewest parts of it.
  for (std::int64_t part = product.rows, parts = 1; parts <= machine.arrays;) {
    const std::int64_t turns = ceil_div(part, systolic_rows_of_sums(machine));
    const std::int64_t shares = ceil_div(columns * parts * turns, machine.arrays);
    const std::int64_t folds = shares * ceil_div(product.terms, array.rows);
    least = std::min(least, systolic_folds(folds, ceil_div(part, turns), machine));
    if (part == 1) break;
    parts = ceil_div(product.rows, part - 1);
    part = ceil_div(product.rows, parts);
  }
  return least;
}

double systolic_dram_bytes(const Layer& layer, const SystolicMachine& machine) {
  if (is_product(layer)) return systolic_product_bytes(layer, machine);
  const bool stays = layer.joint == Joint::fused || (machine.fused_attention && layer.joint == Joint::softmax);
  std::int64_t elements = layer.other_elements + layer.weight_elements;
  if (!stays) elements += layer.a_elements + layer.b_elements + layer.output_elements;
  return machine.bytes_per_element * static_cast<double>(elements);
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const SystolicMachine& machine) {
  check(machine.clock_hz > 0 && machine.arrays > 0 && machine.array.rows > 0 && machine.array.columns > 0 &&
            machine.buffer_bytes > 0 && machine.vector_operations_per_s > 0 && machine.dram_bytes_per_s > 0,
        "times_of: a systolic machine's figures are positive");
  std::vector<LayerTime> times;
  times.reserve(layers.size());
  for (const Layer& layer : layers) times.push_back(systolic_time(layer, machine));
  return times;
}

}  // namespace sdip
