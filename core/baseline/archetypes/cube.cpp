// Queues of a DaVinci core, and products cut into tiles for them.
#include "core/baseline/archetypes/cube.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip {
namespace {

/// The cube adds in fp32, or in int32 for int8.
constexpr double cube_sum_bytes = 4;
/// Two of each piece: one is filled while the other is read.
constexpr double cube_buffers = 2;
/// Innermost channels of a tensor in memory, C0 of NC1HWC0: 32 bytes.
constexpr double cube_channel_bytes = 32;
/// Cubes of a tile that the search goes up to: more than L0C of any DaVinci core holds.
constexpr double cube_most_tile = 4096;

double cube_real(std::int64_t count) { return static_cast<double>(count); }
std::int64_t cube_whole(std::int64_t size, std::int64_t unit) { return ceil_div(size, unit) * unit; }

std::int64_t cube_channels(std::int64_t channels, const CubeMachine& m) {
  return cube_whole(channels, std::max<std::int64_t>(1, std::llround(cube_channel_bytes / m.bytes_per_element)));
}

bool cube_is_convolution(const Layer& layer) { return layer.work.family == Family::conv2d; }

/// Groups that share a cube's columns.
std::int64_t cube_gathered(const LoopNest& nest, const CubeMachine& m) {
  const std::int64_t widest = std::max({nest.in_channels, nest.out_channels, std::int64_t{1}});
  return std::clamp<std::int64_t>(m.cube_columns / widest, 1, std::max<std::int64_t>(1, nest.groups));
}

/// Input pixels of one image that so many outputs in a row need along an axis.
std::int64_t cube_window(std::int64_t outputs, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
                         std::int64_t size) {
  return std::min(size, (outputs - 1) * stride + (kernel - 1) * dilation + 1);
}

/// The tiles that the busiest core makes.
struct CubeShare {
  MatrixProduct product;
  std::int64_t products = 1, row_tiles = 1, column_tiles = 1, steps = 1;
};

CubeShare cube_share(const Layer& layer, const CubeTiling& t, const CubeMachine& m) {
  CubeShare share{.product = cube_product_of(layer, m)};
  share.products = ceil_div(share.product.count, t.count_parts);
  share.row_tiles = ceil_div(ceil_div(share.product.rows, t.row_parts), t.rows);
  share.column_tiles = ceil_div(ceil_div(share.product.columns, t.column_parts), t.columns);
  share.steps = ceil_div(share.product.terms, t.terms);
  return share;
}

/// Bytes of all terms of a tile's rows and columns, and how many tiles' in turn are held.
struct CubePanels {
  double rows = 0, columns = 0, held = 0;
  std::int64_t held_in_turn = 1, tiles_beside = 1;
};

CubePanels cube_panels(const Layer& layer, const CubeTiling& t, const CubeShare& share, const CubeMachine& m) {
  CubePanels panels;
  panels.rows = m.bytes_per_element * cube_row_elements(layer, t.rows, m);
  panels.columns = m.bytes_per_element * cube_real(t.columns) * cube_real(share.product.terms);
  const bool rows = t.held == CubeHeld::rows;
  if (t.held != CubeHeld::nothing) {
    panels.held = rows ? panels.rows : panels.columns;
    panels.held_in_turn = share.products * (rows ? share.row_tiles : share.column_tiles);
    panels.tiles_beside = rows ? share.column_tiles : share.row_tiles;
  }
  return panels;
}

/// Bytes that pass through L1 in a step; panels that are held do not.
double cube_slice(const CubePanels& panels, const CubeTiling& t, const CubeShare& share) {
  double bytes = 0;
  if (t.held != CubeHeld::rows) bytes += panels.rows;
  if (t.held != CubeHeld::columns) bytes += panels.columns;
  return bytes / cube_real(share.steps);
}

double cube_panel_buffers(const CubePanels& panels) {
  return std::min(cube_buffers, cube_real(panels.held_in_turn));
}

/// Bytes from DRAM and to it. An operand of a product that all cores make at once is read by all together, again
/// for each tile of the other operand unless half of L2 holds it; rows are held outermost, or columns.
double cube_product_dram(const Layer& layer, const CubeTiling& t, const CubeJoined& joined, const CubeMachine& m) {
  const CubeShare share = cube_share(layer, t, m);
  const double size = m.bytes_per_element;
  const double activations =
      size * (cube_real(layer.a_elements + layer.b_elements + layer.other_elements + layer.output_elements) +
              joined.elements);
  const bool stays = activations <= m.l2_bytes;
  const double rows = size * cube_real(layer.a_elements),
               columns = size * cube_real(layer.weighted ? layer.weight_elements : layer.b_elements);
  const double at_once = cube_real(std::min(t.count_parts, share.product.count)) / cube_real(share.product.count);
  const auto reads = [&](double operand, std::int64_t sweeps) {
    return operand * (operand * at_once <= m.l2_bytes / 2 ? 1 : cube_real(sweeps));
  };
  const auto with = [&](std::int64_t row_reads, std::int64_t column_reads) {
    const double from_rows = stays ? 0 : reads(rows, row_reads);
    return from_rows + (stays && !layer.weighted ? 0 : reads(columns, column_reads));
  };
  double least = std::numeric_limits<double>::max();
  if (t.held != CubeHeld::columns) least = std::min(least, with(1, share.row_tiles));
  if (t.held != CubeHeld::rows) least = std::min(least, with(share.column_tiles, 1));
  const double beside = layer.weighted ? 0 : size * cube_real(layer.weight_elements);
  const double others = size * (cube_real(layer.other_elements + layer.output_elements) + joined.elements);
  return least + beside + (stays ? 0 : others);
}

/// 1, 2, 3, 4, 6, 8, 12, ... up to `most`, as sizes of a part or numbers of parts: each made the least that leaves
/// as many parts, or parts of that size; the largest first. A search over all of them finds hardly less (the test
/// tries).
std::vector<std::int64_t> cube_sizes(std::int64_t total, std::int64_t most) {
  std::vector<std::int64_t> sizes;
  const std::int64_t last = std::min(total, most);
  for (std::int64_t power = 1; power <= last; power *= 2)
    for (const std::int64_t size : {power, power + power / 2}) {
      if (size > last) break;
      const std::int64_t even = ceil_div(total, ceil_div(total, size));
      if (sizes.empty() || sizes.back() < even) sizes.push_back(even);
    }
  if (last > 0) sizes.push_back(ceil_div(total, ceil_div(total, last)));
  std::ranges::reverse(sizes);
  return sizes;
}

/// Terms of a step: as many as half of L0A and L0B hold of such rows and columns, evened.
std::int64_t cube_terms(const MatrixProduct& p, const CubeTiling& t, const CubeMachine& m) {
  const double held = std::min(m.l0a_bytes / cube_real(t.rows), m.l0b_bytes / cube_real(t.columns)) /
                      (cube_buffers * m.bytes_per_element);
  const auto whole = static_cast<std::int64_t>(std::min(held, cube_real(p.terms + m.cube_depth))) / m.cube_depth;
  const std::int64_t depths = ceil_div(p.terms, m.cube_depth);
  return m.cube_depth * ceil_div(depths, ceil_div(depths, std::clamp<std::int64_t>(whole, 1, depths)));
}

/// The least of any tiling: each operand once.
double cube_least_dram(const Layer& layer, const CubeJoined& joined, const CubeMachine& m) {
  CubeTiling whole;
  const MatrixProduct p = cube_product_of(layer, m);
  whole.rows = std::max<std::int64_t>(1, p.rows), whole.columns = std::max<std::int64_t>(1, p.columns);
  return cube_product_dram(layer, whole, joined, m);
}

struct CubeSearch {
  const Layer& layer;
  const CubeJoined& joined;
  const CubeMachine& machine;
  const double least_dram = cube_least_dram(layer, joined, machine);
  std::vector<CubeKernel> kept = {};
  double most_cycles = std::numeric_limits<double>::max();  // kept of least_dram: who takes as many is never best

