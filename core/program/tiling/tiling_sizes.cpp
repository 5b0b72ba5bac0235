// The sizes that a tiling search tries, and what it compares mappings by.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/program/tiling/tiling.h"

namespace sdip {
namespace {

constexpr std::int64_t most_edge_scan = 1 << 12;  // longer axes: boundaries near the edge are few among many

/// Results p at which the positions shared by the windows before p and from p on are clipped: below `low`, above
/// `high`. Elsewhere every boundary between tiles costs the same.
struct Clipped {
  std::int64_t low = 0, high = 0;
};
Clipped clipped_boundaries(const NestAxis& axis) {
  const auto down = [](std::int64_t a, std::int64_t b) { return a >= 0 ? a / b : -ceil_div(-a, b); };
  return {axis.pad <= 0 ? 0 : ceil_div(axis.pad, axis.stride),
          down(axis.in + axis.pad - axis.reach(), axis.stride) + 1};
}

/// Pairs of a result and a kernel position that meet an input. Longer kernels: of their first positions.
std::int64_t useful_positions(const NestAxis& axis) {
  Int128 pairs = 0;
  for (std::int64_t k = 0; k < std::min(axis.kernel, most_edge_scan); ++k) {
    const std::int64_t start = axis.pad - k * axis.dilation;  // results p meet p stride - start in the input
    const std::int64_t first = start > 0 ? ceil_div(start, axis.stride) : 0;
    const std::int64_t last = start + axis.in - 1 < 0 ? -1 : (start + axis.in - 1) / axis.stride;
    pairs += std::max<std::int64_t>(0, std::min(last, axis.out - 1) - first + 1);
  }
  return static_cast<std::int64_t>(std::min<Int128>(pairs, most_words));
}

/// ceil_div, in half as many bits where that is enough: it takes most of the time that sizes take.
std::int64_t parts(std::int64_t size, std::int64_t tile) {
  if (size > std::numeric_limits<std::int32_t>::max()) return ceil_div(size, tile);
  return std::int64_t{(static_cast<std::uint32_t>(size) - 1) / static_cast<std::uint32_t>(tile)} + 1;
}

std::int64_t up(std::int64_t value, std::int64_t granule) { return ceil_div(value, granule) * granule; }

}  // namespace

/// Worked example: 10 by any size: 1, 2, 3, 4, 5, 10 (10, 5, 4, 3, 2, 1 tiles); in multiples of 4: 4, 8, 10.
std::vector<TileSize> sizes_of_loop(std::int64_t size, std::int64_t granule, bool split) {
  std::vector<TileSize> sizes{{size, 1, size, size}};
  if (split) sizes.reserve(static_cast<std::size_t>(2 * std::sqrt(static_cast<double>(size))) + 2);
  while (split) {
    const std::int64_t below = granule == 1 ? sizes.back().tile - 1 : (sizes.back().tile - 1) / granule * granule;
    if (below < 1) break;
    std::int64_t count = parts(size, below), tile = parts(size, count);
    if (granule > 1) tile = up(tile, granule), count = parts(size, tile);
    sizes.push_back({tile, count, size, tile});
  }
  std::ranges::reverse(sizes);
  return sizes;
}

std::vector<TileSize> sizes_of_axis(const NestAxis& axis, bool split) {
  std::vector<TileSize> sizes = sizes_of_loop(axis.out, 1, split);
  const Clipped clipped = clipped_boundaries(axis);
  const bool even = axis.stride >= axis.reach() || (clipped.low <= 1 && clipped.high >= axis.out - 1);
  if (split && !even && axis.out <= most_edge_scan) {
    for (std::int64_t tile = 1; tile < axis.out; ++tile) {
      const std::int64_t count = ceil_div(axis.out, tile);
      if (tile < clipped.low || (count - 1) * tile > clipped.high) sizes.push_back({tile, count, 0, 0});
    }
    std::ranges::sort(sizes, {}, &TileSize::tile);
    const auto same = [](const TileSize& a, const TileSize& b) { return a.tile == b.tile; };
    sizes.erase(std::unique(sizes.begin(), sizes.end(), same), sizes.end());
  }
  const bool apart = axis.stride >= axis.reach();  // windows share nothing: however cut, all is read once
  const std::int64_t all = window(axis, 0, axis.out);
  for (TileSize& size : sizes) {
    size.read = apart ? all : window_sum(axis, size.tile);
    size.held = held_window(axis, size.tile);
  }
  return sizes;
}

std::int64_t reference_folds(const Nest& nest, const Mapping& m, ReferenceLanes lanes) {
  const LoopNest& n = nest.loops;
  const TileCounts counts = tile_counts(nest, m);
  const std::int64_t joined =
      nest.weighted ? counts.multiplicity : 1;  // a batch lengthens the rows; heads fold apart
  const std::int64_t apart = counts.repeats * (nest.weighted ? 1 : counts.multiplicity);
  const std::int64_t rows = n.out_h % m.tile_rows, columns = n.out_w % m.tile_columns;
  const std::int64_t full_rows = n.out_h / m.tile_rows, full_columns = n.out_w / m.tile_columns;
  const auto folds = [&](std::int64_t r, std::int64_t c) { return ceil_div(r * c * joined, lanes.rows); };
  const std::int64_t places = full_rows * full_columns * folds(m.tile_rows, m.tile_columns) +
                              full_columns * folds(rows, m.tile_columns) + full_rows * folds(m.tile_rows, columns) +
                              folds(rows, columns);
  const std::int64_t tile = std::min(m.tile_channels, n.out_channels);
  const std::int64_t channels =
      n.out_channels / tile * ceil_div(tile, lanes.channels) + ceil_div(n.out_channels % tile, lanes.channels);
  return apart * places * channels * (nest.weighted ? n.groups : 1);
}

std::int64_t useful_macs(const Nest& nest) {
  const LoopNest& n = nest.loops;
  Int128 macs = 1;
  for (const std::int64_t factor : {n.groups, n.batch, n.out_channels, n.in_channels, useful_positions(row_axis(n)),
                                    useful_positions(column_axis(n))})
    macs = std::min<Int128>(macs * factor, most_words);
  return static_cast<std::int64_t>(macs);
}

double products_over_root(const Nest& nest, double room) {
  const LoopNest& n = nest.loops;
  const auto uses = [](std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
    return static_cast<double>(ceil_div(kernel, stride / std::gcd(stride, dilation)));
  };
  const double most_uses = uses(n.kernel_h, n.stride_h, n.dilation_h) * uses(n.kernel_w, n.stride_w, n.dilation_w);
  return static_cast<double>(useful_macs(nest)) / std::sqrt(most_uses * room);
}

std::int64_t least_words(const Nest& nest, std::int64_t words) {
  const double size = static_cast<double>(words);
  const double moved = 2 * products_over_root(nest, size) - 2 * size;
  return std::max(compulsory(nest).words(),
                  static_cast<std::int64_t>(std::ceil(std::max(moved, 0.0) * (1 - 1e-12))));
}

}  // namespace sdip
