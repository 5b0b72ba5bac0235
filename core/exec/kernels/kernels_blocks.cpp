// Products block by block.
#include "core/exec/kernels/kernels_blocks.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <type_traits>

#include "core/base/units.h"
#include "core/exec/kernels/kernels_panels.h"

namespace sdip::exec {
namespace {

// The largest blocks of rows, columns and depth: at most 4 MiB of the left operand and 8 MiB of the right one.
constexpr std::int64_t most_rows = 4096, most_columns = 8192;
// Packed rows are not a multiple of 4 KiB apart, or few would fit into a level-1 cache at once.
constexpr std::int64_t beside_rows = 16;
constexpr std::int64_t rows_together = 96;      // packed, they fit into half of a level-2 cache
constexpr std::int64_t columns_together = 256;  // packed at once: of each row a long piece is read
constexpr double worth_sharing = 1024 * 1024;   // products; handing over takes as long as a few 10,000

template <class Packed>
Packed* room(std::vector<std::byte>& bytes, std::int64_t elements) {
  const std::size_t needed = as_size(elements) * sizeof(Packed) + 64;
  if (bytes.size() < needed) bytes.resize(needed);
  void* at = bytes.data();
  std::size_t space = bytes.size();
  return static_cast<Packed*>(std::align(64, needed - 64, at, space));
}

/// One product on its way.
template <class Packed, class T, class S>
struct ByTiles {
  const ProductShape& shape;
  const TileKernel& kernel;
  const Rounding* rounding;
  const Matrix<T>&left, &right;
  const Sums<S>& sums;
  const KernelOptions& options;
  Workspace& workspace;
  Block now{};  // of the sums
  DepthBlock depth{};
  Packed *rows = nullptr, *panels = nullptr;
  std::int64_t row_stride = 0, panel_elements = 0, padded_depth = 0;

  void share(std::int64_t count, const std::function<void(std::int64_t)>& task) const {
    const double products = static_cast<double>(now.rows) * static_cast<double>(now.columns * depth.depth);
    if (options.share && options.threads > 1 && count > 1 && products >= worth_sharing) {
      options.share(count, task);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      end_if(options.stop, "");
      task(i);
    }
  }

  /// Whether the left operand's own rows serve as they lie.
  bool in_place() const {
    return std::is_same_v<Packed, T> && kernel.group == 1 && left.data != nullptr && left.column_stride == 1 &&
           left.row_stride % 1024 != 0;
  }

  void make_room() {
    padded_depth = ceil_div(depth.depth, kernel.group) * kernel.group;
    row_stride = padded_depth + beside_rows;
    panel_elements = padded_depth * kernel.columns;
    panels = room<Packed>(workspace.right, ceil_div(now.columns, kernel.columns) * panel_elements);
    if (in_place()) return;
    rows = room<Packed>(workspace.left, std::min(shape.rows, most_rows) * row_stride);
    if (kernel.biased) workspace.left_sums.resize(as_size(std::min(shape.rows, most_rows)));
  }

  void pack_panels(std::int64_t group) const {
    const std::int64_t column = group * columns_together;
    fill_panels(right,
                {depth.begin, depth.depth, now.column + column, std::min(columns_together, now.columns - column)},
                {kernel.columns, panel_elements}, panels + column / kernel.columns * panel_elements);
  }

  void pack_rows(std::int64_t block) const {
    const std::int64_t row = block * rows_together, count = std::min(rows_together, now.rows - row);
    Packed* to = rows + row * row_stride;
    fill_rows(left, {now.row + row, count, depth.begin, depth.depth}, to, row_stride);
    if (!kernel.biased) return;
    for (std::int64_t r = 0; r < count; ++r)
      workspace.left_sums[row + r] =
          std::accumulate(to + r * row_stride, to + r * row_stride + depth.depth, std::int32_t{0},
                          [](std::int32_t sum, Packed x) { return sum + static_cast<std::int32_t>(x); });
  }

  void add_tile(std::int64_t row, std::int64_t column) const {
    TileTask task;
    task.left_stride = in_place() ? left.row_stride : row_stride;
    if (in_place())
      task.left = left.data + (now.row + row) * left.row_stride + depth.begin;
    else
      task.left = rows + row * row_stride;
    task.right = panels + column / kernel.columns * panel_elements;
    task.depth = padded_depth;
    task.run = depth.run;
    task.lanes = shape.lanes;
    task.sums = sums.data + (now.row + row) * sums.stride + now.column + column;
    task.sums_stride = sums.stride;
    task.rows = std::min(kernel.rows, now.rows - row);
    task.columns = std::min(kernel.columns, now.columns - column);
    if (kernel.biased) task.left_sums = workspace.left_sums.data() + row;
    task.rounding = rounding;
    task.begins = options.begins && depth.begin == 0;
    kernel.add(task);
  }

