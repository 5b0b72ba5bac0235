// Tiles in any processor's registers, for the sources that say what a vector is. Internal to its room.
//
// A source defines SDIP_TARGET, the attribute of functions for its instructions, and types of `Kind`: vectors of
// `width` sums, elements of the left operand for all of them and of the right one for each, and their arithmetic.
#pragma once

#include <cstddef>

#include "core/exec/kernels/kernels_tile.h"

#define SDIP_INLINE SDIP_TARGET __attribute__((always_inline)) inline

namespace sdip::exec {

/// Rows x Vectors sums stay in registers, so every loop over them is unrolled. Rows are found from one pointer in
/// three, which leaves registers for the pointers.
template <class Kind, std::int64_t Rows, std::int64_t Vectors>
SDIP_TARGET void sequential_tile(const TileTask& t) {
  const Kind kind(t);
  typename Kind::Sum sums[std::size_t{Rows}][std::size_t{Vectors}];
  constexpr std::int64_t panel = Kind::panel_vectors * Kind::width * 4;
  char* out = static_cast<char*>(t.sums);
  const std::int64_t out_stride = t.sums_stride * 4;
#pragma GCC unroll 12
  for (int v = 0; v < Vectors; ++v)
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r)
      sums[r][v] = t.begins ? typename Kind::Sum{}
                            : kind.load(out + r * out_stride + v * Kind::width * 4, t.columns - v * Kind::width);
  const std::int64_t stride = t.left_stride * 4 / Kind::group;
  const char* left[std::size_t{(Rows + 2) / 3}];
#pragma GCC unroll 12
  for (int r = 0; r < Rows; r += 3) left[r / 3] = static_cast<const char*>(t.left) + r * stride;
  const char* right = static_cast<const char*>(t.right);
  for (std::int64_t k = 0; k < t.depth; k += Kind::group, right += panel) {
    typename Kind::Operand columns[std::size_t{Vectors}];
#pragma GCC unroll 12
    for (int v = 0; v < Vectors; ++v) columns[v] = kind.each(right + v * Kind::width * 4);
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
      const typename Kind::Operand row = kind.all(left[r / 3] + r % 3 * stride);
#pragma GCC unroll 12
      for (int v = 0; v < Vectors; ++v) sums[r][v] = kind.fused(row, columns[v], sums[r][v]);
    }
#pragma GCC unroll 12
    for (int p = 0; p < (Rows + 2) / 3; ++p) left[p] += 4;
  }
#pragma GCC unroll 12
  for (int v = 0; v < Vectors; ++v)
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r)
      kind.store(out + r * out_stride + v * Kind::width * 4, t.columns - v * Kind::width, sums[r][v],
                 t.left_sums == nullptr ? 0 : 128 * t.left_sums[r]);
}

/// The tree of `Count` products, a power of two, for a vector of columns in each of `Rows` rows. (Its results go to
/// an array: of a structure of one vector that a function returns, g++ 12 keeps 128 bits.)
template <class Kind, std::int64_t Rows, std::int64_t Count>
SDIP_INLINE void whole_tree(const Kind& kind, const char* left, std::int64_t stride, const char* right,
                            typename Kind::Sum* to) {
  if constexpr (Count == 1) {
    const typename Kind::Operand column = kind.each(right);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) to[r] = kind.product(kind.all(left + r * stride), column);
  } else {
    constexpr std::int64_t half = Count / 2, panel = Kind::panel_vectors * Kind::width * 4;
    typename Kind::Sum second[std::size_t{Rows}];
    whole_tree<Kind, Rows, half>(kind, left, stride, right, to);
    whole_tree<Kind, Rows, half>(kind, left + half * 4, stride, right + half * panel, second);
#pragma GCC unroll 4
    for (int r = 0; r < Rows; ++r) to[r] = kind.sum(to[r], second[r]);
  }
}

