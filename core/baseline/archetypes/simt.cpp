// Tiles in waves, pipelines that fill and drain, and what L2 and DRAM carry for them.
#include "core/baseline/archetypes/simt.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip {
namespace {

constexpr double simt_step_bytes = 64;  // of each row and column that a step of a tile's loop takes in
constexpr double simt_stages = 4;       // steps in flight, where shared memory holds them
constexpr double simt_port_bytes = 64;  // that a processor takes from or gives to L2 in a cycle, Volta to Hopper
// Latencies that nothing hides: arguments, first operands, results through shared memory and out; where terms are
// split, sums out, their signal, sums in, results out.
constexpr double simt_dependent = 4, simt_summed = 4;
constexpr double simt_sum_bytes = 4;             // of a sum before it is rounded
constexpr double simt_register_bytes = 1 << 17;  // for sums: half of a processor's registers
constexpr std::int64_t simt_warp_row = 1024;     // elements that 32 threads hold in 32 registers each
constexpr std::int64_t attention_columns = 64, attention_terms = 32;  // that a fused attention rounds up to

double real_of(std::int64_t count) { return static_cast<double>(count); }

/// Attainable bytes/s.
double l2_rate(const SimtMachine& m) { return m.l2_bytes_per_s * m.memory_share; }
double dram_rate(const SimtMachine& m) { return m.dram_bytes_per_s * m.memory_share; }

std::int64_t step_terms(const SimtMachine& m) {
  return static_cast<std::int64_t>(simt_step_bytes / m.bytes_per_element);
}
/// Steps of one thread block's loop.
std::int64_t steps_of(const MatrixProduct& product, const SimtTile& tile, const SimtMachine& m) {
  return ceil_div(ceil_div(product.terms, step_terms(m)), tile.splits);
}

std::int64_t blocks_of(const MatrixProduct& p, const SimtTile& tile) {
  return p.count * ceil_div(p.rows, tile.rows) * ceil_div(p.columns, tile.columns) * tile.splits;
}

/// Thread blocks that a processor's registers hold at once.
std::int64_t resident_blocks(const SimtTile& tile) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(simt_register_bytes / (real_of(tile.rows * tile.columns) * simt_sum_bytes)));
}

double result_bytes(const SimtTile& tile, const SimtMachine& m) {
  return tile.splits > 1 ? simt_sum_bytes : m.bytes_per_element;
}

/// Bytes of a step of a block; columns are loaded once for all blocks of a cluster.
double load_bytes(const SimtTile& tile, const SimtMachine& m) {
  return (real_of(tile.rows) + real_of(tile.columns) / real_of(m.cluster)) * simt_step_bytes;
}

/// Cycles of `blocks` thread blocks that a processor runs at once: the first loads arrive, the loop, results leave.
/// A step takes its arithmetic or its loads, and no less than a load's latency over the steps in flight.
double round_cycles(double blocks, const MatrixProduct& product, const SimtTile& tile, const SimtMachine& m) {
  const double port = simt_port_bytes * m.memory_share;
  const double load = blocks * load_bytes(tile, m) / port;
  const double arithmetic =
      blocks * 2 * real_of(tile.rows * tile.columns * step_terms(m)) / (m.tensor_flops_per_cycle * m.tensor_share);
  const double held =
      std::floor(m.shared_bytes / (real_of(resident_blocks(tile) * (tile.rows + tile.columns)) * simt_step_bytes));
  const double stages = std::clamp(held, 1.0, simt_stages);
  const double step = std::max({arithmetic, load, m.latency_cycles / stages});
  const double leave = blocks * real_of(tile.rows * tile.columns) * result_bytes(tile, m) / port;
  const double dependent = tile.splits > 1 ? simt_dependent + simt_summed : simt_dependent;
  return dependent * m.latency_cycles + load + real_of(steps_of(product, tile, m)) * step + leave;
}

double loop_seconds(const MatrixProduct& product, const SimtTile& tile, const SimtMachine& m) {
  const std::int64_t waves = waves_of(product, tile, m), at_once = resident_blocks(tile);
  double cycles = real_of(waves / at_once) * round_cycles(real_of(at_once), product, tile, m);
  if (waves % at_once != 0) cycles += round_cycles(real_of(waves % at_once), product, tile, m);
  return cycles / m.clock_hz;
}

/// Between L2 and processors: operands of every block, results, and parts of sums once more to be added up.
double tile_bytes(const MatrixProduct& product, const SimtTile& tile, const SimtMachine& m) {
  const double blocks = real_of(blocks_of(product, tile)), results = blocks * real_of(tile.rows * tile.columns);
  double bytes =
      blocks * real_of(steps_of(product, tile, m)) * load_bytes(tile, m) + results * result_bytes(tile, m);
  if (tile.splits > 1) bytes += results * simt_sum_bytes + results / real_of(tile.splits) * m.bytes_per_element;
  return bytes;
}