  /// Rows and columns in parts, enough for all threads.
  void add_tiles() const {
    const std::int64_t tiles = ceil_div(now.columns, kernel.columns);
    const std::int64_t row_parts = ceil_div(now.rows, rows_together);
    const std::int64_t wanted = std::min(ceil_div(4 * options.threads, row_parts), tiles);
    const std::int64_t columns = ceil_div(tiles, wanted) * kernel.columns;
    const std::int64_t column_parts = ceil_div(now.columns, columns);
    share(row_parts * column_parts, [&](std::int64_t part) {
      const std::int64_t first_row = part / column_parts * rows_together, first = part % column_parts * columns;
      for (std::int64_t column = first; column < std::min(first + columns, now.columns); column += kernel.columns)
        for (std::int64_t row = first_row; row < std::min(first_row + rows_together, now.rows); row += kernel.rows)
          add_tile(row, column);
    });
  }

  /// The rows now.row, ... of one block of columns and depth; the first ones come with its panels.
  void add_rows() {
    const bool new_panels = now.row == 0 && !options.packed;
    const std::int64_t panel_groups = new_panels ? ceil_div(now.columns, columns_together) : 0;
    const std::int64_t row_blocks = in_place() ? 0 : ceil_div(now.rows, rows_together);
    share(row_blocks + panel_groups, [&](std::int64_t part) {
      if (part < row_blocks)
        pack_rows(part);
      else
        pack_panels(part - row_blocks);
    });
    add_tiles();
  }
};

}  // namespace

std::vector<DepthBlock> depth_blocks(const ProductShape& shape) {
  std::vector<DepthBlock> blocks;
  if (shape.lanes == 1) {
    for (std::int64_t k = 0; k < shape.depth; k += block_depth)
      blocks.push_back({k, std::min(block_depth, shape.depth - k), shape.depth});
    return blocks;
  }
  if (shape.run <= block_depth) {
    const std::int64_t together = block_depth / shape.run * shape.run;
    for (std::int64_t k = 0; k < shape.depth; k += together)
      blocks.push_back({k, std::min(together, shape.depth - k), shape.run});
    return blocks;
  }
  const std::int64_t folds = std::max<std::int64_t>(1, block_depth / shape.lanes) * shape.lanes;
  for (std::int64_t begin = 0; begin < shape.depth; begin += shape.run)
    for (std::int64_t k = 0; k < shape.run; k += folds) {
      const std::int64_t depth = std::min(folds, shape.run - k);
      blocks.push_back({begin + k, depth, depth});
    }
  return blocks;
}

template <class Packed, class T, class S>
void multiply_by_tiles(const ProductShape& shape, const TileKernel& kernel, const Rounding* rounding,
                       const Matrix<T>& left, const Matrix<T>& right, const Sums<S>& sums,
                       const KernelOptions& options) {
  Workspace own;
  ByTiles<Packed, T, S> product{shape, kernel, rounding, left,
                                right, sums,   options,  options.workspace == nullptr ? own : *options.workspace};
  const std::vector<DepthBlock> blocks = depth_blocks(shape);
  for (std::int64_t column = 0; column < shape.columns; column += most_columns)
    for (const DepthBlock& depth : blocks) {
      product.depth = depth;
      for (std::int64_t row = 0; row < shape.rows; row += most_rows) {
        product.now = {row, std::min(most_rows, shape.rows - row), column,
                       std::min(most_columns, shape.columns - column)};
        if (row == 0) product.make_room();
        product.add_rows();
      }
    }
}

template void multiply_by_tiles<float>(const ProductShape&, const TileKernel&, const Rounding*,
                                       const Matrix<float>&, const Matrix<float>&, const Sums<float>&,
                                       const KernelOptions&);
template void multiply_by_tiles<float>(const ProductShape&, const TileKernel&, const Rounding*,
                                       const Matrix<float>&, const Matrix<float>&, const Sums<std::int32_t>&,
                                       const KernelOptions&);
template void multiply_by_tiles<std::int8_t>(const ProductShape&, const TileKernel&, const Rounding*,
                                             const Matrix<std::int8_t>&, const Matrix<std::int8_t>&,
                                             const Sums<std::int32_t>&, const KernelOptions&);
template void multiply_by_tiles<std::int16_t>(const ProductShape&, const TileKernel&, const Rounding*,
                                              const Matrix<std::int8_t>&, const Matrix<std::int8_t>&,
                                              const Sums<std::int32_t>&, const KernelOptions&);
template void multiply_by_tiles<std::int16_t>(const ProductShape&, const TileKernel&, const Rounding*,
                                              const Matrix<std::int16_t>&, const Matrix<std::int16_t>&,
                                              const Sums<std::int32_t>&, const KernelOptions&);

}  // namespace sdip::exec