  void consider(const CubeTiling& tiling) {
    if (!cube_tile_fits(layer, tiling, joined, machine)) return;
    CubeKernel kernel{.tiling = tiling, .pipeline = product_pipeline(layer, tiling, joined, machine)};
    kernel.cycles = pipeline_cycles(kernel.pipeline);
    if (kernel.cycles >= most_cycles) return;
    kernel.dram_bytes = cube_product_dram(layer, tiling, joined, machine);
    const auto no_worse = [&](const CubeKernel& one) {
      return one.cycles <= kernel.cycles && one.dram_bytes <= kernel.dram_bytes;
    };
    if (std::ranges::any_of(kept, no_worse)) return;
    if (kernel.dram_bytes <= least_dram) most_cycles = kernel.cycles;
    kept.push_back(kernel);
  }

  void consider_tiles(CubeTiling tiling, const MatrixProduct& p) {
    const std::int64_t row_cubes = ceil_div(ceil_div(p.rows, tiling.row_parts), machine.cube_rows),
                       column_cubes = ceil_div(ceil_div(p.columns, tiling.column_parts), machine.cube_columns);
    const std::int64_t products = ceil_div(p.count, tiling.count_parts);
    const double cubes = cube_real(products) * cube_real(row_cubes) * cube_real(column_cubes) *
                         cube_real(ceil_div(p.terms, machine.cube_depth));
    if (cubes >= most_cycles) return;  // no tile is faster than the cube
    const double sums = machine.l0c_bytes / (cube_buffers * cube_sum_bytes) /
                        (cube_real(machine.cube_rows) * cube_real(machine.cube_columns));
    const auto most = static_cast<std::int64_t>(std::min(sums, cube_most_tile));
    for (const std::int64_t rows : cube_sizes(row_cubes, most))
      for (const std::int64_t columns : cube_sizes(column_cubes, most / rows)) {
        tiling.rows = rows * machine.cube_rows;
        tiling.columns = columns * machine.cube_columns;
        tiling.terms = cube_terms(p, tiling, machine);
        for (const CubeHeld held : {CubeHeld::nothing, CubeHeld::rows, CubeHeld::columns}) {
          tiling.held = held;
          consider(tiling);
        }
        tiling.held = CubeHeld::nothing;
        for (std::int64_t depths = tiling.terms / machine.cube_depth; depths > 1;) {  // a shorter first step
          depths = ceil_div(depths, 2);
          tiling.terms = machine.cube_depth * depths;
          consider(tiling);
        }
      }
  }
};

}  // namespace