/// Bytes of the operands. The blocks of one wave, laid out as a square, read together what they need once a wave,
/// unless L2 holds an operand.
double operand_bytes(double a, double b, const MatrixProduct& product, const SimtTile& tile, const SimtMachine& m) {
  if (std::min(a, b) / real_of(product.count) <= m.l2_bytes / 2) return a + b;
  const double down = real_of(ceil_div(product.rows, tile.rows)),
               across = real_of(ceil_div(product.columns, tile.columns));
  const double wave = real_of(m.processors * resident_blocks(tile));
  const double wave_across = std::min(across, std::sqrt(wave * real_of(tile.rows) / real_of(tile.columns)));
  const double wave_down = std::min(down, wave / wave_across);
  return std::min(a + b * down / wave_down, a * across / wave_across + b);
}

double bytes_of(std::int64_t elements, const SimtMachine& m) { return real_of(elements) * m.bytes_per_element; }
double activation_bytes(const Layer& l, const SimtMachine& m) {
  return bytes_of(l.a_elements + l.b_elements + l.other_elements + l.output_elements, m);
}
bool stays_in_l2(const Layer& l, const SimtMachine& m) {
  return activation_bytes(l, m) + bytes_of(l.weight_elements, m) <= m.l2_bytes;
}

/// Seconds of one kernel from its parts.
void overlap(LayerTime& time) {
  time.seconds = time.overhead_s + std::max({time.compute_s, time.vector_s, time.on_chip_s, time.memory_s});
}

/// Elements of the busiest processor. Eager kernels give a row of a softmax or norm to one thread block; a compiler
/// also cuts rows.
double busiest_elements(const Work& work, const SimtMachine& m) {
  const bool whole_rows = m.eager && (work.family == Family::softmax || work.family == Family::norm);
  return whole_rows ? real_of(ceil_div(work.rows, m.processors) * work.row_length)
                    : real_of(work.rows * work.row_length) / real_of(m.processors);
}

/// Softmax, norms, elementwise work, moves. A short row is held in registers: it is read once, and its first pass
/// is done as it comes.
LayerTime row_time(const Layer& layer, const SimtMachine& m) {
  const Work& work = layer.work;
  const bool held = work.row_length <= simt_warp_row && work.passes > 1;
  const double passes = real_of(held ? work.passes - 1 : work.passes), reads = held ? 1 : passes;
  LayerTime time;
  time.vector_s = busiest_elements(work, m) * passes * m.special_per_pass / (m.special_lanes * m.clock_hz);
  const double weights = bytes_of(layer.weight_elements, m), output = bytes_of(layer.output_elements, m);
  const double read = activation_bytes(layer, m) - output;
  time.dram_bytes = weights + (stays_in_l2(layer, m) ? 0 : read + output);
  time.memory_s = time.dram_bytes / dram_rate(m);
  time.on_chip_s = (reads * read + weights + output) / l2_rate(m);
  time.overhead_s = m.launch_s + reads * m.latency_cycles / m.clock_hz;
  overlap(time);
  return time;
}

/// Work done on a result before it is written: its lanes are hidden behind the kernel that makes that.
LayerTime fused_time(const Layer& layer, const SimtMachine& m) {
  LayerTime time;
  const double weights = bytes_of(layer.weight_elements, m);
  const double others = bytes_of(layer.b_elements + layer.other_elements, m);
  time.dram_bytes = weights + (stays_in_l2(layer, m) ? 0 : others);
  time.memory_s = time.dram_bytes / dram_rate(m);
  time.on_chip_s = (weights + others) / l2_rate(m);
  overlap(time);
  return time;
}

/// Rows of a fused attention that the busiest processor has: blocks of 128 or of 64 rows, whichever are fewer.
double attention_rows(std::int64_t count, std::int64_t rows, const SimtMachine& m) {
  const auto busiest = [&](std::int64_t block) {
    return real_of(ceil_div(count * ceil_div(rows, block), m.processors) * block);
  };
  return std::min(busiest(128), busiest(64));
}

