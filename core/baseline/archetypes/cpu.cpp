// Time and traffic of layers on a processor of several cores.
#include "core/baseline/archetypes/cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/baseline/archetypes/parts.h"

namespace sdip {
namespace {

constexpr double cpu_sum_bytes = 4;  // int32 or fp32
/// Vector instructions for each vector of elements. An exponential: clamp 2, split into power and rest 3, a
/// polynomial of the 5th degree 5, scale 2 (Cephes' expf); softmax: largest 1, difference 1, sum 1, scale 1; a
/// norm: two sums, then difference, scale, weight, bias. Elementwise work: of an addition's 1 and an exponential's
/// 12, 4.
constexpr double cpu_softmax_instructions = 12 + 4, cpu_norm_instructions = 6, cpu_vector_instructions = 4;

double cpu_real(std::int64_t count) { return static_cast<double>(count); }
double cpu_bytes(std::int64_t elements, const CpuMachine& m) { return cpu_real(elements) * m.bytes_per_element; }

std::int64_t activations_of(const Layer& l) {
  return l.a_elements + l.b_elements + l.other_elements + l.output_elements;
}
/// Whether what a layer reads and writes stays in L3 between layers.
bool cpu_stays(const Layer& l, const CpuMachine& m) {
  return cpu_bytes(activations_of(l) + l.weight_elements, m) <= m.l3_bytes;
}

double cpu_dram_rate(std::int64_t cores, double all, double of_a_core) {
  return of_a_core <= 0 ? all : std::min(all, cpu_real(cores) * of_a_core);
}

/// Bytes of a product's operands.
struct CpuOperands {
  double rows = 0, columns = 0, results = 0, beside = 0;
};
CpuOperands cpu_operands(const Layer& l, const CpuMachine& m) {
  return {cpu_bytes(l.a_elements, m), cpu_bytes(l.weighted ? l.weight_elements : l.b_elements, m),
          cpu_bytes(l.output_elements, m), cpu_bytes(l.other_elements + (l.weighted ? 0 : l.weight_elements), m)};
}

/// How many groups of cores read each operand of their own accord: parts are dealt out to groups by independent
/// products first, then by rows, then by columns.
struct CpuReaders {
  double rows = 1, columns = 1;
};
CpuReaders cpu_readers(const CpuSplit& split, const CpuMachine& m) {
  const std::int64_t used = ceil_div(split.cores(), ceil_div(m.cores, m.l3_groups));
  const std::int64_t within = std::max<std::int64_t>(1, used / std::min(used, split.count));
  const std::int64_t by_rows = std::min(within, split.rows);
  return {cpu_real(std::max<std::int64_t>(1, std::min(within / by_rows, split.columns))), cpu_real(by_rows)};
}

/// Bytes from DRAM of one of the independent products that L3 cannot hold, by the best of three orders: columns by
/// blocks of terms with sums read and written for each block; rows held with their results while columns pass;
/// columns held while rows pass. Half of L3 holds, the other half is passed through.
double cpu_passed_bytes(const CpuOperands& bytes, const MatrixProduct& p, const CpuBlocks& blocks,
                        const CpuMachine& m) {
  const auto parts = [&](double held) { return std::max(1.0, std::ceil(held / (0.5 * m.l3_bytes))); };
  const double sums = cpu_real(p.rows * p.columns) * cpu_sum_bytes;
  const double kernels = cpu_real(ceil_div(p.terms, blocks.terms));
  const double by_terms =
      bytes.rows * cpu_real(ceil_div(p.columns, blocks.columns)) + bytes.columns + 2 * (kernels - 1) * sums;
  const double rows_held = bytes.rows + bytes.columns * parts(bytes.rows + sums);
  const double columns_held = bytes.columns + bytes.rows * parts(bytes.columns);
  return bytes.results + std::min({by_terms, rows_held, columns_held});
}

/// Bytes of DRAM: the first reading of the columns, which a micro-kernel waits for, and all others.
struct CpuDram {
  double columns = 0, others = 0;
};
CpuDram cpu_product_dram(const Layer& l, const MatrixProduct& p, const CpuBlocks& blocks, const CpuSplit& split,
                         const CpuMachine& m, bool weights_stay) {
  const CpuReaders readers = cpu_readers(split, m);
  const CpuOperands bytes = cpu_operands(l, m);
  if (cpu_stays(l, m)) {
    if (weights_stay) return {};
    return l.weighted ? CpuDram{bytes.columns * readers.columns, 0} : CpuDram{0, cpu_bytes(l.weight_elements, m)};
  }
  const double count = cpu_real(p.count), columns = bytes.columns * readers.columns;
  const CpuOperands one = {bytes.rows * readers.rows / count, columns / count, bytes.results / count};
  return {columns, count * cpu_passed_bytes(one, p, blocks, m) - columns + bytes.beside};
}

/// Cycles until L2 and L3 have given the core that has most what its micro-kernels ask for. A window's neighbours
/// are found in L1.
double cpu_cache_cycles(const Layer& l, const MatrixProduct& p, const CpuTile& tile, const CpuBlocks& blocks,
                        const CpuSplit& split, const CpuMachine& m) {
  const double count = cpu_real(ceil_div(p.count, split.count));
  const double rows = cpu_real(ceil_div(p.rows, split.rows)),
               columns = cpu_real(ceil_div(p.columns, split.columns));
  const double terms = cpu_real(p.terms),
               share = std::min(1.0, cpu_real(l.a_elements) / (cpu_real(p.count * p.rows) * terms));
  const double a = count * rows * terms * share * m.bytes_per_element,
               b = count * columns * terms * m.bytes_per_element;
  const double kernels = cpu_real(ceil_div(p.terms, blocks.terms));
  const double c = count * rows * columns * (2 * (kernels - 1) * cpu_sum_bytes + m.bytes_per_element);
  const auto blocks_of = [](double size, std::int64_t each) { return std::ceil(size / cpu_real(each)); };
  const double b_again = b * blocks_of(rows, blocks.rows);
  const double from_l2 = a * blocks_of(columns, tile.columns * m.multiplier.columns) + b_again + c;
  const double from_l3 = a * blocks_of(columns, blocks.columns) + b_again + c;
  return std::max(from_l2 / m.l2_bytes_per_cycle, from_l3 / m.l3_bytes_per_cycle);
}

/// A convolution of each channel with itself alone: vectors lie across channels, and nothing is read for several
/// results, so that each multiply loads its activation.
double channelwise_cycles(const MatrixProduct& p, std::int64_t cores, const CpuMachine& m) {
  const double vectors = cpu_real(ceil_div(p.count, m.vector_lanes) * p.terms) * cpu_real(p.rows);
  const double each = std::max(1 / cpu_real(m.vector_ports), 1 / cpu_real(m.multiplier.loads_per_cycle));
  return vectors * each / cpu_real(cores);
}

bool is_channelwise(const Layer& l) {
  return l.work.family == Family::conv2d && l.work.nest.groups > 1 && l.work.nest.out_channels == 1;
}

template <class Try>
void try_splits(const MatrixProduct& p, const CpuTile& tile, const CpuMachine& m, const Try& attempt) {
  const std::int64_t down = ceil_div(p.rows, tile.rows * m.multiplier.rows);
  const std::int64_t across = ceil_div(p.columns, tile.columns * m.multiplier.columns);
  for (const std::int64_t count : filled_parts(p.count, m.cores))
    for (const std::int64_t rows : filled_parts(down, m.cores / count))
      for (const std::int64_t columns : filled_parts(across, m.cores / count / rows))
        attempt(CpuSplit{count, rows, columns});
}

/// One operator of a layer on so many cores: what it takes at any rates.
struct CpuWay {
  std::int64_t cores = 1;
  double compute_cycles = 0, vector_cycles = 0, cache_cycles = 0, packing_cycles = 0;
  double overhead_s = 0;
  CpuDram dram = {};

