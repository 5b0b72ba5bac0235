// Time of layers on tiles that exchange data.
#include "core/baseline/archetypes/tiles.h"

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/baseline/archetypes/parts.h"

namespace sdip {
namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

/// The work of the slowest tile, and what all tiles exchange.
struct CutWork {
  TileCut cut;
  double compute_cycles = 0, exchange_s = 0;
  double compute_s(double clock_hz) const { return compute_cycles / clock_hz; }
  double total_s(double clock_hz) const { return compute_s(clock_hz) + exchange_s; }
};

CutWork work_of_cut(const MatrixProduct& p, const TileCut& cut, const TiledMachine& m) {
  const std::int64_t count = ceil_div(p.count, cut.count), rows = ceil_div(p.rows, cut.rows),
                     columns = ceil_div(p.columns, cut.columns);
  const double macs = as_double(count) * as_double(rows) * as_double(columns) * as_double(p.terms);
  const double taken = as_double(count) * as_double(p.terms) * as_double(rows + columns);
  CutWork work{.cut = cut, .compute_cycles = std::ceil(macs / m.macs_per_cycle)};
  if (m.exchange_bytes_per_s > 0)
    work.exchange_s = as_double(cut.tiles()) * taken * m.bytes_per_element / m.exchange_bytes_per_s;
  return work;
}

/// The cuts that are the first of least time at some clock, in the order of the search.
std::vector<CutWork> best_cuts(const MatrixProduct& p, const TiledMachine& m) {
  std::vector<CutWork> best;
  const auto no_worse = [](const CutWork& one, const CutWork& other) {
    return one.compute_cycles <= other.compute_cycles && one.exchange_s <= other.exchange_s;
  };
  const auto offer = [&](const CutWork& one) {
    if (std::ranges::any_of(best, [&](const CutWork& kept) { return no_worse(kept, one); })) return;
    std::erase_if(best, [&](const CutWork& kept) { return no_worse(one, kept); });
    best.push_back(one);
  };
  for (const std::int64_t count : filled_parts(p.count, m.tiles))
    for (const std::int64_t rows : filled_parts(p.rows, m.tiles / count)) {
      // The columns are cut into as many parts as there are tiles left, or into fewer where that exchanges less.
      const std::int64_t most = std::min(p.columns, m.tiles / count / rows);
      for (std::int64_t parts = most; parts >= 1; parts /= 2)
        offer(work_of_cut(p, {count, rows, ceil_div(p.columns, ceil_div(p.columns, parts))}, m));
    }
  return best;
}

const CutWork& best_cut(std::span<const CutWork> cuts, double clock_hz) {
  return *std::ranges::min_element(cuts, {}, [&](const CutWork& one) { return one.total_s(clock_hz); });
}

/// A layer's time at any rates: of a product the cuts, of all else the cycles of elementwise work.
struct TiledLayer {
  std::vector<CutWork> cuts;
  double vector_cycles = 0, dram_bytes = 0, overhead_s = 0;
};

TiledLayer tiled_layer(const Layer& layer, const TiledMachine& m) {
  TiledLayer tiled;
  const bool fused = layer.joint == Joint::fused;
  if (is_product(layer))
    tiled.cuts = best_cuts(product_of(layer), m);
  else
    tiled.vector_cycles = std::ceil(as_double(operations_of(layer)) / as_double(m.tiles) / m.operations_per_cycle);
  const double held = as_double(m.tiles) * m.tile_bytes;
  const double activations = m.bytes_per_element * as_double(layer.a_elements + layer.b_elements +
                                                             layer.other_elements + layer.output_elements);
  const double weights = m.bytes_per_element * as_double(layer.weight_elements);
  const double spilled = fused ? 0 : std::max(0.0, activations + weights - held);
  tiled.dram_bytes = weights + std::min(spilled, activations);
  tiled.overhead_s = fused ? 0 : m.step_s;
  return tiled;
}

LayerTime tiled_time(const TiledLayer& layer, const MachineRates& rates) {
  LayerTime time;
  if (!layer.cuts.empty()) {
    const CutWork& cut = best_cut(layer.cuts, rates.clock_hz);
    time.compute_s = cut.compute_s(rates.clock_hz);
    time.on_chip_s = cut.exchange_s;
  }
  time.vector_s = layer.vector_cycles / rates.clock_hz;
  time.dram_bytes = layer.dram_bytes;
  time.memory_s = rates.dram_bytes_per_s > 0 ? layer.dram_bytes / rates.dram_bytes_per_s : 0;
  time.overhead_s = layer.overhead_s;
  time.seconds = time.compute_s + time.vector_s + time.on_chip_s + time.memory_s + time.overhead_s;
  return time;
}

}  // namespace

TileCut tile_cut(const MatrixProduct& p, const TiledMachine& m) {
  const std::vector<CutWork> cuts = best_cuts(p, m);
  return cuts.empty() ? TileCut{} : best_cut(cuts, m.clock_hz).cut;
}

MappedLayers mapped_layers(std::span<const Layer> layers, const TiledMachine& m) {
  return mapped_each(
      layers, [&](const Layer& layer) { return tiled_layer(layer, m); }, tiled_time);
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const TiledMachine& m) {
  return mapped_layers(layers, m)({m.clock_hz, m.dram_bytes_per_s});
}

}  // namespace sdip
