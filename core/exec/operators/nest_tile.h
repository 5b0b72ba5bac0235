// One tile of a nest on chip: its operands as they were loaded, and the product of the two. Internal to its room.
//
// The sum of a result runs over the kernel positions of the tile, outermost, and over its input channels. Positions
// outside the input multiply by 0. Convolutions are a product of weights [channels, sum] by windows [sum, pixels],
// matrix products one of rows [rows, sum] by [sum, channels].
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/kernels/kernels.h"
#include "core/exec/walk/elements.h"
#include "core/exec/walk/nest_map.h"
#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// A copy: a frame of a group's part of a tile operation, one product at a time.
struct Copy {
  std::int64_t frame = 0, group = 0;
  Extent channels;  // within the group
};

/// The copies of a nest that a tile operation works on; of a weighted nest all groups that its channels are in,
/// frame by frame.
std::vector<Copy> copies_of(const LoopNest& nest, bool weighted, const TileOperation& tile);

/// Where the elements of a tile stand in what was loaded, the first of each copy at `first`. Either of a tile's
/// own, or of a whole weight.
struct TileStrides {
  std::int64_t k = 0, y = 0, x = 0;  // of A
  std::int64_t n = 0, h = 0, w = 0;  // of B, whose k is `k`
};

/// The sizes of a tile operation.
struct TileShape {
  const NestMap& map;
  bool weighted = false;
  TileOperation tile{};
  std::vector<Copy> copies{};
  Extent rows{}, columns{};  // of the input

  /// Whether results of a row of C are those of a pixel's channels, not of a channel's pixels.
  bool by_rows() const { return map.out_n == 1 && map.out_p != 1; }
  std::int64_t pixels() const { return tile.rows.size() * tile.columns.size(); }
  std::int64_t results(const Copy& copy) const { return copy.channels.size() * pixels(); }
};

/// Elements of A that a tile reads, copy by copy, and where they then stand.
Elements elements_of_a(const TileShape& shape);
TileStrides strides_of_a(const TileShape& shape);

/// Lines of A that lie in these rows and columns of the input, in order, and where each stands in what is loaded of
/// a window of `height` by `width` positions, copy behind copy.
struct WindowLine {
  Line from{};
  std::int64_t to = 0;
};
std::vector<WindowLine> lines_of_a(const TileShape& shape, std::span<const Extent> rows,
                                   std::span<const Extent> columns, const Extent& height, const Extent& width);

/// The same of B; of a weighted nest those of its first frame serve all.
Elements elements_of_b(const TileShape& shape);
TileStrides strides_of_b(const TileShape& shape);

/// Elements of the result that a tile makes, in the order of its sums: copy by copy, C row by row.
Elements results_of(const TileShape& shape);

/// The two operands of one copy's product, of which `a` and `b` are the first elements.
template <class T>
struct ProductOperands {
  ProductShape shape;
  Matrix<T> left, right;
};
template <class T>
ProductOperands<T> product_operands(const TileShape& shape, const Copy& copy, const T* a, const TileStrides& a_at,
                                    const T* b, const TileStrides& b_at, std::int64_t lanes);

/// Rows [row, row + rows) of a convolution's filters as its product has them on the left: kernel positions
/// outermost.
template <class T>
void lay_filters(const TileShape& shape, const T* b, const TileStrides& b_at, std::int64_t row, std::int64_t rows,
                 T* to, std::int64_t stride);

/// The product of one copy, added to `sums`; `a` and `b` are its first elements. S: the accumulators' type. `lanes`
/// multiply side by side along a sum; all_lanes: all of a tile's sums, kernel positions too.
inline constexpr std::int64_t all_lanes = 0;
struct Arithmetic {
  NumberFormat accumulator = NumberFormat::fp32;
  std::int64_t lanes = 1;
  KernelOptions kernel{};
};
template <class T, class S>
void add_products(const TileShape& shape, const Copy& copy, const T* a, const TileStrides& a_at, const T* b,
                  const TileStrides& b_at, S* sums, const Arithmetic& arithmetic);

}  // namespace sdip::exec
