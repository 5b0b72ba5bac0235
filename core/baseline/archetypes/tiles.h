// Machines of many tiles, each with arithmetic and a memory of its own, that exchange data over a network:
// Graphcore, Dojo, Tenstorrent, PEZY, Sunway, XDNA. docs/model/devices.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"

namespace sdip {

struct TiledMachine {
  std::int64_t tiles = 1;
  double macs_per_cycle = 1;        // of a tile
  double operations_per_cycle = 1;  // elementwise, of a tile
  double clock_hz = 1e9;
  double tile_bytes = 0;            // memory of a tile
  double exchange_bytes_per_s = 0;  // that all tiles together take in from each other
  double dram_bytes_per_s = 0;
  double bytes_per_element = 2;
  double step_s = 0;  // for all tiles to meet before and after a layer
};

/// How a product is cut over the tiles: so many parts of its independent products, rows and columns.
struct TileCut {
  std::int64_t count = 1, rows = 1, columns = 1;
  std::int64_t tiles() const { return count * rows * columns; }
};
/// The cut on which the slowest tile's arithmetic and all that is exchanged take the least time together, columns
/// in as many parts as tiles are left, or in halves of that; sums stay on one tile. Parts are divisors' neighbours:
/// ceil(size / k) for each k.
///
/// Worked example. 4 tiles of 1 MAC a cycle, 8 x 8 results of 8 terms, exchange for nothing: 2 x 2 or 4 x 1 tiles
/// of 16 results, 128 cycles. Where exchange costs, 2 x 2: each tile takes in 4 rows and 4 columns, 64 elements,
/// where 4 x 1 takes in 2 rows and 8 columns, 80.
TileCut tile_cut(const MatrixProduct& product, const TiledMachine& machine);

/// Times of the layers in their order. Operands and results that a tile cannot hold lie in DRAM: each such byte
/// goes there once. Weights come from DRAM once a pass. Compute, exchange and DRAM go one after the other, as in
/// bulk-synchronous steps.
std::vector<LayerTime> times_of(std::span<const Layer> layers, const TiledMachine& machine);
MappedLayers mapped_layers(std::span<const Layer> layers, const TiledMachine& machine);

}  // namespace sdip