double pipeline_cycles(const CubePipeline& p) {
  const double step = std::max({p.mte2, p.mte1, p.cube}), tile = std::max({p.steps * step, p.vector, p.mte3});
  return p.preload + p.mte2 + p.mte1 + p.cube + (p.steps - 1) * step + (p.tiles - 1) * tile + p.vector + p.mte3;
}

std::string_view cube_bound_text(CubeBound bound) {
  constexpr std::string_view texts[] = {"MTE2", "MTE1", "cube", "vector", "MTE3", "DRAM"};
  return texts[at(bound)];
}

CubeBound busiest_queue(const CubePipeline& p) {
  const double steps = p.tiles * p.steps;
  const std::array busy = {p.preload + steps * p.mte2, steps * p.mte1, steps * p.cube, p.tiles * p.vector,
                           p.tiles * p.mte3};
  return static_cast<CubeBound>(std::ranges::max_element(busy) - busy.begin());
}

MatrixProduct cube_product_of(const Layer& layer, const CubeMachine& machine) {
  MatrixProduct product = product_of(layer);
  if (!cube_is_convolution(layer)) return product;
  const LoopNest& nest = layer.work.nest;
  const std::int64_t gathered = cube_gathered(nest, machine);
  product.count = ceil_div(nest.groups, gathered);
  product.columns = gathered * nest.out_channels;
  product.terms = cube_channels(gathered * nest.in_channels, machine) * nest.kernel_h * nest.kernel_w;
  return product;
}

double cube_row_elements(const Layer& layer, std::int64_t rows, const CubeMachine& machine) {
  const MatrixProduct product = cube_product_of(layer, machine);
  const double expanded = cube_real(rows) * cube_real(product.terms);
  const LoopNest& n = layer.work.nest;
  if (!cube_is_convolution(layer) || !machine.im2col_by_engine) return expanded;
  const std::int64_t lines = ceil_div(rows, n.out_w), images = ceil_div(lines, n.out_h);
  const std::int64_t high = cube_window(std::min(lines, n.out_h), n.kernel_h, n.stride_h, n.dilation_h, n.in_h);
  const std::int64_t wide =
      rows >= n.out_w ? n.in_w : cube_window(rows, n.kernel_w, n.stride_w, n.dilation_w, n.in_w);
  const std::int64_t channels = product.terms / (n.kernel_h * n.kernel_w);
  return std::min(expanded, cube_real(images) * cube_real(high) * cube_real(wide) * cube_real(channels));
}

bool cube_tile_fits(const Layer& layer, const CubeTiling& tiling, const CubeJoined& joined, const CubeMachine& m) {
  const CubeShare share = cube_share(layer, tiling, m);
  const double size = cube_buffers * m.bytes_per_element, terms = cube_real(tiling.terms);
  const double results = cube_real(tiling.rows) * cube_real(tiling.columns);
  if (size * cube_real(tiling.rows) * terms > m.l0a_bytes) return false;
  if (size * cube_real(tiling.columns) * terms > m.l0b_bytes) return false;
  if (cube_buffers * cube_sum_bytes * results > m.l0c_bytes) return false;
  if (size * results * (joined.elements > 0 ? 2 : 1) > m.ub_bytes) return false;
  const CubePanels panels = cube_panels(layer, tiling, share, m);
  return cube_panel_buffers(panels) * panels.held + cube_buffers * cube_slice(panels, tiling, share) <= m.l1_bytes;
}