/// A product of a fused attention. Scores come from queries and keys, with the kernel's launch; the mix reads
/// values and writes the result. Blocks of rows pass over all keys, and over all values.
LayerTime attention_product_time(const Layer& layer, const SimtMachine& m) {
  const MatrixProduct p = product_of(layer);
  const bool scores = layer.joint == Joint::scores;
  const std::int64_t columns_of = scores ? attention_columns : attention_terms;
  const std::int64_t terms_of = scores ? attention_terms : attention_columns;
  const double columns = real_of(ceil_div(p.columns, columns_of) * columns_of);
  const double terms = real_of(ceil_div(p.terms, terms_of) * terms_of);
  LayerTime time;
  time.compute_s = 2 * attention_rows(p.count, p.rows, m) * columns * terms /
                   (m.tensor_flops_per_cycle * m.tensor_share * m.clock_hz);
  const double weights = bytes_of(layer.weight_elements, m);
  const double moved = scores ? bytes_of(layer.a_elements + layer.b_elements + layer.other_elements, m)
                              : bytes_of(layer.b_elements + layer.other_elements + layer.output_elements, m);
  time.dram_bytes = weights + (moved + weights <= m.l2_bytes ? 0 : moved);
  time.memory_s = time.dram_bytes / dram_rate(m);
  time.on_chip_s =
      (moved + real_of(ceil_div(p.rows, 128)) * bytes_of(p.count * p.columns * p.terms, m)) / l2_rate(m);
  time.overhead_s = scores ? m.launch_s + 2 * m.latency_cycles / m.clock_hz : 0;
  overlap(time);
  return time;
}

/// One exponential a score, between the two products of a block.
LayerTime attention_softmax_time(const Layer& layer, const SimtMachine& m) {
  LayerTime time;
  const double columns = real_of(ceil_div(layer.work.row_length, attention_columns) * attention_columns);
  time.vector_s = attention_rows(1, layer.work.rows, m) * columns / (m.special_lanes * m.clock_hz);
  overlap(time);
  return time;
}

LayerTime layer_seconds(const Layer& layer, const SimtMachine& m) {
  if (layer.work.family == Family::view || layer.work.family == Family::constant) return {};
  const bool attention = m.fused_attention && !m.eager;
  if (attention && layer.joint == Joint::softmax) return attention_softmax_time(layer, m);
  if (attention && (layer.joint == Joint::scores || layer.joint == Joint::mixed))
    return attention_product_time(layer, m);
  if (is_product(layer)) return time_of(layer, best_tile(layer, m), m);
  return layer.joint == Joint::fused && !m.eager ? fused_time(layer, m) : row_time(layer, m);
}

}  // namespace

std::vector<SimtTile> simt_tiles(const MatrixProduct& product, const SimtMachine& m) {
  constexpr std::int64_t fewest_steps = 4;  // of a split, else it is all fill and drain
  std::vector<SimtTile> shapes = {{256, 128}, {128, 256}, {256, 64}, {64, 256},
                                  {128, 128}, {128, 64},  {64, 128}, {64, 64}};
  if (m.fine_tiles)
    for (const std::int64_t rows : {128, 64})
      for (const std::int64_t columns : {192, 160, 96}) shapes.push_back({rows, columns});
  std::vector<SimtTile> tiles;
  for (SimtTile tile : shapes)
    for (tile.splits = 1; tile.splits <= 16; tile.splits *= 2)
      if (tile.splits == 1 || steps_of(product, tile, m) >= fewest_steps) tiles.push_back(tile);
  return tiles;
}

std::int64_t waves_of(const MatrixProduct& product, const SimtTile& tile, const SimtMachine& m) {
  return ceil_div(blocks_of(product, tile), m.processors);
}

LayerTime time_of(const Layer& layer, const SimtTile& tile, const SimtMachine& m) {
  const MatrixProduct product = product_of(layer);
  const double weights = bytes_of(layer.weight_elements, m), a = bytes_of(layer.a_elements, m);
  LayerTime time;
  time.compute_s = loop_seconds(product, tile, m);
  time.on_chip_s = tile_bytes(product, tile, m) / l2_rate(m);
  if (stays_in_l2(layer, m))
    time.dram_bytes = weights;
  else
    time.dram_bytes = operand_bytes(a, weights + bytes_of(layer.b_elements, m), product, tile, m) +
                      bytes_of(layer.other_elements + layer.output_elements, m);
  time.memory_s = time.dram_bytes / dram_rate(m);
  time.overhead_s = m.launch_s;
  overlap(time);
  return time;
}

SimtTile best_tile(const Layer& layer, const SimtMachine& m) {
  const std::vector<SimtTile> tiles = simt_tiles(product_of(layer), m);
  SimtTile best = tiles.front();
  double least = time_of(layer, best, m).seconds;
  for (const SimtTile& tile : tiles) {
    const double seconds = time_of(layer, tile, m).seconds;
    if (seconds < least) {
      least = seconds;
      best = tile;
    }
  }
  return best;
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const SimtMachine& m) {
  check(m.clock_hz > 0 && m.processors > 0 && m.tensor_flops_per_cycle > 0 && m.l2_bytes > 0 &&
            m.l2_bytes_per_s > 0 && m.shared_bytes > 0 && m.dram_bytes_per_s > 0 && m.bytes_per_element > 0 &&
            m.special_lanes > 0 && m.cluster > 0,
        "simt: every figure is positive");
  std::vector<LayerTime> times;
  for (const Layer& layer : layers) times.push_back(layer_seconds(layer, m));
  return times;
}

}  // namespace sdip