  double busiest_cycles() const { return std::max({compute_cycles, vector_cycles, cache_cycles}); }
  LayerTime at(const MachineRates& rates, double core_dram_bytes_per_s) const {
    const double rate = cpu_dram_rate(cores, rates.dram_bytes_per_s, core_dram_bytes_per_s);
    LayerTime time{.overhead_s = overhead_s};
    time.compute_s = compute_cycles / rates.clock_hz;
    time.vector_s = vector_cycles / rates.clock_hz;
    time.on_chip_s = (cache_cycles + packing_cycles) / rates.clock_hz;
    time.dram_bytes = dram.columns + dram.others;
    time.memory_s = time.dram_bytes / rate;
    time.seconds = overhead_s + packing_cycles / rates.clock_hz + dram.columns / rate +
                   std::max(busiest_cycles() / rates.clock_hz, dram.others / rate);
    return time;
  }
};

CpuWay way_of_product(const Layer& layer, const CpuTile& tile, const CpuSplit& split, const CpuMachine& m,
                      bool weights_stay) {
  const MatrixProduct product = product_of(layer);
  const CpuBlocks blocks = cpu_blocks(product, tile, m);
  CpuWay way{.cores = split.cores()};
  way.compute_cycles = is_channelwise(layer) ? channelwise_cycles(product, way.cores, m)
                                             : cpu_product_cycles(product, tile, split, m);
  way.compute_cycles /= m.software_share;
  way.cache_cycles = cpu_cache_cycles(layer, product, tile, blocks, split, m);
  way.dram = cpu_product_dram(layer, product, blocks, split, m, weights_stay);
  way.overhead_s = m.launch_s + (way.cores > 1 ? m.join_s : 0);
  // Columns are laid out anew, read and written; weights were before the first pass.
  if (!layer.weighted)
    way.packing_cycles = 2 * cpu_bytes(layer.b_elements, m) / (cpu_real(way.cores) * m.l2_bytes_per_cycle);
  return way;
}

/// Softmax, norms, elementwise work, moves, on so many cores; rows are held in a core's own caches.
CpuWay way_of_rows(const Layer& layer, std::int64_t cores, const CpuMachine& m, bool weights_stay) {
  const bool fused = layer.joint == Joint::fused && !m.eager;
  const Family family = layer.work.family;
  const double instructions = family == Family::softmax ? cpu_softmax_instructions
                              : family == Family::norm  ? cpu_norm_instructions
                                                        : cpu_vector_instructions * cpu_real(layer.work.passes);
  const double elements = cpu_real(layer.work.rows * layer.work.row_length * layer.work.element_cycles);
  CpuWay way{.cores = cores};
  way.vector_cycles =
      elements * instructions / (cpu_real(cores * m.vector_lanes * m.vector_ports) * m.software_share);
  const double moved =
      fused ? cpu_bytes(layer.b_elements + layer.other_elements, m) : cpu_bytes(activations_of(layer), m);
  const double weights = cpu_bytes(layer.weight_elements, m);
  way.cache_cycles = (moved + weights) / (cpu_real(cores) * m.l3_bytes_per_cycle);
  const bool stays = cpu_stays(layer, m);
  way.dram.others = (stays ? 0 : moved) + (stays && weights_stay ? 0 : weights);
  if (!fused) way.overhead_s = m.launch_s + (cores > 1 ? m.join_s : 0);
  return way;
}

/// The ways that are the first of least time at some rates, in the order of the search. None: it takes nothing.
std::vector<CpuWay> best_ways(const Layer& layer, const CpuMachine& m, bool weights_stay) {
  std::vector<CpuWay> ways;
  if (layer.work.family == Family::view || layer.work.family == Family::constant) return ways;
  const auto offer = [&](const CpuWay& one) {
    const auto no_worse = [&](const CpuWay& kept) {
      return (kept.cores >= one.cores || m.core_dram_bytes_per_s <= 0) && kept.overhead_s <= one.overhead_s &&
             kept.dram.columns <= one.dram.columns && kept.dram.others <= one.dram.others &&
             kept.busiest_cycles() <= one.busiest_cycles() && kept.packing_cycles <= one.packing_cycles;
    };
    if (std::ranges::none_of(ways, no_worse)) ways.push_back(one);
  };
  if (is_product(layer)) {
    for (const CpuTile& tile : cpu_tiles(m.multiplier))
      try_splits(product_of(layer), tile, m,
                 [&](const CpuSplit& split) { offer(way_of_product(layer, tile, split, m, weights_stay)); });
  } else {
    for (const std::int64_t cores : {std::int64_t{1}, m.cores}) offer(way_of_rows(layer, cores, m, weights_stay));
  }
  return ways;
}

LayerTime best_time(std::span<const CpuWay> ways, const MachineRates& rates, double core_dram_bytes_per_s) {
  LayerTime best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (const CpuWay& way : ways) {
    const LayerTime time = way.at(rates, core_dram_bytes_per_s);
    if (time.seconds < best.seconds) best = time;
  }
  return ways.empty() ? LayerTime{} : best;
}

/// Whether all weights and the largest layer's activations fit L3 together.
bool network_stays(std::span<const Layer> layers, const CpuMachine& m) {
  double weights = 0, most = 0;
  for (const Layer& layer : layers) {
    weights += cpu_bytes(layer.weight_elements, m) * cpu_real(layer.times);
    most = std::max(most, cpu_bytes(activations_of(layer), m));
  }
  return m.keeps_weights && weights + most <= m.l3_bytes;
}

}  // namespace

LayerTime time_of(const Layer& layer, const CpuTile& tile, const CpuSplit& split, const CpuMachine& m,
                  bool weights_stay) {
  return way_of_product(layer, tile, split, m, weights_stay)
      .at({m.clock_hz, m.dram_bytes_per_s}, m.core_dram_bytes_per_s);
}

MappedLayers mapped_layers(std::span<const Layer> layers, const CpuMachine& m) {
  check(m.cores > 0 && macs_per_cycle(m.multiplier) > 0 && m.multiplier.registers > 2 && m.vector_lanes > 0 &&
            m.vector_ports > 0 && m.l1_bytes > 0 && m.l2_bytes > 0 && m.l3_bytes > 0 && m.l2_bytes_per_cycle > 0 &&
            m.l3_bytes_per_cycle > 0 && m.l3_groups > 0 && m.software_share > 0 && m.software_share <= 1 &&
            m.bytes_per_element > 0,
        "cpu: every figure is positive");
  const bool weights_stay = network_stays(layers, m);
  return mapped_each(
      layers, [&](const Layer& layer) { return best_ways(layer, m, weights_stay); },
      [of_a_core = m.core_dram_bytes_per_s](const std::vector<CpuWay>& ways, const MachineRates& rates) {
        check(rates.clock_hz > 0 && rates.dram_bytes_per_s > 0, "times of layers: rates are positive");
        return best_time(ways, rates, of_a_core);
      });
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const CpuMachine& m) {
  return mapped_layers(layers, m)({m.clock_hz, m.dram_bytes_per_s});
}

}  // namespace sdip