CubePipeline product_pipeline(const Layer& layer, const CubeTiling& t, const CubeJoined& joined,
                              const CubeMachine& m) {
  const CubeShare share = cube_share(layer, t, m);
  const CubePanels panels = cube_panels(layer, t, share, m);
  const double steps = cube_real(share.steps), terms = cube_real(t.terms), sync = cube_real(m.sync_cycles);
  const double results = cube_real(t.rows) * cube_real(t.columns);
  const double of_all =
      results / (cube_real(share.product.count) * cube_real(share.product.rows) * cube_real(share.product.columns));
  double brought = cube_slice(panels, t, share) + m.bytes_per_element * joined.elements * of_all / steps;
  CubePipeline p;
  if (panels.held > 0) p.preload = std::ceil(panels.held / m.gm_to_core_bytes_per_cycle) + sync;
  if (panels.held_in_turn > 1) brought += panels.held / (cube_real(panels.tiles_beside) * steps);
  p.tiles = cube_real(share.products) * cube_real(share.row_tiles) * cube_real(share.column_tiles);
  p.steps = steps;
  p.mte2 = std::ceil(brought / m.gm_to_core_bytes_per_cycle) + sync;
  const double size = m.bytes_per_element * terms;
  p.mte1 = std::ceil(size * cube_real(t.rows) / m.l1_to_l0a_bytes_per_cycle) +
           std::ceil(size * cube_real(t.columns) / m.l1_to_l0b_bytes_per_cycle) + sync;
  p.cube = cube_real(ceil_div(t.rows, m.cube_rows)) * cube_real(ceil_div(t.columns, m.cube_columns)) *
               cube_real(ceil_div(t.terms, m.cube_depth)) +
           sync;
  p.vector = std::ceil(cube_sum_bytes * results / m.l0c_to_ub_bytes_per_cycle) +
             std::ceil(joined.operations * of_all / cube_real(m.vector_lanes)) + sync;
  p.mte3 = std::ceil(m.bytes_per_element * results / m.core_to_gm_bytes_per_cycle) + sync;
  return p;
}

bool holds_a_cube(const CubeMachine& m) {
  const double size = cube_buffers * m.bytes_per_element, rows = cube_real(m.cube_rows),
               columns = cube_real(m.cube_columns), depth = cube_real(m.cube_depth);
  return size * rows * depth <= m.l0a_bytes && size * columns * depth <= m.l0b_bytes &&
         size * (rows + columns) * depth <= m.l1_bytes && 2 * size * rows * columns <= m.ub_bytes &&
         cube_buffers * cube_sum_bytes * rows * columns <= m.l0c_bytes;
}

std::vector<CubeKernel> product_kernels(const Layer& layer, const CubeJoined& joined, const CubeMachine& machine) {
  check(is_product(layer) && holds_a_cube(machine), "product_kernels: a product, and buffers for a cube");
  if (macs_of(layer) == 0) return {CubeKernel{}};  // nothing to multiply
  const MatrixProduct p = cube_product_of(layer, machine);
  CubeSearch search{.layer = layer, .joined = joined, .machine = machine};
  CubeTiling tiling;
  for (const std::int64_t count : cube_sizes(p.count, machine.cores)) {
    tiling.count_parts = count;
    const std::int64_t cores = machine.cores / count;
    for (const std::int64_t rows : cube_sizes(ceil_div(p.rows, machine.cube_rows), cores)) {
      tiling.row_parts = rows;
      for (const std::int64_t columns : cube_sizes(ceil_div(p.columns, machine.cube_columns), cores / rows)) {
        tiling.column_parts = columns;
        search.consider_tiles(tiling, p);
      }
    }
  }
  check(!search.kept.empty(), "product_kernels: a tile that fits");
  return std::move(search.kept);
}

const CubeKernel& best_kernel(std::span<const CubeKernel> kernels, const MachineRates& rates) {
  return *std::ranges::min_element(kernels, {}, [&](const CubeKernel& one) {
    return std::max(one.cycles / rates.clock_hz, one.dram_bytes / rates.dram_bytes_per_s);
  });
}

CubeKernel product_kernel(const Layer& layer, const CubeJoined& joined, const CubeMachine& machine) {
  return best_kernel(product_kernels(layer, joined, machine), {machine.clock_hz, machine.dram_bytes_per_s});
}

}  // namespace sdip
