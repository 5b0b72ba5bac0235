// Cycles of products in the registers of a processor, and the blocks that its caches hold.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/baseline/archetypes/cpu.h"

namespace sdip {
namespace {

/// The share of a cache that its blocks may fill: one way of eight is left to what passes through.
constexpr double cpu_held_share = 7.0 / 8;

/// The largest whole number of `bytes_each` in a cache's share, at least one.
std::int64_t held_in(double cache_bytes, double bytes_each) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(cpu_held_share * cache_bytes / bytes_each));
}

/// So many wholes of one size, and perhaps a rest that is smaller.
struct CpuPieces {
  std::int64_t whole = 0, rest = 0;
};
CpuPieces pieces_of(std::int64_t size, std::int64_t each) { return {size / each, size % each}; }

/// Cycles of a tile over all terms: a micro-kernel for each block of them, and sums that leave after each and come
/// back before the next.
double cycles_of_tile(const CpuTile& tile, std::int64_t terms, std::int64_t block, const CpuMultiplier& m) {
  const CpuPieces blocks = pieces_of(terms, block);
  const double sums = static_cast<double>(tile.rows * tile.columns * m.load_cycles);
  const double loads = static_cast<double>(m.loads_per_cycle);
  double cycles = 0;
  if (blocks.whole > 0)
    cycles += static_cast<double>(blocks.whole * kernel_cycles(tile, ceil_div(block, m.terms), m));
  if (blocks.rest > 0) cycles += static_cast<double>(kernel_cycles(tile, ceil_div(blocks.rest, m.terms), m));
  const double kernels = static_cast<double>(blocks.whole + (blocks.rest > 0 ? 1 : 0));
  return cycles + kernels * sums + (kernels - 1) * sums / loads;
}

}  // namespace

double macs_per_cycle(const CpuMultiplier& m) {
  return static_cast<double>(m.rows * m.columns * m.terms * m.per_cycle) / static_cast<double>(m.start_cycles);
}

std::vector<CpuTile> cpu_tiles(const CpuMultiplier& m) {
  std::vector<CpuTile> tiles;
  for (std::int64_t columns = 1; (m.registers - 1 - columns) / columns >= 1; ++columns)
    tiles.push_back({(m.registers - 1 - columns) / columns, columns});
  return tiles;
}

std::int64_t kernel_cycles(const CpuTile& tile, std::int64_t steps, const CpuMultiplier& m) {
  check(steps >= 1, "kernel_cycles: a step at least");
  const std::int64_t sums = tile.rows * tile.columns, loaded = tile.rows + tile.columns;
  // When the operands of step s are loaded, and the start of the last multiply of n steps after that of the first.
  const auto ready = [&](std::int64_t s) {
    return (((s + 1) * loaded - 1) / m.loads_per_cycle + 1) * m.load_cycles;
  };
  const bool units_bound = sums * m.start_cycles >= m.latency_cycles * m.per_cycle;
  const auto last = [&](std::int64_t n) {
    if (units_bound) return (n * sums - 1) / m.per_cycle * m.start_cycles;
    return (n - 1) * m.latency_cycles + (sums - 1) / m.per_cycle * m.start_cycles;
  };
  // Multiplies wait for loads of one step for the last time; which one repeats with the units' alignment, so that
  // it is among the first or the last so many.
  const std::int64_t period = m.loads_per_cycle * m.per_cycle;
  std::int64_t start = 0;
  for (std::int64_t s = 0; s < steps; ++s) {
    if (s == period) s = std::max(s, steps - period);
    start = std::max(start, ready(s) + last(steps - s));
  }
  return start + m.latency_cycles;
}

CpuBlocks cpu_blocks(const MatrixProduct& p, const CpuTile& tile, const CpuMachine& machine) {
  const CpuMultiplier& m = machine.multiplier;
  const std::int64_t rows = tile.rows * m.rows, columns = tile.columns * m.columns;
  CpuBlocks blocks;
  const std::int64_t most =
      std::max(m.terms, held_in(machine.l1_bytes, static_cast<double>(rows + columns) * machine.bytes_per_element) /
                            m.terms * m.terms);
  const std::int64_t parts = ceil_div(p.terms, most);
  blocks.terms = ceil_div(ceil_div(p.terms, parts), m.terms) * m.terms;
  const double line = static_cast<double>(blocks.terms) * machine.bytes_per_element;
  blocks.rows = std::max(rows, (held_in(machine.l2_bytes, line) - columns) / rows * rows);
  blocks.columns = std::max(columns, held_in(machine.l3_bytes, line) / columns * columns);
  return blocks;
}

double cpu_product_cycles(const MatrixProduct& p, const CpuTile& tile, const CpuSplit& split,
                          const CpuMachine& machine) {
  const CpuMultiplier& m = machine.multiplier;
  const std::int64_t block = cpu_blocks(p, tile, machine).terms;
  /// Tiles of the part that has most: all of one size where there are several parts, else a smaller last one.
  struct Side {
    std::int64_t whole, rest;
  };
  const auto side = [](std::int64_t size, std::int64_t registers, std::int64_t each, std::int64_t parts) {
    const std::int64_t tiles = ceil_div(size, registers * each);
    if (parts > 1) return Side{ceil_div(tiles, parts), 0};
    return Side{size / (registers * each), ceil_div(size % (registers * each), each)};
  };
  const Side down = side(p.rows, tile.rows, m.rows, split.rows);
  const Side across = side(p.columns, tile.columns, m.columns, split.columns);
  double cycles = 0;
  const auto add = [&](std::int64_t times, const CpuTile& each) {
    if (times > 0 && each.rows > 0 && each.columns > 0)
      cycles += static_cast<double>(times) * cycles_of_tile(each, p.terms, block, m);
  };
  add(down.whole * across.whole, tile);
  add(down.whole, {tile.rows, across.rest});
  add(across.whole, {down.rest, tile.columns});
  add(1, {down.rest, across.rest});
  return cycles * static_cast<double>(ceil_div(p.count, split.count));
}

}  // namespace sdip