/// The tree of any number of products: its last sum is of the largest power of two below that number, and the rest.
template <class Kind, std::int64_t Rows>
SDIP_TARGET void tree(const Kind& kind, const char* left, std::int64_t stride, const char* right,
                      std::int64_t count, typename Kind::Sum* to) {
  if (count == 16) return whole_tree<Kind, Rows, 16>(kind, left, stride, right, to);
  if (count == 8) return whole_tree<Kind, Rows, 8>(kind, left, stride, right, to);
  if (count == 4) return whole_tree<Kind, Rows, 4>(kind, left, stride, right, to);
  if (count == 2) return whole_tree<Kind, Rows, 2>(kind, left, stride, right, to);
  if (count == 1) return whole_tree<Kind, Rows, 1>(kind, left, stride, right, to);
  std::int64_t half = 1;
  while (2 * half < count) half *= 2;
  typename Kind::Sum second[std::size_t{Rows}];
  tree<Kind, Rows>(kind, left, stride, right, half, to);
  tree<Kind, Rows>(kind, left + half * 4, stride, right + half * Kind::panel_vectors * Kind::width * 4,
                   count - half, second);
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) to[r] = kind.sum(to[r], second[r]);
}

/// One vector of columns of `Rows` rows, fold after fold.
template <class Kind, std::int64_t Rows>
SDIP_TARGET void tree_strip(const TileTask& t, std::int64_t row, std::int64_t column) {
  const Kind kind(t);
  char* out = static_cast<char*>(t.sums) + (row * t.sums_stride + column) * 4;
  const std::int64_t stride = t.left_stride * 4, panel = Kind::panel_vectors * Kind::width * 4;
  const char* left = static_cast<const char*>(t.left) + row * stride;
  const char* right = static_cast<const char*>(t.right) + column * 4;
  typename Kind::Sum sums[std::size_t{Rows}], fold[std::size_t{Rows}], any_fold[std::size_t{Rows}];
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r)
    sums[r] = t.begins ? typename Kind::Sum{} : kind.load(out + r * t.sums_stride * 4, t.columns - column);
  for (std::int64_t begin = 0; begin < t.depth; begin += t.run)
    for (std::int64_t k = begin; k < begin + t.run; k += t.lanes) {
      const std::int64_t count = k + t.lanes <= begin + t.run ? t.lanes : begin + t.run - k;
      // For the most usual fold the tree stays in registers.
      if (count == 16)
        whole_tree<Kind, Rows, 16>(kind, left + k * 4, stride, right + k * panel, fold);
      else
        tree<Kind, Rows>(kind, left + k * 4, stride, right + k * panel, count, any_fold);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sums[r] = kind.sum(sums[r], count == 16 ? fold[r] : any_fold[r]);
    }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) kind.store(out + r * t.sums_stride * 4, t.columns - column, sums[r], 0);
}

/// Adds by folds.
template <class Kind>
void add_trees(const TileTask& t) {
  for (std::int64_t column = 0; column < t.columns; column += Kind::width) {
    std::int64_t row = 0;
    for (; row + Kind::strip_rows <= t.rows; row += Kind::strip_rows)
      tree_strip<Kind, Kind::strip_rows>(t, row, column);
    for (; row < t.rows; ++row) tree_strip<Kind, 1>(t, row, column);
  }
}

/// Adds one product after the other; `Rows` and `Vectors` are the largest tile's.
template <class Kind, std::int64_t Rows, std::int64_t Vectors>
void add_sequentially(const TileTask& t) {
  if constexpr (Rows > 1)
    if (t.rows < Rows) return add_sequentially<Kind, Rows - 1, Vectors>(t);
  if constexpr (Vectors > 1)
    if (t.columns <= (Vectors - 1) * Kind::width) return add_sequentially<Kind, Rows, Vectors - 1>(t);
  sequential_tile<Kind, Rows, Vectors>(t);
}

}  // namespace sdip::exec
