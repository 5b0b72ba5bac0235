// Time of layers on tiles that exchange data.
#include "core/baseline/archetypes/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/units.h"
#include "core/baseline/archetypes/parts.h"

namespace sdip {
namespace {

double as_double(std::int64_t count) { return static_cast<double>(count); }

struct CutTime {
  double compute_s = 0, exchange_s = 0;
  double total() const { return compute_s + exchange_s; }
};

CutTime cut_time(const MatrixProduct& p, const TileCut& cut, const TiledMachine& m) {
  const std::int64_t count = ceil_div(p.count, cut.count), rows = ceil_div(p.rows, cut.rows),
                     columns = ceil_div(p.columns, cut.columns);
  const double macs = as_double(count) * as_double(rows) * as_double(columns) * as_double(p.terms);
  const double taken = as_double(count) * as_double(p.terms) * as_double(rows + columns);
  CutTime time;
  time.compute_s = std::ceil(macs / m.macs_per_cycle) / m.clock_hz;
  if (m.exchange_bytes_per_s > 0)
    time.exchange_s = as_double(cut.tiles()) * taken * m.bytes_per_element / m.exchange_bytes_per_s;
  return time;
}

}  // namespace

TileCut tile_cut(const MatrixProduct& p, const TiledMachine& m) {
  TileCut best;
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t count : filled_parts(p.count, m.tiles))
    for (const std::int64_t rows : filled_parts(p.rows, m.tiles / count)) {
      // Of the columns as many parts as there are tiles left, or fewer where that exchanges less.
      const std::int64_t most = std::min(p.columns, m.tiles / count / rows);
      for (std::int64_t parts = most; parts >= 1; parts /= 2) {
        const TileCut cut{count, rows, ceil_div(p.columns, ceil_div(p.columns, parts))};
        const double time = cut_time(p, cut, m).total();
        if (time < least) least = time, best = cut;
      }
    }
  return best;
}

std::vector<LayerTime> times_of(std::span<const Layer> layers, const TiledMachine& m) {
  std::vector<LayerTime> times;
  times.reserve(layers.size());
  for (const Layer& layer : layers) {
    LayerTime time;
    const bool fused = layer.joint == Joint::fused;
    if (is_product(layer)) {
      const MatrixProduct product = product_of(layer);
      const CutTime cut = cut_time(product, tile_cut(product, m), m);
      time.compute_s = cut.compute_s;
      time.on_chip_s = cut.exchange_s;
    } else {
      const double operations = as_double(operations_of(layer));
      time.vector_s = std::ceil(operations / as_double(m.tiles) / m.operations_per_cycle) / m.clock_hz;
    }
    const double held = as_double(m.tiles) * m.tile_bytes;
    const double activations = m.bytes_per_element * as_double(layer.a_elements + layer.b_elements +
                                                               layer.other_elements + layer.output_elements);
    const double weights = m.bytes_per_element * as_double(layer.weight_elements);
    const double spilled = fused ? 0 : std::max(0.0, activations + weights - held);
    time.dram_bytes = weights + std::min(spilled, activations);
    time.memory_s = m.dram_bytes_per_s > 0 ? time.dram_bytes / m.dram_bytes_per_s : 0;
    time.overhead_s = fused ? 0 : m.step_s;
    time.seconds = time.compute_s + time.vector_s + time.on_chip_s + time.memory_s + time.overhead_s;
    times.push_back(time);
  }
  return times;
}

}  // namespace sdip
