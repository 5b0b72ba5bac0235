// Products of matrices, summed in the order and the format of a machine's accumulators.
//
// C[i][j] += the sum over k of L[i][k] x R[k][j], continuing from what C holds. k runs over the kernel positions,
// outermost, and over the input channels of each, a run of them; `lanes` multiply side by side along the sum.
// One lane: c = fma(l, r, c), rounded once, k after k. More: the products of a fold of `lanes` are rounded, added
// in a binary tree of neighbours, each sum rounded, and the tree's result is added to c; a run's last fold may have
// fewer, and one that finds no neighbour goes up as it is. Folds end with their run.
//
// Example: 4 lanes, a run of 6, products p0 to p5: c = c + ((p0 + p1) + (p2 + p3)), then c = c + (p4 + p5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/number_format.h"
#include "core/base/stop.h"
#include "core/base/vectors.h"

namespace sdip::exec {

/// Rows [row, row + rows) and columns [column, column + columns) of a matrix.
struct Block {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;
};

/// An operand: an array with strides, or, when `data` is nullptr, what `fill` writes: the element at row r and
/// column c of a block to to[(r - row) * stride + c - column]. It is asked once for each block that is packed, and
/// by several threads at a time where there are several.
template <class T>
struct Matrix {
  const T* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 1;
  std::function<void(const Block& block, T* to, std::int64_t stride)> fill{};
};

/// Sums, row-major: `stride` elements from a row to the next. Operands must not overlap them.
template <class T>
struct Sums {
  T* data = nullptr;
  std::int64_t stride = 0;
};

/// `depth`: the length of a sum, a multiple of `run`, the channels of a kernel position.
struct ProductShape {
  std::int64_t rows = 0, columns = 0, depth = 0, run = 0, lanes = 1;
};

/// Runs tasks 0 to count - 1, in any order and at once.
using Share = std::function<void(std::int64_t count, const std::function<void(std::int64_t)>& task)>;

/// Memory that products use one after the other, kept between them; of one product at a time.
struct Workspace {
  std::vector<std::byte> left{}, right{};
  List<std::int32_t> left_sums{};
};

/// How a product is computed; its bits do not depend on it. Without `share` the caller's thread does it all,
/// without `workspace` memory is taken for the call. `begins`: sums of floats are 0 whatever they hold. `packed`:
/// the workspace's last product had the same right operand, no deeper than a block
/// (core/exec/kernels/kernels_panels.h), and as many columns. `stop` is asked between parts of a product that the
/// caller's thread computes alone.
struct KernelOptions {
  Vectors vectors = widest_vectors();
  std::int64_t threads = 1;
  Share share{};
  Workspace* workspace = nullptr;
  bool begins = false, packed = false;
  const Stop* stop = nullptr;
};

/// Floats that a floating `accumulator` sums. `sums` hold what it can hold. Narrow formats round to nearest, ties
/// to even, and keep within the format as `encoded` says. Requires depth = a whole number of runs, lanes >= 1.
void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
              const Matrix<float>& right, const Sums<float>& sums, const KernelOptions& options);

/// Floats that a fixed-point accumulator sums, each step rounded and clamped; `sums` in units of its last place.
void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
              const Matrix<float>& right, const Sums<std::int32_t>& sums, const KernelOptions& options);

/// The same in double throughout, for accumulators that are to be exact: in the order of `shape`.
void multiply(const ProductShape& shape, const Matrix<double>& left, const Matrix<double>& right,
              const Sums<double>& sums, const KernelOptions& options);

/// Codes that an integer accumulator sums, modulo 2^bits: any order gives the same. 4-bit codes stand as 8-bit
/// ones, unsigned 8-bit ones and those less a zero point as 16-bit ones.
void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int8_t>& left,
              const Matrix<std::int8_t>& right, const Sums<std::int32_t>& sums, const KernelOptions& options);
void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int16_t>& left,
              const Matrix<std::int16_t>& right, const Sums<std::int32_t>& sums, const KernelOptions& options);

/// Integers of any width modulo 2^64.
void multiply(const ProductShape& shape, const Matrix<std::uint64_t>& left, const Matrix<std::uint64_t>& right,
              const Sums<std::uint64_t>& sums, const KernelOptions& options);

}  // namespace sdip::exec
